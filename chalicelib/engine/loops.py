"""The standard loop marker: an activity is done again and again while a condition holds.

The activity's element instance is a *body*: a scope that holds `loopCounter`, which counts from 1,
and in it one round at a time. What a round hands on passes through the body to the scope around.
Boundary events are on the body, so they are about all rounds together.

Source: BPMN 2.0.2 section 13.3.6 (loop activity).
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from chalicelib.engine import compensation, tokens, variables, waits
from chalicelib.engine.draft import Draft
from chalicelib.engine.expressions import extract_condition, show
from chalicelib.engine.state import ElementInstance, Move, Stage
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.engine.turn import Iterated
from chalicelib.json_text import JsonObject, is_integer

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node

COUNTER = "loopCounter"
ROUNDS_MAX = 2**31  # more than any instance lives to see


def enter(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Begin the first round, unless the condition is tested before. Raises: Stuck."""
    assert node.loop is not None
    seen = variables.visible(draft, scope)
    if node.loop.test_before and not _goes_on(draft, node, {**seen, COUNTER: Decimal(0)}, 0):
        tokens.leave(draft, node, scope, key)
        return
    open_body(draft, node, scope, key)
    _begin_round(draft, node, key)


def open_body(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Open the body of an activity, without a round in it yet. Raises: Stuck."""
    seen = variables.visible(draft, scope)
    draft.live[key] = ElementInstance(key, node.id, scope, draft.now)
    draft.history.append(Iterated(key, key))
    draft.open_scope(key, {COUNTER: Decimal(1)})
    waits.arm_boundary(draft, node, draft.live[key], seen)


def next_round(draft: Draft, node: Node, body: ElementInstance) -> None:
    """Begin another round after one has ended, or complete the activity. Raises: Stuck."""
    key = body.key
    try:
        done = _rounds(draft, node, key)
        goes_on = _goes_on(draft, node, variables.visible(draft, key), done)
    except Stuck as stuck:
        stuck.stage = Stage.COMPLETING
        raise
    if goes_on:
        draft.assign(key, {COUNTER: Decimal(done + 1)})
        _begin_round(draft, node, key)
    else:
        compensation.leave_scope(draft, node, body)
        tokens.hand_on(draft, node, body.scope, key, None)


def _begin_round(draft: Draft, node: Node, key: int) -> None:
    draft.count(key, 1)
    draft.agenda.append(Move(node.id, key, None))


def _rounds(draft: Draft, node: Node, key: int) -> int:
    """Return how many rounds were done, which anybody may have set. Raises: Stuck."""
    found = draft.values(key).get(COUNTER)
    if not isinstance(found, Decimal) or not (is_integer(found) and 0 <= found <= ROUNDS_MAX):
        raise Stuck(
            ErrorType.EXTRACT_VALUE_ERROR,
            f"{COUNTER} of {node.id}: expected a whole number from 0, found {show(found)}",
        )
    return int(found)


def _goes_on(draft: Draft, node: Node, seen: JsonObject, done: int) -> bool:
    """Say whether there is another round. Raises: Stuck."""
    assert node.loop is not None
    if node.loop.maximum is not None and done >= node.loop.maximum:
        return False
    if node.loop.condition is None:
        return True
    where = f"loopCondition of {node.id}"
    return extract_condition(draft, node.loop.condition, seen, where)
