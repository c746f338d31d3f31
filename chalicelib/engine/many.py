"""Multi-instance activities: a body, and an iteration of the activity for each of many.

The *body* is the element instance that a token entered: boundary events sit on it, and it owns no
variables but those that its listeners gave. Each iteration is a scope in it, with the input element
and `loopCounter`, and in that scope the activity runs as if it stood there alone. Parallel
iterations are begun one after the other by one entry of the agenda, so that a turn may stop between
them; sequential ones each by the end of the one before. What an iteration gives is kept beside the
variables until the body is complete, so that nothing set under the collection's name can harm it.

Source: BPMN 2.0.2 section 13.3.7; contracts/bpmn.md 3.1; contracts/zenbpm.md 4.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from chalicelib import json_text
from chalicelib.engine import iterations, parts, tokens, variables, waits
from chalicelib.engine.draft import Draft
from chalicelib.engine.expressions import (
    blamed,
    extract,
    extract_completing,
    extract_condition,
    show,
)
from chalicelib.engine.limits import SMALL_RESULTS_BYTES
from chalicelib.engine.state import (
    ElementInstance,
    LoopItems,
    LoopResults,
    Move,
    Progress,
    Purge,
    RecordKey,
    Stage,
)
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.engine.turn import Iterated
from chalicelib.json_text import JsonObject, JsonValue

if TYPE_CHECKING:
    from chalicelib.engine.plan_parts import ManyPlan
    from chalicelib.engine.plans import Node

TOTAL, ACTIVE = "numberOfInstances", "numberOfActiveInstances"
COMPLETED, TERMINATED = "numberOfCompletedInstances", "numberOfTerminatedInstances"


def enter(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Begin the iterations of an activity; one of none is complete at once. Raises: Stuck."""
    loop = many_of(node)
    given = draft.handed  # by the body's own listeners: variables of the body
    seen = {**variables.visible(draft, scope), **given}
    items, total = _items(draft, node, seen)
    if not total:
        nothing: JsonObject | None = {loop.results: []} if loop.results else None
        tokens.hand_on(draft, node, scope, key, nothing)
        return
    body = draft.live[key] = ElementInstance(key, node.id, scope, draft.now)
    size = parts.size_of(loop, total)
    draft.bodies[key] = Progress(
        total,
        size=size,
        owns_variables=bool(given),
        told=not size and iterations.are_told(items),
        results=None if size else {},
    )
    if given:
        draft.open_scope(key, given)
    if items is not None:
        draft.put(LoopItems(key, draft.key, items))
    draft.count(key, 1)
    draft.agenda.append(Move(node.id, key, None, 1))
    waits.arm_boundary(draft, node, body, seen)


def many_of(node: Node) -> ManyPlan:
    """Return how an activity is done several times."""
    assert node.many is not None, f"{node.id} is done once"
    return node.many


def _items(draft: Draft, node: Node, seen: JsonObject) -> tuple[list[JsonValue] | None, int]:
    """Return what an activity is done for, None if only how often, and how often.

    Raises: Stuck(EXTRACT_VALUE_ERROR).
    """
    loop = many_of(node)
    if loop.items is not None:
        where = f"input collection of {node.id}"
        found = extract(loop.items, seen, draft.moment, where)
        if found is None:
            stuck = blamed(draft, loop.items, seen, _unfit(f"{where}: expected a list, found null"))
            if stuck.error_type is ErrorType.VARIABLE_MISSING:
                raise stuck
            return None, 0
        if not isinstance(found, list):
            raise _unfit(f"{where}: expected a list, found {show(found)}")
        return found, len(found)
    assert loop.cardinality is not None
    where = f"loop cardinality of {node.id}"
    count = extract(loop.cardinality, seen, draft.moment, where)
    if not isinstance(count, Decimal) or count != count.to_integral_value() or count < 0:
        unfit = _unfit(f"{where}: expected a whole number from 0, found {show(count)}")
        raise blamed(draft, loop.cardinality, seen, unfit)
    return None, int(count)


def _unfit(message: str) -> Stuck:
    return Stuck(ErrorType.EXTRACT_VALUE_ERROR, message)


# --- one iteration -----------------------------------------------------------------------------


def next_iteration(draft: Draft, node: Node, move: Move) -> Move:
    """Open the scope of the next iteration, and return the move that begins it in there.

    Shapes: `move` was taken off the agenda; its scope is the body, its position the iteration.
    """
    loop, body, number = many_of(node), move.scope, move.position
    is_last = loop.is_sequential or number == draft.bodies[body].total
    if not is_last:
        draft.agenda.append(move._replace(position=number + 1))
        draft.count(body, 1)
    key = draft.keys.next()
    is_told = draft.bodies[body].told
    draft.live[key] = iteration = ElementInstance(
        key, node.id, body, draft.now, tokens=1, loop=number, is_untouched=is_told
    )
    draft.counts[key] = 1
    draft.history.append(Iterated(key, draft.key if draft.is_part(body) else body))
    draft.open_scope(key, iterations.first_values(draft, iteration), is_stored=not is_told)
    return Move(node.id, key, None)


def complete(draft: Draft, node: Node, element: ElementInstance) -> None:
    """Complete what has nothing left inside: an iteration, or the body. Raises: Stuck."""
    if element.loop and draft.bodies[element.scope].size:
        parts.judge_again(draft, element)
    elif element.loop:
        _complete_iteration(draft, node, element)
    else:
        _complete_body(draft, node, element)


def _complete_iteration(draft: Draft, node: Node, iteration: ElementInstance) -> None:
    """Take the result of an iteration; begin the next, or complete the body after the last.

    Raises: Stuck, before anything was changed.
    """
    loop, body = many_of(node), iteration.scope
    state = draft.bodies[body]
    seen = variables.visible(draft, iteration.key)
    result = None
    if loop.result is not None:
        result = extract_completing(draft, loop.result, seen, f"output element of {node.id}")
    state = state._replace(completed=state.completed + 1)
    is_last = False
    if loop.completion is not None and draft.is_part(body):
        parts.report(draft, node, iteration.loop, seen)
    elif loop.completion is not None:
        is_last = is_enough(draft, node, state, _others(draft, state, iteration), seen)
    late = _late(draft, node, iteration, seen, result)
    draft.bodies[body] = state
    if loop.results:
        keep(draft, body, {iteration.loop: result})
    variables.merge(draft, iteration.key, late)
    tokens.close(draft, iteration.key)
    if is_last:
        tokens.start_purge(draft, Purge(body))
    elif loop.is_sequential and state.completed < state.total:
        draft.agenda.append(Move(node.id, body, None, iteration.loop + 1))
    else:
        tokens.consume(draft, body)


def _late(
    draft: Draft, node: Node, iteration: ElementInstance, seen: JsonObject, result: JsonValue
) -> JsonObject:
    """Run the output mappings that read the results, with that of this iteration. Raises: Stuck.

    What child instances do in parts has them all in the body alone.
    """
    if not node.late or draft.is_part(iteration.scope):
        return {}
    so_far = collected(draft, iteration.scope)
    so_far[iteration.loop - 1] = result
    all_seen = {**seen, many_of(node).results or "": so_far}
    return variables.map_out(draft, node, node.late, all_seen, seen)


def _others(draft: Draft, state: Progress, iteration: ElementInstance) -> tuple[int, int]:
    """Return how many iterations are live beside one, and how many were ended by an operator."""
    body = iteration.scope
    live = sum(each.scope == body for each in draft.live.values()) - 1
    if many_of(draft.plan.nodes[iteration.element_id]).is_sequential:
        return live, 0  # with an iteration that is ended so the body ends
    following = (move.position for move in draft.agenda if move.scope == body and move.position)
    begun = next(following, state.total + 1) - 1
    return live, begun - state.completed - live


def is_enough(
    draft: Draft, node: Node, state: Progress, others: tuple[int, int], seen: JsonObject
) -> bool:
    """Say whether the completion condition holds after an iteration. Raises: Stuck.

    Shapes: `others` are how many iterations are live, and how many were ended by an operator.
    """
    counters: JsonObject = {
        TOTAL: Decimal(state.total),
        ACTIVE: Decimal(others[0]),
        COMPLETED: Decimal(state.completed),
        TERMINATED: Decimal(others[1]),
    }
    where, completion = f"completion condition of {node.id}", many_of(node).completion
    assert completion is not None
    return extract_condition(draft, completion, {**seen, **counters}, where, Stage.COMPLETING)


# --- records -----------------------------------------------------------------------------------

PARTS_MAX = 64  # of what iterations gave: they end in one turn, which has 90 actions


def results_key(body: int, number: int, total: int) -> int:
    """Return the key of the part of a body's results that has an iteration's."""
    per_part = max(PARTS_MAX, -(-total // PARTS_MAX))
    return body * PARTS_MAX + (number - 1) // per_part


def records_of(draft: Draft, body: int) -> list[RecordKey]:
    """Return the keys of all that may be kept of a body: its items and its results."""
    return [RecordKey(LoopItems, body), *results_of(body, draft.bodies[body])]


def results_of(body: int, progress: Progress) -> list[RecordKey]:
    """Return the keys of the records of what the iterations of a body gave."""
    if progress.results is not None:
        return []
    total = progress.total
    first, last = results_key(body, 1, total), results_key(body, total, total)
    return [RecordKey(LoopResults, key) for key in range(first, last + 1)]


def close(draft: Draft, body: int) -> None:
    """Forget a body that ended, and what was kept of it."""
    for record in records_of(draft, body):
        draft.drop(*record)
    del draft.bodies[body]
    draft.counts.pop(body, None)


# --- results -----------------------------------------------------------------------------------


def keep(draft: Draft, body: int, results: Mapping[int, JsonValue]) -> None:
    """Put the results of iterations, by their numbers, where they belong among those of all: with
    the body's progress while there is room, then into records."""
    progress = draft.bodies[body]
    if progress.results is not None:
        results = {**progress.results, **results}
        draft.bodies[body] = progress._replace(results=results)
        if _have_room(draft):
            return
        draft.bodies[body] = progress._replace(results=None)
    by_part: dict[int, dict[int, JsonValue]] = {}
    for number, result in results.items():
        by_part.setdefault(results_key(body, number, progress.total), {})[number] = result
    for key, values in by_part.items():
        known = draft.find(LoopResults, key)
        draft.put(
            LoopResults(key, draft.key, {**({} if known is None else known.values), **values})
        )


def _have_room(draft: Draft) -> bool:
    """Say whether the root can hold the results that are with their bodies."""
    kept = [[*each.results.values()] for each in draft.bodies.values() if each.results]
    return len(json_text.dumps(kept)) <= SMALL_RESULTS_BYTES


def collected(draft: Draft, body: int) -> list[JsonValue]:
    """Return the results of all iterations in the order of what they were done for."""
    progress = draft.bodies[body]
    found: dict[int, JsonValue] = dict(progress.results or {})
    keys = results_of(body, progress)
    draft.need(keys)
    for key in keys:
        part = draft.find(LoopResults, key.key)
        found.update({} if part is None else part.values)
    return [found.get(number) for number in range(1, progress.total + 1)]


def _complete_body(draft: Draft, node: Node, body: ElementInstance) -> None:
    """Hand on the results, and leave. Raises: Stuck, at the stage of leaving."""
    if draft.is_part(body.key):
        parts.complete(draft, node, body)
        return
    loop, outputs = many_of(node), None
    if loop.results:
        outputs = {loop.results: collected(draft, body.key)}
        if node.inner is not None and node.inner.late and draft.bodies[body.key].size:
            seen = variables.visible(draft, body.scope)
            late = node.inner.late
            outputs |= variables.map_out(draft, node, late, {**seen, **outputs}, seen)
    tokens.hand_on(draft, node, body.scope, body.key, outputs)
