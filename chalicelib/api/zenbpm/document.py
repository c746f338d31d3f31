"""The source of truth for clients: the OpenAPI document of everything under `/v1`."""

from __future__ import annotations

from functools import cache

from chalice.app import Blueprint, Response

from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import About, Operation, camel_case
from chalicelib.api.schema import Anything
from chalicelib.api.zenbpm import errors
from chalicelib.json_text import JsonObject
from chalicelib.settings import VERSION

PREFIX = "/v1"
ABOUT = About(
    title="Headrace: the ZenBPM API",
    version=VERSION,
    description=(
        "BPMN processes, the jobs of their workers, and what operators do about incidents, in the "
        "protocol of ZenBPM. `jobs/activate` and `jobs/{jobKey}/claim` are Headrace's own; they "
        "refuse members that they do not know, everything else ignores them. All keys are below "
        "2^53."
    ),
    prefix=PREFIX,
    error=errors.ERROR,
    more_of_error=dict(errors.DETAILS.values()),
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
