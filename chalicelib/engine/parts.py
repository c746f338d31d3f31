"""Bodies of many parallel iterations: child instances do them, so many each.

The body of more than AT_ONCE iterations stays in its instance, with one live element for each
*part*: a run of iterations that a child instance of the same definition does, as a body of its own.
A child hands back its results when it ends, so 10,000 iterations cost 157 turns of the parent, and
what workers write is spread over 157 collections. With a completion condition each iteration is
reported to the parent besides, which alone can judge it.

What can be undone is remembered by the instance that did it, so a body with a compensation handler
or a cancel end event inside has no parts.

A child starts from what its body could see. The input collection is left out where it is a
variable that no expression of the activity names: 157 copies of it would cost the square.

Source: design section 7; BPMN 2.0.2 section 13.3.7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from chalicelib.bpmn.model import Binding
from chalicelib.engine import bpmn_errors, iterations, many, tokens, variables, waits
from chalicelib.engine.commands import CreateInstance, EndChild, HearIteration
from chalicelib.engine.draft import Draft
from chalicelib.engine.effects import Send
from chalicelib.engine.keys import first_key
from chalicelib.engine.state import (
    ChildWait,
    ElementInstance,
    InstanceState,
    LoopItems,
    Move,
    Progress,
    Purge,
)
from chalicelib.engine.stuck import Stuck, stop
from chalicelib.engine.turn import Iterated
from chalicelib.errors import Conflict
from chalicelib.json_text import JsonObject, JsonValue

if TYPE_CHECKING:
    from chalicelib.engine.plan_parts import ManyPlan
    from chalicelib.engine.plans import Node

AT_ONCE = 64  # parallel iterations of one body in one instance (design section 7)


def size_of(loop: ManyPlan, total: int) -> int:
    """Return how many iterations a child does; 0 if the instance does them itself."""
    return 0 if loop.is_sequential or loop.is_undone_inside or total <= AT_ONCE else AT_ONCE


# --- in the parent -----------------------------------------------------------------------------


def begin(draft: Draft, node: Node, move: Move) -> None:
    """Begin the next part of a body.

    Shapes: `move` was taken off the agenda; its scope is the body, its position the part's first
        iteration.
    """
    body, first = move.scope, move.position
    progress = draft.bodies[body]
    following = first + progress.size
    if following <= progress.total:
        draft.agenda.append(move._replace(position=following))
        draft.count(body, 1)
    key = draft.keys.next()
    draft.history.append(Iterated(key, body))
    call(draft, node, ElementInstance(key, node.id, body, draft.now, loop=first))


def call(draft: Draft, node: Node, element: ElementInstance) -> None:
    """Make the child wait of a part, and owe the start of the child."""
    body, first = element.scope, element.loop
    progress = draft.bodies[body]
    count = min(progress.size, progress.total - first + 1)
    items = draft.find(LoopItems, body)
    seen = variables.visible(draft, body)
    hidden = many.many_of(node).hides
    left = -(-(progress.total - first + 1) // progress.size)
    key = first_key(draft.keys.block_for_child(left))
    draft.live[element.key] = element._replace(child=key)
    errors, escalations = bpmn_errors.caught(draft, element.key)
    waits.owe_child(
        draft,
        ChildWait(
            key=key,
            instance_key=draft.key,
            element_id=node.id,
            element_key=element.key,
            created_at=draft.now,
            process_id=draft.root.bpmn_process_id,
            binding=Binding.LATEST,
            scope=body,
            depth=0 if draft.parent is None else draft.parent.depth,
            business_key=draft.root.business_key,
            errors=errors,
            escalations=escalations,
            variables={name: value for name, value in seen.items() if name != hidden},
            first=first,
            count=count,
            items=None if items is None else items.items[first - 1 : first - 1 + count],
        ),
    )


def call_again(draft: Draft, element: ElementInstance) -> None:
    """Do a part once more that ended otherwise."""
    call(draft, draft.plan.nodes[element.element_id], element)


def end_part(draft: Draft, wait: ChildWait, element: ElementInstance, command: EndChild) -> None:
    """Take over what a part did; the last one completes the body.

    A part whose last iterations an operator ended is ended as they are where no parts are needed.

    Raises: Conflict if a report of it is still on its way: the message comes again.
    """
    body = element.scope
    progress = draft.bodies.get(body)
    if progress is None:
        return  # what was around it has ended
    node = draft.plan.nodes[element.element_id]
    loop, is_whole = many.many_of(node), command.state is InstanceState.COMPLETED
    if is_whole and loop.completion is not None:
        if wait.reported != (1 << wait.count) - 1 and not element.is_ending:
            raise Conflict(f"an iteration of {command.child} was not reported yet")
    elif is_whole:
        draft.bodies[body] = progress._replace(completed=progress.completed + wait.count)
    if loop.results:
        _take_results(draft, body, wait, command.variables.get(loop.results))
    if is_whole and not draft.rules.sees_snapshot:
        _merge(draft, body, wait, command.variables, loop.results)
    if element.is_ending:
        return  # the purge that asked for it goes on by itself
    if is_whole:
        tokens.close(draft, element.key)
        tokens.consume(draft, body)
    else:
        tokens.start_purge(draft, Purge(element.key, is_withdrawn=True))


def _take_results(draft: Draft, body: int, wait: ChildWait, found: JsonValue) -> None:
    """Keep what the iterations of a part gave, as far as they were done."""
    results = found if isinstance(found, list) else []
    done = {
        wait.first + number: result
        for number, result in enumerate(results[: wait.count])
        if result is not None
    }
    if done:
        many.keep(draft, body, done)


def _merge(
    draft: Draft, scope: int, wait: ChildWait, values: JsonObject, results: str | None
) -> None:
    """Set what the iterations of a part set further out than in themselves."""
    changed = _changed(wait, values)
    changed.pop(results or "", None)
    variables.merge(draft, scope, changed)


def _changed(wait: ChildWait, values: JsonObject) -> JsonObject:
    """Return what is not as it was when a part began: of the rest the parent knows better."""
    known = wait.variables
    return {n: v for n, v in values.items() if n not in known or known[n] != v}


def hear_iteration(draft: Draft, command: HearIteration) -> None:
    """Judge the completion condition after an iteration of a part; each is heard once."""
    wait = draft.find(ChildWait, command.child)
    if wait is None or wait.reported >> (command.number - 1) & 1:
        return
    draft.put(replace(wait, reported=wait.reported | 1 << (command.number - 1)))
    element = draft.live[wait.element_key]
    progress = draft.bodies.get(element.scope)
    if element.is_ending or progress is None or command.is_withdrawn:
        return
    draft.bodies[element.scope] = progress._replace(completed=progress.completed + 1)
    told = _changed(wait, command.variables)
    seen = {**variables.visible(draft, element.scope), **told}
    try:
        if _is_enough(draft, element, seen):
            tokens.start_purge(draft, Purge(element.scope))
    except Stuck as stuck:
        _keep_unjudged(draft, element, wait.first - 1 + command.number, told, stuck)


def _is_enough(draft: Draft, element: ElementInstance, seen: JsonObject) -> bool:
    """Say whether the completion condition of a body holds. Raises: Stuck, when completing."""
    progress = draft.bodies[element.scope]
    left = progress.total - progress.completed
    return many.is_enough(draft, draft.plan.nodes[element.element_id], progress, (left, 0), seen)


def _keep_unjudged(
    draft: Draft, part: ElementInstance, number: int, told: JsonObject, stuck: Stuck
) -> None:
    """Let the body wait for an iteration that could not be judged, with what was told of it."""
    key, body = draft.keys.next(), part.scope
    draft.live[key] = ElementInstance(key, part.element_id, body, draft.now, loop=number)
    draft.count(body, 1)
    draft.history.append(Iterated(key, body))
    draft.open_scope(key, told)
    stop(draft, draft.live[key], stuck)


def judge_again(draft: Draft, element: ElementInstance) -> None:
    """Judge an iteration of a part that could not be. Raises: Stuck, when completing."""
    body = element.scope
    is_last = _is_enough(draft, element, variables.visible(draft, element.key))
    draft.close_scope(element.key)
    tokens.close(draft, element.key)
    if is_last:
        tokens.start_purge(draft, Purge(body))
    else:
        tokens.consume(draft, body)


# --- in the child ------------------------------------------------------------------------------


def start(draft: Draft, command: CreateInstance) -> None:
    """Begin a part: a body of its own, of the iterations that it is for."""
    part = command.part
    assert part is not None
    draft.open_scope(draft.key, command.variables)
    key = draft.keys.next()
    draft.live[key] = ElementInstance(key, part.element_id, draft.key, draft.now)
    draft.bodies[key] = Progress(part.total, told=iterations.are_told(part.items), results={})
    if part.items is not None:
        draft.put(LoopItems(key, draft.key, part.items))
    draft.count(key, 1)
    draft.agenda.append(Move(part.element_id, key, None, 1))


def report(draft: Draft, node: Node, number: int, seen: Mapping[str, JsonValue]) -> None:
    """Tell the parent that an iteration is over, and what its condition may ask of it."""
    assert draft.parent is not None
    text = many.many_of(node).completion_text
    told = {name: value for name, value in seen.items() if name in text}
    command = HearIteration(draft.key, number, told)
    draft.emit(Send(draft.parent.instance_key, command, draft.version))


def withdraw(draft: Draft, iteration: ElementInstance) -> None:
    """Tell the parent, if it waits for a report, that an operator ended an iteration."""
    if draft.parent is None or draft.plan.nodes[iteration.element_id].many is None:
        return
    loop = many.many_of(draft.plan.nodes[iteration.element_id])
    if loop.completion is not None and draft.is_part(iteration.scope):
        command = HearIteration(draft.key, iteration.loop, is_withdrawn=True)
        draft.emit(Send(draft.parent.instance_key, command, draft.version))


def complete(draft: Draft, node: Node, body: ElementInstance) -> None:
    """End the child, with its results where its parent reads them."""
    save(draft, node, body.key)
    tokens.close(draft, body.key)
    tokens.consume(draft, draft.key)


def save_all(draft: Draft) -> None:
    """Save what the iterations of a part gave that is being cancelled."""
    for key in draft.bodies:
        if draft.is_part(key):
            save(draft, draft.plan.nodes[draft.live[key].element_id], key)


def save(draft: Draft, node: Node, body: int) -> None:
    """Put the results among the top scope's variables."""
    results = many.many_of(node).results
    if results:
        found = many.collected(draft, body)
        draft.assign(draft.key, {results: found})
