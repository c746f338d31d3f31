"""Channels, routes and aggregators: declared, read, listed and removed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from chalicelib import json_text
from chalicelib.errors import Conflict, Reason, Rejected, TooLarge
from chalicelib.json_text import JsonObject
from chalicelib.operations.attempts import attempts
from chalicelib.ports import Ports
from chalicelib.routing import reading
from chalicelib.routing.definition import Declared, Gather, Route
from chalicelib.routing.reading import BadDeclaration
from chalicelib.store import routes
from chalicelib.store.routes import Declaration
from chalicelib.store.routing_keys import AGGREGATOR, CHANNEL, ROUTE

DECLARATION_BYTES_MAX = 100_000

T = TypeVar("T", bound=Declared)

_NOUNS = {CHANNEL: "channel", ROUTE: "route", AGGREGATOR: "aggregator"}


def put_channel(ports: Ports, name: str, declared: JsonObject) -> Declaration:
    """Declare a channel, or change it. Raises: Rejected(INVALID_ARGUMENT); TooLarge."""
    _read(reading.channel, name, declared)
    return _put(ports, CHANNEL, _declaration(name, declared))


def put_aggregator(ports: Ports, name: str, declared: JsonObject) -> Declaration:
    """Declare an aggregator, or change it. Raises: Rejected(INVALID_ARGUMENT); TooLarge."""
    read = _read(reading.aggregator, name, declared)
    _require(ports, CHANNEL, read.to, "to")
    return _put(ports, AGGREGATOR, _declaration(name, declared))


def put_route(ports: Ports, name: str, declared: JsonObject) -> Declaration:
    """Declare a route, or change it.

    Raises: Rejected(INVALID_ARGUMENT) also for what it names and is not there;
        Rejected(INVALID_STATE) if another route leads out of its channel; TooLarge; Conflict.
    """
    route = _read(reading.route, name, declared)
    after = _declaration(name, declared)
    _require_named(ports, route)
    for _ in attempts(ports):
        before = routes.read(ports.table, ROUTE, name)
        if routes.put_route(ports.table, before, after, ports.chance.id()):
            return after
        other = routes.route_from(ports.table, route.source)
        if other is not None and other.name != name:
            raise Rejected(
                Reason.INVALID_STATE,
                f"route {other.name} leads out of channel {route.source} already",
            )
    raise Conflict(f"route {name} was changed by others until the deadline")


def get_declared(ports: Ports, kind: str, name: str) -> Declaration:
    """Return what is declared under a name. Raises: Rejected(NOT_FOUND)."""
    found = routes.read(ports.table, kind, name)
    if found is None:
        raise Rejected(Reason.NOT_FOUND, f"{_NOUNS[kind]} {name[:100]!r} is not declared")
    return found


def list_declared(ports: Ports, kind: str, first: int, size: int) -> tuple[list[Declaration], int]:
    """Return a page of the declarations of a kind, by their names, and how many there are."""
    found = list(routes.every(ports.table, kind))
    return found[first : first + size], len(found)


def delete_channel(ports: Ports, name: str) -> None:
    """Remove a channel; what is in it stays readable until its time to live.

    Raises: Rejected(NOT_FOUND); Rejected(INVALID_STATE) if a route leads out of it.
    """
    get_declared(ports, CHANNEL, name)
    route = routes.route_from(ports.table, name)
    if route is not None:
        raise Rejected(Reason.INVALID_STATE, f"route {route.name} leads out of channel {name}")
    routes.delete(ports.table, CHANNEL, name)


def delete_aggregator(ports: Ports, name: str) -> None:
    """Remove an aggregator; its open groups are discarded at their times.

    Raises: Rejected(NOT_FOUND).
    """
    get_declared(ports, AGGREGATOR, name)
    routes.delete(ports.table, AGGREGATOR, name)


def delete_route(ports: Ports, name: str) -> None:
    """Remove a route; its channel keeps what is put into it. Raises: Rejected(NOT_FOUND)."""
    for _ in attempts(ports):
        before = get_declared(ports, ROUTE, name)
        if routes.delete_route(ports.table, before, ports.chance.id()):
            return
    raise Conflict(f"route {name} was changed by others until the deadline")


def _read(read: Callable[[str, JsonObject], T], name: str, declared: JsonObject) -> T:
    try:
        return read(name, declared)
    except BadDeclaration as bad:
        raise Rejected(Reason.INVALID_ARGUMENT, str(bad), {"field": bad.place}) from bad


def _declaration(name: str, declared: JsonObject) -> Declaration:
    text = json_text.dumps(declared)
    if len(text.encode()) > DECLARATION_BYTES_MAX:
        raise TooLarge(f"expected a declaration of at most {DECLARATION_BYTES_MAX} bytes")
    return Declaration(name, text)


def _put(ports: Ports, kind: str, declared: Declaration) -> Declaration:
    routes.put(ports.table, kind, declared)
    return declared


def _require_named(ports: Ports, route: Route) -> None:
    _require(ports, CHANNEL, route.source, "from")
    place = f"steps.{len(route.steps)}"
    for name in dict.fromkeys(route.channels):
        _require(ports, CHANNEL, name, place)
    if isinstance(route.end, Gather):
        _require(ports, AGGREGATOR, route.end.aggregator, place)


def _require(ports: Ports, kind: str, name: str, place: str) -> None:
    if routes.read(ports.table, kind, name) is None:
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            f"{place}: {_NOUNS[kind]} {name} is not declared",
            {"field": place},
        )
