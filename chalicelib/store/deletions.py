"""Deleting a version of a process: it starts nothing any more, and what runs of it goes on.

A deleted definition keeps its item and its model, for its instances and for their history; it is
marked, and found by its key from inside alone. The mark and the move of the *latest* pointer are
one transaction: each rests on the other as it was read, so of two deletions at once none leaves a
pointer at a version that is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from chalicelib.engine.start_timers import StartTimer
from chalicelib.errors import Conflict
from chalicelib.ports import Absent, Check, Delete, Equals, Put, Refused, Table, Update, Write
from chalicelib.store import definitions, latest, start_timers, table
from chalicelib.store.definitions import RACES_MAX, DefinitionInfo
from chalicelib.store.moments import to_ms

# Asked for the timers of a version that becomes the latest again, under the pointer's generation.
Succeed = Callable[[DefinitionInfo, int], Mapping[str, StartTimer]]


def delete(store: Table, key: int, *, now: datetime, token: str, succeed: Succeed) -> bool:
    """Delete a version; say whether it was there. `token` is a fresh random id.

    Raises: Conflict.
    """
    for race in range(RACES_MAX):
        info = definitions.current_info(store, key)
        if info is None:
            return False
        writes = [*_own_writes(info, now), *_pointer_writes(store, info, succeed)]
        if not isinstance(store.transact(writes, f"{token[:30]}-{race}"), Refused):
            definitions.forget(store, key)
            return True
    raise Conflict(f"process definition {key} was changed by others {RACES_MAX} times")


def _own_writes(info: DefinitionInfo, now: datetime) -> list[Write]:
    """Return what marks a version as deleted, and frees its tag."""
    mark = {definitions.DELETED: to_ms(now)}
    writes: list[Write] = [
        Update(table.definition_key(info.key), set=mark, condition=_is_there(info))
    ]
    if info.version_tag is not None:
        mine = (Equals(latest.KEY, info.key),)
        writes.append(Delete(definitions.tag_key(info), mine))
    return writes


def _pointer_writes(store: Table, info: DefinitionInfo, succeed: Succeed) -> list[Write]:
    """Return what moves the pointer back, if it names this version; else that it does not."""
    place = table.latest_key(info.profile.value, info.bpmn_process_id)
    found = latest.read(store, place)
    if found.definition_key != info.key:
        return [Check(place, latest.as_read(found))]
    before = _before(store, info)
    if before is None:
        emptied = latest.attributes(latest.moved_back(found))
        return [Put(place, emptied, latest.as_read(found))]
    moved = latest.moved_back(found, before.key, before.version)
    timers = succeed(before, moved.generation)
    item = {**latest.attributes(moved), **start_timers.attributes(timers, moved)}
    return [
        Put(place, item, latest.as_read(found)),
        Check(table.definition_key(before.key), _is_there(before)),
    ]


def _before(store: Table, info: DefinitionInfo) -> DefinitionInfo | None:
    """Return the version that is the latest without this one."""
    identity = (info.bpmn_process_id, info.profile)
    others = [
        each
        for each in definitions.list_all(store)
        if (each.bpmn_process_id, each.profile) == identity and each.key != info.key
    ]
    return others[-1] if others else None


def _is_there(info: DefinitionInfo) -> tuple[Equals, Absent]:
    return Equals("xml_key", info.xml_key), Absent(definitions.DELETED)
