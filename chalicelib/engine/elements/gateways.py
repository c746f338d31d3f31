"""Gateways: one way, some ways or all ways; how tokens join before is in `joins.py`.

Source: BPMN 2.0.2 section 13.4; contracts/zenbpm.md 4.3; contracts/bpmn.md 3.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chalicelib.bpmn.model import Kind
from chalicelib.engine import flows, joins, tokens, variables
from chalicelib.engine.draft import Draft
from chalicelib.engine.state import Move
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.engine.turn import Left, Terminated
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plan_parts import Flow
    from chalicelib.engine.plans import Node


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
    for flow in node.conditioned:
        if flows.is_true(draft, flow, seen):
            return flow
    if node.otherwise is None:
        raise flows.no_flow(node)
    return node.otherwise


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


def enter_inclusive(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Send a token along every flow whose condition is true or that has none, else along the
    default. Raises: Stuck."""
    if not node.outgoing or node.only is not None:
        tokens.leave(draft, node, scope, key)
        return
    chosen = choose_all(draft, node, variables.visible(draft, scope))
    if not chosen:
        raise flows.no_flow(node)
    draft.history.append(Left(key, None))
    tokens.spread(draft, scope, chosen)


def choose_all(draft: Draft, node: Node, seen: JsonObject) -> Sequence[Flow]:
    """Return the flows an inclusive or complex gateway takes; none if there is no default."""
    chosen = [
        flow
        for flow in node.outgoing
        if flow is not node.default and (flow.condition is None or flows.is_true(draft, flow, seen))
    ]
    return chosen or ([] if node.default is None else [node.default])


def enter_complex(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Go on with the tokens that made the activation condition true, or end those that came later.

    Those leave only by flows whose condition says so, which can tell by `waitingForStart`: a flow
    that is always open would make two tokens of one activation. Raises: Stuck.
    """
    if joins.is_resetting(draft, node, scope):
        _enter_late(draft, node, scope, key)
        return
    count = joins.activation_count(draft, node, scope)
    if count and node.activation is not None and not joins.is_true(draft, node, scope, count):
        if joins.wait_on(draft, node, scope):  # it was stopped before by what is mended now
            draft.history.append(Terminated(key))
            return
        raise Stuck(
            ErrorType.CONDITION_ERROR,
            f"activationCondition of {node.id} is false and no further token is expected; came: "
            f"{count} of {len(node.joins)}",
        )
    if node.outgoing:
        seen = {**variables.visible(draft, scope), "waitingForStart": True}
        chosen = choose_all(draft, node, seen)
        if not chosen:
            raise flows.no_flow(node)
        draft.history.append(Left(key, None))
        tokens.spread(draft, scope, chosen)
    else:
        tokens.leave(draft, node, scope, key)
    if count == len(node.joins):
        joins.begin_anew(draft, node, scope)


def _enter_late(draft: Draft, node: Node, scope: int, key: int) -> None:
    seen = {**variables.visible(draft, scope), "waitingForStart": False}
    conditioned = [flow for flow in node.outgoing if flow.condition is not None]
    chosen = [flow for flow in conditioned if flows.is_true(draft, flow, seen)]
    draft.history.append(Left(key, None))
    joins.begin_anew(draft, node, scope)
    if chosen:
        tokens.spread(draft, scope, chosen)
    else:
        tokens.consume(draft, scope)


BEHAVIOURS = {
    Kind.EXCLUSIVE_GATEWAY: enter_exclusive,
    Kind.PARALLEL_GATEWAY: enter_parallel,
    Kind.INCLUSIVE_GATEWAY: enter_inclusive,
    Kind.COMPLEX_GATEWAY: enter_complex,
}
