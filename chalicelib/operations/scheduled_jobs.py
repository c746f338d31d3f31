"""Scheduled jobs: made, read, changed and removed, and made to fire or not.

What makes a job fire is put before the definition is written, and taken away after it: so a job
that is known to fire does, and a firing that nobody wants finds that out from the definition.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from chalicelib.delivery.horizon import COMMIT_WINDOW
from chalicelib.delivery.promise import PROMISES_MAX, is_fresh
from chalicelib.delivery.runs import fires
from chalicelib.errors import Conflict, Reason, Rejected
from chalicelib.operations.attempts import attempts, unfailing
from chalicelib.ports import Ports
from chalicelib.scheduler.definition import ScheduledJob, problems
from chalicelib.scheduler.overlap import is_stale
from chalicelib.store import runs, scheduled_jobs

LOOKS_MAX = 5  # at a definition that is changed at the same time, again and again

Change = Callable[[ScheduledJob], ScheduledJob]


@dataclass(frozen=True, slots=True)
class WantedJobs:
    """Which scheduled jobs a list is to hold; None asks for all."""

    enabled: bool | None = None
    type: str | None = None

    def matches(self, job: ScheduledJob) -> bool:
        """Say whether a job is asked for."""
        return self.enabled in (None, job.enabled) and self.type in (None, job.type)


def create_scheduled_job(ports: Ports, draft: ScheduledJob) -> ScheduledJob:
    """Store a new job, whose id and creation are ours to say, and let it fire.

    Raises: Rejected(INVALID_ARGUMENT) naming the field; TooLarge.
    """
    _refuse(draft)
    now = ports.clock.now()
    job = replace(draft, id=ports.chance.id(), created_at=now, revision=1, is_done=False)
    _put_in_time(ports, job)
    if not scheduled_jobs.create(ports.table, job, token=ports.chance.id()):
        raise Conflict(f"expected a new id for scheduled job {job.name!r}, found {job.id} taken")
    return job


def get_scheduled_job(ports: Ports, job_id: str) -> ScheduledJob:
    """Return a job. Raises: Rejected(NOT_FOUND)."""
    job = scheduled_jobs.read(ports.table, job_id)
    if job is None:
        raise not_found(job_id)
    return job


def list_scheduled_jobs(
    ports: Ports, wanted: WantedJobs, limit: int, offset: int
) -> tuple[list[ScheduledJob], int]:
    """Return a page of the jobs, the oldest first, and how many there are."""
    found = [job for job in scheduled_jobs.every(ports.table) if wanted.matches(job)]
    return found[offset : offset + limit], len(found)


def patch_scheduled_job(ports: Ports, job_id: str, change: Change) -> ScheduledJob:
    """Change a job; who it is, when it was made and its revision are ours to say.

    Shapes: `change` makes the new definition of the one it is given, more than once if others
        change it meanwhile. A one-off that is done fires again if its schedule changes.
    Raises: Rejected(NOT_FOUND); Rejected(INVALID_ARGUMENT) naming the field; TooLarge; Conflict.
    """
    for _ in attempts(ports):
        before = get_scheduled_job(ports, job_id)
        after = _changed(before, change(before))
        _refuse(after)
        if fires(after):
            _put_in_time(ports, after)
        if scheduled_jobs.replace(ports.table, before, after):
            with unfailing(f"what scheduled job {job_id} needs no more"):
                _settle(ports, before, after)
            return after
    raise Conflict(f"scheduled job {job_id} was changed by others until the deadline")


def pause_scheduled_job(ports: Ports, job_id: str) -> ScheduledJob:
    """Let a job fire no more; runs that are under way go on. Raises: as a patch."""
    return patch_scheduled_job(ports, job_id, lambda job: replace(job, enabled=False))


def resume_scheduled_job(ports: Ports, job_id: str) -> ScheduledJob:
    """Let a job fire again. Raises: as a patch."""
    return patch_scheduled_job(ports, job_id, lambda job: replace(job, enabled=True))


def delete_scheduled_job(ports: Ports, job_id: str) -> None:
    """Remove a job; what is still queued for it finds nothing. Raises: Rejected, Conflict."""
    for _ in attempts(ports):
        job = get_scheduled_job(ports, job_id)
        if scheduled_jobs.delete(ports.table, job, token=ports.chance.id()):
            with unfailing(f"what is left of scheduled job {job_id}"):
                ports.firings.remove(job_id)
                _unlock_all(ports, job_id)
            return
    raise Conflict(f"scheduled job {job_id} was changed by others until the deadline")


def put_right(ports: Ports, job_id: str) -> None:
    """Let what fires a job be what its definition says, as it is now.

    If the definition is changed meanwhile, what its change put may be undone here: look again.
    """
    for _ in range(LOOKS_MAX):
        job = scheduled_jobs.read(ports.table, job_id)
        if job is not None and fires(job):
            ports.firings.put(job, ports.clock.now())
        else:
            ports.firings.remove(job_id)
        if scheduled_jobs.read(ports.table, job_id) == job:
            return


def running_since_by_pool(ports: Ports, job_id: str) -> dict[int, datetime]:
    """Return since when each pool index is held, of those that are."""
    now = ports.clock.now()
    locks = runs.locks_of(ports.table, job_id)
    return {lock.pool_idx: lock.since for lock in locks if not is_stale(lock, now)}


def not_found(job_id: str) -> Rejected:
    """Return the refusal of an id that names no job."""
    return Rejected(Reason.NOT_FOUND, f"no scheduled job with id {job_id!r} was found")


def _changed(before: ScheduledJob, draft: ScheduledJob) -> ScheduledJob:
    return replace(
        draft,
        id=before.id,
        created_at=before.created_at,
        revision=before.revision + 1,
        is_done=before.is_done and draft.schedule == before.schedule,
    )


def _settle(ports: Ports, before: ScheduledJob, after: ScheduledJob) -> None:
    """Take away what a changed job needs no more."""
    if not fires(after):
        put_right(ports, after.id)
    if before.is_locking and not after.is_locking:
        _unlock_all(ports, after.id)


def _unlock_all(ports: Ports, job_id: str) -> None:
    for lock in runs.locks_of(ports.table, job_id):
        runs.unlock(ports.table, job_id, lock.pool_idx)


def _put_in_time(ports: Ports, job: ScheduledJob) -> None:
    """Let a job fire, and return while there is time to write it: else its firings are dropped.

    Raises: Conflict if this process stalls again and again.
    """
    if not fires(job):
        return
    for _ in range(PROMISES_MAX):
        put_at = ports.clock.now()
        ports.firings.put(job, put_at)
        if is_fresh(ports, put_at):
            return
    raise Conflict(f"expected to write a job within {COMMIT_WINDOW} of its schedule")


def _refuse(draft: ScheduledJob) -> None:
    """Let a definition pass that may be stored. Raises: Rejected for the first problem."""
    for problem in problems(draft):
        raise Rejected(Reason.INVALID_ARGUMENT, problem.message, {"field": problem.field})
