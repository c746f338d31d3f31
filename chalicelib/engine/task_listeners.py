"""Task listeners: jobs that are done one after the other before a user task takes its next step.

A *transition* is a step of a task that its listeners are asked about: it is created, assigned,
updated, completed or cancelled. What it would change stands on the task's record meanwhile, and
becomes true when the last listener has answered. Each may correct the task's attributes; that a
task is assigned, updated or completed each may deny, and then nothing was changed. The job of a
listener is beside that of the task, on the same element instance.

A task that is interrupted or cancelled ends when its listeners were heard; until then whatever
ended it stands aside (`purges.py`), as it does for the child of a call activity.

Source: contracts/bpmn.md 3.2 (taskListeners); Camunda 8 documentation, "User task listeners".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from chalicelib.bpmn.model import ASSIGNING, CANCELING, COMPLETING, CREATING, UPDATING
from chalicelib.engine import jobs, lifecycle, listener_jobs, task_attributes, variables
from chalicelib.engine.commands import ChangeTask
from chalicelib.engine.draft import Draft
from chalicelib.engine.guards import Guard
from chalicelib.engine.job_results import TaskResult
from chalicelib.engine.listener_jobs import Given, Place
from chalicelib.engine.state import USER_TASK, ElementInstance, Job, JobState, Stage
from chalicelib.engine.stuck import Stuck, stop
from chalicelib.engine.task_attributes import ASSIGNEE
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node

DENIABLE = frozenset((ASSIGNING, UPDATING, COMPLETING))
ACTIONS: Mapping[str, str] = {  # what the headers say was done where the caller says nothing
    CREATING: "create",
    ASSIGNING: "assign",
    UPDATING: "update",
    COMPLETING: "complete",
    CANCELING: "cancel",
}
CHANGES, ACTION = "changes", "action"  # of a transition, as the task's record carries them


# --- what begins a transition --------------------------------------------------------------------


def created(draft: Draft, task: Job) -> None:
    """Let the listeners of a task come that was made just now, and of its first assignment."""
    heard = _node(draft, draft.live[task.element_key]).heard
    if CREATING in heard:
        _begin(draft, task, CREATING, {})
    else:
        _assign_first(draft, task)


def _assign_first(draft: Draft, task: Job) -> None:
    """Let the listeners of an assignment come that the model makes."""
    heard = _node(draft, draft.live[task.element_key]).heard
    if ASSIGNING in heard and task.assignee is not None:
        _begin(draft, task._replace(assignee=None), ASSIGNING, {ASSIGNEE: task.assignee})


def change(draft: Draft, command: ChangeTask) -> None:
    """Change a task's attributes, when its listeners were heard.

    Raises: Rejected(NOT_FOUND, INVALID_ARGUMENT), Rejected(INVALID_STATE) if it has ended, is about
        to take another step, or is somebody else's and is not to be taken away from them.
    """
    task = draft.find(Job, command.task_key)
    if task is None or task.kind != USER_TASK:
        raise lifecycle.no_such("user task", command.task_key)
    if task.state is not JobState.ACTIVE:
        raise Rejected(Reason.INVALID_STATE, f"user task {task.key} is already {task.state}")
    event = ASSIGNING if ASSIGNEE in command.changes else UPDATING
    if task.transition == event and _changes_of(task) == command.changes:
        return  # asked again, while the listeners are asked
    check_free(task)
    after = task_attributes.changed(task, command.changes)
    if after == task:
        return
    if command.is_claim and task.assignee is not None:
        message = f"user task {task.key} is claimed by {task.assignee}"
        raise Rejected(Reason.INVALID_STATE, message)
    if event in _node(draft, draft.live[task.element_key]).heard:
        _begin(draft, task, event, command.changes, command.action)
    else:
        draft.put(after._replace(denied=None))


def complete(draft: Draft, task: Job, given: JsonObject, action: str) -> bool:
    """Let the listeners of a task come that somebody has done; say whether there are any."""
    if COMPLETING not in _node(draft, draft.live[task.element_key]).heard:
        return False
    _begin(draft, task._replace(outputs=given), COMPLETING, {}, action)
    return True


def is_heard_at_end(draft: Draft, element: ElementInstance) -> bool:
    """Say whether a live element is a user task whose listeners come before it is ended."""
    if element.job is None or element.is_ending:
        return False
    if CANCELING not in _node(draft, element).heard:
        return False
    job = draft.find(Job, element.job)
    return job is not None and job.kind == USER_TASK


def end(draft: Draft, element: ElementInstance, seen: JsonObject) -> None:
    """Let the listeners of a task come that is being ended, and those of nothing else any more.

    Shapes: `seen` are the variables of the scopes around it, which may end before it.
    """
    assert element.job is not None
    task = draft.find(Job, element.job)
    assert task is not None
    if element.listener:
        other = draft.find(Job, element.listener)
        if other is not None and other.state in (JobState.ACTIVE, JobState.FAILED):
            draft.put(other._replace(state=JobState.TERMINATED), Guard.CANCEL)
        element = draft.live[element.key] = element._replace(listener=0)
    node = _node(draft, element)
    local = {**seen, **variables.local_of(node, task.inputs, task.local)}
    _begin(draft, task._replace(outputs=None, local=local), CANCELING, {})


def check_free(task: Job) -> None:
    """Let a task pass that is not about to take a step. Raises: Rejected(INVALID_STATE)."""
    if task.transition is not None:
        raise Rejected(
            Reason.INVALID_STATE,
            f"user task {task.key} is {task.transition}: its listeners have to answer first",
        )


# --- one listener after the other ----------------------------------------------------------------


def check_answer(draft: Draft, job: Job, given: JsonObject, result: TaskResult | None) -> None:
    """Let the answer of a listener pass. Raises: Rejected(INVALID_ARGUMENT)."""
    problem, event = None, listener_jobs.place_of(job).event
    if given:
        problem = f"expected no variables, found {', '.join(given)}"
    elif result is not None and result.denied and event not in DENIABLE:
        problem = f"expected it not to deny, a task that is {event} cannot be kept from it"
    elif result is not None and result.denied and result.corrections:
        problem = "expected corrections or a denial, found both"
    elif result is not None and event == CREATING and ASSIGNEE in result.corrections:
        task = _task_of(draft, draft.live[job.element_key])
        if task.assignee is not None:
            problem = f"expected the assignee to be left to {ASSIGNING}, the model names one"
    if problem is not None:
        message = f"job {job.key} of a listener of {job.element_id}: {problem}"
        raise Rejected(Reason.INVALID_ARGUMENT, message)


def answered(draft: Draft, job: Job, result: TaskResult | None) -> None:
    """Go on when a listener has answered: with the next one, with the task, or not at all.

    Raises: Rejected(INVALID_ARGUMENT) if a correction is unfit.
    """
    element = draft.live[job.element_key]
    element = draft.live[element.key] = element._replace(listener=0)
    task = _task_of(draft, element)
    place, carried = listener_jobs.place_of(job), task.carried or {}
    if result is not None and result.denied:
        denied: JsonObject = {"event": place.event, "reason": result.reason}
        draft.put(task._replace(transition=None, carried=None, outputs=None, denied=denied))
        return
    corrections = {} if result is None else result.corrections
    changes = {**_changes_of(task), **corrections}
    task_attributes.changed(task, changes)
    task = task._replace(carried={**carried, CHANGES: changes})
    draft.put(task)
    _hear(draft, task, place.number + 1, job)


def hear_again(draft: Draft, element: ElementInstance) -> None:
    """Begin again with the first listener of a task's transition."""
    _hear(draft, _task_of(draft, element), 0)


def hear_next(draft: Draft, job: Job, element: ElementInstance) -> None:
    """Go on with the listener after one that has answered."""
    _hear(draft, _task_of(draft, element), listener_jobs.place_of(job).number + 1, job)


def seen_by(draft: Draft, element: ElementInstance) -> JsonObject:
    """Return what the job of a listener is given now: what the task saw, and what completes it."""
    task, node = _task_of(draft, element), _node(draft, element)
    local = variables.local_of(node, task.inputs, task.local)
    return {**variables.visible(draft, element.scope), **local, **(task.outputs or {})}


def _begin(draft: Draft, task: Job, event: str, changes: JsonObject, action: str = "") -> None:
    carried: JsonObject = {CHANGES: changes, ACTION: action or ACTIONS[event]}
    task = task._replace(transition=event, carried=carried, denied=None)
    draft.put(task)
    _hear(draft, task, 0)


def _hear(draft: Draft, task: Job, number: int, before: Job | None = None) -> None:
    """Make the job of a listener by its number, or do what was asked after the last one; one that
    cannot be made is an incident, after `before` if there is one."""
    assert task.transition is not None
    element = draft.live[task.element_key]
    node = _node(draft, element)
    if number >= len(node.heard.get(task.transition, ())):
        _done(draft, task, element)
        return
    try:
        after, action = task_attributes.changed(task, _changes_of(task)), _action_of(task)
        headers = task_attributes.headers_of(task, after, action)
        given = Given(seen_by(draft, element), headers=headers)
        job = listener_jobs.create(draft, node, element, Place(task.transition, number), given)
    except Stuck as stuck:
        stuck.stage = Stage.HEARING
        stop(draft, element, stuck, None if before is None else before.key)
    else:
        draft.live[element.key] = element._replace(listener=job.key)


def _done(draft: Draft, task: Job, element: ElementInstance) -> None:
    """Do what was asked, as the listeners corrected it."""
    event, had_assignee = task.transition, task.assignee is not None
    task = task_attributes.changed(task, _changes_of(task))
    if event == CANCELING:  # whatever ends the element ends the task with it
        draft.put(task._replace(carried=None))
        return
    task = task._replace(transition=None, carried=None)
    if event == COMPLETING:
        task = task._replace(state=JobState.COMPLETED)
        draft.put(task)
        element = draft.live[element.key] = element._replace(job=None)
        jobs.finish(draft, task, element)
        return
    draft.put(task)
    if event == CREATING and had_assignee:
        _assign_first(draft, task)


def _node(draft: Draft, element: ElementInstance) -> Node:
    """Return the node of a user task itself, not of its body, wherever the element was moved."""
    node = draft.plan.nodes[element.element_id]
    return node.inner or node


def _task_of(draft: Draft, element: ElementInstance) -> Job:
    task = None if element.job is None else draft.find(Job, element.job)
    assert task is not None, f"element instance {element.key} is no user task"
    return task


def _changes_of(task: Job) -> JsonObject:
    changes = (task.carried or {}).get(CHANGES)
    return changes if isinstance(changes, dict) else {}


def _action_of(task: Job) -> str:
    return str((task.carried or {}).get(ACTION) or "")
