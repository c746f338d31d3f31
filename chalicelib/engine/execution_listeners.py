"""Execution listeners: jobs that are done one after the other before an element begins, after its
input mappings, or when it has ended, after its output mappings.

Meanwhile the element waits with the job in place of its own, and nothing else of it is open. What
the listeners of its beginning give is local to the element; what those of its end give leaves it
where the profile lets outputs leave; what those of a process give is the process's, which has
nothing around it. A multi-instance body has those that come before all of its iterations, which see
what they gave. The job of a listener carries what the next step needs: those locals, or what the
element handed on.

Source: contracts/bpmn.md 3.2 (executionListeners).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.bpmn.model import BEFORE_ALL, CANCEL, COMPLETING, END, START, Kind
from chalicelib.engine import jobs, listener_jobs, tokens, variables
from chalicelib.engine.draft import JOB_ACTIONS, Draft
from chalicelib.engine.listener_jobs import Given, Place
from chalicelib.engine.state import ElementInstance, Job, Stage
from chalicelib.engine.stuck import Stuck, stop
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node

# What a user task that is done has for its outputs, as versions kept it that let its listeners
# come after it was completed.
PRODUCED, LOCAL = "produced", "local"
# Where an incident stops an instance whose process cannot be listened to.
STAGES = {START: Stage.ENTERING, END: Stage.LEAVING, CANCEL: Stage.HEARING}


def bind(node: Node) -> None:
    """Let the listeners of an element run before and after it."""
    node.heard = listener_jobs.plans_of(node.element.listeners)
    node.actions += JOB_ACTIONS
    if START in node.heard:
        _come_first(node)
    if END in node.heard:
        node.only = None


def bind_body(node: Node, heard: listener_jobs.Heard) -> None:
    """Let the listeners of a multi-instance body run before all of its iterations."""
    if BEFORE_ALL in heard:
        node.heard = {BEFORE_ALL: heard[BEFORE_ALL]}
        _come_first(node)


def _come_first(node: Node) -> None:
    node.work = node.enter
    node.enter = enter


def enter(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Begin with the first listener of an element that is entered. Raises: Stuck."""
    element = ElementInstance(key, node.id, scope, draft.now)
    event = START if START in node.heard else BEFORE_ALL
    _create(draft, node, element, Place(event), {})


def leave(
    draft: Draft,
    node: Node,
    scope: int,
    key: int,
    outputs: JsonObject | None,
    inside: JsonObject | None,
) -> None:
    """Begin with the first listener of an element that has ended.

    Shapes: `inside` is what the element had for itself.
    Raises: Stuck, at the stage of leaving.
    """
    element = ElementInstance(key, node.id, scope, draft.now)
    local = {**draft.handed, **(inside or {})}
    try:
        _create(draft, node, element, Place(END), outputs or {}, local)
    except Stuck as stuck:
        stuck.stage = Stage.LEAVING
        raise


def completed(draft: Draft, job: Job, element: ElementInstance) -> None:
    """Take what the job of a listener gave, and go on."""
    node, event = draft.node_of(element), listener_jobs.place_of(job).event
    if node.kind is Kind.PROCESS or (event == END and draft.rules.outputs_leave):
        variables.merge(draft, element.scope, job.outputs or {})
    go_on(draft, job, element)


def go_on(draft: Draft, job: Job, element: ElementInstance) -> None:
    """Go on with the next listener after the job of one, or with the element itself; what cannot be
    is an incident, from which it goes on at the same place."""
    node = draft.node_of(element)
    event, number = listener_jobs.place_of(job)
    carried = job.carried or {}
    if event in (START, BEFORE_ALL) and node.kind is not Kind.PROCESS:
        carried = {**carried, **(job.outputs or {})}
    try:
        if number + 1 < len(node.heard[event]):
            following = Place(event, number + 1)
            _create(draft, node, element, following, carried, job.local)
        elif event in (START, BEFORE_ALL):
            _begin(draft, node, element, carried)
        elif event == COMPLETING:
            local, done = _members(carried, LOCAL), _members(carried, PRODUCED)
            jobs.map_out(draft, node, element, local, done)
        else:
            tokens.close(draft, element.key)
            tokens.go_out(draft, node, element.scope, element.key, carried or None)
    except Stuck as stuck:
        stop(draft, element, stuck, job.key)


def hear_process(draft: Draft, event: str, key: int = 0) -> bool:
    """Begin with the first listener of the instance's process at an event; say whether there is
    one. While they are at work the process has an element instance, which holds a token.

    Shapes: `key` is that one's, 0 for a new one; one that cannot be made is an incident.
    """
    node = draft.plan.itself
    if node is None or event not in node.heard:
        return False
    if draft.root.is_part:
        return False  # a part of a body, which is no instance of its own for those who listen
    element = ElementInstance(key or draft.keys.next(), node.id, draft.key, draft.now)
    hear_again(draft, element, event)
    return True


def hear_again(draft: Draft, element: ElementInstance, event: str) -> None:
    """Begin again with the first listener of the instance's process at an event."""
    try:
        _create(draft, draft.node_of(element), element, Place(event), {})
    except Stuck as stuck:
        stuck.stage = STAGES[event]
        stop(draft, element, stuck)


def seen_by(draft: Draft, node: Node, element: ElementInstance, job: Job) -> JsonObject:
    """Return what the job of a listener is given now. Raises: Stuck."""
    event = listener_jobs.place_of(job).event
    return _seen(draft, node, element.scope, event, job.carried or {}, job.local or {})


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
    draft: Draft,
    node: Node,
    element: ElementInstance,
    place: Place,
    carried: JsonObject,
    local: JsonObject | None = None,
) -> None:
    """Make the job of a listener; the element waits for it. Raises: Stuck."""
    seen = _seen(draft, node, element.scope, place.event, carried, local or {})
    job = listener_jobs.create(draft, node, element, place, Given(seen, carried, local))
    draft.live[element.key] = element._replace(job=job.key, incident=None)


def _seen(
    draft: Draft, node: Node, scope: int, event: str, carried: JsonObject, local: JsonObject
) -> JsonObject:
    if event in (START, BEFORE_ALL):
        return {**variables.seen_inside(draft, node, scope), **carried}
    if event == COMPLETING:
        local = {**_members(carried, LOCAL), **_members(carried, PRODUCED)}
    return {**variables.visible(draft, scope), **local}


def _members(carried: JsonObject, name: str) -> JsonObject:
    value = carried.get(name)
    return value if isinstance(value, dict) else {}
