"""BPMN errors and escalations: who catches one, and what follows if nobody does.

Both are looked for from where they are thrown outwards, scope by scope: a boundary event on an
activity comes before an event subprocess of the scope around it, and at each level the event that
names the code comes before the one that catches all. What an event subprocess throws is caught by
none beside it in its scope, only further out. An error that is nobody's is an incident; an
escalation that is nobody's is over.

Source: BPMN 2.0.2 section 10.5.6; contracts/zenbpm.md 4.3 and R50 to R55; contracts/bpmn.md 3.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from chalicelib.bpmn.model import EventType, Kind
from chalicelib.engine import event_subprocesses, tokens, variables
from chalicelib.engine.commands import HearEscalation
from chalicelib.engine.draft import Draft
from chalicelib.engine.effects import Send
from chalicelib.engine.expressions import extract_text
from chalicelib.engine.state import InstanceState, Move, Purge, Thrown, Variables
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.engine.turn import Left
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


THROWN_KEPT = 16  # escalations that the sweeper can tell again: mostly none or one is unheard


class Catcher(NamedTuple):
    """The event that catches, and the live element it is on, or the scope that it triggers in.

    Shapes: without an event an instance above catches.
    """

    key: int
    event: Node | None


def find_catcher(
    draft: Draft, key: int, code: str, type_: EventType = EventType.ERROR
) -> Catcher | None:
    """Return who catches an error or escalation; None if nobody does.

    Shapes: `key` is the element instance it is thrown by, or the scope it is thrown in.
    """
    for level, there in _levels(draft, key):
        events = [event for event in there if event.element.event_type is type_]
        exact = (event for event in events if _code_of(event) == code)
        catch_all = (event for event in events if not _code_of(event))
        event = next(exact, None) or next(catch_all, None)
        if event is not None:
            return Catcher(level, event)
    return Catcher(0, None) if _is_caught_above(draft, code, type_) else None


def caught(draft: Draft, key: int) -> tuple[list[str], list[str]]:
    """Return the codes of errors and escalations that are caught from an element outwards, in all
    instances above too; "" stands for all."""
    errors: dict[str, None] = {}
    escalations: dict[str, None] = {}
    for _, there in _levels(draft, key):
        for event in there:
            is_error = event.element.event_type is EventType.ERROR
            if is_error or event.element.event_type is EventType.ESCALATION:
                (errors if is_error else escalations)[_code_of(event) or ""] = None
    if draft.parent is not None:
        errors.update(dict.fromkeys(draft.parent.errors))
        escalations.update(dict.fromkeys(draft.parent.escalations))
    return list(errors), list(escalations)


def _is_caught_above(draft: Draft, code: str, type_: EventType) -> bool:
    if draft.parent is None:
        return False
    codes = draft.parent.errors if type_ is EventType.ERROR else draft.parent.escalations
    return code in codes or "" in codes


def throw(draft: Draft, key: int, code: str, payload: JsonObject) -> bool:
    """Interrupt what catches the error and go on from there; say whether anything does."""
    found = find_catcher(draft, key, code)
    if found is None:
        return False
    if found.event is None:
        _throw_out(draft, code, payload)
    else:
        _catch(draft, found.key, found.event, payload)
    return True


def _throw_out(draft: Draft, code: str, payload: JsonObject) -> None:
    """End the instance by an error that one above catches."""
    draft.put(Thrown(draft.key, draft.key, code, payload))
    draft.state = InstanceState.TERMINATING
    draft.purges.clear()
    tokens.start_purge(draft, Purge(draft.key))


def throw_from_end(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Throw the error of an end event. Raises: Stuck; if nobody catches it,
    UNHANDLED_ERROR_EVENT."""
    code = code_thrown(draft, node, variables.seen_inside(draft, node, scope))
    if not throw(draft, scope, code, {}):
        raise Stuck(
            ErrorType.UNHANDLED_ERROR_EVENT,
            f"error end event {node.id}: nobody catches the error {code!r}",
        )
    draft.history.append(Left(key, None))


def code_thrown(draft: Draft, node: Node, seen: JsonObject) -> str:
    """Return the code of the error or escalation that an event throws.

    Raises: Stuck(EXTRACT_VALUE_ERROR), also if it comes to no text.
    """
    element = node.element
    if node.code is None:
        return element.error_code or element.escalation_code or ""
    return extract_text(node.code, seen, draft.moment, f"code thrown by {node.id}")


def escalate(draft: Draft, key: int, code: str) -> bool:
    """Throw an escalation from an element or scope; say whether what threw it goes on, which it
    does unless what it is in was interrupted."""
    found = find_catcher(draft, key, code, EventType.ESCALATION)
    if found is None:
        return True
    if found.event is None:
        _escalate_above(draft, code)
        return True
    _catch(draft, found.key, found.event, {})
    return not found.event.element.cancel_activity


def _escalate_above(draft: Draft, code: str) -> None:
    """Let an instance above hear of an escalation that it catches."""
    assert draft.parent is not None
    number = draft.parent.escalated + 1
    thrown = (*draft.parent.thrown, code)[-THROWN_KEPT:]
    draft.parent = draft.parent._replace(escalated=number, thrown=thrown)
    above = draft.parent.instance_key
    draft.emit(Send(above, HearEscalation(draft.key, number, code), draft.version))


def _catch(draft: Draft, key: int, event: Node, payload: JsonObject) -> None:
    if event.kind is not Kind.BOUNDARY_EVENT:
        event_subprocesses.trigger(draft, event, key, payload)
        return
    element = draft.live[key]
    caught = draft.keys.next()
    if payload:
        draft.put(Variables(caught, payload))
    move = Move(event.id, element.scope, None, key=caught)
    if event.element.cancel_activity:
        tokens.interrupt(draft, element, move)
    else:
        draft.count(element.scope, 1)
        draft.agenda.append(move)


def _levels(draft: Draft, key: int) -> Iterator[tuple[int, Sequence[Node]]]:
    """Yield the events that could catch what comes from an element or scope, from inside out,
    each level with the key of the element or scope."""
    plan, is_from_beside = draft.plan, False
    while key != draft.key:
        element = draft.live[key]
        node = draft.node_of(element)
        if not is_from_beside and not node.is_body:
            yield key, plan.thrown.get(element.element_id, ())
        if not (node.is_body and element.key in draft.bodies and draft.is_part(key)):
            yield key, node.boundary_throws
        is_from_beside = node.element.triggered_by_event
        key = element.scope
    if not (is_from_beside or draft.root.is_part):  # of a part they are the parent's
        yield key, plan.thrown.get(plan.process.id, ())


def _code_of(event: Node) -> str | None:
    element = event.element
    is_error = element.event_type is EventType.ERROR
    return element.error_code if is_error else element.escalation_code
