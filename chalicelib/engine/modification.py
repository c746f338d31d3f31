"""An operator moves tokens: element instances are ended, and others are started elsewhere.

What is started is started first, so that a scope which loses its last token only to get another one
stays. A scope that is left with none is ended too, and an instance with none is *terminated*: it
did not reach its end. Nothing that was validated is done in part.

Source: contracts/zenbpm.md section 1.4; Camunda 8 documentation, "Process instance modification",
whose rules stand where upstream says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from chalicelib.bpmn.model import Kind
from chalicelib.engine import lifecycle, listeners, places, tokens, variables
from chalicelib.engine.commands import ModifyInstance
from chalicelib.engine.draft import Draft
from chalicelib.engine.state import ElementInstance, Move, Purge

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node

NOT_STARTED = {
    Kind.BOUNDARY_EVENT: "a boundary event",
    Kind.AD_HOC_ACTIVATION: "what stands for an activation",
    Kind.REOPENED: "what is opened again to be undone",
}


def modify(draft: Draft, command: ModifyInstance) -> None:
    """Set variables, start elements, end element instances, in this order.

    Raises: Rejected: the instance has ended, an element is none of the process's or cannot be
        started, an element instance is not live, or it cannot be told in which scope to start.
    """
    lifecycle.require_active(
        draft.state, f"process instance {draft.key} has ended: expected one that is active"
    )
    victims = [_live(draft, key) for key in dict.fromkeys(command.terminate)]
    nodes = [_startable(draft, element_id) for element_id in command.start]
    draft.assign(variables.live_scope(draft, command.scope), command.variables)
    doomed = frozenset(victim.key for victim in victims)
    _start_all(draft, _moves_to(draft, nodes, command.scope or draft.key, doomed))
    for victim in reversed(victims):
        if doomed.isdisjoint(variables.chain(draft, victim.scope)):  # else it ends with that
            tokens.start_purge(draft, Purge(victim.key, is_withdrawn=True))


def check(draft: Draft, elements: Iterable[str]) -> None:
    """Let elements pass that an instance can begin at. Raises: Rejected."""
    for element_id in elements:
        _startable(draft, element_id)


def start_at(draft: Draft, elements: Iterable[str]) -> None:
    """Give a new instance a token at each of the named elements.

    Raises: Rejected, as `modify` does, before a token was put anywhere.
    """
    nodes = [_startable(draft, element_id) for element_id in elements]
    moves = _moves_to(draft, nodes, draft.key, frozenset())
    listeners.listen(draft, draft.key, draft.plan.process.id)
    draft.count(draft.key, -1)  # the token that would have stood at the start event
    _start_all(draft, moves)


def _moves_to(draft: Draft, nodes: Iterable[Node], home: int, doomed: frozenset[int]) -> list[Move]:
    """Return the moves that start tokens at elements; subprocesses around them are opened once.

    Shapes: `home` is the instance, or a subprocess in it that is taken where it is on the way;
        nothing is started in what is `doomed`.
    """
    return [Move(node.id, places.scope_for(draft, node, home, doomed), None) for node in nodes]


def _start_all(draft: Draft, moves: Sequence[Move]) -> None:
    """Start tokens by moves, the first one first."""
    for move in moves:
        draft.count(move.scope, 1)
    draft.agenda.extend(reversed(moves))


def _startable(draft: Draft, element_id: str) -> Node:
    node = draft.plan.nodes.get(element_id)
    if node is None or node.kind is Kind.PROCESS:
        raise lifecycle.no_such("element", element_id)
    found = NOT_STARTED.get(node.kind)
    if found is not None:
        raise places.refusal(
            f"element {element_id}: expected an element that a token can be put at, found {found}"
        )
    return node


def _live(draft: Draft, key: int) -> ElementInstance:
    element = draft.live.get(key)
    if element is None or element.is_listening:
        raise lifecycle.no_such("element instance", key)
    return element
