"""What follows an attempt: another iteration, another attempt, or the end of the run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from chalicelib.scheduler.definition import ScheduledJob
from chalicelib.scheduler.rows import Attempt, Row, RowState


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
    """The run is over and its lock is to be released; `is_capped` is a loop's that hit its cap."""

    row: Row
    is_capped: bool = False


Decision = Continued | Retried | Ended


def first_rows(job: ScheduledJob, run_id: str, now: datetime) -> list[Row]:
    """Return the rows of a firing, one per pool index in order (Z68, Z69)."""
    raise NotImplementedError


def begun(row: Row, now: datetime) -> Row:
    """Return a row as the beginning of its next attempt leaves it."""
    return replace(row, state=RowState.RUNNING, attempt=row.attempt + 1, started_at=now)


def after_attempt(job: ScheduledJob, row: Row, attempt: Attempt, share: float) -> Decision:
    """Decide what follows an attempt at a running row.

    Shapes: `share` is how much of the loop's jitter to add, from 0 to 1, drawn by the caller.
    """
    raise NotImplementedError
