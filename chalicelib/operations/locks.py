"""A worker needs longer than it said: the end of its lock is moved.

Nothing but the lock's end changes, and nothing at all if the extension is refused. A lock that
ends earlier than before needs a bell for its new end, rung before the write; one that ends later
needs none, for the bell of the old end is rung on by whoever receives it. Design section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.delivery import bells
from chalicelib.delivery.promise import promise_in_time
from chalicelib.engine import lifecycle
from chalicelib.engine.state import Job, JobState
from chalicelib.errors import Conflict, Reason, Rejected
from chalicelib.operations.attempts import attempts
from chalicelib.operations.claims import lock_duration
from chalicelib.ports import Ports
from chalicelib.store import jobs


@dataclass(frozen=True, slots=True)
class Extension:
    """What a client asks for.

    Shapes: `token` is the delivery it means, None for whichever it holds; `duration` None or
        zero is the length in force when the job was handed out (R38).
    """

    job_key: int
    client_id: str
    token: int | None = None
    duration: timedelta | None = None


def extend_job_lock(ports: Ports, asked: Extension) -> datetime:
    """Let a client's lock end so long from now, and return when that is (R37 to R46).

    Raises: Rejected(NOT_FOUND); Rejected(INVALID_STATE) if the client does not hold that lock;
        Conflict if others change the job until the deadline.
    """
    for _ in attempts(ports):
        job = jobs.read(ports.table, [asked.job_key]).get(asked.job_key)
        if job is None:
            raise lifecycle.no_such("job", asked.job_key)
        now = ports.clock.now()
        _require_held(job, asked, now)
        until = now + lock_duration(ports, asked.duration or job.lock_duration)
        if jobs.shortens(job, until):
            promise_in_time(ports, [bells.next_ring(job, until)])
        extended = jobs.extend(ports.table, job, asked.client_id, until, now=now, token=asked.token)
        if isinstance(extended, Job):
            return until
    raise Conflict(f"job {asked.job_key} was changed by others until the deadline")


def _require_held(job: Job, asked: Extension, now: datetime) -> None:
    """Let the extension pass if the client holds the lock it means. Raises: Rejected."""
    if job.state is not JobState.ACTIVE:
        raise _refusal(job, f"is not held, it is {job.state}")
    if job.owner is None or job.lock_until is None or job.lock_until <= now:
        raise _refusal(job, f"is not held under a lock of client {asked.client_id}")
    if job.owner != asked.client_id:
        raise _refusal(job, f"is held by another client than {asked.client_id}")
    if asked.token not in (None, job.delivery_token):
        raise _refusal(job, f"is not held by delivery {asked.token}: {_latest(job, asked.token)}")


def _latest(job: Job, token: int | None) -> str:
    if token is not None and token < job.delivery_token:
        return f"the job was handed out again (delivery {job.delivery_token})"
    return f"the latest is {job.delivery_token}"


def _refusal(job: Job, why: str) -> Rejected:
    return Rejected(Reason.INVALID_STATE, f"the lock of job {job.key} was not extended: it {why}")
