"""Messages in channels, and the groups of aggregators: what a change of them writes.

A change of a message is one write, or one transaction with what it makes: the messages it becomes,
the group that gets it. What has expired is not there any more, whether DynamoDB has removed it yet
or not.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from chalicelib import json_text
from chalicelib.ports import (
    LIVE,
    Condition,
    Delete,
    Item,
    ItemKey,
    Put,
    Query,
    Refused,
    Table,
    Update,
    Write,
)
from chalicelib.routing.messages import Entry, Group, Message, Place, State
from chalicelib.store import fields, marks, reading
from chalicelib.store.lists import LIST_MAX
from chalicelib.store.marks import Once
from chalicelib.store.moments import to_ms
from chalicelib.store.route_conditions import Asked, RouteGuard, condition
from chalicelib.store.routing_keys import entry_key, group_key, listed_at, listed_in, shard_of
from chalicelib.store.table import LISTED, SHARDS, page_of

CLOSED_KEPT = timedelta(days=31)  # of a group: as long as any message that it held
REPEAT = "routing repeat"


def _message_to_text(message: Message) -> str:
    return json_text.dumps(
        [message.id, message.body, message.correlation_key, message.headers]  # in this order
    )


def _message_from_text(text: str) -> Message:
    values: Any = json_text.loads(text)
    id_, body, key, headers = values
    return Message(id_, body, key, headers)


def _places_to_text(places: Iterable[Place]) -> str:
    return json_text.dumps([[each.channel, each.id] for each in places])


def _places_from_text(text: str) -> tuple[Place, ...]:
    values: Any = json_text.loads(text)
    return tuple(Place(channel, id_) for channel, id_ in values)


def _messages(name: str) -> fields.Fields:
    return (fields.Field(name, _message_to_text, _message_from_text),)


def _places(name: str) -> fields.Fields:
    return (fields.Field(name, _places_to_text, _places_from_text),)


_MOVING = (
    *fields.plain("revision", "attempt", "by", "why"),
    *fields.words("state", State),
    *fields.times("due", "changed_at"),
    fields.Field("claimed", list, tuple),
    *_places("to"),
    *fields.plain("aggregator", "group_id", "instance_key", "status_code"),
    *_messages("held"),
)
_ENTRY = (
    *fields.plain("channel", "nonce", "hops"),
    *_messages("message"),
    *fields.times("entered_at"),
    *_MOVING,
)
_GROUP = (
    *fields.plain("aggregator", "correlation_key", "id", "size", "hops", "why"),
    *_places("members"),
    *fields.times("opened_at", "due", "closed_at"),
    fields.Field("to", lambda to: _places_to_text([to]), lambda text: _places_from_text(text)[0]),
)


# --- reading -----------------------------------------------------------------------------------


def read(store: Table, place: Place, now: datetime) -> Entry | None:
    """Return a message in a channel."""
    item = store.get(entry_key(place))
    return None if item is None else _alive(to_entry(item), now)


def read_many(store: Table, places: Iterable[Place], now: datetime) -> dict[Place, Entry]:
    """Return those of several messages that are there."""
    found = store.get_many([entry_key(place) for place in places])
    read = (_alive(to_entry(item), now) for item in found.values())
    return {entry.place: entry for entry in read if entry is not None}


def newest(store: Table, channel: str, now: datetime) -> Iterator[Entry]:
    """Yield the messages of a channel, the newest first, at most LIST_MAX of them."""
    queries = [
        Query(*(LIVE, listed_in(channel, shard), LISTED), ascending=False, limit=page_of(LIST_MAX))
        for shard in range(SHARDS)
    ]
    listed = heapq.merge(
        *(reading.every(store, query) for query in queries),
        key=lambda item: str(item["listed_at"]),
        reverse=True,
    )
    looked_at = islice(listed, LIST_MAX)
    while chunk := list(islice(looked_at, 100)):
        keys = [(str(item["pk"]), str(item["sk"])) for item in chunk]
        found = {key.pk: item for key, item in store.get_many([_key(*k) for k in keys]).items()}
        for pk, _ in keys:
            if pk in found and (entry := _alive(to_entry(found[pk]), now)) is not None:
                yield entry


def to_entry(item: Item) -> Entry:
    """Read a message's item."""
    expires_at = fields.times("until")[0].read(item["until"])
    return Entry(expires_at=expires_at, **fields.read(_ENTRY, item))


def open_group(store: Table, aggregator: str, correlation_key: str) -> Group | None:
    """Return the group that is open under a key."""
    item = store.get(group_key(aggregator, correlation_key))
    return None if item is None else to_group(item)


def closed_group(
    store: Table, aggregator: str, correlation_key: str, group_id: str
) -> Group | None:
    """Return a group that is closed."""
    item = store.get(group_key(aggregator, correlation_key, group_id))
    return None if item is None else to_group(item)


def to_group(item: Item) -> Group:
    """Read a group's item."""
    return Group(**fields.read(_GROUP, item))


# --- writing -----------------------------------------------------------------------------------


def enter(entry: Entry, now: datetime) -> Put:
    """Return the write that puts a message into a channel, unless its id is there."""
    item: Item = {
        **fields.write(_ENTRY, entry),
        **_lives(entry),
        "listed_in": listed_in(entry.channel, shard_of(entry.message.id)),
        "listed_at": listed_at(to_ms(entry.entered_at), entry.nonce),
    }
    return Put(entry_key(entry.place), item, condition(RouteGuard.ENTER, Asked(now=now)))


def settle(before: Entry, after: Entry) -> Update:
    """Return the write that changes a message, as read."""
    moved = fields.write(_MOVING, after)
    was = fields.write(_MOVING, before)
    return Update(
        entry_key(before.place),
        {**moved, **_lives(after)},
        tuple(was.keys() - moved.keys()),
        condition=condition(RouteGuard.SETTLE, Asked(before.stamp)),
    )


def claim(entry: Entry, name: str, text: str, now: datetime) -> Put:
    """Return the write that lets a message be the first to give a text to a repeat filter."""
    return marks.write(repeat(entry, name, text, now), 0, now=now)


def repeat(entry: Entry, name: str, text: str, now: datetime) -> Once:
    """Return what makes a message pass a repeat filter once."""
    return Once(f"{REPEAT} {name}", text, entry.nonce, entry.expires_at - now)


def is_repeat(store: Table, once: Once, now: datetime) -> bool:
    """Say whether another message has given that text to a repeat filter."""
    mark = marks.read(store, once, now=now)
    return mark is not None and mark.fingerprint != once.fingerprint


def change_group(before: Group | None, after: Group) -> Put:
    """Return the write that adds to a group, as read."""
    return Put(
        group_key(after.aggregator, after.correlation_key),
        fields.write(_GROUP, after) | {"stamp": after.stamp},
        _as_read(before),
    )


def close_group(before: Group | None, after: Group) -> list[Write]:
    """Return the writes that close a group, as read; the first one is guarded."""
    assert after.closed_at is not None
    kept_until = to_ms(after.closed_at + CLOSED_KEPT) // 1000
    item = fields.write(_GROUP, after) | {"expires_at": kept_until}
    return [
        Delete(group_key(after.aggregator, after.correlation_key), _as_read(before)),
        Put(group_key(after.aggregator, after.correlation_key, after.id), item),
    ]


def commit(store: Table, writes: Sequence[Write], token: str) -> int | None:
    """Write all or nothing; return which write was refused first, None if none was."""
    first = writes[0]
    if len(writes) == 1 and isinstance(first, Put | Update | Delete):
        return 0 if isinstance(store.write(first), Refused) else None
    outcome = store.transact(writes, token)
    return outcome.index if isinstance(outcome, Refused) else None


def _as_read(group: Group | None) -> Condition:
    return condition(RouteGuard.GROUP, Asked(None if group is None else group.stamp))


def _lives(entry: Entry) -> Item:
    until = to_ms(entry.expires_at)
    return {"stamp": entry.stamp, "until": until, "expires_at": until // 1000 + 1}


def _alive(entry: Entry, now: datetime) -> Entry | None:
    return entry if entry.expires_at > now else None


def _key(pk: str, sk: str) -> ItemKey:
    return ItemKey(LIVE, pk, sk)
