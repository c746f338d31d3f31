"""Joins: tokens wait at a gateway, counted per incoming flow, until it goes on.

A parallel gateway goes on when a token came by each flow. An inclusive one also goes on when no
other token can still come by a flow that is empty, unless sequence flows lead that token to a flow
that is taken as well: so a loop around a join does not hold it up. A complex gateway goes on when
its activation condition is true; it then waits, likewise, for the others that are still expected,
and begins anew when they came.

Whether more tokens are expected is judged when the turn has made its other moves, so whatever
moved, ended or was taken away meanwhile has had its effect.

Source: BPMN 2.0.2 sections 13.4.1, 13.4.3, 13.4.5.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import TYPE_CHECKING

from chalicelib.engine import variables
from chalicelib.engine.draft import Draft
from chalicelib.engine.expressions import extract_condition
from chalicelib.engine.reachability import NONE, Ways
from chalicelib.engine.state import ElementInstance, Join, Move
from chalicelib.engine.stuck import Stuck
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node

Place = tuple[int, str]  # the scope and the gateway's id

NOBODY = Join(0)


def arrive(draft: Draft, node: Node, scope: int, flow_id: str) -> bool:
    """Count a token at a join; say whether it goes on at once, which uses one of each flow.

    A second token on one flow waits for the next round.
    """
    place, number = (scope, node.id), node.joins[flow_id]
    arrived, more, used = draft.joins.get(place, NOBODY)
    bit = 1 << number
    if (arrived | used) & bit:
        draft.joins[place] = Join(arrived, {**more, number: more.get(number, 0) + 1}, used)
        return False
    join = Join(arrived | bit, more, used)
    if join.arrived | used != node.all_arrived and (
        node.activation is None or not _is_activated(draft, node, scope, join)
    ):
        draft.joins[place] = join
        return False
    _use(draft, node, place, join)
    return True


def judge(draft: Draft) -> bool:
    """Let one join go on to which no further token is expected; say whether there was one."""
    for place, join in draft.joins.items():
        if place[1] in draft.plan.judged:
            node = draft.plan.nodes[place[1]]
            if _is_due(draft, node, place[0], join):
                _go_on(draft, node, place, join)
                return True
    return False


def activation_count(draft: Draft, node: Node, scope: int) -> int:
    """Return how many tokens let a complex gateway go on; 0 if none did."""
    return (draft.joins.get((scope, node.id), NOBODY).used & node.all_arrived).bit_count()


def is_resetting(draft: Draft, node: Node, scope: int) -> bool:
    """Say whether a token enters a complex gateway for those that came after it went on."""
    return draft.joins.get((scope, node.id), NOBODY).used > node.all_arrived


def wait_on(draft: Draft, node: Node, scope: int) -> bool:
    """Let a complex gateway that went on, to be stopped, wait again with the tokens that came, if
    others are expected; say whether they are."""
    place = scope, node.id
    arrived, more, used = draft.joins[place]
    again = Join(arrived | used, more)
    if not _expects_more(draft, node, scope, again):
        return False
    draft.joins[place] = again
    draft.count(scope, used.bit_count() - 1)
    return True


def begin_anew(draft: Draft, node: Node, scope: int) -> None:
    """Let a complex gateway wait for tokens to go on with again, those included that wait."""
    join = draft.joins.pop((scope, node.id), NOBODY)
    _next_round(draft, (scope, node.id), join.arrived, dict(join.more))


def forget(draft: Draft, scope: int) -> None:
    """Forget the joins of a scope that ended, one of which may have waited to begin anew."""
    for place in [place for place in draft.joins if place[0] == scope]:
        del draft.joins[place]


def is_true(draft: Draft, node: Node, scope: int, count: int) -> bool:
    """Evaluate the activation condition. Raises: Stuck(EXTRACT_VALUE_ERROR)."""
    assert node.activation is not None
    where = f"activationCondition of {node.id}"
    more: JsonObject = {"activationCount": Decimal(count), "waitingForStart": True}
    seen = {**variables.visible(draft, scope), **more}
    return extract_condition(draft, node.activation, seen, where)


def _is_activated(draft: Draft, node: Node, scope: int, join: Join) -> bool:
    """Say whether a complex gateway goes on; one whose condition fails does, to be stopped."""
    if node.activation is None or join.used:
        return False
    try:
        return is_true(draft, node, scope, join.arrived.bit_count())
    except Stuck:
        return True


def _is_due(draft: Draft, node: Node, scope: int, join: Join) -> bool:
    """Say whether a join has all the tokens that it can expect."""
    if join.used > node.all_arrived:
        return False
    if _is_activated(draft, node, scope, join):
        return True
    return not _expects_more(draft, node, scope, join)


def _expects_more(draft: Draft, node: Node, scope: int, join: Join) -> bool:
    """Say whether another token can still come by a flow that is empty."""
    taken = join.arrived | join.used
    empty = node.all_arrived & ~taken
    return any(ways.any & empty and not ways.unhelped & taken for ways in _ways(draft, node, scope))


def _ways(draft: Draft, node: Node, scope: int) -> Iterator[Ways]:
    """Yield the flows by which each other token of the scope can still come to a join."""
    reach = node.reach
    for element in draft.live.values():
        if element.scope == scope and not _has_gone(draft, element):
            yield reach.get(element.element_id, NONE)
    for move in draft.agenda:
        if move.scope == scope:
            yield from _ways_of(draft, node, move)
    for (other, gateway), join in draft.joins.items():
        if other == scope and gateway != node.id and (join.arrived or join.more):
            by_any = reach.get(gateway, NONE).any
            yield Ways(by_any, by_any)  # joins that wait for each other would do so for ever


def _has_gone(draft: Draft, element: ElementInstance) -> bool:
    """Say whether the token of a live element went on before it has ended."""
    node = draft.plan.nodes.get(element.element_id)
    return node is not None and node.element.goes_ahead and element.incident is None


def _ways_of(draft: Draft, node: Node, move: Move) -> Iterator[Ways]:
    """Yield the flows by which a token on the agenda can come to a join."""
    ahead = [(move.element_id, move.flow_id)]
    if move.position:
        outgoing = draft.plan.nodes[move.element_id].outgoing[move.position :]
        ahead = [(flow.target, flow.id) for flow in outgoing]
    for element_id, flow_id in ahead:
        if element_id == node.id and flow_id is not None:
            flow = 1 << node.joins[flow_id]
            yield Ways(flow, flow)
        else:
            yield node.reach.get(element_id, NONE)


def _go_on(draft: Draft, node: Node, place: Place, join: Join) -> None:
    """Let a join go on with the tokens that came."""
    if join.arrived:
        _use(draft, node, place, join)
        draft.agenda.append(Move(node.id, place[0], None))
    else:
        begin_anew(draft, node, place[0])


def _use(draft: Draft, node: Node, place: Place, join: Join) -> None:
    """Use up a token of each flow that has one, for the one that goes on."""
    arrived, more, used = join
    draft.count(place[0], 1 - arrived.bit_count())
    if not node.is_complex:
        _next_round(draft, place, 0, dict(more))
    elif used:
        draft.joins[place] = Join(0, more, used | (node.all_arrived + 1))
    else:
        draft.joins[place] = Join(0, more, arrived)


def _next_round(draft: Draft, place: Place, arrived: int, more: dict[int, int]) -> None:
    """Let those tokens take part that came by a flow again."""
    for number in [number for number in more if not arrived >> number & 1]:
        arrived |= 1 << number
        more[number] -= 1
        if not more[number]:
            del more[number]
    if arrived:
        draft.joins[place] = Join(arrived, more)
    else:
        draft.joins.pop(place, None)
