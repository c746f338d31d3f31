"""Message routing: channels, the routes out of them and aggregators, each declared as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from chalice.app import Blueprint, Response

from chalicelib import wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.priostack import errors, shapes
from chalicelib.api.priostack import routing_shapes as routed
from chalicelib.api.schema import Object
from chalicelib.json_text import JsonObject
from chalicelib.operations import routes as operations
from chalicelib.store import routing_keys

CHANNEL, ROUTE, AGGREGATOR = "channel", "route", "aggregator"

routes = Blueprint(__name__)

# --- channels ----------------------------------------------------------------------------------


@routes.route("/channels/{name}", methods=["PUT"], content_types=[])
@errors_as(errors.error)
@Operation(
    "putChannel",
    body=routed.PUT_CHANNEL,
    answers={200: routed.CHANNEL},
    refusals=(400, 413, 415),
)
def put_channel(name: str) -> Response:
    """putChannel: 200 and the channel, declared or changed; 400, 413."""
    body = http.json_body(routes.current_request, routed.PUT_CHANNEL)
    put = operations.put_channel(wiring.ports(), _name(name), _declared(body))
    return http.answer(200, routed.CHANNEL.write(put))


@routes.route("/channels", content_types=[])
@errors_as(errors.error)
@Operation(
    "getChannels",
    query=shapes.PAGE_QUERY,
    answers={200: routed.CHANNEL_PAGE},
    refusals=(400, 413),
)
def get_channels() -> Response:
    """getChannels: 200 and a page, by their names; 400."""
    asked = http.query(routes.current_request, shapes.PAGE_QUERY)
    return _page(routed.CHANNEL_PAGE, routing_keys.CHANNEL, asked)


@routes.route("/channels/{name}", content_types=[])
@errors_as(errors.error)
@Operation("getChannel", answers={200: routed.CHANNEL}, refusals=(404,))
def get_channel(name: str) -> Response:
    """getChannel: 200 and the channel; 404."""
    with errors.called(CHANNEL):
        found = operations.get_declared(wiring.ports(), routing_keys.CHANNEL, _name(name))
    return http.answer(200, routed.CHANNEL.write(found))


@routes.route("/channels/{name}", methods=["DELETE"], content_types=[])
@errors_as(errors.error)
@Operation("deleteChannel", answers={200: shapes.DONE}, refusals=(404, 409))
def delete_channel(name: str) -> Response:
    """deleteChannel: 200; 404, 409 while a route leads out of it."""
    with errors.called(CHANNEL):
        operations.delete_channel(wiring.ports(), _name(name))
    return http.answer(200, shapes.DONE.write(None))


# --- routes ------------------------------------------------------------------------------------


@routes.route("/routes/{name}", methods=["PUT"], content_types=[])
@errors_as(errors.error)
@Operation(
    "putRoute",
    body=routed.PUT_ROUTE,
    answers={200: routed.ROUTE},
    refusals=(400, 409, 413, 415),
)
def put_route(name: str) -> Response:
    """putRoute: 200 and the route, declared or changed; 400, 409 if its channel has another, 413.

    A step is an object with one member: `filter`, `translator`, and as the last one `router`,
    `splitter`, `channel`, `aggregator` or `endpoint`.
    """
    body = http.json_body(routes.current_request, routed.PUT_ROUTE)
    put = operations.put_route(wiring.ports(), _name(name), _declared(body))
    return http.answer(200, routed.ROUTE.write(put))


@routes.route("/routes", content_types=[])
@errors_as(errors.error)
@Operation(
    "getRoutes", query=shapes.PAGE_QUERY, answers={200: routed.ROUTE_PAGE}, refusals=(400, 413)
)
def get_routes() -> Response:
    """getRoutes: 200 and a page, by their names; 400."""
    asked = http.query(routes.current_request, shapes.PAGE_QUERY)
    return _page(routed.ROUTE_PAGE, routing_keys.ROUTE, asked)


@routes.route("/routes/{name}", content_types=[])
@errors_as(errors.error)
@Operation("getRoute", answers={200: routed.ROUTE}, refusals=(404,))
def get_route(name: str) -> Response:
    """getRoute: 200 and the route; 404."""
    with errors.called(ROUTE):
        found = operations.get_declared(wiring.ports(), routing_keys.ROUTE, _name(name))
    return http.answer(200, routed.ROUTE.write(found))


@routes.route("/routes/{name}", methods=["DELETE"], content_types=[])
@errors_as(errors.error)
@Operation("deleteRoute", answers={200: shapes.DONE}, refusals=(404,))
def delete_route(name: str) -> Response:
    """deleteRoute: 200, its channel keeps what is put into it from now on; 404."""
    with errors.called(ROUTE):
        operations.delete_route(wiring.ports(), _name(name))
    return http.answer(200, shapes.DONE.write(None))


# --- aggregators -------------------------------------------------------------------------------


@routes.route("/aggregators/{name}", methods=["PUT"], content_types=[])
@errors_as(errors.error)
@Operation(
    "putAggregator",
    body=routed.PUT_AGGREGATOR,
    answers={200: routed.AGGREGATOR},
    refusals=(400, 413, 415),
)
def put_aggregator(name: str) -> Response:
    """putAggregator: 200 and the aggregator, declared or changed; 400, 413."""
    body = http.json_body(routes.current_request, routed.PUT_AGGREGATOR)
    put = operations.put_aggregator(wiring.ports(), _name(name), _declared(body))
    return http.answer(200, routed.AGGREGATOR.write(put))


@routes.route("/aggregators", content_types=[])
@errors_as(errors.error)
@Operation(
    "getAggregators",
    query=shapes.PAGE_QUERY,
    answers={200: routed.AGGREGATOR_PAGE},
    refusals=(400, 413),
)
def get_aggregators() -> Response:
    """getAggregators: 200 and a page, by their names; 400."""
    asked = http.query(routes.current_request, shapes.PAGE_QUERY)
    return _page(routed.AGGREGATOR_PAGE, routing_keys.AGGREGATOR, asked)


@routes.route("/aggregators/{name}", content_types=[])
@errors_as(errors.error)
@Operation("getAggregator", answers={200: routed.AGGREGATOR}, refusals=(404,))
def get_aggregator(name: str) -> Response:
    """getAggregator: 200 and the aggregator; 404."""
    with errors.called(AGGREGATOR):
        found = operations.get_declared(wiring.ports(), routing_keys.AGGREGATOR, _name(name))
    return http.answer(200, routed.AGGREGATOR.write(found))


@routes.route("/aggregators/{name}", methods=["DELETE"], content_types=[])
@errors_as(errors.error)
@Operation("deleteAggregator", answers={200: shapes.DONE}, refusals=(404,))
def delete_aggregator(name: str) -> Response:
    """deleteAggregator: 200, groups that are open are discarded at their times; 404."""
    with errors.called(AGGREGATOR):
        operations.delete_aggregator(wiring.ports(), _name(name))
    return http.answer(200, shapes.DONE.write(None))


def _name(text: str) -> str:
    return http.path_name(text, "name")


def _declared(body: Mapping[str, Any]) -> JsonObject:
    """Return a body as the JSON that it was."""
    return {
        name: Decimal(value) if isinstance(value, int) else value
        for name, value in body.items()
        if value is not None
    }


def _page(shape: Object, kind: str, asked: Mapping[str, Any]) -> Response:
    first, size = asked.get("offset", 0), asked.get("limit", shapes.LIMIT)
    found = operations.list_declared(wiring.ports(), kind, first, size)
    return http.answer(200, shape.write(found))
