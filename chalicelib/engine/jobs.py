"""Jobs: how an element makes one, and what follows when a worker completes it.

Source: contracts/zenbpm.md section 2 (A, F, N) and 4.3; BPMN 2.0.2 section 13.3.2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from chalicelib.engine import (
    ad_hoc_jobs,
    execution_listeners,
    job_results,
    lifecycle,
    retries,
    task_listeners,
    tokens,
    user_tasks,
    variables,
    waits,
)
from chalicelib.engine.commands import CompleteJob
from chalicelib.engine.draft import Draft
from chalicelib.engine.effects import Ring
from chalicelib.engine.element_types import ELEMENT_TYPES
from chalicelib.engine.expressions import extract, extract_text, show
from chalicelib.engine.guards import Guard
from chalicelib.engine.job_results import AdHocResult, TaskResult
from chalicelib.engine.state import BPMN, USER_TASK, ElementInstance, Job, JobState
from chalicelib.engine.stuck import ErrorType, Stuck, stop
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node

NOUNS: Mapping[str, str] = {BPMN: "job", USER_TASK: "user task"}
USER_TASK_NOT_CLAIMED = "user task {} has to be claimed before it is completed"


def create(draft: Draft, node: Node, scope: int, key: int) -> None:
    """Make the job of an element and ring for it; the element waits. Raises: Stuck, before
    anything was made."""
    seen = variables.seen_inside(draft, node, scope)
    job = made(draft, node, scope, key, seen)
    draft.put(job)
    ring(draft, job, is_new=True)
    element = ElementInstance(key, node.id, scope, draft.now, job=job.key)
    draft.live[key] = element
    waits.arm_boundary(draft, node, element, seen)
    if job.kind == USER_TASK:
        task_listeners.created(draft, job)


def made(draft: Draft, node: Node, scope: int, key: int, seen: JsonObject) -> Job:
    """Return the job of an element that sees these variables. Raises: Stuck."""
    plan = node.job
    assert plan is not None
    type_ = extract_text(plan.type, seen, draft.moment, f"job type of {node.id}")
    return Job(
        key=draft.keys.next(),
        instance_key=draft.key,
        element_id=node.id,
        element_key=key,
        scope=draft.shown_scope(scope),
        kind=USER_TASK if plan.is_managed else BPMN,
        type=type_,
        created_at=draft.now,
        element_type=ELEMENT_TYPES[node.kind],
        retries=retries.initial(draft, node, seen),
        retry_policy=retries.policy(draft, node, seen),
        assignee=_assignee(draft, node, seen),
        ring=0 if plan.is_managed else 1,
        ring_at=None if plan.is_managed else draft.now,
        profile=draft.root.profile,
        inputs=seen,
        headers=plan.headers,
        local=draft.handed or None,
        **(_more(draft, node, seen) if plan.is_managed or plan.priority else {}),
    )


def seen_by(draft: Draft, node: Node, element: ElementInstance, job: Job) -> JsonObject:
    """Return what the job of a live element is given now. Raises: Stuck."""
    if node.ad_hoc is not None:
        return variables.visible(draft, element.key)
    return {**variables.seen_inside(draft, node, element.scope), **(job.local or {})}


def ring(draft: Draft, job: Job, *, is_new: bool = False) -> None:
    """Owe the bell of a job's number, for the time the job is out at."""
    if job.ring_at is not None:
        version = draft.version if is_new else None
        draft.emit(Ring(job.key, job.kind, job.type, job.profile, job.ring, job.ring_at, version))


def complete_job(draft: Draft, command: CompleteJob) -> None:
    """Take the worker's results and let the token leave its element.

    A job that is completed already changes nothing (R2), and neither the lock nor a backoff
    matters (R7 to R9). If the outputs cannot be mapped, the worker's part stands all the same.
    Raises: Rejected(NOT_FOUND), Rejected(INVALID_STATE).
    """
    job = draft.find(Job, command.job_key)
    if job is None or job.kind != command.kind:
        raise lifecycle.no_such(NOUNS[command.kind], command.job_key)
    lifecycle.require(job, CompleteJob)
    if job.state is JobState.COMPLETED:
        if command.is_once:
            message = f"{NOUNS[job.kind]} {job.key} is already {job.state}"
            raise Rejected(Reason.INVALID_STATE, message)
        return
    if job.kind == USER_TASK:
        _complete_task(draft, job, command)
    elif draft.live[job.element_key].job != job.key:
        _answer(draft, job, command)
    else:
        _complete(draft, job, command)


def _complete(draft: Draft, job: Job, command: CompleteJob) -> None:
    """Take the results of a job that its element waits for."""
    node = draft.node_of(draft.live[job.element_key])
    order = None
    if node.ad_hoc is not None and job.listener is None:
        order = AdHocResult() if command.result is None else command.result
    elif command.result is not None:
        raise job_results.misplaced(job, command.result)
    if isinstance(order, TaskResult):
        raise job_results.misplaced(job, order)
    if order is not None:
        ad_hoc_jobs.check(node, job, order)
    job = job._replace(state=JobState.COMPLETED, outputs=command.variables)
    draft.put(job, Guard.COMPLETE)
    element = draft.live[job.element_key] = draft.live[job.element_key]._replace(job=None)
    if job.listener is not None:
        execution_listeners.completed(draft, job, element)
    elif order is not None:
        ad_hoc_jobs.obey(draft, node, element, command.variables, order)
    else:
        finish(draft, job, element)


def _answer(draft: Draft, job: Job, command: CompleteJob) -> None:
    """Take the answer of a listener beside a user task."""
    result = command.result
    if result is not None and not isinstance(result, TaskResult):
        raise job_results.misplaced(job, result)
    task_listeners.check_answer(draft, job, command.variables, result)
    draft.put(job._replace(state=JobState.COMPLETED, outputs={}), Guard.COMPLETE)
    task_listeners.answered(draft, job, result)


def _complete_task(draft: Draft, task: Job, command: CompleteJob) -> None:
    """Take what somebody says who has done a user task, or let its listeners come first."""
    if command.result is not None:
        raise job_results.misplaced(task, command.result)
    task_listeners.check_free(task)
    if task.assignee is None and draft.rules.claims_tasks:
        raise Rejected(Reason.INVALID_STATE, USER_TASK_NOT_CLAIMED.format(task.key))
    if not task_listeners.complete(draft, task, command.variables, command.action):
        _complete(draft, task, command)


def finish(
    draft: Draft, job: Job, element: ElementInstance, mended: JsonObject | None = None
) -> None:
    """Map the outputs of a completed job and leave its element; what fails is an incident.

    Shapes: what an operator `mended` comes instead of what the job had or gave under that name.
    """
    node = draft.node_of(element)
    try:
        local = variables.local_of(node, job.inputs, job.local)
        produced = job.outputs or {}
        instead = {n: v for n, v in (mended or {}).items() if n in produced or n in local}
        map_out(draft, node, element, local, {**produced, **instead})
    except Stuck as stuck:
        stop(draft, element, stuck, job.key)


def map_out(
    draft: Draft, node: Node, element: ElementInstance, local: JsonObject, produced: JsonObject
) -> None:
    """Map the outputs of an element whose work is done, and leave it. Raises: Stuck."""
    outputs = variables.outputs_of(draft, node, element.scope, local, produced)
    if outputs is None:
        outputs = variables.unmapped(draft, local, produced) or None
    inside = {**local, **produced}
    tokens.hand_on(draft, node, element.scope, element.key, outputs, inside)


def _more(draft: Draft, node: Node, seen: JsonObject) -> dict[str, Any]:
    """Return what people are told of a user task, or how urgent a job is, where the model says
    so. Raises: Stuck."""
    plan, where = node.job, f"priority of {node.id}"
    if plan is None or plan.is_managed or plan.priority is None:
        return user_tasks.told(draft, node, seen)
    value = extract(plan.priority, seen, draft.moment, where)
    text = value.strip() if isinstance(value, str) else show(value)
    if re.fullmatch(r"-?[0-9]{1,9}", text):
        return {"priority": int(text)}
    message = f"{where}: expected a whole number of at most nine digits, found {show(value)}"
    raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, message)


def _assignee(draft: Draft, node: Node, seen: JsonObject) -> str | None:
    plan, where = node.job, f"assignee of {node.id}"
    if plan is None or plan.assignee is None:
        return None
    value = extract(plan.assignee, seen, draft.moment, where)
    if value is None or isinstance(value, str):
        return value or None
    message = f"{where}: expected a text, found {show(value)}"
    raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, message)
