"""Conditional events: what happens when a condition over variables becomes true.

A condition is evaluated when what it belongs to is entered, and again in each command that changes
a variable it reads, once before tokens move on and once when they wait, from the outermost scope
inwards; each event happens once per command at most. What cannot be evaluated is not true.

Source: BPMN 2.0.2 section 10.5.5 (conditional event definition); contracts/bpmn.md 3.1, 3.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from chalicelib.bpmn.model import Kind
from chalicelib.engine import (
    ad_hoc_jobs,
    catching,
    event_subprocesses,
    iterations,
    purges,
    tokens,
    variables,
)
from chalicelib.engine.draft import Draft
from chalicelib.engine.expressions import extract
from chalicelib.engine.state import ElementInstance, InstanceState, RecordKey, Variables
from chalicelib.engine.stuck import Stuck
from chalicelib.engine.turn import Changed
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


class Watcher(NamedTuple):
    """A conditional event that waits: on a live element, or, if it starts an event subprocess, in
    a scope, or, as one of several definitions, on its listener there; `sees` is the scope whose
    variables it reads."""

    depth: int
    key: int
    event: Node
    sees: int

    @property
    def is_start(self) -> bool:
        """Whether it starts an event subprocess."""
        return self.event.kind is Kind.START_EVENT

    @property
    def what(self) -> Happened:
        """What happens once in a command."""
        return self.key, self.event.id, self.event.part


Happened = tuple[int, str, int]  # where an event waits, which, and which of its definitions
Names = dict[int, dict[str, bool]]  # by scope, the variables that changed, and whether they are new


def enter_catch(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Go on if the condition holds, else wait until it does. Raises: Stuck."""
    assert node.condition is not None
    local = variables.inputs_of(draft, node, scope)
    seen = {**variables.visible(draft, scope), **local}
    value = extract(node.condition.compute, seen, draft.moment, f"condition of {node.id}")
    if value is True:
        tokens.complete(draft, node, scope, key, local, {})
    else:
        draft.live[key] = ElementInstance(key, node.id, scope, draft.now)


def entered(draft: Draft, key: int) -> None:
    """Let the events happen whose condition holds when their element or scope is entered."""
    element = draft.live.get(key)
    if element is None or element.incident is not None:
        return
    if draft.node_of(element).condition is None:  # else it was looked at before it waited
        for watcher in _on(draft, element, 0):
            if _is_true(draft, watcher):
                _happen(draft, watcher)


def react(draft: Draft) -> bool:
    """Let the events happen whose condition holds after variables changed; say whether any did."""
    if draft.state is not InstanceState.ACTIVE:
        return False
    changed = _changed(draft)
    is_new = draft.before is None and not draft.heard
    draft.heard = len(draft.history)
    if not changed:
        return False
    draft.moment.deadline.restart()
    happened = False
    for watcher in sorted(_watchers(draft), key=lambda watcher: watcher.depth):
        is_first = is_new and watcher.is_start and watcher.sees == draft.key
        if (is_first or _is_about(draft, watcher, changed)) and _is_true(draft, watcher):
            _happen(draft, watcher)
            happened = True
    return happened


def _changed(draft: Draft) -> Names:
    """Return what changed since it was last looked at."""
    changed: Names = {}
    for event in draft.history[draft.heard :]:
        if isinstance(event, Changed):
            known = _values_before(draft, event.scope)
            names = changed.setdefault(event.scope, {})
            names.update({name: name not in known for name in (*event.values, *event.removed)})
    if draft.before is None and not draft.heard:
        changed.setdefault(draft.key, {})
    return changed


def _values_before(draft: Draft, scope: int) -> JsonObject:
    before = draft.before
    element = draft.root.live.get(scope)
    if element is not None and element.is_untouched:
        return iterations.first_values(draft, element)
    record = None if before is None else before.records.get(RecordKey(Variables, scope))
    return record.values if isinstance(record, Variables) else {}


def _watchers(draft: Draft) -> Iterator[Watcher]:
    """Yield the conditional events that wait, those of one scope in the order of the model."""
    is_part = draft.root.is_part  # then they are the parent's
    live, process = list(draft.live.values()), draft.plan.process
    if not is_part and not (process.listeners and any(e.element_id == process.id for e in live)):
        yield from _starts(draft, process.id, draft.key, 0)
    for element in live:
        node = draft.plan.nodes[element.element_id]
        if node.is_watched and not (element.is_listening or _is_heard(draft, element)):
            yield from _on(draft, element, len(variables.chain(draft, element.scope)))


def _is_heard(draft: Draft, element: ElementInstance) -> bool:
    """Say whether listeners are at work on an element: it has not begun, or is over."""
    heard = draft.node_of(element).heard
    return bool(heard) and ad_hoc_jobs.is_listened_to(draft, element)


def begun(draft: Draft) -> None:
    """Let the event subprocesses of the instance happen whose condition holds, when the listeners
    of its beginning were heard."""
    for watcher in _starts(draft, draft.plan.process.id, draft.key, 0):
        if _is_true(draft, watcher):
            _happen(draft, watcher)


def _on(draft: Draft, element: ElementInstance, depth: int) -> Iterator[Watcher]:
    """Yield the conditional events on a live element, and inside of it."""
    node, key = draft.node_of(element), element.key
    if node.conditions:
        for event in node.conditions if element.incident is None else ():
            yield Watcher(depth, key, event, element.scope)
        return
    is_scope = tokens.holds_tokens(node)
    sees = key if is_scope and not draft.rules.sees_snapshot else element.scope
    events = () if node.is_body and draft.is_part(key) else node.boundary_conditions
    for event in events:
        yield Watcher(depth, key, event, sees)
    if is_scope and not node.is_body:
        yield from _starts(draft, element.element_id, key, depth + 1)


def _starts(draft: Draft, scope_id: str, scope: int, depth: int) -> Iterator[Watcher]:
    """Yield the conditional events that start event subprocesses of a scope."""
    for start in draft.plan.triggers.get(scope_id, ()):
        if start.condition is not None:
            yield Watcher(depth, scope, start, scope)
        elif start.conditions:
            mine = [e.key for e in draft.live.values() if e.scope == scope and e.is_listening]
            for key in mine:
                listener = draft.live.get(key)
                if listener is None or listener.element_id != start.id or listener.incident:
                    continue
                for event in start.conditions:
                    yield Watcher(depth, key, event, scope)


def _is_about(draft: Draft, watcher: Watcher, changed: Names) -> bool:
    """Say whether a variable changed that an event's condition reads, in a way it asks for."""
    condition = watcher.event.condition
    assert condition is not None
    for scope in variables.looked_through(draft, watcher.sees):
        for name, is_new in changed.get(scope, {}).items():
            if name in condition.names and (condition.creates if is_new else condition.updates):
                return True
    return False


def _is_true(draft: Draft, watcher: Watcher) -> bool:
    """Say whether an event can happen still, and its condition holds."""
    key, event = watcher.key, watcher.event
    if watcher.what in draft.happened or (key != draft.key and key not in draft.live):
        return False
    if purges.is_ending(draft, key) or (watcher.is_start and _is_interrupted(draft, watcher.sees)):
        return False
    assert event.condition is not None
    seen = variables.visible(draft, watcher.sees)
    try:
        return extract(event.condition.compute, seen, draft.moment, event.id) is True
    except Stuck:
        return False


def _is_interrupted(draft: Draft, scope: int) -> bool:
    """Say whether an event subprocess interrupted a scope: then no other is triggered in it."""
    nodes = draft.plan.nodes
    inside = [e.element_id for e in draft.live.values() if e.scope == scope]
    inside += [move.element_id for move in draft.agenda if move.scope == scope]
    return any(
        nodes[id_].element.triggered_by_event
        and nodes[nodes[id_].element.start or id_].element.cancel_activity
        for id_ in inside
    )


def _happen(draft: Draft, watcher: Watcher) -> None:
    key, event = watcher.key, watcher.event
    draft.happened.add(watcher.what)
    whole = draft.plan.nodes[event.id]
    if watcher.is_start and not whole.parts:
        event_subprocesses.trigger(draft, event, key, {})
    else:
        catching.happen(draft, whole, draft.live[key], {}, event.part)
