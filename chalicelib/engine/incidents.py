"""Incidents: what an operator's resolve takes up again.

A job's own incident gives the job a fresh series of attempts. Any other lets its element go on at
the stage where it stopped.

Source: contracts/zenbpm.md section 2 M (R134 to R148).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, assert_never

from chalicelib.bpmn.model import CANCEL, SCOPES, Kind, Process
from chalicelib.engine import (
    calls,
    catching,
    execution_listeners,
    jobs,
    lifecycle,
    listener_jobs,
    listeners,
    moves,
    parts,
    retries,
    task_listeners,
    tokens,
    variables,
    waits,
)
from chalicelib.engine.commands import (
    Command,
    CompleteJob,
    Correlate,
    EndChild,
    FailChild,
    FailJob,
    FireTimer,
    HearEscalation,
    HearIteration,
    MarkIncident,
    ResolveIncident,
)
from chalicelib.engine.draft import Draft, Given
from chalicelib.engine.effects import SetTimer
from chalicelib.engine.guards import Guard
from chalicelib.engine.plans import CHOOSING, plan_of
from chalicelib.engine.state import (
    USER_TASK,
    ChildWait,
    ElementInstance,
    Incident,
    Instance,
    Job,
    JobState,
    RecordKey,
    Stage,
    Subscription,
    Timer,
)
from chalicelib.engine.stuck import ErrorType, Stuck, close_incident, stop
from chalicelib.engine.turn import Entered, Taken, Turn
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


def resolve(draft: Draft, command: ResolveIncident) -> None:
    """Close an incident and let its job or element try again.

    Raises: Rejected(NOT_FOUND, INVALID_STATE, INVALID_ARGUMENT); nothing changes then.
    """
    incident = draft.find(Incident, command.incident_key)
    if incident is None:
        raise lifecycle.no_such("incident", command.incident_key)
    if incident.resolved_at is not None:
        raise Rejected(Reason.INVALID_STATE, f"incident {incident.key} is already resolved")
    _check_bounds(draft, command)
    element = draft.live[incident.element_key]
    variables.merge(draft, _seen_from(draft, incident, element), command.variables)
    if incident.stage is Stage.WORKING and incident.job_key is not None:
        _restart_job(draft, incident, command)
    elif element.job is not None:
        if command.retries is not None:
            _set_retries(draft, element.job, command)
    elif command.retries is not None:
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            f"incident {incident.key} leaves no job waiting, so there are no retries to set",
        )
    close_incident(draft, incident.key)
    element = draft.live[element.key] = element._replace(incident=None)
    heard = _heard_before(draft, incident)
    if heard is None:
        _take_up(draft, incident, element, command.variables)
    elif element.job is not None:
        task_listeners.hear_next(draft, heard, element)
    else:
        execution_listeners.go_on(draft, heard, element)


def _seen_from(draft: Draft, incident: Incident, element: ElementInstance) -> int:
    """Return the scope whose variables an element tries again with: a subprocess that is to
    complete looks at its own first."""
    node = draft.node_of(element)
    is_inside = node.kind in SCOPES and not node.is_body and incident.stage is Stage.COMPLETING
    return element.key if is_inside else element.scope


def mark(draft: Draft, command: MarkIncident) -> None:
    """Note that an operator calls an incident resolved: the first time counts, and nothing goes on.

    It stays open, so whoever resumes instances can still do so (contracts/dialects.md row 18).
    Raises: Rejected(NOT_FOUND).
    """
    incident = draft.find(Incident, command.incident_key)
    if incident is None:
        raise lifecycle.no_such("incident", command.incident_key)
    if incident.resolved_at is None and incident.acknowledged_at is None:
        draft.put(replace(incident, acknowledged_at=draft.now))


def _check_bounds(draft: Draft, command: ResolveIncident) -> None:
    """Check the request's own words (R140, R141). Raises: Rejected(INVALID_ARGUMENT)."""
    if command.retries is not None:
        whose = f"the job of incident {command.incident_key}"
        retries.check(whose, command.retries, command.retry_at, draft.now, draft.limits)
    elif command.retry_at is not None:
        raise Rejected(Reason.INVALID_ARGUMENT, "retryAt is only allowed together with retries")


def _set_retries(draft: Draft, key: int, command: ResolveIncident) -> None:
    """Set the retries of a job that waits and did not raise the incident (R143)."""
    job = draft.find(Job, key)
    if command.retries is None or job is None or job.kind == USER_TASK:
        return  # attempts, retries and retryAt stay (R144)
    job = retries.set_by_operator(job, command.retries, command.retry_at, draft.now)
    draft.put(job, Guard.SET_RETRIES)
    jobs.ring(draft, job)


def _restart_job(draft: Draft, incident: Incident, command: ResolveIncident) -> None:
    """Give a failed job a fresh series of attempts, with the inputs of now (R134 to R139).

    Its delivery tokens go on rising (R148).
    Raises: Rejected(INVALID_STATE) if it does not wait, or its definition cannot be evaluated.
    """
    job = None if incident.job_key is None else draft.find(Job, incident.job_key)
    if job is None or job.state is not JobState.FAILED:
        raise Rejected(
            Reason.INVALID_STATE, f"job {incident.job_key} of incident {incident.key} does not wait"
        )
    element = draft.live[job.element_key]
    node = draft.node_of(element)
    try:
        if job.listener is not None and element.job != job.key:
            seen = task_listeners.seen_by(draft, element)
        elif job.listener is not None:
            seen = execution_listeners.seen_by(draft, node, element, job)
        else:
            seen = jobs.seen_by(draft, node, element, job)
        left, retry_at = _retries(draft, node, job, seen, command)
    except Stuck as stuck:
        raise Rejected(
            Reason.INVALID_STATE,
            f"incident {incident.key} cannot be resolved: {stuck.message}; "
            f"{_way_out(stuck, incident)}",
        ) from stuck
    job = job._replace(
        state=JobState.ACTIVE,
        retries=left,
        attempts=0,
        retry_at=retry_at,
        retries_set_by_operator=False,
        outputs=None,
        inputs=seen,
        ring=job.ring + 1,
    )
    job = job._replace(ring_at=job.out_at(draft.now))
    draft.put(job, Guard.RESOLVE)
    jobs.ring(draft, job)


def _way_out(stuck: Stuck, incident: Incident) -> str:
    """Say what an operator can do about a definition that cannot be evaluated."""
    if stuck.error_type is ErrorType.IO_MAPPING_ERROR:
        return "mend the variables"
    return (
        "mend the variables, or name the retries: "
        f'POST /incidents/{incident.key}/resolve with {{"retries": n}}'
    )


def _retries(
    draft: Draft, node: Node, job: Job, seen: JsonObject, command: ResolveIncident
) -> tuple[int, datetime | None]:
    """Return the retries of the new series and when it starts: the request's word, else what the
    operator set since the failure, else the definition's."""
    if command.retries is not None:
        return command.retries, retries.ahead(command.retry_at, draft.now)
    if job.retries_set_by_operator:
        return job.retries, retries.ahead(job.retry_at, draft.now)
    if job.listener is not None:
        return listener_jobs.retries_of(draft, node, job, seen), None
    return retries.initial(draft, node, seen), None


def _take_up(
    draft: Draft, incident: Incident, element: ElementInstance, mended: JsonObject
) -> None:
    """Let an element go on at the stage where it stopped."""
    node = draft.node_of(element)
    match incident.stage:
        case Stage.WORKING:
            _work_again(draft, incident, node, element)
        case Stage.ENTERING:
            if draft.element_count > draft.elements_max:
                draft.element_count = 1  # as far again
            moves.enter_again(draft, node, element)
        case Stage.ARMING:
            _arm_again(draft, node, element)
        case Stage.HEARING:
            _hear_again(draft, incident, node, element)
        case Stage.COMPLETING | Stage.LEAVING:
            try:
                _leave_again(draft, incident, node, element, mended)
            except Stuck as stuck:
                stop(draft, element, stuck, incident.job_key)
        case _:
            assert_never(incident.stage)


def _work_again(draft: Draft, incident: Incident, node: Node, element: ElementInstance) -> None:
    """Let an element wait again for what it waited for: for the job of a listener it does."""
    if element.loop:
        parts.call_again(draft, element)
    elif node.call is not None and not (element.child or element.job or node.is_body):
        _call_again(draft, node, element)
    elif incident.is_unarmed:
        _arm_again(draft, node, element)
    else:
        _ring_again(draft, element)


def _hear_again(draft: Draft, incident: Incident, node: Node, element: ElementInstance) -> None:
    """Ask the listeners again, of whom one could not be asked."""
    if node.kind is Kind.PROCESS:
        execution_listeners.hear_again(draft, element, CANCEL)
        return
    if incident.is_unarmed:
        _arm_again(draft, node, element)
    task_listeners.hear_again(draft, draft.live[element.key])


def _heard_before(draft: Draft, incident: Incident) -> Job | None:
    """Return the job of the listener after which an element could not go on, if there is one."""
    if incident.job_key is None or incident.stage is Stage.WORKING:
        return None
    job = draft.find(Job, incident.job_key)
    return None if job is None or job.listener is None else job


def _call_again(draft: Draft, node: Node, element: ElementInstance) -> None:
    try:
        calls.call_again(draft, node, element)
    except Stuck as stuck:
        stop(draft, element, stuck)


def _ring_again(draft: Draft, element: ElementInstance) -> None:
    """Owe the messages of an element's timers again: one may have come in vain meanwhile."""
    draft.need(RecordKey(Timer, key) for key in element.timers)
    for key in element.timers:
        timer = draft.find(Timer, key)
        if timer is not None:
            draft.emit(SetTimer(draft.key, key, timer.due, draft.version))


def _arm_again(draft: Draft, node: Node, element: ElementInstance) -> None:
    """Arm the boundary events with the variables of now and the inputs of the element."""
    if element.is_listening:
        listeners.arm(draft, node, element, {})
        return
    seen = variables.visible(draft, element.scope)
    if tokens.holds_tokens(node):
        inside = variables.visible(draft, element.key)
    elif node.kind is Kind.RECEIVE_TASK:
        try:
            inside = variables.inputs_of(draft, node, element.scope)
        except Stuck as stuck:
            stuck.stage = Stage.ARMING
            stop(draft, element, stuck)
            return
    else:
        job = None if element.job is None else draft.find(Job, element.job)
        inside = {} if job is None else variables.local_of(node, job.inputs, job.local)
    waits.arm_boundary(draft, node, element, {**seen, **inside})


def _leave_again(
    draft: Draft, incident: Incident, node: Node, element: ElementInstance, mended: JsonObject
) -> None:
    """Map outputs again, or choose a flow again; what is `mended` comes instead of what the element
    got under its names. Raises: Stuck."""
    job = None if incident.job_key is None else draft.find(Job, incident.job_key)
    if incident.stage is Stage.LEAVING and node.kind not in CHOOSING:
        draft.live.pop(element.key)
        tokens.leave(draft, node, element.scope, element.key)
    elif job is not None:
        jobs.finish(draft, job, element, mended)
    elif tokens.holds_tokens(node):
        tokens.complete_inside(draft, node, element)
    elif mended and catching.mend(draft, element.key, mended):
        _leave_again(draft, incident, node, element, {})
    elif node.call is not None:
        calls.complete_again(draft, node, element)
    elif node.kind in (Kind.INTERMEDIATE_CATCH_EVENT, Kind.RECEIVE_TASK):
        catching.complete_again(draft, node, element)
    else:
        moves.enter_again(draft, node, element)


# --- limits ------------------------------------------------------------------------------------


def limit_turn(
    process: Process, instance: Instance, command: Command, message: str, given: Given
) -> Turn:
    """Return, instead of a turn that would pass a bound, one that only opens an incident.

    What would have gone too far is stopped: the next move of the agenda, so that others go on;
    without an agenda the element that the command is about.
    """
    draft = Draft(plan_of(process), instance.root, instance, given)
    if draft.agenda:
        _stop_move(draft, Stuck(ErrorType.SIZE_LIMIT, message))
    else:
        element = _element_of(draft, command)
        if element is not None and not _is_stopped(draft, element):
            stop(draft, element, Stuck(ErrorType.SIZE_LIMIT, message, Stage.WORKING))
    return draft.turn(goes_on=moves.goes_on(draft))


def _is_stopped(draft: Draft, element: ElementInstance) -> bool:
    """Say whether an element has such an incident already, from an earlier try."""
    incident = None if element.incident is None else draft.find(Incident, element.incident)
    return incident is not None and incident.error_type == ErrorType.SIZE_LIMIT


def _stop_move(draft: Draft, stuck: Stuck) -> None:
    """Stop the next move of the agenda at the element that it enters.

    One into a join is passed over: it makes next to nothing, and a join counts what enters it.
    """
    passed = []
    while draft.agenda:
        move = moves.take_next(draft)
        if move is None:
            continue
        if draft.plan.nodes[move.element_id].joins:
            passed.append(move)
            continue
        if move.flow_id is not None:
            scope = move.scope if move.scope != draft.key else 0
            draft.history.append(Taken(draft.keys.next(), move.flow_id, scope))
        key = move.key or draft.keys.next()
        draft.history.append(Entered(key, move.element_id, move.scope))
        draft.element_count += 1
        stop(draft, ElementInstance(key, move.element_id, move.scope, draft.now), stuck)
        break
    draft.agenda.extend(reversed(passed))


def _element_of(draft: Draft, command: Command) -> ElementInstance | None:
    """Return the live element that a command is about."""
    record: Job | Timer | Subscription | ChildWait | None = None
    match command:
        case CompleteJob() | FailJob():
            record = draft.find(Job, command.job_key)
        case FireTimer():
            record = draft.find(Timer, command.timer_key)
        case Correlate():
            record = draft.find(Subscription, command.subscription_key)
        case EndChild() | FailChild() | HearEscalation() | HearIteration():
            record = draft.find(ChildWait, command.child)
        case _:
            pass
    return None if record is None else draft.live.get(record.element_key)
