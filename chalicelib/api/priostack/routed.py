"""Messages in channels: put, read where they are, listed, handled once more."""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.priostack import errors, pages
from chalicelib.api.priostack import routing_shapes as shapes
from chalicelib.api.priostack.routing_shapes import Shown
from chalicelib.operations import routing
from chalicelib.routing.messages import Message, State

CHANNEL, MESSAGE = "channel", "message"

routes = Blueprint(__name__)


@routes.route("/channels/{name}/messages", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "putMessage",
    body=shapes.PUT_MESSAGE,
    answers={200: shapes.MESSAGE, 201: shapes.MESSAGE},
    refusals=(400, 404, 413, 415),
)
def put_message(name: str) -> Response:
    """putMessage: 201 and the message, which is handled once; 400, 404, 413.

    A repeat of its id changes nothing: 200 and the first one, as it is now.
    """
    body = http.json_body(routes.current_request, shapes.PUT_MESSAGE)
    message = Message(
        body["id"], body.get("body"), body.get("correlationKey"), body.get("headers") or {}
    )
    with errors.called(CHANNEL):
        entry, is_new = routing.put_message(wiring.ports(), _name(name), message)
    return http.answer(201 if is_new else 200, shapes.MESSAGE.write(Shown(entry, None)))


@routes.route("/channels/{name}/messages", content_types=[])
@errors_as(errors.error)
@Operation(
    "getMessages",
    query=shapes.MESSAGES_QUERY,
    answers={200: shapes.MESSAGE_PAGE},
    refusals=(400, 404, 413),
)
def get_messages(name: str) -> Response:
    """getMessages: 200 and a page, the newest first; 400, 404."""
    asked = http.query(routes.current_request, shapes.MESSAGES_QUERY)
    states = frozenset({State(asked["state"])}) if "state" in asked else None
    with errors.called(CHANNEL):
        listed = routing.list_messages(wiring.ports(), _name(name), states, pages.cut(asked))
    return pages.answer(shapes.MESSAGE_PAGE, [Shown(*each) for each in listed.items], listed)


@routes.route("/channels/{name}/messages/{message_id}", content_types=[])
@errors_as(errors.error)
@Operation("getMessage", answers={200: shapes.MESSAGE}, refusals=(404,))
def get_message(name: str, message_id: str) -> Response:
    """getMessage: 200 and the message: where it is, or what dropped it; 404."""
    with errors.called(MESSAGE):
        found = routing.get_message(wiring.ports(), _name(name), _id(message_id))
    return http.answer(200, shapes.MESSAGE.write(Shown(*found)))


@routes.route("/channels/{name}/messages/{message_id}/retry", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation("retryMessage", answers={200: shapes.MESSAGE}, refusals=(404, 409))
def retry_message(name: str, message_id: str) -> Response:
    """retryMessage: 200 and the message, which is handled once more; 404, 409 unless it failed."""
    with errors.called(MESSAGE):
        entry = routing.retry_message(wiring.ports(), _name(name), _id(message_id))
    return http.answer(200, shapes.MESSAGE.write(Shown(entry, None)))


def _name(text: str) -> str:
    return http.path_name(text, "name")


def _id(text: str) -> str:
    return http.path_name(text, "messageId")
