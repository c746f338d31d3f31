"""What a turn made happen: told to whoever counts, logs and traces, once it is committed.

Facts are read off the difference between the instance before and after, so no transition has to
think of them, and what was not committed is never told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.engine.commands import Command, FireTimer
from chalicelib.engine.state import Incident, Job, JobState, Record, Root, Timer
from chalicelib.engine.turn import Turn


@dataclass(frozen=True, slots=True)
class InstanceStarted:
    """A process instance is there."""

    root: Root


@dataclass(frozen=True, slots=True)
class InstanceEnded:
    """It reached its end, or was cancelled."""

    root: Root


@dataclass(frozen=True, slots=True)
class JobCreated:
    """A job waits for a worker."""

    job: Job


@dataclass(frozen=True, slots=True)
class JobHandedOut:
    """A worker got it, so long after it could have."""

    job: Job
    latency: timedelta


@dataclass(frozen=True, slots=True)
class JobRetried:
    """A failure that leaves retries: the job is out again at `job.ring_at`."""

    job: Job
    at: datetime

    @property
    def backoff(self) -> timedelta:
        """How long the job waits on account of its retry policy."""
        retry_at = self.job.retry_at
        return timedelta(0) if retry_at is None else retry_at - self.at


@dataclass(frozen=True, slots=True)
class JobFailed:
    """No retries are left, or nothing catches the error: an operator has to look."""

    job: Job
    incident_key: int
    error_type: str
    at: datetime


@dataclass(frozen=True, slots=True)
class JobEnded:
    """A job was completed, or terminated with what it belonged to."""

    job: Job
    at: datetime


@dataclass(frozen=True, slots=True)
class IncidentCreated:
    """An instance waits for an operator."""

    incident: Incident


@dataclass(frozen=True, slots=True)
class IncidentResolved:
    """It does so no more. `job` is the one whose retries that set, if any."""

    incident: Incident
    job: Job | None = None


@dataclass(frozen=True, slots=True)
class TimerScheduled:
    """A timer waits for its second."""

    timer: Timer


@dataclass(frozen=True, slots=True)
class TimerFired:
    """Its second came."""

    timer: Timer


@dataclass(frozen=True, slots=True)
class TimerCancelled:
    """What it belonged to was left before."""

    timer: Timer


Fact = (
    InstanceStarted
    | InstanceEnded
    | JobCreated
    | JobHandedOut
    | JobRetried
    | JobFailed
    | JobEnded
    | IncidentCreated
    | IncidentResolved
    | TimerScheduled
    | TimerFired
    | TimerCancelled
)


def facts_of(turn: Turn, command: Command) -> Iterator[Fact]:
    """Yield what a turn made happen, in no order that would mean anything."""
    if not turn.changes:
        return
    root = turn.after.root
    old_root = None if turn.before is None else turn.before.root
    if old_root is None:
        yield InstanceStarted(root)
    if root.ended_at is not None and (old_root is None or old_root.ended_at is None):
        yield InstanceEnded(root)
    before = turn.before.records if turn.before else {}
    for key, record in turn.after.records.items():
        old = before.get(key)
        if old is not record:
            yield from _of_record(turn, old, record)
    for key, record in before.items():
        if isinstance(record, Timer) and key not in turn.after.records:
            is_fired = isinstance(command, FireTimer) and command.timer_key == record.key
            yield TimerFired(record) if is_fired else TimerCancelled(record)


def _of_record(turn: Turn, old: Record | None, new: Record) -> Iterator[Fact]:
    match new:
        case Job():
            yield from _of_job(turn, old if isinstance(old, Job) else None, new)
        case Incident():
            if old is None:
                yield IncidentCreated(new)
            if new.resolved_at is not None and not _was_resolved(old):
                yield IncidentResolved(new, _restarted(turn, new))
        case Timer():
            if old is None:
                yield TimerScheduled(new)


def _of_job(turn: Turn, old: Job | None, new: Job) -> Iterator[Fact]:
    if old is None:
        yield JobCreated(new)
    was = JobState.ACTIVE if old is None else old.state
    if new.state in (JobState.COMPLETED, JobState.TERMINATED):
        if new.state is not was:
            yield JobEnded(new, turn.at)
    elif new.state is JobState.FAILED:
        incident = _incident_of(turn, new)
        if new.state is not was and incident is not None:
            yield JobFailed(new, incident.key, incident.error_type, turn.at)
    elif old is not None and was is new.state and new.attempts > old.attempts:
        yield JobRetried(new, turn.at)


def _incident_of(turn: Turn, job: Job) -> Incident | None:
    """Return the incident that the turn opened for a job."""
    records = turn.after.records.values()
    mine = (each for each in records if isinstance(each, Incident) and each.job_key == job.key)
    return next((each for each in mine if each.resolved_at is None), None)


def _restarted(turn: Turn, incident: Incident) -> Job | None:
    """Return the job that resolving an incident let out again."""
    records = turn.after.records.values()
    jobs = (each for each in records if isinstance(each, Job) and each.key == incident.job_key)
    return next((job for job in jobs if job.state is JobState.ACTIVE), None)


def _was_resolved(old: Record | None) -> bool:
    return isinstance(old, Incident) and old.resolved_at is not None
