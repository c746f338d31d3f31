"""Messages: published to whoever waits for them (contracts/zenbpm.md section 1.6)."""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import wiring
from chalicelib.api import http, repeats
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.zenbpm import errors, instance_shapes
from chalicelib.operations import messages
from chalicelib.operations.messages import Message

routes = Blueprint(__name__)


@routes.route("/messages", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "publishMessage",
    headers={repeats.HEADER: repeats.KEY},
    body=instance_shapes.PUBLISH_MESSAGE,
    answers={201: None},
    refusals=(400, 404, 409, 413, 415),
)
def publish_message() -> Response:
    """publishMessage: 201 and no body; 400, 404 if nobody waits, 409, 413.

    One subscription gets it; without one, or without a key, it starts an instance. A repeat under
    the same `Idempotency-Key` does nothing more.
    """
    body = http.json_body(routes.current_request, instance_shapes.PUBLISH_MESSAGE)
    message = Message(body["messageName"], body.get("correlationKey"), body.get("variables") or {})
    messages.publish_message(wiring.ports(), message, repeats.once(routes.current_request))
    return http.answer(201)
