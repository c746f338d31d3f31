"""Invocations: one item for each attempt at a row, by the time it ended, in the history table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from chalicelib.ports import HISTORY, Item, Put, Query, Table
from chalicelib.scheduler.alarms import THRESHOLD_MAX
from chalicelib.scheduler.rows import Attempt, Outcome, Row
from chalicelib.store import fields, reading, table
from chalicelib.store.moments import to_ms

KEPT = timedelta(days=30)  # as long as anybody asks how a schedule has been doing
LIST_MAX = THRESHOLD_MAX  # invocations that a list or a count looks at (design section 3, "Lists")
ERROR_MAX = 2_000  # characters of an error that are kept
OUTPUT_MAX = 2_000  # bytes of an output that are kept, to look at


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """One attempt, as the history tells it (contract, "history").

    Shapes: `output` is the begin of what was answered or printed, as text, without the secrets
        that the call was made with.
    """

    job_id: str
    run_id: str
    pool_idx: int
    iteration: int
    attempt: int
    started_at: datetime
    finished_at: datetime
    outcome: Outcome
    status_code: int | None = None
    exit_code: int | None = None
    error: str = ""
    output: str = ""


_FIELDS = (
    *fields.plain("job_id", "run_id", "pool_idx", "iteration", "attempt"),
    *fields.times("started_at", "finished_at"),
    *fields.words("outcome", Outcome),
    *fields.plain("status_code", "exit_code", "error", "output"),
)


def of(row: Row, attempt: Attempt) -> Invocation:
    """Return the invocation that an attempt at a row was."""
    return Invocation(
        job_id=row.job_id,
        run_id=row.run_id,
        pool_idx=row.pool_idx,
        iteration=row.iteration,
        attempt=row.attempt,
        started_at=attempt.started_at,
        finished_at=attempt.finished_at,
        outcome=attempt.outcome,
        status_code=attempt.status_code,
        exit_code=attempt.exit_code,
        error=attempt.error[:ERROR_MAX],
        output=attempt.shown[:OUTPUT_MAX].decode(errors="replace"),
    )


def write(invocation: Invocation) -> Put:
    """Return the write that goes with the end of an attempt; what guards it is its row."""
    finished_ms = to_ms(invocation.finished_at)
    row = table.row_key(
        invocation.job_id, invocation.run_id, invocation.pool_idx, invocation.iteration
    )
    return Put(
        table.invocation_key(invocation.job_id, finished_ms, row.sk, invocation.attempt),
        fields.write(_FIELDS, invocation)
        | {"expires_at": to_ms(invocation.finished_at + KEPT) // 1000},
    )


def newest(store: Table, job_id: str) -> Iterator[Invocation]:
    """Yield the invocations of a job, the newest first, at most LIST_MAX of them."""
    query = Query(
        HISTORY,
        table.scheduled_job_pk(job_id),
        first=table.INVOCATION,
        last=table.after(table.INVOCATION),
        ascending=False,
    )
    return map(_read, islice(reading.every(store, query), LIST_MAX))


def since(store: Table, job_id: str, moment: datetime) -> Iterator[Invocation]:
    """Yield the invocations that ended at that moment or later, at most LIST_MAX of them."""
    query = Query(
        HISTORY,
        table.scheduled_job_pk(job_id),
        first=table.invocations_from(to_ms(moment)),
        last=table.after(table.INVOCATION),
        ascending=False,
    )
    return map(_read, islice(reading.every(store, query), LIST_MAX))


def _read(item: Item) -> Invocation:
    return Invocation(**fields.read(_FIELDS, item))
