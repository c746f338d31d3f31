"""Messages: correlated with whoever waits for their name and key."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from chalice.app import Blueprint, Response

from chalicelib import logs, wiring
from chalicelib.api import http, repeats
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.priostack import errors, shapes, task_shapes
from chalicelib.operations import messages
from chalicelib.operations.messages import Message
from chalicelib.profile import Profile

routes = Blueprint(__name__)


@routes.route("/messages/correlation", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "correlateMessage",
    headers={repeats.HEADER: repeats.KEY},
    body=task_shapes.CORRELATE,
    answers={200: task_shapes.CORRELATED},
    refusals=(400, 404, 409, 413, 415),
)
def correlate_message() -> Response:
    """correlateMessage: 200 and the instance that got it; 400, 404 if nobody waits, 409, 413.

    A repeat under the same `Idempotency-Key` does nothing more.
    """
    body = http.json_body(routes.current_request, task_shapes.CORRELATE)
    once = repeats.once(routes.current_request)
    key = messages.publish_message(wiring.ports(), _message(body), once)
    logs.about(instance_key=key)
    return http.answer(200, task_shapes.CORRELATED.write(key))


@routes.route("/messages/publish", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "publishMessage",
    headers={repeats.HEADER: repeats.KEY},
    body=task_shapes.PUBLISH,
    answers={200: shapes.DONE},
    refusals=(400, 409, 413, 415),
)
def publish_message() -> Response:
    """publishMessage: 200, whether somebody waits or not; 400, 409 for an id that waits, 413.

    It waits for `timeToLive` milliseconds for who comes later; without it, or with 0, not at all.
    """
    body = http.json_body(routes.current_request, task_shapes.PUBLISH)
    messages.let_message_wait(
        wiring.ports(),
        _message(body),
        timedelta(milliseconds=body.get("timeToLive") or 0),
        body.get("messageId") or "",
        repeats.once(routes.current_request),
    )
    return http.answer(200, shapes.DONE.write(None))


def _message(body: Mapping[str, Any]) -> Message:
    return Message(
        body["name"],
        body.get("correlationKey"),
        body.get("variables") or {},
        profile=Profile.PRIOSTACK,
    )
