"""What must still hold for a write of message routing to stand, as data.

The counterpart of `conditions.py` for messages in channels, groups and routes: one row per guard,
one named clause per condition, from which the guard-mutation test takes one at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from chalicelib.ports import Absent, AnyOf, AtMost, Condition, Equals, Test
from chalicelib.store.moments import to_ms


class RouteGuard(StrEnum):
    """What a write of message routing rests on."""

    ENTER = "enter channel"  # message: absent or expired
    SETTLE = "settle message"  # message: its state as read
    GROUP = "change group"  # group: as read, absent if there was none
    ROUTE = "declare route"  # route: as read, absent if there was none
    SOURCE = "lead out of channel"  # channel: no other route leads out of it


@dataclass(frozen=True, slots=True)
class Asked:
    """What a write rests on: what was read, None if there was nothing; the time; a route's name."""

    stamp: str | None = None
    now: datetime | None = None
    route: str = ""


class RouteClause(NamedTuple):
    """One condition of a row of the table."""

    name: str
    test: Callable[[Asked], Test]


def condition(guard: RouteGuard, asked: Asked) -> Condition:
    """Return what a write under that guard demands of the item."""
    return tuple(clause.test(asked) for clause in ROUTE_GUARDS[guard])


def _is_new(asked: Asked) -> Test:
    if asked.now is None:
        raise TypeError("expected a time for a write to rest on, found none")
    return AnyOf((Absent("pk"), AtMost("until", to_ms(asked.now))))


def _as_read(attribute: str) -> RouteClause:
    return RouteClause(
        f"{attribute} as read",
        lambda asked: Absent("pk") if asked.stamp is None else Equals(attribute, asked.stamp),
    )


ROUTE_GUARDS: dict[RouteGuard, tuple[RouteClause, ...]] = {
    RouteGuard.ENTER: (RouteClause("absent or expired", _is_new),),
    RouteGuard.SETTLE: (_as_read("stamp"),),
    RouteGuard.GROUP: (_as_read("stamp"),),
    RouteGuard.ROUTE: (_as_read("definition"),),
    RouteGuard.SOURCE: (
        RouteClause(
            "no other route",
            lambda asked: AnyOf((Absent("pk"), Equals("route", asked.route))),
        ),
    ),
}
