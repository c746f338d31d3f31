"""A run's next attempt: it is begun, made, written down, and what follows is decided.

What follows is promised before the transaction that decides it: the message of the next attempt
goes first, and finds nothing until the row says so. A process that dies at work leaves a running
row; its message comes back, and the attempt counts as failed.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta

from chalicelib.delivery import runs
from chalicelib.delivery.promise import is_fresh
from chalicelib.delivery.runs import RunMessage
from chalicelib.delivery.verdicts import LiveDue, Spare, Verdict
from chalicelib.errors import Conflict
from chalicelib.operations import run_alarms
from chalicelib.operations.attempts import attempts, unfailing
from chalicelib.ports import Ports, Put
from chalicelib.scheduler import loop
from chalicelib.scheduler.decisions import (
    Continued,
    Decision,
    Ended,
    Retried,
    after_attempt,
    begun,
)
from chalicelib.scheduler.definition import Once, ScheduledJob
from chalicelib.scheduler.rows import Attempt, Outcome, Row, RowState, run_id_of
from chalicelib.scheduler.schedules import next_firings
from chalicelib.store import invocations, scheduled_jobs
from chalicelib.store import runs as rows
from chalicelib.store.runs import Begun, Changed, Finish, Finished, Held

DIED = "the executor died"

logger = logging.getLogger(__name__)


def run(ports: Ports, message: RunMessage) -> Verdict:
    """Make the attempt that a message asks for, if it is due; return what the message was."""
    job = scheduled_jobs.read(ports.table, message.job_id)
    if job is None:
        return Spare()
    row = rows.read(ports.table, job.id, message.run_id, message.pool_idx, message.iteration)
    now = ports.clock.now()
    verdict = runs.judge_run(message, row, now)
    if row is None or not isinstance(verdict, LiveDue):
        return verdict
    if row.state is RowState.RUNNING:
        died(ports, row)
        return verdict
    match _begin(ports, job, row):
        case Begun(running):
            attempt = ports.runner.run(job, running, timedelta(milliseconds=job.timeout_ms))
            _record(ports, running, attempt)
            return verdict
        case Changed(current):
            # A copy of this message was first. Deleting one copy may delete both, so it is judged
            # again, and then sent on for when the other's executor would be dead.
            return runs.judge_run(message, current, ports.clock.now())
        case Held():
            return Spare()


def died(ports: Ports, row: Row) -> None:
    """Write down that the attempt at a running row ended with its executor. Raises: Conflict."""
    now = ports.clock.now()
    _record(ports, row, Attempt(Outcome.FAILED, row.started_at or now, now, error=DIED))


def _begin(ports: Ports, job: ScheduledJob, row: Row) -> Begun | Changed | Held:
    """Begin the attempt, unless it is another copy's, or the run has lost its index for good."""
    now = ports.clock.now()
    outcome = rows.begin(
        ports.table,
        row,
        begun(row, now),
        locks=job.is_locking,
        now=now,
        token=ports.chance.id(),
    )
    if isinstance(outcome, Held):
        # It waited for so long that its lock went stale and another run has the index.
        rows.give_up(ports.table, row, replace(row, state=RowState.CANCELLED), now=now)
        _log(logging.WARNING, "run given up: another one has its pool index", job, row)
    return outcome


def _record(ports: Ports, row: Row, attempt: Attempt) -> None:
    """Write down what an attempt did, and what follows; by the definition as it is now.

    Raises: Conflict if the definition is changed until the deadline.
    """
    share = ports.chance.share()
    for _ in attempts(ports):
        job = scheduled_jobs.read(ports.table, row.job_id)
        if job is None:
            return  # it was deleted: nothing of it is kept
        decision = after_attempt(job, row, attempt, share)
        promised_at = runs.send(ports, _owed(decision))
        asked = _finish(ports, job, row, attempt, decision)
        match rows.finish(ports.table, asked, token=ports.chance.id()):
            case Finished.RECORDED:
                if not is_fresh(ports, promised_at):  # it may have been given up as never written
                    runs.send(ports, _owed(decision))
                _tell(ports, job, row, attempt, decision)
                return
            case Finished.LOST:
                _log(logging.WARNING, "attempt not recorded: it was taken for dead", job, row)
                return
            case Finished.EDITED:
                continue
    raise Conflict(f"scheduled job {row.job_id} was changed by others until the deadline")


def _owed(decision: Decision) -> list[Row]:
    """Return the row whose next attempt follows, if any."""
    return [] if isinstance(decision, Ended) else [decision.row]


def _finish(
    ports: Ports, job: ScheduledJob, row: Row, attempt: Attempt, decision: Decision
) -> Finish:
    after, next_row = decision.row, None
    if isinstance(decision, Continued):
        after, next_row = decision.completed, decision.row
    return Finish(
        row=row,
        after=after,
        next_row=next_row,
        invocation=invocations.of(row, attempt),
        now=ports.clock.now(),
        locks=job.is_locking,
        done=_done(job, row) if isinstance(decision, Ended) else None,
    )


def _done(job: ScheduledJob, row: Row) -> Put | None:
    """Return the write that marks a one-off as done: its own firing has run (Z30)."""
    if not isinstance(job.schedule, Once) or job.is_done:
        return None
    own = next_firings(job.schedule, job.schedule.at - timedelta(seconds=1), 1, job.created_at)
    if row.run_id not in map(run_id_of, own):
        return None
    done = replace(job, is_done=True, revision=job.revision + 1)
    return scheduled_jobs.replacement(job, done)


def _tell(ports: Ports, job: ScheduledJob, row: Row, attempt: Attempt, decision: Decision) -> None:
    """Log and count what is written down; nothing of that can undo it."""
    if isinstance(decision, Ended) and decision.is_capped:
        cap = loop.cap(job.loop)
        _log(logging.ERROR, "loop max iterations hit, stopping", job, row, cap=cap)
    elif attempt.outcome is not Outcome.SUCCEEDED:
        level = logging.WARNING if isinstance(decision, Retried) else logging.ERROR
        codes = {"status_code": attempt.status_code, "exit_code": attempt.exit_code}
        _log(level, "attempt failed", job, row, attempt=row.attempt, **codes)
    with unfailing("an alarm is told to nobody"):
        run_alarms.count(ports, job, attempt)


def _log(level: int, text: str, job: ScheduledJob, row: Row, **more: object) -> None:
    told = {
        "job_id": job.id,
        "job_name": job.name,
        "run_id": row.run_id,
        "pool_idx": row.pool_idx,
        "iteration": row.iteration,
        **more,
    }
    logger.log(level, text, extra=told)
