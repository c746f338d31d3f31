"""When the items of an ended instance may go: with a retention, counted from its end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from chalicelib.engine.keys import first_key
from chalicelib.engine.state import Root
from chalicelib.ports import HISTORY, LIVE, Equals, Item, ItemKey, Query, Table, Update
from chalicelib.store import reading, table
from chalicelib.store.moments import to_ms

RETENTION_MIN = timedelta(days=15)  # longer than any message lives (SQS keeps them 14 days)


def expires_at(root: Root) -> int | None:
    """Return when an ended instance's items may go, in epoch seconds; None to keep them."""
    if root.ended_at is None or root.time_to_live is None:
        return None
    return counted_from(root.ended_at, root.time_to_live)


def counted_from(moment: datetime, time_to_live: timedelta) -> int:
    """Return when what ended then may go, in epoch seconds."""
    return to_ms(moment + max(time_to_live, RETENTION_MIN)) // 1000


def expire(store: Table, root: Root) -> Iterator[ItemKey]:
    """Give each item of an instance its time to live; yield those that had none or another."""
    at = expires_at(root)
    if at is None:
        return
    for place, item in _items(store, root):
        if item.get("expires_at") != at:
            # Conditioned, so that an item that went meanwhile does not come back as a stump.
            store.write(Update(place, {"expires_at": at}, condition=(Equals("sk", place.sk),)))
            yield place


def _items(store: Table, root: Root) -> Iterator[tuple[ItemKey, Item]]:
    for name in (LIVE, HISTORY):
        for item in reading.every(store, Query(name, table.instance_pk(root.key))):
            yield ItemKey(name, str(item["pk"]), str(item["sk"])), item
    for block in root.blocks:
        place = table.root_key(first_key(block))
        alias = store.get(place)
        if alias is not None and "alias_of" in alias:
            yield place, alias
