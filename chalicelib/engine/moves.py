"""The loop of a turn: take a move off the agenda and let its token enter the next element.

The agenda is a stack, so a token runs until it waits before a fork sends the next one; a fork
that has 5,000 flows is one entry all the while. The loop stops at a consistent point when the
turn has made its moves or has no room for what the next move may write; what is left stays on the
agenda. Design section 1, rule of bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.bpmn.model import Kind
from chalicelib.engine import ad_hoc, joins, many, parts, purges
from chalicelib.engine.draft import BASE_ACTIONS, Draft
from chalicelib.engine.limits import ACTIONS_MAX
from chalicelib.engine.state import ElementInstance, Move
from chalicelib.engine.stuck import ErrorType, Stuck, stop
from chalicelib.engine.turn import Entered, Taken

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


def run(draft: Draft) -> None:
    """Make moves until none is left, none can be made, the turn is full or has taken too long."""
    nodes, moves_max = draft.plan.nodes, draft.limits.moves_max
    elements_max = draft.elements_max
    step, turn = draft.moment.deadline, draft.deadline
    step.restart()
    while draft.moves < moves_max:
        if draft.purges and not purges.run(draft):
            return
        move = draft.agenda[-1] if draft.agenda else None
        if move is None or (
            (move.position or draft.element_count > elements_max) and is_halted(draft)
        ):
            if _judge(draft):
                continue
            return
        node = nodes[move.element_id]
        if move.position:
            node = _ahead(draft, node, move)
        elif node.inner is not None:
            node = draft.node(node.id, move.scope)
        if draft.actions + node.actions > ACTIONS_MAX and draft.actions > BASE_ACTIONS:
            return
        _count(draft)
        enter(draft, node, take_next(draft) if move.position else draft.agenda.pop())
        if not step.restart_within(turn):
            draft.moves = moves_max
    while not draft.agenda and not draft.purges and _judge(draft):
        pass  # a join that begins anew makes no move, and others may be due


def _count(draft: Draft) -> None:
    """Count the move that is next. A signal that was thrown is over where its token went, which is
    as long as the agenda is no shorter than it was then; it is not for who waits beside."""
    draft.moves += 1
    if draft.signals:
        draft.signals = [each for each in draft.signals if each[0] < len(draft.agenda)]


def _judge(draft: Draft) -> bool:
    """Let the joins go on that wait for no more tokens; say whether one did."""
    if not draft.plan.judged:
        return False
    draft.moment.deadline.restart()
    return joins.judge(draft)


def _ahead(draft: Draft, node: Node, move: Move) -> Node:
    """Return what an entry of the agenda that gives one move after the other leads to next."""
    if node.inner is not None and move.scope in draft.bodies:
        return node.inner
    if _is_activation(draft, node, move.scope):
        return draft.plan.nodes[ad_hoc.next_element(draft, move.scope)]
    return draft.plan.nodes[node.outgoing[move.position].target]


def _is_activation(draft: Draft, node: Node, scope: int) -> bool:
    """Say whether an entry of the agenda is of what is activated in an ad-hoc subprocess, not a
    fork that leads out of it."""
    around = draft.live.get(scope)
    is_inside = around is not None and around.element_id == node.id
    return is_inside and node.kind is Kind.AD_HOC_SUB_PROCESS


def is_halted(draft: Draft) -> bool:
    """Say whether the next move has to wait for something outside: room, or an operator."""
    if draft.element_count > draft.elements_max and draft.incident_count:
        return True
    return len(draft.live) >= draft.plan.live_max and draft.agenda[-1].position > 0


def goes_on(draft: Draft) -> bool:
    """Say whether the turn left something that another turn can do at once."""
    if draft.agenda and not is_halted(draft):
        return True
    return bool(draft.purges) and any(purges.can_go_on(draft, purge) for purge in draft.purges)


def take_next(draft: Draft) -> Move | None:
    """Take the next move off the agenda; a fork gives one and stays for the others.

    Returns None if what was next is done by a child instance.
    """
    move = draft.agenda.pop()
    element_id, scope, _, position, _ = move
    if not position:
        return move
    node = draft.plan.nodes[element_id]
    if scope in draft.bodies:
        if not draft.bodies[scope].size:
            return many.next_iteration(draft, node, move)
        parts.begin(draft, node, move)
        return None
    if _is_activation(draft, node, scope):
        return ad_hoc.next_activation(draft, draft.node_of(draft.live[scope]), move)
    if position + 1 < len(node.outgoing):
        draft.agenda.append(Move(element_id, scope, None, position + 1))
    flow = node.outgoing[position]
    return Move(flow.target, scope, flow.id)


def enter(draft: Draft, node: Node, move: Move | None) -> None:
    """Let a token enter an element, if not a child instance does; one that cannot go on becomes an
    incident."""
    if move is None:
        return
    _, scope, flow_id, _, key = move
    keys, history = draft.keys, draft.history
    if flow_id is not None:
        history.append(Taken(keys.next(), flow_id, scope if scope != draft.key else 0))
        if node.joins and not joins.arrive(draft, node, scope, flow_id):
            return
    key = key or keys.next()
    history.append(Entered(key, node.id, scope))
    draft.element_count += 1
    try:
        if draft.element_count > draft.elements_max:
            raise too_many(draft)
        node.enter(draft, node, scope, key)
    except Stuck as stuck:
        stop(draft, ElementInstance(key, node.id, scope, draft.now), stuck)


def enter_again(draft: Draft, node: Node, element: ElementInstance) -> None:
    """Let an element that was stopped while it was entered try again. Raises nothing new."""
    draft.live.pop(element.key)
    try:
        node.enter(draft, node, element.scope, element.key)
    except Stuck as stuck:
        stop(draft, element._replace(incident=None), stuck)


def too_many(draft: Draft) -> Stuck:
    """Return what halts an instance that runs on and on; resolving lets it run as far again."""
    return Stuck(
        ErrorType.EXECUTION_LIMIT,
        f"process instance {draft.key} executed more than {draft.limits.max_elements} elements "
        "(cluster.engine.maxElementExecutionCount)",
    )
