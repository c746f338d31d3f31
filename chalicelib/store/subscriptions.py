"""Who waits for a message or a signal: subscriptions a second time, under what they wait for.

An entry is written and deleted in the transactions of the turns that make and end the
subscription, so whoever finds one may ask its instance, and whoever finds none knows that nobody
waits. Entries of a message are one partition, oldest first; those of a signal are spread over
shards by instance, for there may be very many.

Processes that a name may start stand there by their ids: which definition that is, and whether it
still waits for the name, the *latest* pointer says (design section 7).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from chalicelib.bpmn.model import EventType
from chalicelib.engine.guards import Guard
from chalicelib.engine.keys import block_of
from chalicelib.engine.state import Instance, Record, RecordKey, StartLock, Subscription, Waited
from chalicelib.engine.turn import Turn
from chalicelib.ports import LIVE, Check, Delete, Item, ItemKey, Put, Query, Table, Write
from chalicelib.profile import Profile
from chalicelib.store import names, reading, table
from chalicelib.store.conditions import Asked, condition
from chalicelib.store.moments import from_ms, to_ms

ANY_NAME = ""  # what a condition goes by: all processes that wait for one stand together
NOTHING: Mapping[RecordKey, Record] = {}


class Entry(NamedTuple):
    """A subscription as whoever publishes finds it; its instance is read off its key."""

    subscription: int
    bpmn_process_id: str


class Waiting(NamedTuple):
    """A subscription that waits for a signal, and where it stands."""

    subscription: int
    shard: int
    created_at: datetime


class Starter(NamedTuple):
    """A process that may be started by a name."""

    profile: Profile
    bpmn_process_id: str


def entries(turn: Turn) -> Iterator[tuple[Write, Item]]:
    """Yield the writes of a turn under what is waited for, with the items as they will be.

    A name that a turn frees and takes again is one write.
    """
    old = dict(_changed(turn.before, turn.after))
    for place, item in _changed(turn.after, turn.before):
        earlier = old.pop(place, None)
        holder = None if earlier is None else int(str(earlier["subscription"]))
        demanded = condition(Guard.NAME, None, Asked(holder=holder))
        yield Put(place, item, demanded), item
    for place in old:
        yield Delete(place), {}


def lock_write(turn: Turn) -> tuple[Write, Item] | None:
    """Return the write of a turn that takes or gives back what its instance runs for alone."""
    root, is_new = turn.after.root, turn.before is None
    has_ended = root.ended_at is not None
    if root.start_lock is None or (not is_new and not has_ended):
        return None
    place = names.start_lock_key(root.start_lock.place)
    free = condition(Guard.START_LOCK, None)
    if is_new and has_ended:
        return Check(place, free), {}
    item: Item = {"holder": root.key}
    return (Put(place, item, free), item) if is_new else (Delete(place), {})


def is_locked(store: Table, lock: StartLock) -> bool:
    """Say whether an instance runs that has a start lock."""
    return store.get(names.start_lock_key(lock.place)) is not None


def holders(store: Table, waited: Iterable[Waited]) -> dict[Waited, int]:
    """Return who waits alone for messages: the subscription's key, 0 for nobody."""
    places = {ItemKey(LIVE, names.message_pk(*each), names.ALONE): each for each in waited}
    found = store.get_many(list(places))
    return {
        each: int(str(found[place]["subscription"])) if place in found else 0
        for place, each in places.items()
    }


def waiting(store: Table, name: str, key: str) -> Iterator[Entry]:
    """Yield who waits for a message: who waits alone first, then the oldest; consistently."""
    first, last = names.ALONE, table.after(names.WAITING)
    query = Query(LIVE, names.message_pk(name, key), first=first, last=last)
    yield from map(_entry, reading.every(store, query))


def signalled(store: Table, name: str, shard: int, after: int, limit: int) -> list[Waiting]:
    """Return who waits for a signal in one shard, behind a subscription's key, consistently."""
    first, last = names.waiting_sk(after + 1), table.after(names.WAITING)
    query = Query(LIVE, names.signal_pk(name, shard), first=first, last=last, limit=limit)
    return [
        Waiting(int(str(item["subscription"])), shard, from_ms(int(str(item["created_at"]))))
        for item in islice(reading.every(store, query), limit)
    ]


def starters(store: Table, kind: EventType, name: str) -> list[Starter]:
    """Return the processes that a message or signal may start."""
    query = Query(LIVE, names.starters_pk(kind.value, name))
    return [
        Starter(Profile(str(item["profile"])), str(item["bpmn_process_id"]))
        for item in reading.every(store, query)
    ]


def put_starter(store: Table, kind: EventType, name: str, starter: Starter) -> None:
    """Note that a process may be started by a name; it stays noted, whatever comes later."""
    profile, process_id = starter
    place = ItemKey(LIVE, names.starters_pk(kind.value, name), f"{profile.value}#{process_id}")
    store.write(Put(place, {"profile": profile.value, "bpmn_process_id": process_id}))


def _changed(one: Instance | None, other: Instance | None) -> Iterator[tuple[ItemKey, Item]]:
    """Yield the entries that the first has and the other has not."""
    if one is None:
        return
    known = other.records if other else NOTHING
    for key, record in one.records.items():
        if key.type is Subscription and isinstance(record, Subscription) and key not in known:
            yield (
                _place(record),
                {
                    "subscription": record.key,
                    "bpmn_process_id": one.root.bpmn_process_id,
                    "created_at": to_ms(record.created_at),
                },
            )


def _place(record: Subscription) -> ItemKey:
    if record.kind is EventType.SIGNAL:
        shard = block_of(record.instance_key) % names.SIGNAL_SHARDS
        return ItemKey(LIVE, names.signal_pk(record.name, shard), names.waiting_sk(record.key))
    sk = names.ALONE if record.is_unique else names.waiting_sk(record.key)
    return ItemKey(LIVE, names.message_pk(record.name, record.correlation_key or ""), sk)


def _entry(item: Item) -> Entry:
    return Entry(int(str(item["subscription"])), str(item["bpmn_process_id"]))
