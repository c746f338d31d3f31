"""Priostack's spelling of message routing: channels, routes, aggregators, messages.

Source: contracts/priostack.md, "Layer 2". Times are milliseconds, expressions FEEL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any, NamedTuple

from chalicelib.api.fields import member
from chalicelib.api.priostack.shapes import KEY, PAGE_QUERY, page_of
from chalicelib.api.schema import (
    Anything,
    Choice,
    Field,
    ListOf,
    Moment,
    Object,
    Text,
    Type,
    Whole,
)
from chalicelib.api.values import AnyValue
from chalicelib.routing import definition
from chalicelib.routing.messages import Entry, Group, Place, State
from chalicelib.store.routes import Declaration, to_channel

_MS = timedelta(milliseconds=1)
_LIVES = Whole(definition.TIME_TO_LIVE_MIN // _MS, definition.TIME_TO_LIVE_MAX // _MS)
_NAME = Text(1, 100)
_TIMEOUT = Whole(definition.TIMEOUT_MIN // _MS, definition.TIME_TO_LIVE_MAX // _MS)
_COUNT = Whole(1, definition.MEMBERS_MAX)
AGGREGATED = "aggregated"  # held by a group that was released since


def _given(name: str) -> Callable[[Declaration], Any]:
    return lambda declared: declared.json.get(name)


# --- what is declared --------------------------------------------------------------------------

PUT_CHANNEL = Object("PutChannel", {"timeToLive": Field(_LIVES, nullable=True)})
CHANNEL = Object(
    "Channel",
    {
        "name": member(_NAME, attrgetter("name")),
        "timeToLive": member(_LIVES, lambda declared: to_channel(declared).time_to_live // _MS),
    },
)
CHANNEL_PAGE = page_of(CHANNEL)

PUT_ROUTE = Object(
    "PutRoute",
    {
        "from": Field(_NAME, required=True),
        "steps": Field(ListOf(Anything()), required=True),
    },
)
ROUTE = Object(
    "Route",
    {
        "name": member(_NAME, attrgetter("name")),
        "from": member(_NAME, _given("from")),
        "steps": member(ListOf(Anything()), _given("steps")),
    },
)
ROUTE_PAGE = page_of(ROUTE)

PUT_AGGREGATOR = Object(
    "PutAggregator",
    {
        "to": Field(_NAME, required=True),
        "count": Field(_COUNT, nullable=True),
        "condition": Field(Text(1), nullable=True),
        "timeout": Field(_TIMEOUT, nullable=True),
        "body": Field(Text(1), nullable=True),
    },
)
AGGREGATOR = Object(
    "Aggregator",
    {
        "name": member(_NAME, attrgetter("name")),
        "to": member(_NAME, _given("to")),
        "count": member(_COUNT, _given("count"), optional=True),
        "condition": member(Text(1), _given("condition"), optional=True),
        "timeout": member(_TIMEOUT, _given("timeout"), optional=True),
        "body": member(Text(1), _given("body"), optional=True),
    },
)
AGGREGATOR_PAGE = page_of(AGGREGATOR)

# --- messages ----------------------------------------------------------------------------------


class Shown(NamedTuple):
    """A message in a channel, and the group that had it if that is closed."""

    entry: Entry
    group: Group | None

    @property
    def state(self) -> str:
        """What has become of it: of a closed group's message, what became of the group."""
        if self.group is None:
            return self.entry.state.value
        return State.DROPPED.value if self.group.to is None else AGGREGATED

    @property
    def by(self) -> str | None:
        """What decided that."""
        is_discarded = self.group is not None and self.group.to is None
        return f"aggregator {self.entry.aggregator}" if is_discarded else self.entry.by

    @property
    def why(self) -> str | None:
        """The reason; of a group, what closed it."""
        return self.entry.why if self.group is None else self.group.why

    @property
    def to(self) -> tuple[Place, ...] | None:
        """Where it went."""
        to = self.group.to if self.group is not None else None
        return (to,) if to is not None else self.entry.to or None

    @property
    def due(self) -> datetime | None:
        """When the next attempt is made at an endpoint that failed."""
        is_tried_again = self.entry.state is State.WAITING and self.entry.attempt
        return self.entry.due if is_tried_again else None


PUT_MESSAGE = Object(
    "PutMessage",
    {
        "id": Field(Text(1, definition.ID_MAX), required=True),
        "correlationKey": Field(Text(1, definition.KEY_MAX), nullable=True),
        "headers": Field(Anything(), nullable=True),
        "body": Field(AnyValue(), nullable=True),
    },
)
_PLACE = Object(
    "MessagePlace",
    {
        "channel": member(Text(), attrgetter("channel")),
        "id": member(Text(), attrgetter("id")),
    },
)
MESSAGE = Object(
    "RoutedMessage",
    {
        "id": member(Text(), attrgetter("entry.message.id")),
        "channel": member(Text(), attrgetter("entry.channel")),
        "correlationKey": member(
            Text(), attrgetter("entry.message.correlation_key"), optional=True
        ),
        "headers": member(Anything(), attrgetter("entry.message.headers")),
        "body": member(AnyValue(), lambda shown: (shown.entry.message.body,)),
        "state": member(Choice((*State, AGGREGATED)), attrgetter("state")),
        "by": member(Text(), attrgetter("by"), optional=True),
        "reason": member(Text(), attrgetter("why"), optional=True),
        "to": member(ListOf(_PLACE), attrgetter("to"), optional=True),
        "aggregator": member(Text(), attrgetter("entry.aggregator"), optional=True),
        "processInstanceKey": member(KEY, attrgetter("entry.instance_key"), optional=True),
        "statusCode": member(Whole(), attrgetter("entry.status_code"), optional=True),
        "attempts": member(Whole(), attrgetter("entry.attempt")),
        "dueAt": member(Moment(), attrgetter("due"), optional=True),
        "enteredAt": member(Moment(), attrgetter("entry.entered_at")),
        "changedAt": member(Moment(), attrgetter("entry.changed_at"), optional=True),
        "expiresAt": member(Moment(), attrgetter("entry.expires_at")),
    },
)
MESSAGE_PAGE = page_of(MESSAGE)
MESSAGES_QUERY: Mapping[str, Type] = {
    **PAGE_QUERY,
    "state": Choice(tuple(state.value for state in State)),
}
