"""An operator says how many attempts a job still has, and when the next one is.

It is one conditional write on the job alone. Whatever holds the job back by a retry time is over,
so the job's next bell is rung before; a lock stands. Contracts/zenbpm.md section 2 L.
"""

from __future__ import annotations

from datetime import datetime

from chalicelib.delivery import bells
from chalicelib.delivery.promise import promise_in_time
from chalicelib.engine import lifecycle, retries
from chalicelib.engine.state import Job, JobState
from chalicelib.errors import Conflict, Reason, Rejected
from chalicelib.operations.attempts import attempts
from chalicelib.ports import Ports
from chalicelib.store import jobs

SETTABLE = frozenset({JobState.ACTIVE, JobState.FAILED})


def update_job_retries(
    ports: Ports, job_key: int, left: int, retry_at: datetime | None = None
) -> None:
    """Set the retries of a job that is not ended; a failed one stays failed (R125 to R133).

    Raises: Rejected(NOT_FOUND), Rejected(INVALID_ARGUMENT) out of bounds, Rejected(INVALID_STATE)
        if the job ended; Conflict if others change it until the deadline.
    """
    for _ in attempts(ports):
        job = jobs.read(ports.table, [job_key]).get(job_key)
        if job is None:
            raise lifecycle.no_such("job", job_key)
        now = ports.clock.now()
        retries.check(f"job {job_key}", left, retry_at, now, ports.settings.limits)
        if job.state not in SETTABLE:
            raise Rejected(
                Reason.INVALID_STATE,
                f"cannot update the retries of job {job_key} in state "
                f"ActivityState{job.state.value.capitalize()}",
            )
        after = retries.set_by_operator(job, left, retry_at, now)
        if after.ring_at is not None:
            promise_in_time(ports, [bells.next_ring(job, after.ring_at)])
        if isinstance(jobs.set_retries(ports.table, job, after), Job):
            return
    raise Conflict(f"job {job_key} was changed by others until the deadline")
