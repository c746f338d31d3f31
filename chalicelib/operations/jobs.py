"""What is done to jobs by those who may know them by key: read, complete."""

from __future__ import annotations

from chalicelib.engine import lifecycle
from chalicelib.engine.commands import CompleteJob
from chalicelib.engine.state import Job
from chalicelib.json_text import JsonObject
from chalicelib.operations.advance import advance
from chalicelib.ports import Ports
from chalicelib.store import jobs


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
