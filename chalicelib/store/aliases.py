"""Which instance a key belongs to: by arithmetic, or by the alias of a further block."""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.engine.keys import block_of, first_key
from chalicelib.ports import Table
from chalicelib.store import table


def own(key: int) -> int:
    """Return the instance a key belongs to if its block is that instance's first."""
    return first_key(block_of(key))


def instances_of(store: Table, keys: Iterable[int]) -> dict[int, int]:
    """Return the instance of each key that belongs to one."""
    places = {key: table.root_key(key) for key in keys}
    found = store.get_many(list(set(places.values())))
    return {
        key: int(str(found[place].get("alias_of", own(key))))
        for key, place in places.items()
        if place in found
    }
