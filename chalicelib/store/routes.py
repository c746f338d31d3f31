"""Declarations of message routing: channels, the one route out of each, aggregators.

Each is kept as the JSON that declared it. A channel and an aggregator are what was written last;
a route is written with the entry that names it as the way out of its channel.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from chalicelib import json_text
from chalicelib.json_text import JsonObject
from chalicelib.ports import LIVE, Condition, Delete, Item, Put, Query, Refused, Table, Write
from chalicelib.routing import reading
from chalicelib.routing.definition import Aggregator, Channel, Route
from chalicelib.store import reading as pages
from chalicelib.store import table
from chalicelib.store.route_conditions import Asked, RouteGuard, condition
from chalicelib.store.routing_keys import (
    AGGREGATOR,
    CHANNEL,
    ROUTE,
    ROUTING,
    declared_key,
    source_key,
)

KEPT_MAX = 256  # declarations that a container keeps as it read them


class Declaration(NamedTuple):
    """What is declared under a name, as it was given."""

    name: str
    text: str

    @property
    def json(self) -> JsonObject:
        """The declaration as it was given."""
        value = json_text.loads(self.text)
        assert isinstance(value, dict)
        return value


def read(store: Table, kind: str, name: str) -> Declaration | None:
    """Return what is declared under a name."""
    item = store.get(declared_key(kind, name))
    return None if item is None else _declaration(kind, item)


def every(store: Table, kind: str) -> Iterator[Declaration]:
    """Yield all declarations of a kind, by their names."""
    query = Query(LIVE, ROUTING, first=kind, last=table.after(kind))
    return (_declaration(kind, item) for item in pages.every(store, query))


def channel(store: Table, name: str) -> Channel | None:
    """Return a channel."""
    found = read(store, CHANNEL, name)
    return None if found is None else to_channel(found)


def aggregator(store: Table, name: str) -> Aggregator | None:
    """Return an aggregator."""
    found = read(store, AGGREGATOR, name)
    return None if found is None else _to_aggregator(found)


def route_from(store: Table, channel: str) -> Route | None:
    """Return the route out of a channel."""
    item = store.get(source_key(channel))
    if item is None:
        return None
    return to_route(Declaration(str(item["route"]), str(item["definition"])))


@lru_cache(maxsize=KEPT_MAX)
def to_channel(found: Declaration) -> Channel:
    """Read a channel's declaration."""
    return reading.channel(found.name, found.json)


@lru_cache(maxsize=KEPT_MAX)
def to_route(found: Declaration) -> Route:
    """Read a route's declaration."""
    return reading.route(found.name, found.json)


@lru_cache(maxsize=KEPT_MAX)
def _to_aggregator(found: Declaration) -> Aggregator:
    return reading.aggregator(found.name, found.json)


def put(store: Table, kind: str, declared: Declaration) -> None:
    """Let a channel or an aggregator be what is declared."""
    store.write(Put(declared_key(kind, declared.name), {"definition": declared.text}))


def delete(store: Table, kind: str, name: str) -> None:
    """Remove a channel or an aggregator."""
    store.write(Delete(declared_key(kind, name)))


def put_route(store: Table, before: Declaration | None, after: Declaration, token: str) -> bool:
    """Write a route in place of the one that was read.

    Returns False if somebody changed it first, or another route leads out of its channel.
    """
    route = to_route(after)
    writes: list[Write] = [
        Put(declared_key(ROUTE, after.name), {"definition": after.text}, _as_read(before)),
        Put(
            source_key(route.source),
            {"route": after.name, "definition": after.text},
            _no_other(after.name),
        ),
    ]
    if before is not None and (left := to_route(before).source) != route.source:
        writes.append(Delete(source_key(left), _no_other(after.name)))
    return not isinstance(store.transact(writes, token), Refused)


def delete_route(store: Table, before: Declaration, token: str) -> bool:
    """Remove the route that was read; False if somebody changed it first."""
    writes: list[Write] = [
        Delete(declared_key(ROUTE, before.name), _as_read(before)),
        Delete(source_key(to_route(before).source), _no_other(before.name)),
    ]
    return not isinstance(store.transact(writes, token), Refused)


def _as_read(before: Declaration | None) -> Condition:
    return condition(RouteGuard.ROUTE, Asked(stamp=None if before is None else before.text))


def _no_other(name: str) -> Condition:
    return condition(RouteGuard.SOURCE, Asked(route=name))


def _declaration(kind: str, item: Item) -> Declaration:
    return Declaration(str(item["sk"]).removeprefix(kind), str(item["definition"]))
