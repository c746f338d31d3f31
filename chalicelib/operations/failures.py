"""A worker could not do its job: what is recorded, and when the job is out again.

A failure that leaves retries concerns the job alone and is one conditional write; one that leaves
none, or has an error code, changes the instance and is a turn of it. Which one it is, and whether
it counts at all, the engine judges (contracts/zenbpm.md 2.4).
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from chalicelib.delivery import bells
from chalicelib.delivery.promise import promise_in_time
from chalicelib.engine import lifecycle
from chalicelib.engine.commands import FailJob
from chalicelib.engine.facts import JobRetried
from chalicelib.engine.failures import Exhausting, Repeated, Retried, Thrown, judge
from chalicelib.engine.keys import first_key
from chalicelib.engine.state import Job
from chalicelib.errors import Conflict, Rejected
from chalicelib.operations.advance import advance
from chalicelib.operations.attempts import attempts, tell
from chalicelib.operations.repeats import done_before
from chalicelib.ports import Ports, Put, Written
from chalicelib.store import blocks, failures, jobs, marks
from chalicelib.store.marks import Once


def fail_job(ports: Ports, command: FailJob, once: Once | None = None) -> None:
    """Record a failure; one that was recorded before, or is marked as done, changes nothing.

    Raises: Rejected, also TooLarge; Conflict if others change the job until the deadline.
    """
    for _ in attempts(ports):
        job = jobs.read(ports.table, [command.job_key]).get(command.job_key)
        if job is None:
            raise lifecycle.no_such("job", command.job_key)
        # Read after the job: what was done before it was read is found marked now.
        if done_before(ports, once) is not None:
            return
        judged = judge(
            job,
            command,
            now=ports.clock.now(),
            limits=ports.settings.limits,
            recorded=_is_recorded(ports, job, command),
        )
        match judged:
            case Repeated():
                if once is None or _mark_repeat(ports, job, once):
                    return
            case Retried():
                if _record(ports, job, judged, once):
                    return
            case Exhausting() | Thrown():
                _take_turn(ports, command, once)
                return
            case _ as never:
                assert_never(never)
    raise Conflict(f"job {command.job_key} was changed by others until the deadline")


def _mark(ports: Ports, job: Job, once: Once) -> Put:
    return marks.write(once, job.instance_key, now=ports.clock.now())


def _mark_repeat(ports: Ports, job: Job, once: Once) -> bool:
    """Mark what was recorded before under another key or none; False if it was marked meanwhile."""
    return isinstance(ports.table.write(_mark(ports, job, once)), Written)


def _take_turn(ports: Ports, command: FailJob, once: Once | None) -> None:
    """Let the failure change its instance.

    A turn does not look at the rows of older deliveries. So if it refuses, the very failure may
    have been recorded since, and others after it: then this is a repeat all the same (R98).
    Raises: Rejected, also TooLarge; Conflict.
    """
    try:
        advance(ports, command.job_key, command, once)
    except Rejected:
        job = jobs.read(ports.table, [command.job_key]).get(command.job_key)
        if job is None or not _is_recorded(ports, job, command):
            raise


def _is_recorded(ports: Ports, job: Job, command: FailJob) -> bool:
    """Look for the row of an older delivery's failure; of the latest one the job itself tells."""
    token = command.token
    if token is None or not 1 <= token < job.delivery_token or token == job.last_recorded_token:
        return False
    return failures.is_recorded(ports.table, job, token)


def _record(ports: Ports, job: Job, judged: Retried, once: Once | None) -> bool:
    """Ring for the time the job is out again, then write the failure; False if it was changed.

    The row's key is of a block of its own: only a turn may hand out the instance's.
    """
    after = judged.job
    if after.ring_at is not None:
        promise_in_time(ports, [bells.next_ring(job, after.ring_at)])
    failure = replace(judged.failure, key=first_key(blocks.take(ports.table)))
    result = jobs.record_retried_failure(
        ports.table,
        job,
        after,
        failure,
        token=ports.chance.id(),
        mark=None if once is None else _mark(ports, job, once),
    )
    if not isinstance(result, Job):
        return False
    tell(ports, [JobRetried(result, judged.failure.failed_at)])
    return True
