"""What must be true of scheduled jobs when all is quiet: rows, locks, history, triggers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from chalicelib.operations.runs import DIED
from chalicelib.ports import LIVE, Query, Table
from chalicelib.scheduler.definition import ScheduledJob
from chalicelib.scheduler.rows import Row
from chalicelib.store import invocations, reading, runs, scheduled_jobs, table
from chalicelib.store.invocations import Invocation
from tests.simulation.run_watch import AttemptKey, RunWatch


def check(store: Table, watch: RunWatch) -> list[str]:
    """Return what is wrong with the scheduled jobs of a run."""
    return [wrong for job in scheduled_jobs.every(store) for wrong in _wrong(store, watch, job)]


def rows_of(store: Table, job: ScheduledJob) -> list[Row]:
    """Return all rows of a job."""
    pk = table.scheduled_job_pk(job.id)
    query = Query(LIVE, pk, first=table.ROW, last=table.after(table.ROW))
    return [runs.to_row(item) for item in reading.every(store, query)]


def _wrong(store: Table, watch: RunWatch, job: ScheduledJob) -> Iterator[str]:
    found = rows_of(store, job)
    history = list(invocations.newest(store, job.id))
    yield from (f"{row} did not come to its end" for row in found if not row.state.is_final)
    yield from (f"{lock} outlived its run" for lock in runs.locks_of(store, job.id))
    yield from _wrong_history(watch, found, history)
    yield from _wrong_loops(found)
    yield from _lost_triggers(watch, found)


def _wrong_history(
    watch: RunWatch, found: Sequence[Row], history: Sequence[Invocation]
) -> Iterator[str]:
    """An attempt that is recorded was made once, or its executor died; each begun is recorded."""
    told = Counter(_key(each, each.attempt) for each in history)
    yield from (f"attempt {key} was recorded {n} times" for key, n in told.items() if n > 1)
    for each in history:
        key = _key(each, each.attempt)
        if watch.made[key] != 1 and each.error != DIED:
            yield f"attempt {key} was recorded and made {watch.made[key]} times"
    for row in found:
        missing = [n for n in range(1, row.attempt + 1) if not told[_key(row, n)]]
        if missing:
            yield f"{row}: attempts {missing} were begun and not recorded"


def _key(of: Row | Invocation, attempt: int) -> AttemptKey:
    return AttemptKey(of.job_id, of.run_id, of.pool_idx, of.iteration, attempt)


def _wrong_loops(found: Sequence[Row]) -> Iterator[str]:
    """A run's iterations are numbered in a row."""
    iterations: dict[tuple[str, int], list[int]] = {}
    for row in found:
        iterations.setdefault((row.run_id, row.pool_idx), []).append(row.iteration)
    for run, numbers in iterations.items():
        if sorted(numbers) != list(range(len(numbers))):
            yield f"run {run} has iterations {numbers}"


def _lost_triggers(watch: RunWatch, found: Sequence[Row]) -> Iterator[str]:
    """What an acknowledged trigger started was attempted: as many runs as were acknowledged."""
    acknowledged = Counter(index for fired in watch.triggered for index in fired)
    started = Counter(row.pool_idx for row in found if not row.iteration and row.attempt)
    for index, times in acknowledged.items():
        if started[index] < times:
            yield f"index {index} was triggered {times} times, and {started[index]} runs were begun"
