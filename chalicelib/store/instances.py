"""Process instances: loaded root first, committed one turn at a time.

The root is read before its records, so what is read after it is at least as new; if it is newer,
the root moved and the commit fails. The other order, or one batch for all, would lose writes: a
batch is not a snapshot. Design section 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from chalicelib.engine.state import Instance, RecordKey, Root, Variables, key_of
from chalicelib.engine.turn import Turn
from chalicelib.ports import LIVE, Item, Put, Query, Table, Update, Write, Written
from chalicelib.store import items, reading, table
from chalicelib.store.difference import measure, writes

__all__ = [
    "Wanted",
    "commit",
    "is_current",
    "load",
    "measure",
    "of_item",
    "read_more",
    "root_items",
    "root_version",
    "roots",
    "writes",
]

Wanted = Iterable[RecordKey] | None  # None: the whole collection


def load(store: Table, key: int, wanted: Wanted | Callable[[Root], Wanted] = ()) -> Instance | None:
    """Read the instance that a key belongs to, and those of its records that are wanted.

    Shapes: `key` is the instance's own or that of anything in it; `wanted` may depend on the
        root. The top scope's variables come along while they are small.
    """
    item = _root_item(store, key)
    if item is None:
        return None
    instance = of_item(item)
    chosen = wanted(instance.root) if callable(wanted) else wanted
    return _read_all(store, instance) if chosen is None else read_more(store, instance, chosen)


def of_item(item: Item) -> Instance:
    """Read a root's item: the instance, with the top scope's variables while they are small."""
    top = items.inline_variables(item)
    return Instance(items.to_root(item), {key_of(top): top} if top else {})


def read_more(store: Table, instance: Instance, keys: Iterable[RecordKey]) -> Instance:
    """Read further records of an instance; what is not there is named as absent."""
    missing = {key for key in keys if key not in instance.records and key not in instance.absent}
    if not missing:
        return instance
    places = {items.place_of(instance.key, key): key for key in missing}
    found = reading.records(store, places)
    records = {**instance.records, **{places[place]: record for place, record in found.items()}}
    return instance._replace(records=records, absent=instance.absent | (missing - records.keys()))


def is_current(store: Table, instance: Instance) -> bool:
    """Say whether nobody has moved the instance since it was read."""
    item = store.get(table.root_key(instance.key))
    root = instance.root
    return item is not None and (item["version"], item["turn_id"]) == (root.version, root.turn_id)


def root_version(store: Table, key: int) -> int | None:
    """Return how far the instance of a key is, None if there is none."""
    item = _root_item(store, key)
    return None if item is None else int(str(item["version"]))


def roots(store: Table, keys: Iterable[int]) -> dict[int, Root]:
    """Read the roots of instances by their own keys; those that are not there are left out."""
    return {key: items.to_root(item) for key, item in root_items(store, keys).items()}


def root_items(store: Table, keys: Iterable[int]) -> dict[int, Item]:
    """Read the items of roots by the instances' own keys, as far as they are there.

    Where one was called that could not be, its caller has a further block: its alias is no root.
    """
    places = {key: table.root_key(key) for key in keys}
    found = store.get_many(list(places.values()))
    items_by_key = {key: found[place] for key, place in places.items() if place in found}
    return {key: item for key, item in items_by_key.items() if "alias_of" not in item}


def commit(
    store: Table,
    turn: Turn,
    mark: Put | Update | None = None,
    planned: Sequence[Write] | None = None,
) -> bool:
    """Write all that the turn changed, or nothing; what makes its start happen once
    goes with it, if there is such a thing.

    Shapes: `planned` are the turn's writes, if it was measured before.

    Returns False, and writes nothing, if another writer came first. The turn's id is the token
    of the transaction: the same turn committed again is the same write, done once.
    """
    if not turn.changes:
        return mark is None or isinstance(store.write(mark), Written)
    token = turn.after.root.turn_id
    if not token:
        raise ValueError(f"instance {turn.after.key}: expected a turn that was stamped")
    marks = [] if mark is None else [mark]
    own = writes(turn) if planned is None else planned
    return isinstance(store.transact([*own, *marks], token), Written)


def _root_item(store: Table, key: int) -> Item | None:
    item = store.get(table.root_key(key))
    if item is not None and "alias_of" in item:
        return store.get(table.root_key(int(str(item["alias_of"]))))
    return item


def _read_all(store: Table, instance: Instance) -> Instance:
    query = Query(LIVE, table.instance_pk(instance.key))
    records = items.to_records(reading.every(store, query))
    top = RecordKey(Variables, instance.key)
    found = {key_of(record): record for record in records}
    if top in instance.records:
        found[top] = instance.records[top]
    return instance._replace(records=found)
