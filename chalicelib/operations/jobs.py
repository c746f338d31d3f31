"""What is done to jobs without handing them out: read, listed, completed."""

from __future__ import annotations

from chalicelib.engine import lifecycle
from chalicelib.engine.commands import CompleteJob
from chalicelib.engine.state import Job
from chalicelib.json_text import JsonObject
from chalicelib.operations.advance import advance
from chalicelib.ports import Ports
from chalicelib.store import instances, jobs, lists
from chalicelib.store.lists import Cut, Listed, WantedJobs


def get_job(ports: Ports, job_key: int) -> Job:
    """Return a job with all that it was made with. Raises: Rejected(NOT_FOUND)."""
    job = jobs.read(ports.table, [job_key]).get(job_key)
    if job is None:
        raise lifecycle.no_such("job", job_key)
    return job


def complete_job(ports: Ports, job_key: int, variables: JsonObject) -> None:
    """Complete the job and move its process instance on (R1 to R9).

    Raises: Rejected, also TooLarge if what the completion makes no longer fits; Conflict.
    """
    advance(ports, job_key, CompleteJob(job_key, variables))


def get_jobs(ports: Ports, wanted: WantedJobs, cut: Cut) -> Listed[Job]:
    """Return a page of jobs. Nothing is locked or changed, and backoffs do not matter (R35)."""
    return lists.list_jobs(ports.table, wanted, cut)


def get_process_instance_jobs(ports: Ports, key: int, cut: Cut) -> Listed[Job]:
    """Return a page of all jobs in an instance, or in one scope of it."""
    instance = instances.load(ports.table, key)
    is_whole = instance is not None and key == instance.key
    wanted = WantedJobs(instance_key=key, scope=None if is_whole else key)
    return lists.list_jobs(ports.table, wanted, cut)
