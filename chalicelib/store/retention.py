"""When the items of an ended instance may go: with a retention, counted from its end.

A part of a multi-instance body is an instance that nobody was told of, so it goes with the one that
it is a part of, counted from that one's end.

The root is the last that is given its time to live, so one that has none says that others may have
none either: somebody was interrupted, or never told.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from chalicelib.engine.keys import first_key
from chalicelib.engine.state import Root
from chalicelib.ports import HISTORY, LIVE, Equals, Item, ItemKey, Query, Table, Update
from chalicelib.store import items, reading, table
from chalicelib.store.moments import to_ms

RETENTION_MIN = timedelta(days=15)  # longer than any message lives (SQS keeps them 14 days)
RETIRE_AGE = timedelta(minutes=5)  # since the end; the command comes after five seconds
RETIRE_PART_AGE = timedelta(days=1)  # since the whole's: it tells thousands, who take seconds each


def expires_at(root: Root) -> int | None:
    """Return when the items of an instance may go that is no part, in epoch seconds, once it has
    ended; None to keep them."""
    return None if root.is_part else _counted(root)


def expires_at_with_whole(store: Table, root: Root) -> int | None:
    """Return when the items of an instance may go, be it a part or not; None to keep them."""
    return _counted(_whole(store, root))


def _counted(root: Root) -> int | None:
    if root.ended_at is None or root.time_to_live is None:
        return None
    return counted_from(root.ended_at, root.time_to_live)


def counted_from(moment: datetime, time_to_live: timedelta) -> int:
    """Return when what ended then may go, in epoch seconds."""
    return to_ms(moment + max(time_to_live, RETENTION_MIN)) // 1000


def is_due(store: Table, item: Item, root: Root, now: datetime) -> bool:
    """Say whether somebody should have given an instance, whose root's item this is, its time to
    live."""
    if "expires_at" in item or _counted(root) is None:
        return False
    ended_at = _whole(store, root).ended_at
    age = RETIRE_PART_AGE if root.is_part else RETIRE_AGE
    return ended_at is not None and ended_at < now - age


def _whole(store: Table, root: Root) -> Root:
    """Return the instance that one is a part of, or a part of a part; itself if it is none.

    Where that has gone already, so may they: then it is the one that is left.
    """
    while root.parent is not None and root.is_part:
        item = store.get(table.root_key(root.parent.instance_key))
        if item is None:
            break
        root = items.to_root(item)
    return root


def left(store: Table, root: Root, at: int) -> Iterator[tuple[ItemKey, Item]]:
    """Yield the items of an instance that have another time to live or none, the root the last."""
    return ((place, item) for place, item in _items(store, root) if item.get("expires_at") != at)


def give(store: Table, place: ItemKey, at: int) -> None:
    """Give an item its time to live; one that went meanwhile does not come back as a stump."""
    store.write(Update(place, {"expires_at": at}, condition=(Equals("sk", place.sk),)))


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
