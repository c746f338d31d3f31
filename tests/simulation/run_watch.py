"""Scheduled jobs as they really went: rows, locks, attempts made, and what must be true of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import NamedTuple

from greenlet import getcurrent

from chalicelib.ports import Item, ItemKey
from chalicelib.scheduler.definition import ScheduledJob
from chalicelib.scheduler.overlap import STALE_AFTER
from chalicelib.scheduler.rows import Row, RowState
from chalicelib.store import table
from chalicelib.store.runs import to_row
from tests.simulation.changes import SKEW_TOLERATED_MS, number

STALE_MS = STALE_AFTER // timedelta(milliseconds=1)

# What a row may become in one write; what is final stays as it is.
FOLLOWERS = {
    RowState.AVAILABLE: {RowState.RUNNING, RowState.CANCELLED},
    RowState.SCHEDULED: {RowState.RUNNING, RowState.CANCELLED},
    RowState.RETRYABLE: {RowState.RUNNING, RowState.CANCELLED},
    RowState.RUNNING: {
        RowState.RETRYABLE,
        RowState.COMPLETED,
        RowState.CANCELLED,
        RowState.DISCARDED,
    },
}


class AttemptKey(NamedTuple):
    """What names an attempt."""

    job_id: str
    run_id: str
    pool_idx: int
    iteration: int
    attempt: int


@dataclass(slots=True)
class RunWatch:
    """Who sees each write of a scheduled job, and each attempt while it is made.

    Shapes: `made` counts the attempts made, by job, run, pool index, iteration and attempt;
        `triggered` holds the pool indices of each acknowledged trigger.
    """

    now_ms: Callable[[], int]  # epoch milliseconds, the true time
    complain: Callable[[str], None]
    open_rows: dict[ItemKey, Row] = field(default_factory=dict)
    made: Counter[AttemptKey] = field(default_factory=Counter)
    deleted: set[str] = field(default_factory=set)  # partitions of jobs that are gone
    at_work: list[Row] = field(default_factory=list)
    triggered: list[list[int]] = field(default_factory=list)
    unlocked: set[str] = field(default_factory=set)  # runs whose lock an operator removed
    alerts: int = 0
    _latest_row: tuple[object, int] | None = None  # who wrote a row last, and when

    def wrote(self, key: ItemKey, before: Item | None, after: Item | None) -> None:
        """Check one write that took effect."""
        if key.sk.startswith(table.ROW):
            self._wrote_row(key, before, after)
        elif key.sk.startswith(table.POOL_LOCK):
            self._wrote_lock(key, before, after)
        elif key.sk == table.JOB_DEFINITION and after is not None:
            was = 0 if before is None else number(before, "revision")
            if number(after, "revision") != was + 1:
                self.complain(f"{key.pk} went from revision {was} to {number(after, 'revision')}")
        elif key.sk == table.JOB_DEFINITION:
            self.deleted.add(key.pk)  # what is queued for it finds nothing
            for place in [each for each in self.open_rows if each.pk == key.pk]:
                del self.open_rows[place]

    def _wrote_row(self, key: ItemKey, before: Item | None, after: Item | None) -> None:
        if after is None:
            self.complain(f"row {key.sk} was deleted")
            return
        row = to_row(after)
        self._latest_row = (getcurrent(), self.now_ms())
        if before is not None:
            for wrong in _wrong_changes(to_row(before), row):
                self.complain(f"row {key.sk} {wrong}")
        if row.state.is_final or key.pk in self.deleted:
            self.open_rows.pop(key, None)
        else:
            self.open_rows[key] = row

    def _wrote_lock(self, key: ItemKey, before: Item | None, after: Item | None) -> None:
        if before is None or (after is not None and after["run_id"] == before["run_id"]):
            return
        run, index = str(before["run_id"]), number(before, "pool_idx")
        is_open = any(
            (p.pk, r.run_id, r.pool_idx) == (key.pk, run, index) for p, r in self.open_rows.items()
        )
        age_ms = self.now_ms() - number(before, "refreshed_at")
        if not is_open:
            return
        if after is None and self._latest_row == (getcurrent(), self.now_ms()):
            self.complain(f"lock {key.sk} of {run} was released by another run")
        elif after is None:
            self.unlocked.add(run)
        elif age_ms < STALE_MS - SKEW_TOLERATED_MS:
            self.complain(f"lock {key.sk} of {run} was taken after {age_ms} ms")

    @contextmanager
    def working(self, job: ScheduledJob, row: Row, due_ms: int) -> Iterator[None]:
        """Note that an attempt is made while this lasts; an executor that dies ends it too."""
        if due_ms > self.now_ms() + SKEW_TOLERATED_MS:
            self.complain(f"{row} was run {due_ms - self.now_ms()} ms before its time")
        index = (row.job_id, row.pool_idx)
        beside = [
            each
            for each in self.at_work
            if (each.job_id, each.pool_idx) == index and each.run_id not in self.unlocked
        ]
        if beside and job.is_locking:
            self.complain(f"{row} ran beside {beside}")
        key = AttemptKey(row.job_id, row.run_id, row.pool_idx, row.iteration, row.attempt)
        self.made[key] += 1
        if self.made[key] > 1:
            self.complain(f"attempt {key} was made {self.made[key]} times")
        self.at_work.append(row)
        try:
            yield
        finally:
            self.at_work.remove(row)


def _wrong_changes(before: Row, after: Row) -> Iterator[str]:
    if before.state.is_final:
        yield f"was {before.state} and became {after.state}"
        return
    if after.state not in FOLLOWERS[before.state]:
        yield f"went from {before.state} to {after.state}"
    begun = after.attempt - before.attempt
    if begun != (after.state is RowState.RUNNING):
        yield f"is {after.state} and begun {begun} attempts more"
    if after.budget != before.budget:
        yield f"had a budget of {before.budget} and has one of {after.budget}"
