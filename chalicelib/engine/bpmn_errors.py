"""BPMN errors: who catches one, and what follows if nobody does.

An error is looked for from where it is thrown outwards, scope by scope; at each level the event
that names its code comes before the one that catches all. Nobody's is an incident.

Source: BPMN 2.0.2 section 10.5.6; contracts/zenbpm.md 4.3 and R50 to R55.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.engine import tokens
from chalicelib.engine.draft import Draft
from chalicelib.engine.state import ElementInstance, Move, Variables
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.engine.turn import Left
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


def find_catcher(draft: Draft, key: int, code: str) -> tuple[ElementInstance, Node] | None:
    """Return the live element from which an error is caught, and the boundary event that does.

    Shapes: `key` is the element instance the error is thrown by, or the scope it is thrown in.
    """
    while key != draft.key:
        element = draft.live[key]
        events = draft.plan.nodes[element.element_id].boundary_errors
        exact = (event for event in events if event.element.error_code == code)
        catch_all = (event for event in events if not event.element.error_code)
        event = next(exact, None) or next(catch_all, None)
        if event is not None:
            return element, event
        key = element.scope
    return None


def throw(draft: Draft, key: int, code: str, payload: JsonObject) -> bool:
    """Interrupt what catches the error and go on from there; say whether anything does."""
    found = find_catcher(draft, key, code)
    if found is None:
        return False
    element, event = found
    caught = draft.keys.next()
    if payload:
        draft.put(Variables(caught, payload))
    tokens.interrupt(draft, element, Move(event.id, element.scope, None, key=caught))
    return True


def throw_from_end(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Throw the error of an end event. Raises: Stuck(UNHANDLED_ERROR_EVENT)."""
    code = node.element.error_code or ""
    if not throw(draft, scope, code, {}):
        raise Stuck(
            ErrorType.UNHANDLED_ERROR_EVENT,
            f"error end event {node.id}: nobody catches the error {code!r}",
        )
    draft.history.append(Left(key, None))
