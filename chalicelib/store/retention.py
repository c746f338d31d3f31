"""When the items of an ended instance may go: with a retention, counted from its end.

The root is the last that is given its time to live, so one that has none says that others may have
none either: somebody was interrupted, or never told.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from chalicelib.engine.keys import first_key
from chalicelib.engine.state import Root
from chalicelib.ports import HISTORY, LIVE, Equals, Item, ItemKey, Query, Table, Update
from chalicelib.store import reading, table
from chalicelib.store.moments import to_ms

RETENTION_MIN = timedelta(days=15)  # longer than any message lives (SQS keeps them 14 days)
RETIRE_AGE = timedelta(minutes=5)  # since the end; the command comes after five seconds


def expires_at(root: Root) -> int | None:
    """Return when an ended instance's items may go, in epoch seconds; None to keep them."""
    if root.ended_at is None or root.time_to_live is None:
        return None
    return counted_from(root.ended_at, root.time_to_live)


def counted_from(moment: datetime, time_to_live: timedelta) -> int:
    """Return when what ended then may go, in epoch seconds."""
    return to_ms(moment + max(time_to_live, RETENTION_MIN)) // 1000


def is_due(item: Item, root: Root, now: datetime) -> bool:
    """Say whether somebody should have given an instance, whose root's item this is, its time to
    live."""
    is_owed = "expires_at" not in item and expires_at(root) is not None
    return is_owed and root.ended_at is not None and root.ended_at < now - RETIRE_AGE


def expire(store: Table, root: Root) -> Iterator[ItemKey]:
    """Give each item of an instance its time to live, the root the last; yield those that had none
    or another."""
    at = expires_at(root)
    if at is None:
        return
    for place, item in _items(store, root):
        if item.get("expires_at") != at:
            # Conditioned, so that an item that went meanwhile does not come back as a stump.
            store.write(Update(place, {"expires_at": at}, condition=(Equals("sk", place.sk),)))
            yield place


def _items(store: Table, root: Root) -> Iterator[tuple[ItemKey, Item]]:
    last = []
    for name in (LIVE, HISTORY):
        for item in reading.every(store, Query(name, table.instance_pk(root.key))):
            found = ItemKey(name, str(item["pk"]), str(item["sk"])), item
            if item["sk"] == table.ROOT:
                last.append(found)
            else:
                yield found
    for block in root.blocks:
        place = table.root_key(first_key(block))
        alias = store.get(place)
        if alias is not None and "alias_of" in alias:
            yield place, alias
    yield from last
