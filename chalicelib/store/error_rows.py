"""The errors that an instance would catch, or would have: read off its history and its model.

An error is looked for when it is thrown, so nothing is stored for one that is waited for. What
waits follows from what was entered: the error events on an activity, and the event subprocesses
of a scope that errors trigger. It is over when the activity or the scope is, and in a scope also
when an event subprocess interrupts it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from chalicelib.bpmn.model import Element, EventType, Process
from chalicelib.engine.state import Root
from chalicelib.engine.turn import Entered, Iterated, Left, Terminated
from chalicelib.ports import Table
from chalicelib.store import history
from chalicelib.store.moments import from_ms

KEY_BITS = 48  # of an element instance's key: 2^36 instances, and 32 error events on one element


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """An error event that waits, or did.

    Shapes: `key` is that of the element instance it is on, with a number above KEY_BITS for each
        further event there; `element_id` is the event's; `error_code` None catches all.
    """

    key: int
    element_id: str
    element_key: int
    scope: int
    created_at: datetime
    error_code: str | None
    is_open: bool = True


@dataclass(slots=True)
class _Fold:
    """What was found so far.

    Shapes: `on` are the error events of each activity, `inside` those that start event
        subprocesses of each scope, by id; `interrupting` the event subprocesses that end what is
        around them; `rows` by the key of the element instance; `bodies` of each iteration.
    """

    on: Mapping[str, Sequence[Element]]
    inside: Mapping[str, Sequence[Element]]
    interrupting: frozenset[str]
    rows: dict[int, list[ErrorRow]] = field(default_factory=dict)
    bodies: dict[int, int] = field(default_factory=dict)

    def open(self, key: int, scope: int, at: datetime, events: Sequence[Element]) -> None:
        """Let error events of an element instance wait."""
        if not events:
            return
        rows = self.rows.setdefault(key, [])
        for event in events:
            own = key + (len(rows) << KEY_BITS)
            rows.append(ErrorRow(own, event.id, key, scope, at, event.error_code or None))

    def close(self, key: int, but: Sequence[Element] = ()) -> None:
        """Let the error events of an element instance wait no more, but for some."""
        kept = {event.id for event in but}
        self.rows[key] = [
            row if row.element_id in kept else replace(row, is_open=False)
            for row in self.rows.get(key, ())
        ]


def error_rows(store: Table, root: Root, process: Process) -> list[ErrorRow]:
    """Return the errors that an instance waited for, in the order it began to."""
    fold = _fold(process)
    if not fold.on and not fold.inside:
        return []
    if not root.is_part:  # what is around a part of many waits there
        fold.open(root.key, root.key, root.created_at, fold.inside.get(process.id, ()))
    for at_ms, event in history.events(store, root.key):
        match event:
            case Iterated(key, body):
                fold.bodies[key] = body
            case Entered():
                _enter(fold, process.elements[event.element_id], event, from_ms(at_ms))
            case Left(key) | Terminated(key):
                fold.close(key)
    if root.ended_at is not None:
        fold.close(root.key)
    return [row for rows in fold.rows.values() for row in rows]


def _enter(fold: _Fold, element: Element, event: Entered, at: datetime) -> None:
    key, element_id, scope = event
    body = fold.bodies.get(scope)
    if element_id in fold.interrupting:
        around = scope if body is None else body
        fold.close(around, fold.on.get(element.scope, ()))
    if body is None:
        fold.open(key, scope, at, fold.on.get(element_id, ()))
    if body is not None or (element.many is None and element.loop is None):
        fold.open(key, key, at, fold.inside.get(element_id, ()))


def _fold(process: Process) -> _Fold:
    on: dict[str, list[Element]] = {}
    inside: dict[str, list[Element]] = {}
    interrupting: set[str] = set()
    for element in process.elements.values():
        for event_id in element.boundary_events:
            on.setdefault(element.id, []).extend(_errors(process.elements[event_id]))
        if element.triggered_by_event and element.start is not None:
            start = process.elements[element.start]
            inside.setdefault(element.scope, []).extend(_errors(start))
            interrupting |= {element.id} if start.cancel_activity else set()
    return _Fold(_some(on), _some(inside), frozenset(interrupting))


def _some(events: Mapping[str, Sequence[Element]]) -> Mapping[str, Sequence[Element]]:
    return {id_: found for id_, found in events.items() if found}


def _errors(event: Element) -> Iterator[Element]:
    """Yield an event where it is of an error; of one of several definitions itself about each."""
    yield from (p for p in event.parts or (event,) if p.event_type is EventType.ERROR)
