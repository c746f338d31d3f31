"""A row of the queue: one iteration of one pool index of one run, and what an attempt at it did.

A *run* is what one firing starts for one pool index: iterations 0, 1, 2, … of which each is a row
of its own. A row has one or more *attempts*; a retry is a further attempt of the same row.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum

from chalicelib.scheduler import masking


class RowState(StrEnum):
    """River's names for where a row is."""

    AVAILABLE = "available"  # it may be attempted now
    SCHEDULED = "scheduled"  # a continuation whose time is still to come
    RUNNING = "running"  # an attempt goes on
    RETRYABLE = "retryable"  # an attempt failed, another is due
    COMPLETED = "completed"  # an attempt succeeded
    CANCELLED = "cancelled"  # it can never succeed, or may not be retried
    DISCARDED = "discarded"  # its last attempt failed

    @property
    def is_open(self) -> bool:
        """Whether an attempt may still begin."""
        return self in (RowState.AVAILABLE, RowState.SCHEDULED, RowState.RETRYABLE)

    @property
    def is_final(self) -> bool:
        """Whether nothing follows any more."""
        return self in (RowState.COMPLETED, RowState.CANCELLED, RowState.DISCARDED)


class Outcome(StrEnum):
    """How an attempt ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"  # it could never have succeeded


@dataclass(frozen=True, slots=True)
class Row:
    """One iteration of a run.

    Shapes: `run_id` names the firing, the due second of a scheduled one (`run_id_of`), and with
        `pool_idx` the run; `attempt` counts the attempts begun; `budget` is how many there may
        be, as it was when the row was inserted (Z49); `started_at` is the last attempt's.
    """

    job_id: str
    run_id: str
    pool_idx: int
    iteration: int
    state: RowState
    attempt: int
    budget: int
    due: datetime
    started_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one attempt did: one invocation of the history.

    Shapes: `status_code` is an HTTP call's, `exit_code` a script's, None if there was none;
        `error` is empty for a success; `output` is the response's body or the script's stdout;
        `secrets` are those that the call was made with, as they were sent.
    """

    outcome: Outcome
    started_at: datetime
    finished_at: datetime
    status_code: int | None = None
    exit_code: int | None = None
    error: str = ""
    output: bytes = b""
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def shown(self) -> bytes:
        """The output as it may be shown: whoever was sent a secret may have echoed it."""
        return masking.hide(self.output, self.secrets)


def run_id_of(due: datetime) -> str:
    """Name the scheduled firing of a moment by its second in UTC, such as `20260302T090000Z`."""
    return due.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
