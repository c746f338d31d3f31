"""The watch of scheduled jobs sees what it is there to see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from chalicelib.ports import Attribute, Item, Put
from chalicelib.scheduler.definition import Overlap, ScheduledJob
from chalicelib.scheduler.rows import Attempt, Outcome, Row, RowState
from chalicelib.store import invocations, runs, scheduled_jobs, table
from chalicelib.store.moments import to_ms
from tests.fakes.clock import BEGIN
from tests.fakes.table import MemoryTable
from tests.operations.scheduling import draft
from tests.simulation import run_invariants
from tests.simulation.run_watch import RunWatch

NOW_MS = to_ms(BEGIN)
JOB = replace(draft(), id="j")
ROW = Row("j", "r", 0, 0, RowState.AVAILABLE, 0, 5, BEGIN)
RUNNING = replace(ROW, state=RowState.RUNNING, attempt=1, started_at=BEGIN)
DONE = replace(RUNNING, state=RowState.COMPLETED)
ROW_KEY = table.row_key("j", "r", 0, 0)
LOCK_KEY = table.pool_lock_key("j", 0)


class Told(list[str]):
    """What the watch complained of."""

    def __init__(self) -> None:
        super().__init__()
        self.watch = RunWatch(lambda: NOW_MS, self.append)

    def row(self, before: Row | None, after: Row | None) -> None:
        def item(row: Row | None) -> Item | None:
            return None if row is None else runs._item(row, BEGIN)

        self.watch.wrote(ROW_KEY, item(before), item(after))

    def lock(self, before: Mapping[str, Attribute], after: Mapping[str, Attribute] | None) -> None:
        self.watch.wrote(LOCK_KEY, dict(before), None if after is None else dict(after))


def lock(run_id: str, age_s: float = 0) -> Item:
    return {"run_id": run_id, "pool_idx": 0, "refreshed_at": NOW_MS - round(age_s * 1000)}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (DONE, RUNNING),
        (ROW, DONE),
        (ROW, replace(RUNNING, attempt=2)),
        (RUNNING, replace(RUNNING, attempt=2)),
        (RUNNING, replace(ROW, attempt=1)),
        (RUNNING, replace(RUNNING, state=RowState.RETRYABLE, budget=6)),
        (ROW, None),
    ],
)
def test_a_wrong_change_of_a_row_is_seen(before: Row, after: Row | None) -> None:
    told = Told()
    told.row(before, after)
    assert 1 <= len(told)


def test_a_right_life_of_a_row_is_passed() -> None:
    told = Told()
    life = [None, ROW, RUNNING, replace(RUNNING, state=RowState.RETRYABLE)]
    life += [replace(RUNNING, attempt=2), replace(DONE, attempt=2)]

    for before, after in pairwise(life):
        told.row(before, after)
        assert bool(told.watch.open_rows) == (after != life[-1])

    assert [] == told


def test_a_lock_that_is_taken_from_a_run_is_seen_unless_it_is_stale() -> None:
    told = Told()
    told.row(None, ROW)

    told.lock(lock("r", 3_601), lock("other"))
    assert [] == told
    told.lock(lock("r", 3_000), lock("other"))
    assert 1 == len(told)


def test_a_lock_that_another_run_releases_is_seen() -> None:
    told = Told()
    told.watch.wrote(table.row_key("j", "s", 0, 0), None, runs._item(ROW, BEGIN) | {"run_id": "s"})

    told.lock(lock("s"), None)

    assert 1 == len(told)


def test_an_attempt_beside_another_one_is_seen_unless_that_is_allowed() -> None:
    told = Told()
    other = replace(RUNNING, run_id="s")

    allowed = replace(JOB, overlap=Overlap.ALLOW)
    with told.watch.working(allowed, RUNNING, NOW_MS), told.watch.working(allowed, other, NOW_MS):
        assert [] == told
    ours, theirs = replace(RUNNING, attempt=2), replace(other, attempt=2)
    with told.watch.working(JOB, ours, NOW_MS), told.watch.working(JOB, theirs, NOW_MS):
        assert 1 == len(told)


def test_an_attempt_that_is_made_twice_or_too_soon_is_seen() -> None:
    told = Told()
    for _ in range(2):
        with told.watch.working(JOB, RUNNING, NOW_MS):
            pass
    assert 1 == len(told)

    with told.watch.working(JOB, replace(RUNNING, attempt=2), NOW_MS + 2_000):
        assert 2 == len(told)


def test_a_definition_whose_revision_does_not_rise_by_one_is_seen() -> None:
    told = Told()
    told.watch.wrote(table.scheduled_job_key("j"), {"revision": 1}, {"revision": 1})
    assert 1 == len(told)


# --- in the end --------------------------------------------------------------------------------


def ended(job: ScheduledJob, row: Row, *attempts: Attempt) -> tuple[MemoryTable, RunWatch]:
    """Return a table with one row and its history, and a watch who saw each attempt made."""
    store, told = MemoryTable(), Told()
    scheduled_jobs.create(store, job, token="t")
    store.write(Put(ROW_KEY, runs._item(row, BEGIN)))
    for number, attempt in enumerate(attempts, 1):
        made = replace(row, attempt=number)
        store.write(invocations.write(invocations.of(made, attempt)))
        with told.watch.working(job, made, NOW_MS):
            pass
    return store, told.watch


SUCCESS = Attempt(Outcome.SUCCEEDED, BEGIN, BEGIN + timedelta(seconds=1))


def test_a_run_that_ended_well_is_passed() -> None:
    store, watch = ended(JOB, DONE, SUCCESS)
    watch.triggered.append([0])
    assert [] == run_invariants.check(store, watch)


def test_what_is_wrong_in_the_end_is_seen() -> None:
    store, watch = ended(JOB, RUNNING, SUCCESS)
    assert 1 == len(run_invariants.check(store, watch))

    store, watch = ended(JOB, DONE)
    assert 1 == len(run_invariants.check(store, watch))

    store, watch = ended(JOB, DONE, SUCCESS)
    watch.made.clear()
    assert 1 == len(run_invariants.check(store, watch))

    store, watch = ended(JOB, replace(DONE, iteration=1), SUCCESS)
    watch.triggered.append([0])
    assert 2 == len(run_invariants.check(store, watch))

    store, watch = ended(JOB, DONE, SUCCESS)
    runs.insert(store, replace(ROW, run_id="s"), locks=True, now=BEGIN, token="u")
    assert 2 == len(run_invariants.check(store, watch))
