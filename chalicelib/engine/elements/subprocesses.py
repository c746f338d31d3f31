"""Embedded subprocesses: a scope of its own inside the instance.

Source: BPMN 2.0.2 section 13.3.4; contracts/zenbpm.md 4.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.bpmn.model import SCOPES
from chalicelib.engine import listeners, variables, waits
from chalicelib.engine.draft import Draft
from chalicelib.engine.state import ElementInstance, Move, Variables
from chalicelib.engine.stuck import ErrorType, Stuck

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


def enter_subprocess(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Open the scope and start a token at its none start event. Raises: Stuck."""
    start = node.element.start
    if start is None:
        raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, f"subprocess {node.id} has no none start event")
    open_inside(draft, node, scope, key)
    draft.count(key, 1)
    draft.agenda.append(Move(start, key, None))


def open_inside(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Open the scope of a subprocess, without a token in it yet. Raises: Stuck."""
    values = variables.inputs_of(draft, node, scope)
    if node.element.triggered_by_event:
        caught = draft.find(Variables, key)
        values.update({} if caught is None else caught.values)
    seen = variables.visible(draft, scope)
    draft.live[key] = ElementInstance(key, node.id, scope, draft.now)
    own = {**dict.fromkeys(node.element.data), **values} if node.element.data else values
    draft.open_scope(key, {**seen, **own} if draft.rules.sees_snapshot else own)
    listeners.listen(draft, key, node.id)
    waits.arm_boundary(draft, node, draft.live[key], {**seen, **values})


BEHAVIOURS = dict.fromkeys(SCOPES, enter_subprocess)
