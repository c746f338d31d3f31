"""Deleting a version of a DMN file: its decisions are those of the latest file that has them still.

As with processes the definition is marked and keeps what it is, for the decisions that it made;
the mark and the moves of all pointers are one transaction, each as it was read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from chalicelib.errors import Conflict, TooLarge
from chalicelib.ports import (
    Absent,
    Check,
    Delete,
    Equals,
    Item,
    ItemKey,
    Put,
    Refused,
    Table,
    Update,
    Write,
)
from chalicelib.store import dmn_definitions, latest, table
from chalicelib.store.definitions import DELETED, RACES_MAX
from chalicelib.store.dmn_definitions import DmnDefinitionInfo, pointers, resource_key
from chalicelib.store.moments import to_ms

WRITES_MAX = 100  # of one transaction (DynamoDB)


def delete(store: Table, key: int, *, now: datetime, token: str) -> bool:
    """Delete a version; say whether it was there. `token` is a fresh random id.

    Raises: TooLarge if its decisions go to more files than one transaction can check; Conflict.
    """
    for race in range(RACES_MAX):
        info = dmn_definitions.current_info(store, key)
        if info is None:
            return False
        others = [
            each
            for each in dmn_definitions.list_all(store)
            if each.profile is info.profile and each.key != key
        ]
        writes = _writes(store, info, others, now)
        if not isinstance(store.transact(writes, f"{token[:30]}-{race}"), Refused):
            return True
    raise Conflict(f"DMN definition {key} was changed by others {RACES_MAX} times")


def _writes(
    store: Table, info: DmnDefinitionInfo, others: Sequence[DmnDefinitionInfo], now: datetime
) -> list[Write]:
    """Return what marks a version, and moves what names it. Raises: TooLarge."""
    place = _place(info)
    writes: list[Write] = [Update(place, set={DELETED: to_ms(now)}, condition=_is_there(info))]
    heirs: dict[int, DmnDefinitionInfo] = {}
    own = [each for each in others if each.resource_id == info.resource_id]
    pointer = latest.read(store, resource_key(info))
    if pointer.definition_key != info.key:
        writes.append(Check(resource_key(info), latest.as_read(pointer)))
    else:
        moved = latest.moved_back(pointer)
        if own:
            heirs[own[-1].key] = own[-1]
            moved = latest.moved_back(pointer, own[-1].key, own[-1].version)
        writes.append(Put(resource_key(info), latest.attributes(moved), latest.as_read(pointer)))
    for each, heir in _handed_over(store, info, others):
        mine = (Equals(latest.KEY, info.key),)
        if heir is None:
            writes.append(Delete(each, mine))
        else:
            named: Item = {latest.KEY: heir.key, latest.VERSION: heir.version}
            writes.append(Put(each, named, mine))
            heirs[heir.key] = heir
    writes += [Check(_place(heir), _is_there(heir)) for heir in heirs.values()]
    if len(writes) > WRITES_MAX:
        raise TooLarge(
            f"DMN definition {info.key}: expected at most {WRITES_MAX} decisions, version tags "
            f"and files that have them otherwise, found {len(writes)}"
        )
    return writes


def _handed_over(
    store: Table, info: DmnDefinitionInfo, others: Sequence[DmnDefinitionInfo]
) -> Iterator[tuple[ItemKey, DmnDefinitionInfo | None]]:
    """Yield the pointers of decisions and tags that name a definition, and whom they go to."""
    mine = list(pointers(info))
    found = store.get_many(mine)
    for place in mine:
        if place in found and latest.of_item(found[place]).definition_key == info.key:
            heirs = [other for other in others if place in set(pointers(other))]
            yield place, heirs[-1] if heirs else None


def _place(info: DmnDefinitionInfo) -> ItemKey:
    return table.definition_key(info.key, table.DMN_DEFINITIONS)


def _is_there(info: DmnDefinitionInfo) -> tuple[Equals, Absent]:
    return Equals("fingerprint", info.fingerprint), Absent(DELETED)
