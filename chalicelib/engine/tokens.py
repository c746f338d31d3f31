"""How tokens move on: out of an element, out of a scope, and how they are ended.

A token that leaves an element becomes a move on the agenda; `moves.run` lets it enter the next.
A scope counts its tokens: those in elements that wait, those on the agenda, those at joins. When
the count falls to nothing the scope is complete. To end what is inside a scope is a *purge*: it
ends one live element after the other, over as many turns as that needs, before anything else.

Source: BPMN 2.0.2 sections 13.2 (sequence flow), 13.3 (activities), 13.5 (end of a scope).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chalicelib.bpmn.model import CANCEL, END, SCOPES, Kind
from chalicelib.engine import (
    ad_hoc,
    compensation,
    execution_listeners,
    flows,
    iterations,
    joins,
    loops,
    many,
    purges,
    task_listeners,
    variables,
)
from chalicelib.engine.draft import Draft
from chalicelib.engine.guards import Guard
from chalicelib.engine.state import (
    ChildWait,
    ElementInstance,
    Incident,
    InstanceState,
    Job,
    JobState,
    LoopItems,
    Move,
    Purge,
    RecordKey,
    Subscription,
    Timer,
    Variables,
)
from chalicelib.engine.stuck import Stuck, close_incident, stop
from chalicelib.engine.turn import Disarmed, Left, Terminated, Unsubscribed
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plan_parts import Flow
    from chalicelib.engine.plans import Node

OWNERS = SCOPES | {Kind.BOUNDARY_EVENT}
CATCHERS = frozenset(
    (
        *(Kind.START_EVENT, Kind.INTERMEDIATE_CATCH_EVENT, Kind.RECEIVE_TASK),
        *(Kind.CALL_ACTIVITY, Kind.PROCESS),
    )
)

# --- on and out ----------------------------------------------------------------------------


def leave(
    draft: Draft,
    node: Node,
    scope: int,
    key: int,
    outputs: JsonObject | None = None,
    inside: JsonObject | None = None,
) -> None:
    """Complete an element and let its token take the outgoing flows; none ends the token.

    Shapes: `inside` is what the element had for itself, which listeners of its end may see.
    Raises: Stuck(CONDITION_ERROR or EXTRACT_VALUE_ERROR), at the stage of leaving.
    """
    only = node.only
    if only is not None:
        draft.history.append(Left(key, outputs))
        draft.agenda.append(Move(only.target, scope, only.id))
    elif END in node.heard:
        execution_listeners.leave(draft, node, scope, key, outputs, inside)
    else:
        go_out(draft, node, scope, key, outputs)


def go_out(draft: Draft, node: Node, scope: int, key: int, outputs: JsonObject | None) -> None:
    """Let a token out of an element that nobody listens to any more. Raises: Stuck, likewise."""
    if node.departs is not None:
        node.departs(draft, node, scope, key)
        return
    chosen = flows.choose(draft, node, scope) if node.has_conditions else node.outgoing
    draft.history.append(Left(key, outputs))
    if node.is_compensable:
        compensation.note(draft, node, scope, key)
    if not chosen:
        consume(draft, scope)
    elif node.has_conditions or len(chosen) == 1:
        spread(draft, scope, chosen)
    else:
        fork(draft, node, scope)


def fork(draft: Draft, node: Node, scope: int) -> None:
    """Send a token along every outgoing flow: the first now, the others when that one waits."""
    first = node.outgoing[0]
    draft.count(scope, len(node.outgoing) - 1)
    draft.agenda.append(Move(node.id, scope, None, 1))
    draft.agenda.append(Move(first.target, scope, first.id))


def spread(draft: Draft, scope: int, flows: Sequence[Flow]) -> None:
    """Send a token along each of some flows, which one token left by; the first one first."""
    draft.count(scope, len(flows) - 1)
    draft.agenda.extend(Move(flow.target, scope, flow.id) for flow in reversed(flows))


def complete(
    draft: Draft, node: Node, scope: int, key: int, local: JsonObject, produced: JsonObject
) -> None:
    """Complete an element that hands on all it produced, unless it has output mappings.

    Raises: Stuck, at the stage of completing or leaving.
    """
    outputs = variables.outputs_of(draft, node, scope, local, produced)
    handed_on = produced or None if outputs is None else outputs
    hand_on(draft, node, scope, key, handed_on, {**local, **produced})


def hand_on(
    draft: Draft,
    node: Node,
    scope: int,
    key: int,
    outputs: JsonObject | None,
    inside: JsonObject | None = None,
) -> None:
    """Give the scope an element's outputs, close what was open on it, and leave; `inside` as
    `leave` has it."""
    close(draft, key)
    if inside and node.element.many is not None:
        iterations.keep_local(draft, node, scope, inside, outputs)
    if outputs:
        variables.merge(draft, scope, outputs)
    leave(draft, node, scope, key, outputs, inside)


def close(draft: Draft, key: int) -> None:
    """Take an element off the list of what waits: its timers and its incident are over.

    Of a timer that fired just now the history said so before, which is what counts there.
    """
    element = draft.live.pop(key, None)
    if element is None:
        return
    draft.need(records_of(draft, element))
    disarm(draft, element)
    if owns_variables(draft, element):
        draft.counts.pop(key, None)
        joins.forget(draft, key)
        draft.close_scope(key, is_stored=not draft.is_untouched(element))
        if draft.node_of(element).ad_hoc is not None:
            draft.drop(LoopItems, key)
    if key in draft.bodies:
        many.close(draft, key)


def disarm(draft: Draft, element: ElementInstance) -> None:
    """End what a live element waits for, and its incident."""
    for timer in element.timers:
        draft.drop(Timer, timer)
        draft.history.append(Disarmed(timer, fired=False))
    for subscription in element.subscriptions:
        draft.drop(Subscription, subscription)
        draft.history.append(Unsubscribed(subscription, came=False))
    if element.incident is not None:
        close_incident(draft, element.incident)


def end_scope(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Leave an event that ends all that is around it."""
    draft.history.append(Left(key, None))
    start_purge(draft, Purge(scope))


def jump(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Leave by a link, to the catch event of its name."""
    draft.history.append(Left(key, None))
    draft.agenda.append(Move(node.link_target, scope, None))


# --- the end of tokens and scopes ----------------------------------------------------------


def consume(draft: Draft, scope: int) -> None:
    """End a token; the last one completes its scope."""
    left = draft.count(scope, -1)
    if draft.plan.has_ad_hoc and ad_hoc.is_one(draft, scope):
        ad_hoc.path_over(draft, scope)
    elif left == 0:
        complete_scope(draft, scope)


def complete_scope(draft: Draft, scope: int) -> None:
    """Complete the instance, or the subprocess that owns the scope.

    What this completes in its turn follows when it is done, so scopes in each other take no stack;
    what the turn has no room for is left to the next one, as a purge with nothing to end.
    """
    draft.over.append(scope)
    if len(draft.over) > 1:
        return
    try:
        while draft.over:
            if purges.has_room(draft, draft.over[0]):
                _complete(draft, draft.over[0])
            else:
                start_purge(draft, Purge(draft.over[0]))
            draft.over.pop(0)
    finally:
        draft.over.clear()


def _complete(draft: Draft, scope: int) -> None:
    if draft.plan.listened:
        close_listeners(draft, scope)
    if scope == draft.key:
        end_instance(draft)
        return
    element = draft.live[scope]
    try:
        complete_inside(draft, draft.node_of(element), element)
    except Stuck as stuck:
        stop(draft, element, stuck)


def end_instance(draft: Draft) -> None:
    """End an instance that nothing is left in, when the listeners of its process were heard: those
    of its cancellation if it is being ended, else those of its end."""
    is_cancelled = draft.state is InstanceState.TERMINATING
    if execution_listeners.hear_process(draft, CANCEL if is_cancelled else END):
        draft.count(draft.key, 1)
    else:
        _end(draft)


def leave_process(draft: Draft, node: Node, scope: int, key: int) -> None:
    """End the instance after its listeners, unless something was started in it meanwhile."""
    if draft.count(scope, -1) == 0:
        _end(draft)


def _end(draft: Draft) -> None:
    is_cancelled = draft.state is InstanceState.TERMINATING
    draft.state = InstanceState.TERMINATED if is_cancelled else InstanceState.COMPLETED
    draft.ended_at = draft.now
    draft.completed.clear()


def close_listeners(draft: Draft, scope: int) -> None:
    """End what waits to trigger an event subprocess in a scope that is over."""
    id_ = draft.plan.process.id if scope == draft.key else draft.live[scope].element_id
    if id_ not in draft.plan.listened:
        return
    listeners = [e for e in draft.live.values() if e.is_listening and e.scope == scope]
    draft.need(key for element in listeners for key in records_of(draft, element))
    for element in listeners:
        close(draft, element.key)


def complete_inside(draft: Draft, node: Node, element: ElementInstance) -> None:
    """Go on with an element that has nothing left inside. Raises: Stuck."""
    if node.ad_hoc is not None and not element.is_ending:
        ad_hoc.go_on(draft, node, element)
        return
    if node.loop is not None:
        loops.next_round(draft, node, element)
        return
    compensation.leave_scope(draft, node, element)
    if node.many is not None:
        many.complete(draft, node, element)
    elif node.is_body:
        compensation.finish(draft, node, element)
    else:
        complete_subprocess(draft, node, element)


def complete_subprocess(draft: Draft, node: Node, element: ElementInstance) -> None:
    """Hand on what a subprocess maps out, and leave it. Raises: Stuck."""
    inside = draft.values(element.key)
    outputs = variables.outputs_of(draft, node, element.scope, {}, inside)
    if node.ad_hoc is not None:
        outputs = ad_hoc.handed_on(node.ad_hoc, inside, outputs)
    elif node.path_of is not None:
        ad_hoc.collect(draft, node.path_of, element)
    hand_on(draft, node, element.scope, element.key, outputs, inside)


def terminate(draft: Draft, element: ElementInstance) -> None:
    """End one live element: its job, timers and incident with it. It has nothing inside."""
    draft.need(records_of(draft, element))
    for key in element.jobs:
        job = draft.find(Job, key)
        if job is not None and job.state in (JobState.ACTIVE, JobState.FAILED):
            draft.put(job._replace(state=JobState.TERMINATED), Guard.CANCEL)
    is_part = element.key in draft.bodies and draft.is_part(element.key)
    close(draft, element.key)
    compensation.forget(draft, element.key)
    is_ours = element.loop or element.is_listening or is_part  # which nobody was told of
    if not (is_ours or draft.node_of(element).kind is Kind.PROCESS):
        draft.history.append(Terminated(element.key))


def owns_variables(draft: Draft, element: ElementInstance) -> bool:
    """Say whether variables may be kept under the element's key: of a scope, or what it caught.

    What waits for an event keeps what came only while an incident stops it.
    """
    node = draft.node_of(element)
    progress = draft.bodies.get(element.scope) if element.loop else None
    if progress is not None and progress.size:
        # A part of a body, which a child instance does; or an iteration that was not judged.
        return element.incident is not None
    if node.is_body or node.kind in OWNERS:
        body = draft.bodies.get(element.key)
        return body is None or body.owns_variables
    return (element.incident or element.job) is not None and node.kind in CATCHERS


def records_of(draft: Draft, element: ElementInstance) -> list[RecordKey]:
    """Return the keys of the records that are open on a live element."""
    keys = [RecordKey(Timer, key) for key in element.timers]
    keys += [RecordKey(Subscription, key) for key in element.subscriptions]
    keys += [RecordKey(Job, key) for key in element.jobs]
    if element.child:
        keys.append(RecordKey(ChildWait, element.child))
    if element.incident is not None:
        keys.append(RecordKey(Incident, element.incident))
    if owns_variables(draft, element) and not draft.is_untouched(element):
        keys.append(RecordKey(Variables, element.key))
    if draft.plan.has_ad_hoc and draft.node_of(element).ad_hoc is not None:
        keys.append(RecordKey(LoopItems, element.key))
    if element.key in draft.bodies:
        keys += many.records_of(draft, element.key)
    return keys


def holds_tokens(node: Node) -> bool:
    """Say whether an element is a scope: there may be tokens inside."""
    return node.is_body or node.kind in SCOPES


def interrupt(draft: Draft, element: ElementInstance, catcher: Move) -> None:
    """End a live element and all that is inside, then let the token go on at the catcher."""
    is_to_wait = element.child or task_listeners.is_heard_at_end(draft, element)
    if is_to_wait or holds_tokens(draft.node_of(element)):
        start_purge(draft, Purge(element.key, catcher))
    else:
        terminate(draft, element)
        draft.agenda.append(catcher)


def start_purge(draft: Draft, purge: Purge) -> None:
    """Begin to end what is inside a scope: moves and joins at once, live elements in turn."""
    scopes = purges.inside(draft, purge.scope)[0]
    draft.agenda = [move for move in draft.agenda if move.scope not in scopes]
    draft.joins = {place: flows for place, flows in draft.joins.items() if place[0] not in scopes}
    draft.purges = [each for each in draft.purges if each.scope not in scopes]
    draft.purges.append(purge)
