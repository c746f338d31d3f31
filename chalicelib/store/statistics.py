"""Counts over many instances, off their roots: a bounded number of them, the newest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from chalicelib.engine.state import InstanceState, Root
from chalicelib.ports import Table
from chalicelib.store import lists, table
from chalicelib.store.lists import Entry

BATCH = 100  # roots in memory at a time: BatchGetItem's own bound


@dataclass(slots=True)
class InstanceCounts:
    """How many instances of a definition are in each state.

    Shapes: `failed` are those of which a token at the top is stuck; `with_incident` those with an
        open incident at the top, whatever their state.
    """

    total: int = 0
    active: int = 0
    completed: int = 0
    terminated: int = 0
    failed: int = 0
    with_incident: int = 0

    def add(self, root: Root) -> None:
        """Count one more."""
        self.total += 1
        match root.state:
            case InstanceState.ACTIVE if root.is_stuck:
                self.failed += 1
            case InstanceState.ACTIVE:
                self.active += 1
            case InstanceState.COMPLETED:
                self.completed += 1
            case InstanceState.TERMINATING | InstanceState.TERMINATED:
                self.terminated += 1
        top = (element for element in root.live.values() if element.scope == root.key)
        self.with_incident += any(element.incident is not None for element in top)


def count_elements(
    store: Table, definition_key: int, looks_max: int
) -> tuple[Counter[str], Counter[str], bool]:
    """Count the tokens, and the incidents, at each element in the open instances of a definition.

    Returns the two counts, and whether there are instances that were not looked at.
    """
    entries, is_floor = lists.newest(store, table.OPEN, looks_max)
    own = [entry for entry in entries if entry.definition_key in (0, definition_key)]
    active: Counter[str] = Counter()
    incidents: Counter[str] = Counter()
    for root in _roots(store, own):
        if root.definition_key != definition_key:
            continue  # a part of a body, of another definition
        live = root.live.values()
        around = _bodies(root)
        counted = (each for each in live if not (each.is_listening or each.loop))
        ids = (each.element_id for each in counted if each.key not in around)
        active.update(id_ for id_ in ids if id_ != root.bpmn_process_id)  # that is no element
        incidents.update(element.element_id for element in live if element.incident is not None)
    return active, incidents, is_floor


def _bodies(root: Root) -> set[int]:
    """Return the keys of the live bodies: of many, and of rounds, one of which has the token."""
    live = root.live
    rounds = (each for each in live.values() if each.scope in live)
    around = (each.scope for each in rounds if live[each.scope].element_id == each.element_id)
    return {*root.bodies, *around}


def count_instances(
    store: Table, definition_keys: frozenset[int], looks_max: int
) -> tuple[dict[int, InstanceCounts], bool]:
    """Count the instances of definitions by state, and say whether some were not looked at."""
    entries, is_floor = lists.newest(store, table.LISTED, looks_max)
    own = [entry for entry in entries if entry.definition_key in definition_keys]
    counts: dict[int, InstanceCounts] = {}
    for root in _roots(store, own):
        counts.setdefault(root.definition_key, InstanceCounts()).add(root)
    return counts, is_floor


def _roots(store: Table, entries: list[Entry]) -> Iterator[Root]:
    rest = iter(entries)
    while batch := list(islice(rest, BATCH)):
        yield from lists.roots(store, batch)
