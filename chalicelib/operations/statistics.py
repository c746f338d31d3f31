"""Statistics: how many tokens are at each element, and how many instances in each state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chalicelib.engine.state import Instance
from chalicelib.operations import definitions, scopes
from chalicelib.operations.definitions import WantedDefinitions
from chalicelib.ports import Ports
from chalicelib.store import rows, statistics
from chalicelib.store.definitions import DefinitionInfo
from chalicelib.store.lists import LIST_MAX, Cut, Listed
from chalicelib.store.statistics import InstanceCounts


@dataclass(slots=True)
class ElementCounts:
    """What happened at one element.

    Shapes: `active` counts tokens that are there, those that an incident stopped as well.
    """

    active: int = 0
    incidents: int = 0
    completed: int = 0
    terminated: int = 0


@dataclass(frozen=True, slots=True)
class Elements:
    """The counts by element id.

    Shapes: `is_floor` says that not all instances were looked at.
    """

    counts: Mapping[str, ElementCounts]
    is_floor: bool = False


@dataclass(frozen=True, slots=True)
class DefinitionCounts:
    """A definition, and how many instances of it there are."""

    definition: DefinitionInfo
    instances: InstanceCounts = field(default_factory=InstanceCounts)


DEFINITION_ORDERS: Mapping[str, Callable[[DefinitionCounts], Any]] = {
    "key": lambda counted: counted.definition.key,
    "name": lambda counted: (counted.definition.name or "", counted.definition.key),
    "bpmn_process_id": lambda counted: (
        counted.definition.bpmn_process_id,
        counted.definition.key,
    ),
    "version": lambda counted: (counted.definition.version, counted.definition.key),
    "instances": lambda counted: (counted.instances.total, counted.definition.key),
    "incidents": lambda counted: (counted.instances.with_incident, counted.definition.key),
}


def get_process_definition_element_statistics(ports: Ports, key: int) -> Elements:
    """Count what is at each element in the open instances of a definition.

    Raises: Rejected(NOT_FOUND).
    """
    definitions.require(ports, key)
    active, incidents, is_floor = statistics.count_elements(ports.table, key, LIST_MAX)
    ids = sorted(active | incidents)
    counts = {id_: ElementCounts(active[id_], incidents[id_]) for id_ in ids}
    return Elements(counts, is_floor=is_floor)


def get_process_instance_element_statistics(ports: Ports, key: int) -> Elements:
    """Count what is and was at each element of an instance, or directly in one scope of it, also in
    the instances that do parts of its multi-instance bodies.

    Raises: Rejected(NOT_FOUND).
    """
    found = scopes.require(ports, key)
    parts, is_floor = scopes.parts(ports, found)
    counts: dict[str, ElementCounts] = {}
    _count(ports, found.instance, found.scope, counts)
    for part in parts:
        _count(ports, part, None if found.scope is None else part.key, counts)
    return Elements(counts, is_floor=is_floor)


def _count(
    ports: Ports, instance: Instance, scope: int | None, counts: dict[str, ElementCounts]
) -> None:
    """Count what is and was at each element of an instance, or directly in one scope of it."""
    for row in rows.element_rows(ports.table, instance.key).values():
        if row.is_flow or row.is_body or scope not in (None, row.scope):
            continue
        count = counts.setdefault(row.element_id, ElementCounts())
        if row.ended_at is None:
            count.active += 1
        elif row.was_terminated:
            count.terminated += 1
        else:
            count.completed += 1
    root = instance.root
    for element in root.live.values() if scope is None else root.inside(scope):
        if element.incident is not None:
            counts.setdefault(element.element_id, ElementCounts()).incidents += 1


def get_process_definition_statistics(
    ports: Ports, wanted: WantedDefinitions, cut: Cut
) -> Listed[DefinitionCounts]:
    """Return a page of definitions with the numbers of their instances in each state."""
    found = definitions.find_all(ports, wanted)
    keys = frozenset(info.key for info in found)
    counts, is_floor = statistics.count_instances(ports.table, keys, cut.looks_max)
    counted = [DefinitionCounts(info, counts.get(info.key, InstanceCounts())) for info in found]
    counted.sort(key=DEFINITION_ORDERS[cut.sort_by], reverse=not cut.ascending)
    return cut.page_of(counted, is_floor=is_floor)
