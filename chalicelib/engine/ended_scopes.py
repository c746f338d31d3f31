"""Scopes that have ended and whose activities are undone: what undoes them sees what they left.

When a scope completes, its variables are kept under a key of their own for the activities that can
be undone. To undo these a scope is opened that no tag of the model stands for, with what was kept,
inside of whoever asks for it; of scopes in each other one in the other. What handlers set under
other names goes where it would go from the scope itself. What was kept goes with its last use, or
with the instance.

Source: BPMN 2.0.2 section 13.5.5 (compensation: a snapshot of the data at completion).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.bpmn.model import REOPENED
from chalicelib.engine.draft import Draft
from chalicelib.engine.state import Completed, ElementInstance, Variables

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node

NOTHING = ""  # instead of an activity: it says what was kept of a scope


def keep(draft: Draft, element: ElementInstance) -> tuple[int, ...]:
    """Keep the variables of a scope that completes; return their key, none if it owns none."""
    values = draft.values(element.key)
    if not values:
        return ()
    key = draft.keys.next()
    draft.put(Variables(key, dict(values)))
    return (key,)


def remember(draft: Draft, scope: int, kept: tuple[int, ...]) -> None:
    """Remember what was kept of a scope, or is to be of one that is about to be opened."""
    if kept:
        draft.completed[Completed(scope, NOTHING, 0, kept)] = 1


def kept_of(draft: Draft, scope: int) -> tuple[int, ...]:
    """Take what was remembered as kept of a scope."""
    for done in draft.completed:
        if done.scope == scope and done.activity == NOTHING:
            del draft.completed[done]
            return done.seen
    return ()


def opened_for(draft: Draft, done: Completed) -> Node | None:
    """Return what is opened to undo an activity; None if its id would be too long."""
    node = draft.plan.nodes[done.activity]
    around = node.id if done.inside else node.element.scope
    return draft.plan.nodes.get(around + REOPENED)


def open_again(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Open a scope with what was kept of one that ended."""
    kept = kept_of(draft, key)
    found = None if not kept else draft.find(Variables, kept[0])
    draft.live[key] = ElementInstance(key, node.id, scope, draft.now)
    draft.open_scope(key, {} if found is None else found.values)
    if kept and not any(kept[0] in done.seen for done in draft.completed):
        draft.drop(Variables, kept[0])
