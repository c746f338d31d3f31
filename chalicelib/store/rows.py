"""The history of an instance as rows: one per element entered and per sequence flow taken.

Turns store what changed; a row's snapshot of the variables is folded from the changes before it.
The history is read twice, first for the rows and then for the snapshots of those on the page, so
that no more than one snapshot of each scope is in memory.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from chalicelib.engine.turn import Changed, Entered, Left, Taken, Terminated
from chalicelib.json_text import JsonObject
from chalicelib.ports import Table
from chalicelib.store import history
from chalicelib.store.lists import Cut, Listed
from chalicelib.store.moments import from_ms


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """An element that was entered, or a sequence flow that was taken.

    Shapes: `element_id` is the flow's id for a flow; `inputs` are the variables it saw, before
        input mappings; `outputs` what its output mappings handed on.
    """

    key: int
    element_id: str
    scope: int | None
    created_at: datetime
    is_flow: bool = False
    ended_at: datetime | None = None
    was_terminated: bool = False
    inputs: JsonObject | None = None
    outputs: JsonObject | None = None


def list_history(store: Table, instance_key: int, cut: Cut) -> Listed[HistoryRow]:
    """Return a page of an instance's history, the newest first unless ascending is asked for."""
    rows = list(_rows(store, instance_key).values())
    if not cut.ascending:
        rows.reverse()
    page = rows[cut.first : cut.first + cut.size]
    return Listed(_with_inputs(store, instance_key, page), len(rows))


def _rows(store: Table, instance_key: int) -> dict[int, HistoryRow]:
    rows: dict[int, HistoryRow] = {}
    for at_ms, event in history.events(store, instance_key):
        at = from_ms(at_ms)
        match event:
            case Entered(key, element_id, scope):
                rows[key] = HistoryRow(key, element_id, scope, at)
            case Taken(key, flow_id):
                rows[key] = HistoryRow(key, flow_id, None, at, is_flow=True, ended_at=at)
            case Left(key, outputs):
                rows[key] = replace(rows[key], ended_at=at, outputs=outputs)
            case Terminated(key):
                rows[key] = replace(rows[key], ended_at=at, was_terminated=True)
            case Changed():
                pass
    return rows


def _with_inputs(store: Table, instance_key: int, page: Sequence[HistoryRow]) -> list[HistoryRow]:
    wanted = {row.key for row in page if not row.is_flow}
    inputs = dict(_snapshots(store, instance_key, wanted)) if wanted else {}
    return [replace(row, inputs=inputs.get(row.key, {})) for row in page]


def _snapshots(
    store: Table, instance_key: int, wanted: set[int]
) -> Iterator[tuple[int, JsonObject]]:
    """Yield what each element saw when it was entered: its scope's variables and those around."""
    values: dict[int, JsonObject] = {instance_key: {}}
    around: dict[int, int] = {}
    for _, event in history.events(store, instance_key):
        match event:
            case Entered(key, _, scope):
                around[key] = scope
                if key in wanted:
                    yield key, dict(ChainMap(*(values.get(s, {}) for s in _scopes(scope, around))))
            case Changed(scope, changed, removed):
                kept = {name: v for name, v in values.get(scope, {}).items() if name not in removed}
                values[scope] = kept | changed
            case Left(key) | Terminated(key):
                values.pop(key, None)


def _scopes(scope: int, around: dict[int, int]) -> Iterator[int]:
    """Yield a scope and those around it, outwards."""
    yield scope
    while scope in around:
        scope = around[scope]
        yield scope
