"""What follows when a worker reports a failure: one decision, taken in one order.

`judge` is pure and needs nothing but the job, so a failure that leaves retries is recorded by one
conditional write on the job; everything else changes the instance and is a turn (`fail_job`).

Source: contracts/zenbpm.md 2.4 (the order), R50 to R55, R67 to R91, R97 to R113.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from chalicelib.engine import bpmn_errors, jobs, lifecycle, retries
from chalicelib.engine.commands import FailJob
from chalicelib.engine.draft import Draft
from chalicelib.engine.guards import Guard
from chalicelib.engine.limits import MESSAGE_MAX, Limits
from chalicelib.engine.profiles import RULES
from chalicelib.engine.state import Failure, InstanceState, Job, JobState, Stage
from chalicelib.engine.stuck import ErrorType, Stuck, stop
from chalicelib.errors import Reason, Rejected


@dataclass(frozen=True, slots=True)
class Repeated:
    """The very failure was recorded before: nothing changes, and the answer is the same (R98)."""


@dataclass(frozen=True, slots=True)
class Retried:
    """An attempt is spent and retries are left: the job as it is to be, and the row to write.

    Shapes: `failure.key` is 0 until whoever records it gives it one. If `job.ring_at` is not None
        the bell of `job.ring` is owed for that time, before the write.
    """

    job: Job
    failure: Failure


@dataclass(frozen=True, slots=True)
class Exhausting:
    """An attempt is spent and none is left: the job fails and its instance gets an incident."""

    job: Job
    failure: Failure


@dataclass(frozen=True, slots=True)
class Thrown:
    """A BPMN error: an event of the model catches it, or an incident waits."""

    job: Job


Judgement = Repeated | Retried | Exhausting | Thrown


def judge(
    job: Job, command: FailJob, *, now: datetime, limits: Limits, recorded: bool = False
) -> Judgement:
    """Decide what a failure means for its job.

    Shapes: `recorded` says that a failure row of the job holds the command's token; that it is
        the last recorded one the job says itself.
    Raises: Rejected(INVALID_ARGUMENT or INVALID_STATE); nothing changes then.
    """
    _check_bounds(command)
    token = command.token
    if token is not None:
        if not 1 <= token <= job.delivery_token:
            raise Rejected(
                Reason.INVALID_ARGUMENT,
                f"deliveryToken of job {job.key} must be one that was handed out, from 1 to "
                f"{job.delivery_token}, got {token}",
            )
        if recorded or token == job.last_recorded_token:
            return Repeated()
        if token < job.delivery_token:
            raise Rejected(
                Reason.INVALID_STATE,
                f"failed to fail job {job.key}: delivery {token} was superseded, the job was "
                f"handed out again (delivery {job.delivery_token})",
            )
    lifecycle.require(job, FailJob)
    job = job._replace(last_recorded_token=token or job.last_recorded_token)
    if command.error_code:
        return Thrown(job)
    return _spend(job, command, now, limits)


def _check_bounds(command: FailJob) -> None:
    if command.retries is not None and command.retries < 0:
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            f"retries of job {command.job_key} must not be negative, got {command.retries}",
        )
    if command.backoff is not None and command.backoff < timedelta(0):
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            f"retryBackoff of job {command.job_key} must not be negative, got {command.backoff}",
        )


def _spend(job: Job, command: FailJob, now: datetime, limits: Limits) -> Retried | Exhausting:
    left = job.retries - 1 if command.retries is None else command.retries
    left = min(max(left, 0), retries.most(RULES[job.profile], limits))
    backoff = _backoff(job, command, limits) if left else timedelta(0)
    retry_at = now + backoff if backoff > timedelta(0) else None
    failed = job._replace(
        retries=left,
        attempts=job.attempts + 1,
        retry_at=retry_at,
        last_failure_message=command.message[:MESSAGE_MAX],
        failures=job.failures + 1,
    )
    failure = Failure(
        key=0,
        job_key=job.key,
        instance_key=job.instance_key,
        number=failed.failures,
        attempt=failed.attempts,
        failed_at=now,
        message=command.message,
        retry_at=retry_at,
        delivery_token=command.token,
    )
    if left == 0:
        return Exhausting(failed, failure)
    if releases_lock(job, command):
        failed = _unlocked(failed)
    return Retried(failed._replace(ring=job.ring + 1, ring_at=failed.out_at(now)), failure)


def releases_lock(job: Job, command: FailJob) -> bool:
    """Say whether a failure frees the job: it says so, it is of the current delivery, or it names
    none and comes from the lock's holder (R86 to R90). A hold, which no time ends, any failure
    ends: else nobody would get the job any more."""
    if command.frees or (job.owner is not None and job.lock_until is None):
        return True
    if command.token is not None:
        return command.token == job.delivery_token
    return command.client_id is not None and command.client_id == job.owner


def _backoff(job: Job, command: FailJob, limits: Limits) -> timedelta:
    """Return how long the job waits: the request's word, else the entry of the job's frozen
    policy or of the default for the number of this failure; the last repeats (R109 to R113)."""
    if command.backoff is not None:
        backoff = command.backoff
    else:
        policy = job.retry_policy
        backoffs = limits.default_backoffs if policy is None else policy.backoffs
        backoff = backoffs[min(job.attempts, len(backoffs) - 1)]
    return min(backoff, limits.max_backoff)


# --- in a turn -----------------------------------------------------------------------------


def fail_job(draft: Draft, command: FailJob) -> None:
    """Record a failure in its instance's turn. Raises: Rejected."""
    job = draft.find(Job, command.job_key)
    if job is None:
        raise lifecycle.no_such("job", command.job_key)
    recorded = command.token is not None and any(
        isinstance(record, Failure)
        and record.job_key == job.key
        and record.delivery_token == command.token
        for record in draft.records.values()
    )
    judged = judge(job, command, now=draft.now, limits=draft.limits, recorded=recorded)
    match judged:
        case Repeated():
            pass
        case Retried():
            draft.put(judged.job, Guard.RETRIED_FAILURE)
            draft.put(replace(judged.failure, key=draft.keys.next()))
            jobs.ring(draft, judged.job)
        case Exhausting():
            _exhaust(draft, judged, command)
        case Thrown():
            _throw(draft, judged.job, command)


def _exhaust(draft: Draft, judged: Exhausting, command: FailJob) -> None:
    job = _failed(judged.job, command)
    message = _exhausted_message(job, command.message)
    _open(draft, job, ErrorType.JOB_NO_RETRIES, message)
    incident = draft.live[job.element_key].incident
    draft.put(replace(judged.failure, key=draft.keys.next(), incident_key=incident))


def _throw(draft: Draft, job: Job, command: FailJob) -> None:
    code, thrower = command.error_code, job.element_key
    if job.listener is not None:  # it is beside its element, whose own events do not catch it
        thrower = draft.live[thrower].scope
    if _is_free(draft, job) and bpmn_errors.find_catcher(draft, thrower, code) is not None:
        ended = _unlocked(job)._replace(state=JobState.TERMINATED)
        draft.put(ended, Guard.EXHAUSTING_FAILURE)
        bpmn_errors.throw(draft, thrower, code, command.variables)
        return
    message = f"{command.message}: {code}" if command.message else code
    _open(draft, _failed(job, command), ErrorType.UNHANDLED_ERROR_EVENT, message)


def _is_free(draft: Draft, job: Job) -> bool:
    """Say whether an error may change the way of an instance: not while it, or the user task that
    a listener's job is beside, is being ended."""
    element = draft.live[job.element_key]
    is_heard_out = element.is_ending and element.listener == job.key
    return draft.state is InstanceState.ACTIVE and not is_heard_out


def _failed(job: Job, command: FailJob) -> Job:
    """Return the job as it waits for an operator; retries set before count no more (R132)."""
    return _unlocked(job)._replace(
        state=JobState.FAILED,
        retry_at=None,
        retries_set_by_operator=False,
        outputs=command.variables or None,
    )


def _unlocked(job: Job) -> Job:
    return job._replace(owner=None, lock_until=None, lock_duration=None)


def _open(draft: Draft, job: Job, error_type: ErrorType, message: str) -> None:
    draft.put(job, Guard.EXHAUSTING_FAILURE)
    element = draft.live[job.element_key]
    stop(draft, element, Stuck(error_type, message, Stage.WORKING), job.key)


def _exhausted_message(job: Job, message: str) -> str:
    """Return the words of ZenBPM's incident (R76)."""
    attempts = "1 attempt" if job.attempts == 1 else f"{job.attempts} attempts"
    if message:
        return f"{message} (job {job.key}: {attempts}, retries exhausted)"
    return f"job {job.key} failed without a message ({attempts}, retries exhausted)"
