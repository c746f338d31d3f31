"""Call activities: an element starts a child instance and waits for its end.

The child has a key block of its own, which the turn that calls it takes; what it starts with is
frozen in the *child wait*, and a command starts it. Its end, in whatever way, is a command to the
parent, which ends the wait. Whether an error is caught above is decided where it is thrown: an
instance knows the codes that its ancestors catch.

Source: BPMN 2.0.2 section 13.3.4 (call activity); contracts/bpmn.md 3.1 and 3.2; design section 7.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from chalicelib.bpmn.model import Binding
from chalicelib.engine import bpmn_errors, parts, tokens, variables, waits
from chalicelib.engine.commands import EndChild, FailChild, HearEscalation
from chalicelib.engine.draft import Draft
from chalicelib.engine.expressions import extract, extract_text, show
from chalicelib.engine.keys import block_of, first_key
from chalicelib.engine.state import (
    ChildWait,
    ElementInstance,
    InstanceState,
    Stage,
    Variables,
)
from chalicelib.engine.stuck import ErrorType, Stuck, stop
from chalicelib.errors import Conflict
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plan_parts import CallPlan
    from chalicelib.engine.plans import Node


def enter(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Call another process, and wait for its end. Raises: Stuck, before anything was made."""
    element = ElementInstance(key, node.id, scope, draft.now)
    seen = variables.seen_inside(draft, node, scope)
    called = _call(draft, node, element, seen, draft.handed)
    waits.arm_boundary(draft, node, called, seen)


def _call(
    draft: Draft, node: Node, element: ElementInstance, seen: JsonObject, given: JsonObject
) -> ElementInstance:
    """Make the child wait, and owe the start of the child. Raises: Stuck.

    Shapes: `given` is what the element's listeners gave it, which it sees as well.
    """
    plan = _plan(node)
    depth = 1 if draft.parent is None else draft.parent.depth + 1
    if depth > draft.limits.max_depth > 0:
        raise Stuck(
            ErrorType.EXECUTION_LIMIT,
            f"call activity {node.id}: more than {draft.limits.max_depth} process instances would "
            "call one another (cluster.engine.maxProcessInstanceNestingDepth)",
        )
    process_id = extract_text(plan.process_id, seen, draft.moment, f"called process of {node.id}")
    tag = None
    if plan.binding is Binding.VERSION_TAG and plan.version_tag is not None:
        tag = extract_text(plan.version_tag, seen, draft.moment, f"version tag of {node.id}")
    business_key = _business_key(draft, node, seen)
    key = first_key(draft.keys.block_for_child())
    waiting = draft.live[element.key] = element._replace(child=key)
    errors, escalations = bpmn_errors.caught(draft, element.key)
    waits.owe_child(
        draft,
        ChildWait(
            key=key,
            instance_key=draft.key,
            element_id=node.id,
            element_key=element.key,
            created_at=draft.now,
            process_id=process_id,
            binding=plan.binding,
            scope=draft.shown_scope(element.scope),
            depth=depth,
            version_tag=tag,
            business_key=business_key,
            errors=errors,
            escalations=escalations,
            variables=seen if plan.hands_down_all else _own(draft, node, element, seen, given),
            local=given or None,
        ),
    )
    return waiting


def _own(
    draft: Draft, node: Node, element: ElementInstance, seen: JsonObject, given: JsonObject
) -> JsonObject:
    """Return the variables that are a call's own: of its mappings, its listeners, and, where it
    repeats, of its iteration or round."""
    around = draft.live.get(element.scope)
    repeats = around is not None and around.element_id == element.element_id
    own = draft.values(element.scope) if repeats else {}
    return {**own, **variables.local_of(node, seen, given)}


def _plan(node: Node) -> CallPlan:
    assert node.call is not None, f"{node.id} calls nothing"
    return node.call


def _business_key(draft: Draft, node: Node, seen: JsonObject) -> str | None:
    """Return the business key of what is called: as the model says, else the caller's.

    Raises: Stuck(EXTRACT_VALUE_ERROR).
    """
    compute = _plan(node).business_key
    if compute is None:
        return draft.root.business_key
    where = f"business key of {node.id}"
    value = extract(compute, seen, draft.moment, where)
    if isinstance(value, str):
        return value
    raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, f"{where}: expected a text, found {show(value)}")


def call_again(draft: Draft, node: Node, element: ElementInstance) -> None:
    """Call another child in place of one that could not start or ended otherwise. Raises: Stuck,
    while the element works."""
    kept = draft.find(Variables, element.key)
    given = {} if kept is None else kept.values
    try:
        seen = {**variables.seen_inside(draft, node, element.scope), **given}
        _call(draft, node, element, seen, given)
        draft.drop(Variables, element.key)
    except Stuck as stuck:
        stuck.stage = Stage.WORKING
        raise


# --- what a child says -------------------------------------------------------------------------


def end_child(draft: Draft, command: EndChild) -> None:
    """Go on after the end of a child; one that nobody waits for any more is none of our business.

    What a child hands back is mapped; an error is thrown on from here; what ended otherwise, and
    was not asked to, is an incident.
    Raises: Conflict if an escalation of it is still on its way: the message comes again.
    """
    check_heard(draft, command)
    ended = _end_wait(draft, command.child)
    if ended is None:
        return
    wait, element = ended
    if wait.first and command.error is None:
        parts.end_part(draft, wait, element, command)
        return
    if element.is_ending:
        return  # the purge that asked for it goes on by itself
    if command.error is not None:
        if not bpmn_errors.throw(draft, element.key, command.error, command.variables):
            message = f"process instance {command.child} threw the error {command.error!r}"
            _stop(draft, wait, element, message, ErrorType.UNHANDLED_ERROR_EVENT)
    elif command.state is InstanceState.COMPLETED:
        _hand_back(draft, wait, element, command.variables)
    else:
        message = f"process instance {command.child} was terminated, its caller waits for its end"
        _stop(draft, wait, element, message)


def check_heard(draft: Draft, command: EndChild) -> None:
    """Make sure that what a child threw before its end is heard before. Raises: Conflict."""
    wait = draft.find(ChildWait, command.child)
    if wait is None or draft.live[wait.element_key].is_ending:
        return
    if wait.heard < command.escalated:
        raise Conflict(f"escalation {wait.heard + 1} of {command.child} was not heard yet")


def fail_child(draft: Draft, command: FailChild) -> None:
    """Make an incident of what cannot be called; resolving calls again.

    Its place is taken, so of two tries of which one found a version and the other none, one wins:
    a child that began refuses this turn, and this turn refuses a child that has not begun.
    """
    ended = _end_wait(draft, command.child)
    if ended is not None and not ended[1].is_ending:
        draft.keys.take_back(block_of(command.child))
        _stop(draft, *ended, command.message)


def hear_escalation(draft: Draft, command: HearEscalation) -> None:
    """Catch an escalation of a child, or hand it on; each is heard once, in their order.

    Raises: Conflict if an earlier one is still on its way: the message comes again.
    """
    wait = draft.find(ChildWait, command.child)
    if wait is None or command.number <= wait.heard or draft.live[wait.element_key].is_ending:
        return
    if command.number > wait.heard + 1:
        raise Conflict(f"escalation {command.number} of {command.child} came before the one before")
    draft.put(replace(wait, heard=command.number))
    bpmn_errors.escalate(draft, wait.element_key, command.code)


def _end_wait(draft: Draft, child: int) -> tuple[ChildWait, ElementInstance] | None:
    """End a child wait; return what it was, and its element; None if it has ended already."""
    wait = draft.find(ChildWait, child)
    if wait is None:
        return None
    draft.drop(ChildWait, child)
    element = draft.live[wait.element_key]
    element = draft.live[element.key] = element._replace(child=0)
    return wait, element


def _stop(
    draft: Draft,
    wait: ChildWait,
    element: ElementInstance,
    message: str,
    error_type: ErrorType = ErrorType.CALLED_ELEMENT_ERROR,
) -> None:
    """Make an incident of a child that is none any more; another one is given the same."""
    if wait.local:
        draft.put(Variables(element.key, wait.local))
    stop(draft, element, Stuck(error_type, message, Stage.WORKING))


# --- what it hands back ------------------------------------------------------------------------


def _hand_back(
    draft: Draft, wait: ChildWait, element: ElementInstance, produced: JsonObject
) -> None:
    node = draft.node_of(element)
    local = variables.local_of(node, wait.variables, wait.local)
    try:
        _complete(draft, node, element, local, produced)
    except Stuck as stuck:
        if stuck.stage is Stage.COMPLETING:
            draft.put(Variables(element.key, {**local, **produced}))
        stop(draft, element, stuck)


def complete_again(draft: Draft, node: Node, element: ElementInstance) -> None:
    """Map again what a child handed back, and leave. Raises: Stuck."""
    kept = draft.find(Variables, element.key)
    _complete(draft, node, element, {}, {} if kept is None else kept.values)
    draft.drop(Variables, element.key)


def _complete(
    draft: Draft, node: Node, element: ElementInstance, local: JsonObject, produced: JsonObject
) -> None:
    """Hand on what is mapped, or all where the profile and the model say so. Raises: Stuck."""
    outputs = variables.outputs_of(draft, node, element.scope, local, produced)
    if outputs is None:
        hands_up = _plan(node).hands_up_all
        outputs = variables.unmapped(draft, local, produced) if hands_up else {}
    inside = {**local, **produced}
    tokens.hand_on(draft, node, element.scope, element.key, outputs or None, inside)
