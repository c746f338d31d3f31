"""Execution listeners: jobs that are done one after the other before an element begins, after its
input mappings, or when it has ended, after its output mappings.

Meanwhile the element waits with the job in place of its own, and nothing else of it is open. What
the listeners of its beginning give is local to the element; what those of its end give leaves it
where the profile lets outputs leave. The job of a listener carries what the next step needs: those
locals, or what the element handed on.

Source: contracts/bpmn.md 3.2 (executionListeners).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from chalicelib.bpmn.model import COMPLETING, END, START, Listener
from chalicelib.engine import jobs, retries, tokens, variables
from chalicelib.engine.draft import JOB_ACTIONS, Draft
from chalicelib.engine.element_types import ELEMENT_TYPES
from chalicelib.engine.expressions import Compute, compile_value, extract_text
from chalicelib.engine.state import BPMN, ElementInstance, Job, Stage
from chalicelib.engine.stuck import Stuck, stop
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node

PRODUCED, LOCAL = "produced", "local"  # what a user task that is done has for its outputs


class ListenerPlan(NamedTuple):
    """One listener, with what it names computable."""

    type: Compute
    retries: Compute | None
    headers: Mapping[str, str]


def bind(node: Node) -> None:
    """Let the listeners of an element run before and after it."""
    node.begins = _plans(node.element.listeners, START)
    node.ends = _plans(node.element.listeners, END)
    node.checks = _plans(node.element.listeners, COMPLETING)
    node.work = node.enter
    node.actions += JOB_ACTIONS
    if node.begins:
        node.enter = enter
    if node.ends:
        node.only = None


def enter(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Begin with the first listener of an element that is entered. Raises: Stuck."""
    element = ElementInstance(key, node.id, scope, draft.now)
    _create(draft, node, element, f"{START} 0", {})


def leave(draft: Draft, node: Node, scope: int, key: int, outputs: JsonObject | None) -> None:
    """Begin with the first listener of an element that has ended.

    Raises: Stuck, at the stage of leaving.
    """
    element = ElementInstance(key, node.id, scope, draft.now)
    try:
        _create(draft, node, element, f"{END} 0", outputs or {})
    except Stuck as stuck:
        stuck.stage = Stage.LEAVING
        raise


def check(draft: Draft, node: Node, job: Job, element: ElementInstance) -> None:
    """Begin with the first listener of a user task that somebody has done."""
    carried: JsonObject = {
        PRODUCED: job.outputs or {},
        LOCAL: variables.local_of(node, job.inputs),
    }
    try:
        _create(draft, node, element, f"{COMPLETING} 0", carried)
    except Stuck as stuck:
        stuck.stage = Stage.COMPLETING
        stop(draft, element, stuck, job.key)


def go_on(draft: Draft, job: Job, element: ElementInstance) -> None:
    """Go on with the next listener when the job of one is completed, or with the element itself;
    what cannot be is an incident, from which it goes on at the same place."""
    node = draft.node_of(element)
    assert job.listener is not None
    place, number = job.listener.split()
    carried, produced = job.carried or {}, job.outputs or {}
    if place == START:
        carried = {**carried, **produced}
    elif place == END and draft.rules.outputs_leave:
        variables.merge(draft, element.scope, produced)
    following = int(number) + 1
    try:
        if following < len(_of(node, place)):
            _create(draft, node, element, f"{place} {following}", carried)
        elif place == START:
            _begin(draft, node, element, carried)
        elif place == COMPLETING:
            local, done = _members(carried, LOCAL), _members(carried, PRODUCED)
            jobs.map_out(draft, node, element, local, done)
        else:
            tokens.close(draft, element.key)
            tokens.go_out(draft, node, element.scope, element.key, carried or None)
    except Stuck as stuck:
        stop(draft, element, stuck, job.key)


def seen_by(draft: Draft, node: Node, element: ElementInstance, job: Job) -> JsonObject:
    """Return what the job of a listener is given now. Raises: Stuck."""
    assert job.listener is not None
    return _seen(draft, node, element.scope, job.listener.split()[0], job.carried or {})


def retries_of(draft: Draft, node: Node, job: Job, seen: JsonObject) -> int:
    """Return the retries that the job of a listener starts with. Raises: Stuck."""
    assert job.listener is not None
    place, number = job.listener.split()
    plan = _of(node, place)[int(number)]
    return retries.counted(draft, plan.retries, seen, f"retries of a listener of {node.id}")


def _begin(draft: Draft, node: Node, element: ElementInstance, local: JsonObject) -> None:
    """Let the element do its own work, with what its listeners gave. Raises: Stuck."""
    assert node.work is not None
    draft.live.pop(element.key, None)
    draft.handed = local
    try:
        node.work(draft, node, element.scope, element.key)
    finally:
        draft.handed = {}


def _create(
    draft: Draft, node: Node, element: ElementInstance, listener: str, carried: JsonObject
) -> None:
    """Make the job of a listener; the element waits for it. Raises: Stuck."""
    place, number = listener.split()
    plan = _of(node, place)[int(number)]
    seen = _seen(draft, node, element.scope, place, carried)
    where = f"listener of {node.id}"
    job = Job(
        key=draft.keys.next(),
        instance_key=draft.key,
        element_id=node.id,
        element_key=element.key,
        scope=draft.shown_scope(element.scope),
        kind=BPMN,
        type=extract_text(plan.type, seen, draft.moment, f"job type of a {where}"),
        created_at=draft.now,
        element_type=ELEMENT_TYPES[node.kind],
        retries=retries.counted(draft, plan.retries, seen, f"retries of a {where}"),
        ring=1,
        ring_at=draft.now,
        profile=draft.root.profile,
        inputs=seen,
        headers=plan.headers,
        listener=listener,
        carried=carried or None,
    )
    draft.put(job)
    jobs.ring(draft, job, is_new=True)
    draft.live[element.key] = element._replace(job=job.key, incident=None)


def _seen(draft: Draft, node: Node, scope: int, place: str, carried: JsonObject) -> JsonObject:
    if place == END:
        return variables.visible(draft, scope)
    if place == COMPLETING:
        local, done = _members(carried, LOCAL), _members(carried, PRODUCED)
        return {**variables.visible(draft, scope), **local, **done}
    return {**variables.seen_inside(draft, node, scope), **carried}


def _of(node: Node, place: str) -> tuple[ListenerPlan, ...]:
    if place == COMPLETING:
        return node.checks
    return node.begins if place == START else node.ends


def _members(carried: JsonObject, name: str) -> JsonObject:
    value = carried.get(name)
    return value if isinstance(value, dict) else {}


def _plans(listeners: tuple[Listener, ...], place: str) -> tuple[ListenerPlan, ...]:
    return tuple(
        ListenerPlan(
            compile_value(each.type),
            None if each.retries is None else compile_value(each.retries),
            each.headers,
        )
        for each in listeners
        if each.event == place
    )
