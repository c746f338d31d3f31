"""What a job's schedule, or somebody by hand, sets going: one run for each pool index.

The lock of an index is taken and its row inserted in one transaction, then the run's message is
sent. Whoever dies in between leaves a message that comes again, the firing itself or the insurance
of a manual trigger; it finds its own lock and row, and sends once more.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.delivery import horizon, runs
from chalicelib.delivery.promise import is_fresh
from chalicelib.delivery.runs import Firing, Insurance
from chalicelib.delivery.verdicts import LiveDue, Spare, Verdict
from chalicelib.errors import Reason, Rejected
from chalicelib.operations.attempts import answering, unfailing
from chalicelib.operations.scheduled_jobs import get_scheduled_job, put_right
from chalicelib.ports import Message, Ports
from chalicelib.scheduler.decisions import first_rows, should_run
from chalicelib.scheduler.definition import POOL_MAX, ScheduledJob
from chalicelib.scheduler.overlap import Lock
from chalicelib.scheduler.rows import Row, run_id_of
from chalicelib.store import runs as rows
from chalicelib.store import scheduled_jobs
from chalicelib.store.runs import Held, Inserted, Known

OVERDUE = timedelta(seconds=30)  # of a row that is told of again; a queue delivers within seconds

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Fired:
    """Which pool indices a manual trigger set going, and which were held."""

    fired: list[int]
    skipped: list[int]


def fire(ports: Ports, message: Firing) -> Verdict:
    """Do what a schedule's firing asks for, if it is the job's; return what it was.

    The firing after it is planned first, so that no crash ends the chain.
    """
    job = scheduled_jobs.read(ports.table, message.job_id)
    now = ports.clock.now()
    verdict = runs.judge_firing(message, job, now)
    if job is None:
        if isinstance(verdict, Spare):
            put_right(ports, message.job_id)
    elif isinstance(verdict, LiveDue):
        if job.revision == message.revision:  # else the newer one has a chain of its own
            ports.firings.goes_on(job, message.due)
        runs.send(ports, _started(ports, job, message.due, now))
    elif isinstance(verdict, Spare):
        runs.send(ports, _left_over(ports, message.job_id, message.due))
        if job.revision < message.revision:
            put_right(ports, message.job_id)
    return verdict


def trigger(ports: Ports, job_id: str) -> Fired:
    """Set a job going now, by hand, enabled or not (Z79, Z80).

    Raises: Rejected(NOT_FOUND); Rejected(INVALID_STATE) if every pool index is held.
    """
    job = get_scheduled_job(ports, job_id)
    run_id = ports.chance.id()
    started: list[Row] = []
    skipped: list[int] = []
    insured_at = runs.insure(ports, job, run_id)
    with answering(started):
        for row in first_rows(job, run_id, ports.clock.now()):
            if not is_fresh(ports, insured_at):
                insured_at = runs.insure(ports, job, run_id)
            if _is_started(ports, job, row):
                started.append(row)
            else:
                skipped.append(row.pool_idx)
    if not started:
        raise Rejected(Reason.INVALID_STATE, "run in progress")
    with unfailing(f"run {run_id} of scheduled job {job_id}"):
        runs.send(ports, started)
    return Fired([row.pool_idx for row in started], skipped)


def again(ports: Ports, message: Insurance) -> Verdict:
    """Send what a manual trigger may have died before sending, and look again in a while.

    A trigger may still be inserting rows until the horizon; only when each of its indices has
    begun is nothing left to look after.
    """
    now = ports.clock.now()
    found = rows.rows_of_run(ports.table, message.job_id, message.run_id)
    first = [row for row in found if row.iteration == 0]
    waiting = _waiting(first)
    runs.send(ports, waiting)
    is_sure = len(first) == message.pool_count and not waiting
    if is_sure or horizon.is_over(message.first_sent, now):
        return Spare()
    body = runs.to_text(message)
    ports.queues.send(runs.QUEUE, [Message(body, runs.INSURANCE_AGAIN_S)])
    return LiveDue()


def unlock(ports: Ports, job_id: str, pool_idx: int) -> None:
    """Remove the lock entry of a pool index, an operator's way out.

    Raises: Rejected(NOT_FOUND); Rejected(INVALID_ARGUMENT) for an index the job cannot have.
    """
    get_scheduled_job(ports, job_id)
    if not 0 <= pool_idx < POOL_MAX:
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            f"expected a pool index of 0 to {POOL_MAX - 1}, found {pool_idx}",
            {"field": "pool_idx"},
        )
    rows.unlock(ports.table, job_id, pool_idx)


def _started(ports: Ports, job: ScheduledJob, due: datetime, now: datetime) -> list[Row]:
    """Return the rows of a firing whose first message is to be sent."""
    if should_run(job, due, now):
        first = first_rows(job, run_id_of(due), due)
        return [row for row in first if _is_started(ports, job, row, comes_again=True)]
    _log("firing missed", job, due=due.isoformat())
    return _left_over(ports, job.id, due)


def _left_over(ports: Ports, job_id: str, due: datetime) -> list[Row]:
    """Return what a firing inserted that died then, and comes again when it starts nothing more."""
    return _waiting(rows.rows_of_run(ports.table, job_id, run_id_of(due)))


def _waiting(found: Iterable[Row]) -> list[Row]:
    """Return the rows that no attempt was begun at."""
    return [row for row in found if not row.attempt and row.state.is_open]


def _is_started(ports: Ports, job: ScheduledJob, row: Row, *, comes_again: bool = False) -> bool:
    """Take the index and insert the row; say whether the run's first message is to be sent.

    Shapes: what asks for it `comes_again` if it is a message, and must then be told by the row
        that it was dropped.
    """
    outcome = rows.insert(
        ports.table,
        row,
        locks=job.is_locking,
        now=ports.clock.now(),
        token=ports.chance.id(),
    )
    match outcome:
        case Inserted():
            return True
        case Known(known):
            return bool(_waiting([known]))
        case Held(lock):
            _log("run skipped: the one before goes on", job, pool_idx=row.pool_idx)
            if lock is not None:
                _remind(ports, job, lock)
            if comes_again:
                rows.drop(ports.table, row, now=ports.clock.now())
            return False


def _remind(ports: Ports, job: ScheduledJob, lock: Lock) -> None:
    """Send the message of a run that holds an index and is overdue: whoever owed it has died.

    That message comes back by itself, but as late as its queue's visibility ends.
    """
    row = rows.latest_row(ports.table, job.id, lock.run_id, lock.pool_idx)
    if row is not None and row.state.is_open and ports.clock.now() - row.due > OVERDUE:
        runs.send(ports, [row])


def _log(text: str, job: ScheduledJob, **more: object) -> None:
    logger.info(text, extra={"job_id": job.id, "job_name": job.name, **more})
