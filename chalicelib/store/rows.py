"""The history of an instance as rows: of elements and flows, scopes, timers and messages.

Turns store what changed; a row's snapshot of the variables is folded from the changes before it.
The history is read twice, first for the rows and then for the snapshots of those on the page, so
that no more than one snapshot of each scope is in memory.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from chalicelib.engine.turn import (
    Armed,
    Changed,
    ChildCalled,
    Disarmed,
    Entered,
    Iterated,
    Left,
    Subscribed,
    Taken,
    Terminated,
    Unsubscribed,
)
from chalicelib.json_text import JsonObject
from chalicelib.ports import Table
from chalicelib.store import history
from chalicelib.store.lists import Cut, Listed
from chalicelib.store.moments import from_ms


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """An element that was entered, or a sequence flow that was taken.

    Shapes: `element_id` is the flow's id for a flow; `scope` the element instance, or the instance
        itself, that it happened in; `inputs` are the variables it saw, before
        input mappings; `outputs` what its output mappings handed on; what `is_body` was done for
        many, each of which has a row of its own.
    """

    key: int
    element_id: str
    scope: int
    created_at: datetime
    is_flow: bool = False
    ended_at: datetime | None = None
    was_terminated: bool = False
    inputs: JsonObject | None = None
    outputs: JsonObject | None = None
    is_body: bool = False


@dataclass(frozen=True, slots=True)
class ScopeRow:
    """A subprocess or multi-instance activity that was entered, with its variables as they are,
    or were at its end.

    Shapes: `is_iteration` says that it is one of many, within the body that is its scope.
    """

    key: int
    element_id: str
    scope: int
    created_at: datetime
    ended_at: datetime | None = None
    was_terminated: bool = False
    variables: JsonObject = field(default_factory=dict)
    is_iteration: bool = False


@dataclass(frozen=True, slots=True)
class TimerRow:
    """A timer that was set: it waits still, has fired, or was withdrawn.

    Shapes: `element_id` is the event, `element_key` the element instance it waits for.
    """

    key: int
    element_id: str
    element_key: int
    scope: int
    created_at: datetime
    due: datetime
    fired: bool | None = None  # None: it waits


@dataclass(frozen=True, slots=True)
class MessageRow:
    """A message that an event waited for: it waits still, the message came, or it was withdrawn.

    Shapes: `element_id` is the event, `element_key` the element instance it waits for.
    """

    key: int
    element_id: str
    element_key: int
    scope: int
    created_at: datetime
    name: str
    correlation_key: str
    came: bool | None = None  # None: it waits


def list_history(
    store: Table, instance_key: int, cut: Cut, scope: int | None = None
) -> Listed[HistoryRow]:
    """Return a page of an instance's history, the newest first unless ascending is asked for.

    Shapes: with a `scope` only what happened directly in it.
    """
    rows = [row for row in element_rows(store, instance_key).values() if scope in (None, row.scope)]
    if not cut.ascending:
        rows.reverse()
    page = rows[cut.first : cut.first + cut.size]
    return Listed(_with_inputs(store, instance_key, page), len(rows))


def element_rows(store: Table, instance_key: int) -> dict[int, HistoryRow]:
    """Return what happened in an instance by key, in order, without the snapshots."""
    rows: dict[int, HistoryRow] = {}
    bodies: dict[int, int] = {}  # by iteration, whose scope nobody is shown
    for at_ms, event in history.events(store, instance_key):
        at = from_ms(at_ms)
        match event:
            case Entered(key, element_id, scope):
                rows[key] = HistoryRow(key, element_id, bodies.get(scope, scope), at)
            case Iterated(key, body):
                bodies[key] = body
                if body in rows:
                    rows[body] = replace(rows[body], is_body=True)
            case Taken(key, flow_id, scope):
                home = scope or instance_key
                rows[key] = HistoryRow(key, flow_id, home, at, is_flow=True, ended_at=at)
            case Left(key, outputs):
                rows[key] = replace(rows[key], ended_at=at, outputs=outputs)
            case Terminated(key) if key in rows:  # older history tells the end of parts, too
                rows[key] = replace(rows[key], ended_at=at, was_terminated=True)
            case _:
                pass
    return rows


def scope_rows(
    store: Table, instance_key: int, is_scope: Callable[[str, bool], bool]
) -> dict[int, ScopeRow]:
    """Return the elements of an instance that others were in, by key, in order of their start.

    Shapes: `is_scope` is asked of an element id, and whether it is of one iteration of many.
    """
    rows: dict[int, ScopeRow] = {}
    bodies: dict[int, int] = {}
    for at_ms, event in history.events(store, instance_key):
        match event:
            case Iterated(key, body):
                bodies[key] = body
            case Entered(key, element_id, scope) if is_scope(element_id, scope in bodies):
                home, at, is_one = bodies.get(scope, scope), from_ms(at_ms), scope in bodies
                rows[key] = ScopeRow(key, element_id, home, at, is_iteration=is_one)
            case Changed(scope, changed, removed) if scope in rows:
                values = _changed(rows[scope].variables, changed, removed)
                rows[scope] = replace(rows[scope], variables=values)
            case Left(key) | Terminated(key) if key in rows:
                rows[key] = replace(
                    rows[key],
                    ended_at=from_ms(at_ms),
                    was_terminated=isinstance(event, Terminated),
                )
    return rows


def child_rows(store: Table, instance_key: int) -> dict[int, int]:
    """Return the child instances that an instance called, each with the scope it was called in."""
    rows: dict[int, int] = {}
    around: dict[int, int] = {}
    bodies: dict[int, int] = {}
    for _, event in history.events(store, instance_key):
        match event:
            case Entered(key, _, scope):
                around[key] = bodies.get(scope, scope)
            case Iterated(key, body):
                bodies[key] = body
            case ChildCalled(key, element_key):
                rows[key] = bodies.get(element_key) or around[element_key]
    return rows


def timer_rows(store: Table, instance_key: int) -> dict[int, TimerRow]:
    """Return the timers of an instance by key, in the order they were set."""
    rows: dict[int, TimerRow] = {}
    around: dict[int, int] = {}
    for at_ms, event in history.events(store, instance_key):
        match event:
            case Entered(key, _, scope) | Iterated(key, scope) if scope != key:
                around[key] = scope
            case Armed(key, element_id, element_key, due):
                scope = around.get(element_key, instance_key)
                rows[key] = TimerRow(key, element_id, element_key, scope, from_ms(at_ms), due)
            case Disarmed(key, fired) if rows[key].fired is None:
                rows[key] = replace(rows[key], fired=fired)
    return rows


def message_rows(store: Table, instance_key: int) -> dict[int, MessageRow]:
    """Return the messages that an instance waited for, by key, in the order it began to."""
    rows: dict[int, MessageRow] = {}
    around: dict[int, int] = {}
    for at_ms, event in history.events(store, instance_key):
        match event:
            case Entered(key, _, scope) | Iterated(key, scope) if scope != key:
                around[key] = scope
            case Subscribed(key, element_id, element_key, name, str() as correlation_key):
                scope = around.get(element_key, instance_key)
                rows[key] = MessageRow(
                    *(key, element_id, element_key, scope, from_ms(at_ms), name, correlation_key)
                )
            case Unsubscribed(key, came) if key in rows and rows[key].came is None:
                rows[key] = replace(rows[key], came=came)
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
            case Iterated(key, body) if body != key:
                around[key] = body
            case Entered(key, _, scope):
                around[key] = scope
                if key in wanted:
                    yield key, dict(ChainMap(*(values.get(s, {}) for s in _scopes(scope, around))))
            case Changed(scope, changed, removed):
                values[scope] = _changed(values.get(scope, {}), changed, removed)
            case Left(key) | Terminated(key):
                values.pop(key, None)


def _changed(values: JsonObject, changed: JsonObject, removed: tuple[str, ...]) -> JsonObject:
    return {name: v for name, v in values.items() if name not in removed} | changed


def _scopes(scope: int, around: dict[int, int]) -> Iterator[int]:
    """Yield a scope and those around it, outwards."""
    yield scope
    while scope in around:
        scope = around[scope]
        yield scope
