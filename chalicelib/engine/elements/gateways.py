"""Gateways: one way or all ways, and the join of all.

Source: BPMN 2.0.2 section 13.4; contracts/zenbpm.md 4.3; contracts/bpmn.md 3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.bpmn.model import Kind
from chalicelib.engine import tokens, variables
from chalicelib.engine.draft import Draft
from chalicelib.engine.state import Move
from chalicelib.engine.turn import Left

if TYPE_CHECKING:
    from chalicelib.engine.plans import Flow, Node


def enter_exclusive(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Take the first flow whose condition is true, else the default. Raises: Stuck."""
    if not node.outgoing or node.only is not None:
        tokens.leave(draft, node, scope, key)
        return
    flow = choose(draft, node, scope)
    draft.history.append(Left(key, None))
    draft.agenda.append(Move(flow.target, scope, flow.id))


def choose(draft: Draft, node: Node, scope: int) -> Flow:
    """Return the flow an exclusive gateway takes.

    A single flow without a condition beside conditioned ones serves as the default that the
    model forgot; of several nobody could say which.
    """
    seen = variables.visible(draft, scope)
    unconditioned = []
    for flow in node.outgoing:
        if flow.condition is None:
            unconditioned.append(flow)
        elif flow is not node.default and tokens.is_true(draft, flow, seen):
            return flow
    if node.default is not None:
        return node.default
    if len(unconditioned) == 1:
        return unconditioned[0]
    raise tokens.no_flow(node)


def enter_parallel(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Send a token along every flow; conditions do not count here."""
    if len(node.outgoing) > 1:
        draft.history.append(Left(key, None))
        tokens.fork(draft, node, scope)
    elif node.outgoing:
        flow = node.outgoing[0]
        draft.history.append(Left(key, None))
        draft.agenda.append(Move(flow.target, scope, flow.id))
    else:
        tokens.leave(draft, node, scope, key)


BEHAVIOURS = {
    Kind.EXCLUSIVE_GATEWAY: enter_exclusive,
    Kind.PARALLEL_GATEWAY: enter_parallel,
}
