"""Incidents that wait for an operator, across all instances: off the sparse index of open ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from chalicelib.engine.state import Incident, Root
from chalicelib.ports import Table
from chalicelib.store import aliases, items, lists, reading, table
from chalicelib.store.lists import Cut, Listed


@dataclass(frozen=True, slots=True)
class OpenIncident:
    """An incident, and the root of its instance, which tells the process."""

    incident: Incident
    root: Root


def list_open(store: Table, bpmn_process_id: str | None, cut: Cut) -> Listed[OpenIncident]:
    """Return a page of the open incidents, of one process or of all, the newest first.

    The index may still name one that was resolved a moment ago; it is left out.
    """
    entries, is_floor = lists.newest(store, table.OPEN, cut.looks_max, kind=table.INCIDENTS)
    keys = [entry.key for entry in entries]
    if bpmn_process_id is not None:
        of = _roots_of(store, keys)
        keys = [key for key in keys if key in of and of[key].bpmn_process_id == bpmn_process_id]
    page = keys[cut.first : cut.first + cut.size]
    return Listed(_read(store, page), len(keys), is_floor)


def read(store: Table, key: int) -> Incident | None:
    """Return an incident, open or resolved."""
    home = aliases.instances_of(store, [key]).get(key)
    if home is None:
        return None
    place = table.record_key(home, table.INCIDENT, key)
    record = reading.records(store, [place]).get(place)
    return record if isinstance(record, Incident) else None


def list_marked(
    store: Table, instance_key: int | None, is_marked: bool | None, cut: Cut
) -> Listed[Incident]:
    """Return a page of incidents, the newest first: of an instance, or of all instances.

    Shapes: `is_marked` asks whether they were called resolved or have ended. Those that were not
        are told by the index of open ones; all others are in the newest instances.
    """
    if instance_key is not None:
        home = aliases.instances_of(store, [instance_key]).get(instance_key)
        looked, is_floor = ([] if home is None else lists.incidents_of(store, home)), False
    elif is_marked is False:
        entries, is_floor = lists.newest(store, table.OPEN, cut.looks_max, kind=table.INCIDENTS)
        looked = [found.incident for found in _read(store, [entry.key for entry in entries])]
    else:
        bound = cut.looks_max // lists.QUERY_COSTS
        entries, is_floor = lists.newest(store, table.LISTED, bound)
        looked = [each for entry in entries for each in lists.incidents_of(store, entry.key)]
    found = [each for each in looked if is_marked in (None, _is_marked(each))]
    found.sort(key=lambda each: (each.created_at, each.key), reverse=True)
    return Listed(found[cut.first : cut.first + cut.size], len(found), is_floor)


def _is_marked(incident: Incident) -> bool:
    return incident.acknowledged_at is not None or incident.resolved_at is not None


def _read(store: Table, keys: Sequence[int]) -> list[OpenIncident]:
    of = _roots_of(store, keys)
    places = [table.record_key(of[key].key, table.INCIDENT, key) for key in keys if key in of]
    found = reading.records(store, places) if places else {}
    ordered = (found.get(place) for place in places)
    return [
        OpenIncident(record, of[record.key])
        for record in ordered
        if isinstance(record, Incident) and record.resolved_at is None
    ]


def _roots_of(store: Table, keys: Sequence[int]) -> dict[int, Root]:
    """Return the root of the instance that each key belongs to."""
    homes = aliases.instances_of(store, keys)
    places = {table.root_key(home) for home in homes.values()}
    roots = {root.key: root for root in map(items.to_root, store.get_many(list(places)).values())}
    return {key: roots[home] for key, home in homes.items() if home in roots}
