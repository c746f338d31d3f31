"""The source of truth for clients: the OpenAPI document of everything under `/api/v1`."""

from __future__ import annotations

from functools import cache

from chalice.app import Blueprint, Response

from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import About, Operation, camel_case
from chalicelib.api.priostack import errors
from chalicelib.api.schema import Anything
from chalicelib.json_text import JsonObject
from chalicelib.settings import VERSION

PREFIX = "/api/v1"
ABOUT = About(
    title="Headrace: the Priostack API",
    version=VERSION,
    description=(
        "BPMN processes and the jobs of their workers, in the protocol of Priostack. A worker "
        "activates a job, then completes it or fails it. An activated job stays with its worker: "
        "`deadline` is shown, and nothing happens when it passes. Members that are not known are "
        "ignored. All keys are below 2^53."
    ),
    prefix=PREFIX,
    error=errors.ERROR,
    spell=camel_case,
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
