"""The source of truth for clients: the OpenAPI document of everything under `/scheduler/v1`."""

from __future__ import annotations

from functools import cache

from chalice.app import Blueprint, Response

from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import About, Operation
from chalicelib.api.scheduler import errors
from chalicelib.api.schema import Anything
from chalicelib.json_text import JsonObject
from chalicelib.settings import VERSION

PREFIX = "/scheduler/v1"
ABOUT = About(
    title="Headrace: the scheduler API",
    version=VERSION,
    description=(
        "HTTP calls and scripts that run at the times you say, with loop, retry, pool and overlap "
        "lock. A job's secrets are never shown again: a GET has a mask in their place, and a PUT "
        "or PATCH that sends the mask keeps what is stored. Members that are not known are "
        "refused. What can only be judged by running it is stored, and `warnings` say what will "
        "go wrong."
    ),
    prefix=PREFIX,
    error=errors.ERROR,
)

routes = Blueprint(__name__)


@routes.route("/openapi.json", content_types=[])
@errors_as(errors.error)
@Operation("getOpenApi", answers={200: Anything()})
def get_open_api() -> Response:
    """getOpenApi: 200 and this document."""
    return http.answer(200, document())


@cache
def document() -> JsonObject:
    """Return the document, made when it is first asked for."""
    from chalicelib.api import openapi  # noqa: PLC0415  (only this route needs it)

    return openapi.document(routes.current_app.routes, ABOUT)
