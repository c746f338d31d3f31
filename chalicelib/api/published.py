"""The route by which a dialect serves its own OpenAPI document, the source of truth for clients."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from chalice.app import Blueprint, Response

from chalicelib.api import http
from chalicelib.api.http import ErrorShape, errors_as
from chalicelib.api.operation import About, Operation
from chalicelib.api.schema import Anything
from chalicelib.json_text import JsonObject


def published(about: About, error: ErrorShape) -> tuple[Blueprint, Callable[[], JsonObject]]:
    """Return the routes of a dialect's document, and what makes it when it is first asked for.

    Shapes: `error` words what goes wrong in the dialect's own shape.
    """
    routes = Blueprint(__name__)

    @routes.route("/openapi.json", content_types=[])
    @errors_as(error)
    @Operation("getOpenApi", answers={200: Anything()})
    def get_open_api() -> Response:
        """getOpenApi: 200 and this document."""
        return http.answer(200, document())

    @cache
    def document() -> JsonObject:
        from chalicelib.api import openapi  # noqa: PLC0415  (only this route needs it)

        return openapi.document(routes.current_app.routes, about)

    return routes, document
