"""What follows when what an event waits for comes: a timer's second, a message, a signal.

A catch event or receive task goes on; of those behind an event-based gateway the first one does,
and the gateway's others are over. A boundary event interrupts its activity, or sends a token
beside it. What came with it is handed on by the event; while an incident keeps it from that, it
waits under the event's key as Variables.

Source: BPMN 2.0.2 sections 13.4.4, 13.5.2 and 13.5.3; contracts/zenbpm.md 4.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chalicelib.bpmn.model import START, Kind
from chalicelib.engine import event_subprocesses, tokens, variables
from chalicelib.engine.draft import Draft
from chalicelib.engine.state import (
    ElementInstance,
    Move,
    RecordKey,
    Stage,
    Subscription,
    Timer,
    Variables,
)
from chalicelib.engine.stuck import Stuck, stop
from chalicelib.engine.turn import Entered, Left, Taken
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


def happen(
    draft: Draft, node: Node, element: ElementInstance, payload: JsonObject, part: int | None
) -> None:
    """Let the event come that a live element waits for; whoever calls ended its record, or will
    have it ended with the element.

    Shapes: of an event of several definitions it is the `part`-th that came.
    """
    if node.element.is_parallel:
        if waits_on(draft, node, element, part or 0):
            variables.merge(draft, element.scope, payload)
            return
        element = draft.live[element.key]
    if element.is_listening:
        event_subprocesses.hear(draft, node, element, payload)
        return
    if node.kind is Kind.BOUNDARY_EVENT:
        move = Move(node.id, element.scope, None, key=keep(draft, payload))
        if node.element.cancel_activity:
            tokens.interrupt(draft, element, move)
        else:
            draft.count(element.scope, 1)
            draft.agenda.append(move)
        return
    if node.id != element.element_id:
        element = pass_gateway(draft, node, element)
        if START in node.heard:
            hear(draft, node, element, payload)
            return
    complete(draft, draft.node_of(element), element, payload)


def hear(draft: Draft, node: Node, element: ElementInstance, payload: JsonObject) -> None:
    """Let the listeners of an event behind a gateway come before it hands on what it caught, which
    waits for that under the event's key."""
    draft.put(Variables(element.key, payload))
    try:
        node.enter(draft, node, element.scope, element.key)
    except Stuck as stuck:
        stop(draft, element, stuck)


def waits_on(draft: Draft, node: Node, element: ElementInstance, part: int) -> bool:
    """Count a definition of an event that waits for all of them; say whether it waits for others
    still. What came with the earlier ones is handed on when it comes.

    One that happens once needs no count of what was waited for by a record: that is over. One
    that goes on happens as often as each of its definitions came.
    """
    times = list(element.came.get(node.id, (0,) * len(node.parts)))
    times[part] += 1
    if node.element.cancel_activity:
        waits = _has_record(draft, node, element)
        waits = waits or not all(times[condition.part] for condition in _conditions_of(node))
    else:
        waits = not all(times)
        times = times if waits else [each - 1 for each in times]
    came = {**element.came, node.id: tuple(times)}
    draft.live[element.key] = element._replace(came=came)
    return waits


def _conditions_of(node: Node) -> Iterator[Node]:
    return (part for part in node.parts if part.condition is not None)


def _has_record(draft: Draft, node: Node, element: ElementInstance) -> bool:
    """Say whether a record of an event still waits."""
    keys = [RecordKey(Timer, key) for key in element.timers]
    keys += [RecordKey(Subscription, key) for key in element.subscriptions]
    draft.need(keys)
    records = (draft.records.get(key) for key in keys)
    waiting = (r for r in records if isinstance(r, Timer | Subscription))
    return any(record.element_id == node.id for record in waiting)


def keep(draft: Draft, payload: JsonObject) -> int:
    """Put by what was caught for the event that is entered next; return the event's key."""
    if not payload:
        return 0
    key = draft.keys.next()
    draft.put(Variables(key, payload))
    return key


def pass_gateway(draft: Draft, node: Node, gateway: ElementInstance) -> ElementInstance:
    """Leave an event-based gateway for the event that came first; the others close."""
    tokens.close(draft, gateway.key)
    draft.history.append(Left(gateway.key, None))
    scope, (flow_id,) = gateway.scope, node.element.incoming
    draft.history.append(Taken(draft.keys.next(), flow_id, scope if scope != draft.key else 0))
    key = draft.keys.next()
    draft.history.append(Entered(key, node.id, scope))
    draft.element_count += 1
    return ElementInstance(key, node.id, scope, draft.now)


def complete(draft: Draft, node: Node, element: ElementInstance, payload: JsonObject) -> None:
    """Let a catch event or receive task hand on what came, and leave; else it is an incident."""
    try:
        tokens.complete(draft, node, element.scope, element.key, {}, payload)
    except Stuck as stuck:
        if node.parts:
            _close_others(draft, element.key)
        if payload and stuck.stage is Stage.COMPLETING:
            draft.put(Variables(element.key, payload))
        stop(draft, element, stuck)


def _close_others(draft: Draft, key: int) -> None:
    """Wait no more for the other definitions of an event that came and cannot hand on what did."""
    element = draft.live.get(key)
    if element is not None:
        draft.need(tokens.records_of(draft, element))
        tokens.disarm(draft, element)
        draft.live[key] = element._replace(timers=(), subscriptions=())


def mend(draft: Draft, key: int, values: JsonObject) -> bool:
    """Put what an operator says instead of what an event caught, or a call got back, under the same
    names, and hides; say whether there was something."""
    caught = draft.find(Variables, key)
    instead = {} if caught is None else {n: v for n, v in values.items() if n in caught.values}
    if caught is not None and instead:
        draft.put(Variables(key, {**caught.values, **instead}))
    return bool(instead)


def complete_again(draft: Draft, node: Node, element: ElementInstance) -> None:
    """Hand on again what could not be when it came, and leave. Raises: Stuck."""
    caught = draft.find(Variables, element.key)
    payload = {} if caught is None else caught.values
    outputs = variables.outputs_of(draft, node, element.scope, {}, payload)
    if caught is not None:
        draft.drop(Variables, element.key)
    handed_on = payload or None if outputs is None else outputs
    tokens.hand_on(draft, node, element.scope, element.key, handed_on)
