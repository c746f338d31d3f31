"""A firing takes the lock of each pool index and starts its run, however often it comes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.delivery import runs
from chalicelib.delivery.runs import Firing
from chalicelib.operations import firings
from chalicelib.scheduler.definition import Every, Loop, Missed, Overlap
from chalicelib.scheduler.rows import Row, RowState
from chalicelib.store import runs as rows
from chalicelib.store.runs import Held
from tests.fakes.runner import FAILED, Said, remaining
from tests.operations.scheduling import LOOPING, RETRYING, Scheduling, at, listening
from tests.operations.watched import Fault, fault, watched

HOUR_S = 3600


@pytest.mark.rule("Z68")
def test_a_job_without_a_pool_count_has_one_row_of_index_0() -> None:
    stage = Scheduling()
    job = stage.create()

    run = stage.fire(job)

    assert [0] == [row.pool_idx for row in stage.rows(job, run)]


@pytest.mark.rule("Z69")
def test_a_firing_inserts_a_row_for_each_index() -> None:
    stage = Scheduling()
    job = stage.create(pool_count=4)

    run = stage.fire(job)

    assert [0, 1, 2, 3] == [row.pool_idx for row in stage.rows(job, run)]
    assert 4 == len(stage.waiting())


@pytest.mark.rule("Z82")
def test_a_lock_is_taken_with_its_row_or_not_at_all() -> None:
    stage = Scheduling()
    job = stage.create()
    firing = Firing(job.id, job.revision, stage.clock.now())
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 1] = fault

    with pytest.raises(Fault):
        firings.fire(ports, firing)
    assert ([], []) == (stage.locks(job), stage.rows(job, "20260302T090000Z"))

    firings.fire(ports, firing)
    assert [("20260302T090000Z", 0)] == [(each.run_id, each.pool_idx) for each in stage.locks(job)]


@pytest.mark.rule("Z97")
def test_a_row_that_cannot_be_inserted_takes_no_lock() -> None:
    stage = Scheduling()
    job = stage.create()
    run = stage.fire(job)
    rows.unlock(stage.table, job.id, 0)

    stage.fire(job)

    assert [] == stage.locks(job)
    assert 1 == len(stage.rows(job, run))


@pytest.mark.rule("Z78")
def test_a_firing_skips_the_indices_that_still_run() -> None:
    stage = Scheduling()
    job = stage.create(pool_count=3)
    stage.fire(job)
    for free in (0, 2):
        rows.unlock(stage.table, job.id, free)
    stage.clock.move(60)

    with listening() as heard:
        run = stage.fire(job)

    assert [0, 2] == [row.pool_idx for row in stage.rows(job, run)]
    told = [record.__dict__ for record in heard if "skipped" in record.getMessage()]
    assert [(1, job.id)] == [(each["pool_idx"], each["job_id"]) for each in told]
    stage.pump()
    assert [0, 2] == [made.pool_idx for made in stage.runner.made if made.run_id == run]


@pytest.mark.rule("Z83")
def test_a_firing_on_a_held_index_is_dropped_for_ever() -> None:
    stage = Scheduling(Said(takes_s=30))
    job = stage.create()
    stage.fire(job)
    stage.clock.move(60)
    due = stage.clock.now()

    dropped = stage.fire(job)
    stage.wait(2 * 60)
    assert [] == stage.locks(job)
    stage.fire(job, due)  # delivered again, now that the index is free
    stage.wait(60)

    assert [] == stage.rows(job, dropped)
    assert 1 == len(stage.runner.made)


@pytest.mark.rule("Z87")
def test_of_two_firings_at_the_same_moment_one_takes_the_lock() -> None:
    stage = Scheduling()
    job = stage.create()
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 1] = lambda: stage.trigger(job)  # type: ignore[assignment]

    body = runs.to_text(Firing(job.id, job.revision, stage.clock.now()))
    stage.serve([body], ports)

    (lock,) = stage.locks(job)
    assert [] == stage.rows(job, "20260302T090000Z")
    assert 1 == len(stage.rows(job, lock.run_id))


@pytest.mark.rule("Z90", "Z91")
def test_a_lock_is_stale_after_more_than_an_hour() -> None:
    stage = Scheduling()
    job = stage.create()
    stage.fire(job)

    stage.clock.move(59 * 60)
    assert [] == stage.rows(job, stage.fire(job))
    stage.clock.move(60)
    assert [] == stage.rows(job, stage.fire(job))
    stage.clock.move(1)
    assert 1 == len(stage.rows(job, stage.fire(job)))


@pytest.mark.rule("Z92")
def test_under_allow_no_lock_is_written_and_runs_go_side_by_side() -> None:
    stage = Scheduling(remaining(1))
    job = stage.create(overlap=Overlap.ALLOW, loop=Loop(enabled=True, delay_ms=60_000))
    first = stage.fire(job)
    stage.pump()
    stage.clock.move(30)

    second = stage.fire(job)
    stage.pump()

    assert [] == stage.locks(job)
    assert [first, second] == [made.run_id for made in stage.runner.made]
    assert [2, 2] == [len(stage.rows(job, run)) for run in (first, second)]


@pytest.mark.rule("Z95")
@pytest.mark.parametrize("overlap", Overlap)
def test_a_firing_that_comes_twice_inserts_and_runs_once(overlap: Overlap) -> None:
    stage = Scheduling()
    job = stage.create(overlap=overlap, pool_count=2)

    run = stage.fire(job)
    stage.fire(job)
    stage.pump()
    stage.fire(job)
    stage.pump()

    assert 2 == len(stage.rows(job, run)) == len(stage.runner.made)


@pytest.mark.rule("Z96")
def test_a_firing_inserts_during_the_loop_of_an_earlier_one_under_allow() -> None:
    stage = Scheduling(remaining(1))
    job = stage.create(overlap=Overlap.ALLOW, loop=Loop(enabled=True, delay_ms=HOUR_S * 1000))
    stage.fire(job)
    stage.pump()
    stage.clock.move(60)

    assert [0] == [row.iteration for row in stage.rows(job, stage.fire(job))]


@pytest.mark.rule("Z33")
def test_the_next_firing_starts_again_at_iteration_0_with_the_full_cap() -> None:
    stage = Scheduling(remaining(1))
    job = stage.create(loop=Loop(enabled=True, max_iterations=3))
    first = stage.fire(job)
    stage.wait(1)
    stage.clock.move(60)

    second = stage.fire(job)
    stage.wait(1)

    assert [[0, 1, 2], [0, 1, 2]] == [
        [row.iteration for row in stage.rows(job, run)] for run in (first, second)
    ]


# --- what is not the job's ---------------------------------------------------------------------


def test_a_firing_of_a_job_that_is_paused_is_spare() -> None:
    stage = Scheduling()
    job = stage.create()
    stage.change(job, enabled=False)

    assert [] == stage.rows(job, stage.fire(job))


def test_a_firing_of_an_older_revision_is_spare() -> None:
    stage = Scheduling()
    job = stage.create()
    stage.change(job, name="drains")

    assert [] == stage.rows(job, stage.fire(job))


def test_a_firing_of_an_older_revision_is_live_if_the_job_was_due_then_too() -> None:
    stage = Scheduling(recurs=False)
    job = stage.create(schedule=Every(60_000))
    stage.clock.move(60)
    changed = stage.change(job, name="drains")
    planned = dict(stage.firings.planned)

    stage.pump()

    assert ["20260302T090100Z"] == [made.run_id for made in stage.runner.made]
    assert planned == stage.firings.planned
    assert changed.revision == planned[job.id].job.revision


def test_a_firing_of_a_revision_still_to_be_written_waits_for_it() -> None:
    stage = Scheduling()
    job = stage.create()
    due = stage.clock.now()
    stage.serve([runs.to_text(Firing(job.id, job.revision + 1, due))])
    assert 1 == len(stage.waiting())

    stage.change(job, name="drains")
    stage.wait(1)

    assert 1 == len(stage.runner.made)


def test_a_firing_of_a_revision_that_was_never_written_puts_the_schedule_right() -> None:
    stage = Scheduling()
    job = stage.create()
    stage.firings.remove(job.id)

    body = runs.to_text(Firing(job.id, job.revision + 1, at(-121)))
    stage.serve([body])

    assert job == stage.firings.planned[job.id].job
    assert [] == stage.waiting()


def test_a_firing_of_a_job_that_is_not_there_takes_its_schedule_away() -> None:
    stage = Scheduling()
    job = stage.create()
    ghost = job.id.replace(job.id[0], "x")
    stage.firings.planned[ghost] = stage.firings.planned[job.id]

    stage.serve([runs.to_text(Firing(ghost, 1, at(-121)))])

    assert [job.id] == list(stage.firings.planned)


def test_a_firing_before_its_time_is_sent_on_for_it() -> None:
    stage = Scheduling()
    job = stage.create()

    run = stage.fire(job, at(10))
    assert [] == stage.rows(job, run)
    stage.wait(10)

    assert 1 == len(stage.runner.made)


# --- missed firings, and the chain -------------------------------------------------------------


def test_a_missed_firing_runs_once_while_it_is_younger_than_one_interval() -> None:
    stage = Scheduling()
    job = stage.create(schedule=Every(600_000))
    stage.clock.move(3 * 600 - 60)  # two firings are late: one by more than an interval

    stage.pump()

    assert ["20260302T092000Z"] == [made.run_id for made in stage.runner.made]
    assert [] == stage.locks(job)


def test_a_missed_firing_is_skipped_where_the_job_says_so() -> None:
    stage = Scheduling()
    stage.create(schedule=Every(600_000), missed=Missed.SKIP)
    stage.clock.move(600 + 180)

    stage.pump()

    assert [] == stage.runner.made


def test_each_firing_plans_the_one_after_it_where_schedules_do_not_recur() -> None:
    stage = Scheduling(recurs=False)
    stage.create(schedule=Every(60_000))

    stage.wait(180)

    assert 3 == len(stage.runner.made)


# --- pools -------------------------------------------------------------------------------------


@pytest.mark.rule("Z76")
def test_a_member_that_fails_or_loops_changes_nothing_of_another_s() -> None:
    stage = Scheduling(FAILED, remaining(1), remaining(0), remaining(0))
    job = stage.create(pool_count=2, retry=RETRYING, loop=LOOPING)

    run = stage.fire(job)
    stage.pump()

    held = {lock.pool_idx: lock.run_id for lock in stage.locks(job)}
    assert {0: run} == held
    assert RowState.RETRYABLE is stage.row(job, run, 0).state
    assert [RowState.COMPLETED] * 2 == [stage.row(job, run, 1, i).state for i in (0, 1)]
    stage.wait(1)
    assert (2, 5) == (stage.row(job, run, 0).attempt, stage.row(job, run, 0).budget)
    assert [] == stage.locks(job)


def test_a_lock_of_another_run_is_told() -> None:
    stage = Scheduling()
    job = stage.create()
    run = stage.fire(job)
    other = stage.row(job, run)
    taken = rows.insert(
        stage.table,
        Row(job.id, "other", 0, 0, RowState.AVAILABLE, 0, 1, other.due),
        locks=True,
        now=stage.clock.now() + timedelta(minutes=1),
        token="t",
    )

    assert Held(stage.locks(job)[0]) == taken
