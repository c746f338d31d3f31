"""Events: where tokens start, wait, are caught and end.

Source: BPMN 2.0.2 section 13.5; contracts/zenbpm.md 4.3; contracts/bpmn.md 3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.bpmn.model import EventType, Kind
from chalicelib.engine import bpmn_errors, compensation, conditions, tokens, variables, waits
from chalicelib.engine.draft import Draft
from chalicelib.engine.elements import activities
from chalicelib.engine.joins import NOBODY
from chalicelib.engine.state import ElementInstance, Variables
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.engine.turn import Left

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


def enter_end(draft: Draft, node: Node, scope: int, key: int) -> None:
    """End the token, and for a terminate event all of its scope; an error is thrown."""
    match node.element.event_type:
        case EventType.TERMINATE:
            tokens.leave(draft, node, scope, key)
        case EventType.ERROR:
            bpmn_errors.throw_from_end(draft, node, scope, key)
        case EventType.ESCALATION:
            enter_escalation(draft, node, scope, key)
        case EventType.COMPENSATION:
            compensation.enter_throw(draft, node, scope, key)
        case EventType.CANCEL:
            compensation.enter_cancel(draft, node, scope, key)
        case _:
            activities.enter_task(draft, node, scope, key)


def enter_start(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Hand on what started the instance or event subprocess, if something did, and go on; it may be
    among the event subprocess's variables already. Raises: Stuck; Missing."""
    is_top, type_ = node.element.scope == draft.plan.process.id, node.element.event_type
    if node.element.is_parallel and is_top:
        _await_others(draft, node, scope, key)
    elif type_ in CAUGHT if is_top else type_ in BRINGING and not draft.rules.sees_snapshot:
        enter_caught(draft, node, scope, key)
    else:
        activities.go_on(draft, node, scope, key)


def enter_catch(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Wait for the event, or behind a gateway for the first of them; one that started the
    instance has come, and one that a gateway waited for when its listeners were heard.

    Raises: Stuck if it cannot be said what it waits for; Missing.
    """
    may_have_come = node.element.instantiates or node.gateway is not None
    if may_have_come and draft.find(Variables, key) is not None:
        enter_caught(draft, node, scope, key)
        return
    if node.element.event_type is EventType.LINK:
        tokens.complete(draft, node, scope, key, variables.inputs_of(draft, node, scope), {})
        return
    if node.condition is not None:
        conditions.enter_catch(draft, node, scope, key)
        return
    if not (node.waits or node.conditions):
        raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, f"catch event {node.id} waits for nothing")
    local = variables.inputs_of(draft, node, scope)
    seen = variables.visible(draft, scope)
    seen = {**seen, **local} if local else seen
    planned = waits.plan_all(draft, node.waits, seen)
    is_in_vain = not (planned or node.conditions)  # a cycle whose end is past
    if is_in_vain and node.kind is Kind.EVENT_BASED_GATEWAY:
        raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, f"no event behind {node.id} will ever come")
    if is_in_vain:
        tokens.complete(draft, node, scope, key, {}, {})
        return
    waits.arm(draft, ElementInstance(key, node.id, scope, draft.now), planned)
    waits.arm_boundary(draft, node, draft.live[key], seen)


def enter_throw(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Throw what the event is about; a link jumps to the catch event of its name."""
    match node.element.event_type:
        case EventType.LINK:
            _jump(draft, node, scope, key)
        case EventType.ESCALATION:
            enter_escalation(draft, node, scope, key)
        case EventType.COMPENSATION:
            compensation.enter_throw(draft, node, scope, key)
        case _:
            activities.enter_task(draft, node, scope, key)


def enter_escalation(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Throw an escalation, and go on unless it interrupts what the event is in. Raises: Stuck."""
    local = variables.inputs_of(draft, node, scope)
    code = bpmn_errors.code_thrown(draft, node, {**variables.visible(draft, scope), **local})
    outputs = variables.outputs_of(draft, node, scope, local, {})
    if bpmn_errors.escalate(draft, scope, code):
        tokens.hand_on(draft, node, scope, key, outputs)
    else:
        draft.history.append(Left(key, None))


def _jump(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Leave by the link. Raises: Stuck."""
    local = variables.inputs_of(draft, node, scope)
    outputs = variables.outputs_of(draft, node, scope, local, {})
    tokens.hand_on(draft, node, scope, key, outputs)


def enter_caught(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Hand on what was caught, which waits under the event's key, and leave."""
    caught = draft.find(Variables, key)
    payload = {} if caught is None else caught.values
    outputs = variables.outputs_of(draft, node, scope, {}, payload)
    if caught is not None:
        draft.drop(Variables, key)
    tokens.hand_on(draft, node, scope, key, payload or None if outputs is None else outputs)


def _await_others(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Hand on the message that started the instance, and wait for the others that its start event
    needs. Raises: Stuck; Missing."""
    came = draft.joins.get((scope, node.id), NOBODY).used
    caught = draft.find(Variables, key)
    payload = {} if caught is None else caught.values
    others = [part for part in node.waits if not came >> part.part & 1]
    planned = waits.plan_all(draft, others, {**variables.visible(draft, scope), **payload})
    if caught is not None:
        draft.drop(Variables, key)
        variables.merge(draft, scope, payload)
    draft.joins.pop((scope, node.id), None)
    waits.arm(draft, ElementInstance(key, node.id, scope, draft.now), planned)


CAUGHT = frozenset(
    {
        *(EventType.MESSAGE, EventType.SIGNAL, EventType.TIMER, EventType.CONDITIONAL),
        EventType.MULTIPLE,
    }
)

# With what starts an event subprocess variables may come.
BRINGING = frozenset(
    {EventType.MESSAGE, EventType.SIGNAL, EventType.ERROR, EventType.MULTIPLE},
)

BEHAVIOURS = {
    Kind.START_EVENT: enter_start,
    Kind.END_EVENT: enter_end,
    Kind.INTERMEDIATE_THROW_EVENT: enter_throw,
    Kind.INTERMEDIATE_CATCH_EVENT: enter_catch,
    Kind.RECEIVE_TASK: enter_catch,
    Kind.EVENT_BASED_GATEWAY: enter_catch,
    Kind.BOUNDARY_EVENT: enter_caught,
}
