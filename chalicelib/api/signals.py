"""Signals: broadcast to all who wait for them, alike in every dialect.

Source: contracts/bpmn.md section 3.1 ("broadcast to every waiting subscription and every signal
start").
"""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import wiring
from chalicelib.api import http, repeats
from chalicelib.api.http import ErrorShape, errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.schema import Anything, Field, Object, Text
from chalicelib.operations import signals

BROADCAST = Object(
    "BroadcastSignal",
    {
        "signalName": Field(Text(1, 1_000), required=True),
        "variables": Field(Anything(), nullable=True),
    },
)


def routes_with(error: ErrorShape) -> Blueprint:
    """Return the route of a dialect; `error` words what goes wrong in the dialect's own shape."""
    routes = Blueprint(__name__)

    @routes.route("/signals/broadcast", methods=["POST"], content_types=[])
    @errors_as(error)
    @Operation(
        "broadcastSignal",
        headers={repeats.HEADER: repeats.KEY},
        body=BROADCAST,
        answers={204: None},
        refusals=(400, 409, 413, 415),
    )
    def broadcast_signal() -> Response:
        """broadcastSignal: 204 and no body, whether anybody waits or not; 400, 409, 413.

        A repeat under the same `Idempotency-Key` reaches nobody again.
        """
        body = http.json_body(routes.current_request, BROADCAST)
        signals.broadcast_signal(
            wiring.ports(),
            body["signalName"],
            body.get("variables") or {},
            repeats.once(routes.current_request),
        )
        return http.answer(204)

    return routes
