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
from chalicelib.engine import event_subprocesses, tokens
from chalicelib.engine.draft import Draft
from chalicelib.engine.state import Move, Variables
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.engine.turn import Left
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


class Catcher(NamedTuple):
    """The event that catches, and the live element it is on, or the scope that it triggers in."""

    key: int
    event: Node


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
    return None


def throw(draft: Draft, key: int, code: str, payload: JsonObject) -> bool:
    """Interrupt what catches the error and go on from there; say whether anything does."""
    found = find_catcher(draft, key, code)
    if found is not None:
        _catch(draft, found, payload)
    return found is not None


def throw_from_end(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Throw the error of an end event. Raises: Stuck(UNHANDLED_ERROR_EVENT)."""
    code = node.element.error_code or ""
    if not throw(draft, scope, code, {}):
        raise Stuck(
            ErrorType.UNHANDLED_ERROR_EVENT,
            f"error end event {node.id}: nobody catches the error {code!r}",
        )
    draft.history.append(Left(key, None))


def escalate(draft: Draft, node: Node, scope: int) -> bool:
    """Throw the escalation of an event; say whether the token that threw it goes on, which it
    does unless what it is in was interrupted."""
    found = find_catcher(draft, scope, node.element.escalation_code or "", EventType.ESCALATION)
    if found is None:
        return True
    _catch(draft, found, {})
    return not found.event.element.cancel_activity


def _catch(draft: Draft, found: Catcher, payload: JsonObject) -> None:
    key, event = found
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
            yield key, plan.triggers.get(element.element_id, ())
        yield key, node.boundary_throws
        is_from_beside = node.element.triggered_by_event
        key = element.scope
    if not is_from_beside:
        yield key, plan.triggers.get(plan.process.id, ())


def _code_of(event: Node) -> str | None:
    element = event.element
    is_error = element.event_type is EventType.ERROR
    return element.error_code if is_error else element.escalation_code
