"""Messages: correlated with whoever waits for their name and key."""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import logs, wiring
from chalicelib.api import http, repeats
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.priostack import errors, task_shapes
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
    message = Message(
        body["name"],
        body.get("correlationKey"),
        body.get("variables") or {},
        profile=Profile.PRIOSTACK,
    )
    once = repeats.once(routes.current_request)
    key = messages.publish_message(wiring.ports(), message, once)
    logs.about(instance_key=key)
    return http.answer(200, task_shapes.CORRELATED.write(key))
