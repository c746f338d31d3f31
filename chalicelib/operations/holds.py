"""Jobs are taken from clients that may be dead: by an operator, and when a server starts.

A hold has no end of its own, and a lock may have a far one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from chalicelib.engine.state import Job, JobState
from chalicelib.operations.rings import ring_anew
from chalicelib.ports import Ports
from chalicelib.store import items, jobs, sweeping, table


def release_holds(ports: Ports) -> int:
    """Free the jobs that clients hold without an end; return how many."""
    return release(ports, held(ports))


def held(ports: Ports, *, with_locks: bool = False) -> list[Job]:
    """Return the jobs that somebody has, without what lies apart of them.

    Shapes: those held without an end; `with_locks` those under a lock that has not lapsed, too.
    """
    now = ports.clock.now()
    found = (
        items.to_hot_job(item)
        for page in sweeping.whole(ports.table)
        for item in page
        if table.is_of_instance(item["pk"]) and str(item["sk"]).startswith(table.JOB)
    )
    return [
        job
        for job in found
        if job.state is JobState.ACTIVE
        and job.owner is not None
        and (job.lock_until is None or (with_locks and job.lock_until > now))
    ]


def release(ports: Ports, found: Sequence[Job]) -> int:
    """Take holds and locks away, and ring for their jobs; return how many were freed.

    One that was let go, or handed out again, since it was read is left as it is.
    """
    return ring_anew(ports, found, _out_at, jobs.release)


def _out_at(job: Job, now: datetime) -> datetime:
    return max(now, job.retry_at or now)
