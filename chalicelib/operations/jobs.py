"""What is done to jobs without handing them out: read, listed, completed, assigned."""

from __future__ import annotations

from dataclasses import replace

from chalicelib.engine import lifecycle
from chalicelib.engine.commands import CompleteJob
from chalicelib.engine.job_results import JobResult
from chalicelib.engine.state import Failure, Job, JobState
from chalicelib.errors import Conflict, Reason, Rejected
from chalicelib.json_text import JsonObject
from chalicelib.operations import scopes
from chalicelib.operations.advance import advance
from chalicelib.operations.attempts import attempts
from chalicelib.ports import Ports
from chalicelib.store import failures, jobs, lists
from chalicelib.store.lists import Cut, Listed, WantedJobs


def get_job(ports: Ports, job_key: int) -> Job:
    """Return a job with all that it was made with. Raises: Rejected(NOT_FOUND)."""
    job = jobs.read(ports.table, [job_key]).get(job_key)
    if job is None:
        raise lifecycle.no_such("job", job_key)
    return job


def complete_job(
    ports: Ports,
    job_key: int,
    variables: JsonObject,
    result: JobResult | None = None,
    *,
    is_once: bool = False,
) -> None:
    """Complete the job and move its process instance on (R1 to R9).

    Shapes: with `is_once` a job that is completed already is refused, else it is a repeat.
    Raises: Rejected, also TooLarge if what the completion makes no longer fits; Conflict.
    """
    advance(ports, job_key, CompleteJob(job_key, variables, is_once, result=result))


def assign_job(ports: Ports, job_key: int, assignee: str | None) -> None:
    """Say who is to do a job, None for nobody; nothing else of it is written (R133).

    Raises: Rejected(NOT_FOUND), Rejected(INVALID_STATE) if it waits for nobody; Conflict.
    """
    for _ in attempts(ports):
        job = get_job(ports, job_key)
        if job.state is not JobState.ACTIVE:
            raise Rejected(
                Reason.INVALID_STATE, f"job {job_key} cannot be assigned, it is already {job.state}"
            )
        if isinstance(jobs.assign(ports.table, job, assignee), Job):
            return
    raise Conflict(f"job {job_key} was changed by others until the deadline")


def get_job_failures(ports: Ports, job_key: int, cut: Cut) -> tuple[Job, Listed[Failure]]:
    """Return a job and a page of its failures without a code, the newest first (R117 to R122).

    Raises: Rejected(NOT_FOUND).
    """
    job = get_job(ports, job_key)
    size = min(cut.size, job.failures - cut.first)
    page = failures.newest(ports.table, job, cut.first, size) if size > 0 else []
    return job, Listed(page, job.failures)


def get_jobs(ports: Ports, wanted: WantedJobs, cut: Cut) -> Listed[Job]:
    """Return a page of jobs. Nothing is locked or changed, and backoffs do not matter (R35)."""
    return lists.list_jobs(ports.table, wanted, cut)


def get_process_instance_jobs(ports: Ports, key: int, cut: Cut) -> Listed[Job]:
    """Return a page of all jobs in an instance, or in one scope of it, also of those that instances
    do which are parts of its multi-instance bodies."""
    found = scopes.find(ports, key)
    if found is None:
        return Listed([], 0)
    parts, is_floor = scopes.parts(ports, found)
    wanted = WantedJobs(instance_key=key, scope=found.scope, parts=[part.key for part in parts])
    listed = lists.list_jobs(ports.table, wanted, cut)
    return replace(listed, is_floor=is_floor or listed.is_floor)
