"""Rows and locks on (emulated) DynamoDB: the life of a run, and races between threads."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest

from chalicelib.ports import Table
from chalicelib.scheduler.decisions import begun
from chalicelib.scheduler.rows import Attempt, Outcome, Row, RowState
from chalicelib.store import invocations, runs, scheduled_jobs
from chalicelib.store.runs import Begun, Changed, Finish, Finished, Held, Inserted, Known
from tests.contract.tables import on_dynamodb
from tests.operations.scheduling import draft
from tests.store.samples import NOW

pytestmark = pytest.mark.aws
RACERS = 8
HOUR = timedelta(hours=1)


@pytest.fixture
def store(emulated_aws: str) -> Iterator[Table]:
    yield from on_dynamodb(emulated_aws)


def token() -> str:
    return uuid4().hex


def row(run_id: str = "r", iteration: int = 0) -> Row:
    return Row("j", run_id, 0, iteration, RowState.AVAILABLE, 0, 5, NOW)


def insert(store: Table, wanted: Row) -> Inserted | Known | Held:
    return runs.insert(store, wanted, locks=True, now=NOW, token=token())


def begin(store: Table, read: Row) -> Begun | Changed | Held:
    return runs.begin(store, read, begun(read, NOW), locks=True, now=NOW, token=token())


def end(read: Row, next_row: Row | None = None) -> Finish:
    attempt = Attempt(Outcome.SUCCEEDED, NOW, NOW, status_code=200, output=b"{}")
    return Finish(
        row=read,
        after=replace(read, state=RowState.COMPLETED),
        next_row=next_row,
        invocation=invocations.of(read, attempt),
        now=NOW,
        locks=True,
    )


def test_a_run_of_two_iterations_lives_and_ends(store: Table) -> None:
    assert Inserted(row()) == insert(store, row())
    assert Known(row()) == insert(store, row())
    begun_first = begin(store, row())
    assert isinstance(begun_first, Begun)
    assert Changed(begun_first.row) == begin(store, row())

    following = row(iteration=1)
    finished = runs.finish(store, end(begun_first.row, following), token=token())
    assert Finished.RECORDED is finished
    assert Finished.LOST is runs.finish(store, end(begun_first.row), token=token())
    begun_second = begin(store, following)
    assert isinstance(begun_second, Begun)
    assert 1 == len(runs.locks_of(store, "j"))
    assert Finished.RECORDED is runs.finish(store, end(begun_second.row), token=token())

    states = [(each.iteration, each.state) for each in runs.rows_of_run(store, "j", "r")]
    assert [(0, RowState.COMPLETED), (1, RowState.COMPLETED)] == states
    assert 1 == runs.latest_row(store, "j", "r", 0).iteration  # type: ignore[union-attr]
    assert [] == runs.locks_of(store, "j")
    assert [1, 0] == [each.iteration for each in invocations.newest(store, "j")]


@pytest.mark.rule("Z87")
def test_of_many_firings_at_once_one_takes_the_lock(store: Table) -> None:
    with ThreadPoolExecutor(RACERS) as pool:
        outcomes = list(pool.map(lambda n: insert(store, row(f"r{n}")), range(RACERS)))

    (taken,) = [each.row.run_id for each in outcomes if isinstance(each, Inserted)]
    assert [taken] == [lock.run_id for lock in runs.locks_of(store, "j")]
    assert RACERS - 1 == sum(isinstance(each, Held) for each in outcomes)


@pytest.mark.rule("Z95")
def test_of_many_copies_of_one_firing_one_inserts_and_one_begins(store: Table) -> None:
    with ThreadPoolExecutor(RACERS) as pool:
        inserted = list(pool.map(lambda _: insert(store, row()), range(RACERS)))
        started = list(pool.map(lambda _: begin(store, row()), range(RACERS)))

    assert 1 == sum(isinstance(each, Inserted) for each in inserted)
    assert RACERS - 1 == sum(isinstance(each, Known) for each in inserted)
    assert 1 == sum(isinstance(each, Begun) for each in started)


@pytest.mark.rule("Z90", "Z93")
def test_a_stale_lock_is_taken_over_and_left_to_its_new_run(store: Table) -> None:
    insert(store, row("old"))
    old = begin(store, row("old"))
    assert isinstance(old, Begun)
    later = NOW + HOUR + timedelta(milliseconds=1)
    held = runs.insert(store, row("new"), locks=True, now=NOW + HOUR, token=token())
    assert isinstance(held, Held)

    taken = runs.insert(store, row("new"), locks=True, now=later, token=token())

    assert Inserted(row("new")) == taken
    assert Finished.RECORDED is runs.finish(store, end(old.row), token=token())
    assert ["new"] == [lock.run_id for lock in runs.locks_of(store, "j")]


def test_a_definition_is_written_under_its_revision(store: Table) -> None:
    job = replace(draft(), id="j")
    assert scheduled_jobs.create(store, job, token=token())
    assert not scheduled_jobs.create(store, job, token=token())
    changed = replace(job, name="other", revision=2)

    assert scheduled_jobs.replace(store, job, changed)
    assert not scheduled_jobs.replace(store, job, changed)
    assert [changed] == scheduled_jobs.every(store)
    assert scheduled_jobs.mark_alarm(store, "j", now=NOW, silent_since=NOW - HOUR)
    assert not scheduled_jobs.mark_alarm(store, "j", now=NOW, silent_since=NOW - HOUR)

    assert not scheduled_jobs.delete(store, job, token=token())
    assert scheduled_jobs.delete(store, changed, token=token())
    assert [] == scheduled_jobs.every(store)
