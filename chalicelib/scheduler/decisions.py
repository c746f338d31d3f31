"""What follows a firing and an attempt: rows, another iteration, another attempt, or the end.

    firing ──> rows, one per pool index
    attempt succeeded ──> Continued if the loop wants more and its cap allows it, else Ended
    attempt failed ─────> Retried if the row's budget allows it, else Ended
    attempt cancelled ──> Ended

All settings are read from the definition as it is now, so an edit acts from the next decision on;
only a row's budget stays what it was when the row was inserted (Z49).

Source: contracts/scheduled-jobs.md, Z1 to Z54 and Z63 to Z69.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import assert_never

from chalicelib.scheduler import gjson, loop, retry
from chalicelib.scheduler.definition import Missed, ScheduledJob
from chalicelib.scheduler.rows import Attempt, Outcome, Row, RowState
from chalicelib.scheduler.schedules import next_firings

# Scheduler fires within a minute and a queue may take one more, so up to here nothing was missed.
LATE_MAX = timedelta(minutes=2)


@dataclass(frozen=True, slots=True)
class Continued:
    """The iteration is completed, and a new row continues the run (Z20).

    Shapes: `row` is the continuation, `completed` the row that was attempted.
    """

    row: Row
    completed: Row


@dataclass(frozen=True, slots=True)
class Retried:
    """The attempt failed; its row is retryable and due again."""

    row: Row


@dataclass(frozen=True, slots=True)
class Ended:
    """The run is over: its lock is to be released, and a one-off is done.

    Shapes: `is_capped` says that the loop wanted more than its cap allows, which is logged as
        an error and told nobody (Z28, Z32).
    """

    row: Row
    is_capped: bool = False


Decision = Continued | Retried | Ended


# --- firings ---------------------------------------------------------------------------------


def should_run(job: ScheduledJob, due: datetime, now: datetime) -> bool:
    """Say whether a scheduled firing that comes now still runs.

    One that is later than LATE_MAX was missed, and runs only under `run_once` and while it is
    younger than one interval: the next firing is still to come. A one-off has no next one.
    """
    if now - due <= LATE_MAX:
        return True
    if job.missed is Missed.SKIP or job.schedule is None:
        return False
    following = next_firings(job.schedule, due, 1, job.created_at)
    return not following or now < following[0]


def first_rows(job: ScheduledJob, run_id: str, now: datetime) -> list[Row]:
    """Return the rows of a firing, one per pool index in order (Z68, Z69)."""
    return [_row(job, run_id, index, 0, now) for index in range(job.pool_count)]


# --- attempts --------------------------------------------------------------------------------


def begun(row: Row, now: datetime) -> Row:
    """Return a row as the beginning of its next attempt leaves it."""
    return replace(row, state=RowState.RUNNING, attempt=row.attempt + 1, started_at=now)


def after_attempt(job: ScheduledJob, row: Row, attempt: Attempt, share: float) -> Decision:
    """Decide what follows an attempt at a running row.

    Shapes: `share` is how much of the loop's jitter to add, from 0 to 1, drawn by the caller.
    """
    match attempt.outcome:
        case Outcome.SUCCEEDED:
            return _after_success(job, row, attempt, share)
        case Outcome.FAILED:
            return _after_failure(job, row, attempt)
        case Outcome.CANCELLED:
            return Ended(replace(row, state=RowState.CANCELLED))
    assert_never(attempt.outcome)


def wants_more(job: ScheduledJob, output: bytes) -> bool:
    """Say whether a successful attempt's output asks for another iteration (Z1 to Z18).

    Shapes: `output` is a response's body or a script's stdout; it is read as text, and what is
        no JSON asks for nothing.
    """
    return job.loop.enabled and gjson.get(output, loop.path(job.loop)).number > 0


def _after_success(
    job: ScheduledJob, row: Row, attempt: Attempt, share: float
) -> Continued | Ended:
    completed = replace(row, state=RowState.COMPLETED)
    if not wants_more(job, attempt.output):
        return Ended(completed)
    if row.iteration + 1 >= loop.cap(job.loop):
        return Ended(completed, is_capped=True)
    due = attempt.finished_at + loop.delay(job.loop, share)
    continuation = _row(job, row.run_id, row.pool_idx, row.iteration + 1, due)
    if due > attempt.finished_at:
        continuation = replace(continuation, state=RowState.SCHEDULED)
    return Continued(continuation, completed)


def _after_failure(job: ScheduledJob, row: Row, attempt: Attempt) -> Retried | Ended:
    if not job.retry.enabled:
        return Ended(replace(row, state=RowState.CANCELLED))
    if row.attempt >= row.budget:
        return Ended(replace(row, state=RowState.DISCARDED))
    due = attempt.finished_at + retry.delay(job.retry, row.attempt)
    return Retried(replace(row, state=RowState.RETRYABLE, due=due))


def _row(job: ScheduledJob, run_id: str, pool_idx: int, iteration: int, due: datetime) -> Row:
    """Return a new row with the attempt budget of the definition as it is now (Z25, Z50)."""
    return Row(
        job_id=job.id,
        run_id=run_id,
        pool_idx=pool_idx,
        iteration=iteration,
        state=RowState.AVAILABLE,
        attempt=0,
        budget=retry.budget(job.retry),
        due=due,
    )
