"""The sweeper finds rows of scheduled jobs whose message was lost, and the schedules of jobs."""

from __future__ import annotations

import pytest

from chalicelib.delivery import runs
from chalicelib.operations import run_sweep, scheduled_jobs, sweep
from chalicelib.operations.runs import DIED
from chalicelib.operations.sweep import Swept
from chalicelib.scheduler.definition import Loop
from chalicelib.scheduler.rows import RowState
from tests.fakes.runner import remaining
from tests.operations.scheduling import DAILY, HOURLY, LOOPING, RETRYING, Scheduling
from tests.operations.sweeping import sweep_all
from tests.operations.watched import Crash, die, watched

LOST_S = 21 * 60
LATER = Loop(enabled=True, delay_ms=600_000)


def test_a_row_is_told_again_when_its_message_must_be_lost() -> None:
    stage = Scheduling()
    job = stage.create(schedule=DAILY)
    stage.fire(job)
    stage.queues.lose(runs.QUEUE)

    stage.clock.move(LOST_S)
    assert Swept() == sweep_all(stage.ports)
    stage.clock.move(1)
    assert Swept(runs=1, mended=1) == sweep_all(stage.ports)

    stage.pump()
    assert (1, []) == (len(stage.runner.made), stage.locks(job))
    assert Swept() == sweep_all(stage.ports)


def test_a_continuation_is_told_again_too() -> None:
    stage = Scheduling(remaining(1), remaining(0))
    job = stage.create(schedule=DAILY, loop=LATER)
    stage.fire(job)
    stage.pump()
    stage.queues.lose(runs.QUEUE)

    stage.clock.move(600 + LOST_S + 1)
    assert Swept(runs=1, mended=1) == sweep_all(stage.ports)

    stage.pump()
    assert (2, []) == (len(stage.runner.made), stage.locks(job))


def test_an_executor_that_died_with_its_message_is_found() -> None:
    stage = Scheduling()
    job = stage.create(schedule=DAILY)
    stage.fire(job)
    ports, watch = watched(stage.ports)
    watch.after["table.transact", 1] = die
    with pytest.raises(Crash):
        stage.pump(ports)
    stage.queues.lose(runs.QUEUE)

    stage.clock.move(LOST_S + 1)
    assert Swept(runs=1, mended=1) == sweep_all(stage.ports)

    stage.pump()
    assert [DIED] == [each.error for each in stage.history(job)]
    assert [] == stage.locks(job)


def test_rows_of_a_deleted_job_are_left_alone() -> None:
    stage = Scheduling()
    job = stage.create(schedule=DAILY)
    stage.fire(job)
    scheduled_jobs.delete_scheduled_job(stage.ports, job.id)
    stage.queues.lose(runs.QUEUE)

    stage.clock.move(LOST_S + 1)

    assert Swept() == sweep_all(stage.ports)


def test_all_rows_and_schedules_are_told_when_a_stage_starts_again() -> None:
    stage = Scheduling(remaining(1), remaining(0))
    job = stage.create(schedule=DAILY, loop=LATER, pool_count=2)
    stage.create(enabled=False)
    stage.fire(job)
    stage.queues.lose(runs.QUEUE)
    stage.firings.planned.clear()

    assert Swept(runs=2, schedules=1) == sweep.ring_all(stage.ports)

    assert [job.id] == list(stage.firings.planned)
    stage.wait(601)
    assert [] == stage.locks(job)


def test_a_row_that_runs_is_told_for_when_its_executor_may_be_dead() -> None:
    stage = Scheduling()
    job = stage.create(schedule=DAILY, loop=LOOPING)
    stage.fire(job)
    ports, watch = watched(stage.ports)
    watch.after["table.transact", 1] = die
    with pytest.raises(Crash):
        stage.pump(ports)
    stage.queues.lose(runs.QUEUE)
    sweep.ring_all(stage.ports)

    stage.wait(890)
    assert [] == stage.history(job)
    stage.wait(30)

    assert ([DIED], []) == ([each.error for each in stage.history(job)], stage.locks(job))


@pytest.mark.rule("X8")
def test_attempts_of_a_process_that_is_gone_end_when_the_next_one_starts() -> None:
    stage = Scheduling(remaining(0))
    job = stage.create(schedule=DAILY, retry=RETRYING)
    run_id = stage.fire(job)
    ports, watch = watched(stage.ports)
    watch.after["table.transact", 1] = die
    with pytest.raises(Crash):
        stage.pump(ports)
    stage.clock.move(10)

    assert 1 == run_sweep.end_attempts(stage.ports, stage.clock.now())
    assert 0 == run_sweep.end_attempts(stage.ports, stage.clock.now())

    assert RowState.RETRYABLE is stage.row(job, run_id).state
    stage.wait(5)
    assert [(1, DIED), (2, "")] == [(each.attempt, each.error) for each in stage.history(job)]
    assert [] == stage.locks(job)


def test_attempts_of_the_process_that_starts_go_on() -> None:
    stage = Scheduling()
    job = stage.create(schedule=DAILY)
    started_at = stage.clock.now()
    run_id = stage.fire(job)
    ports, watch = watched(stage.ports)
    watch.after["table.transact", 1] = die
    with pytest.raises(Crash):
        stage.pump(ports)

    assert 0 == run_sweep.end_attempts(stage.ports, started_at)

    assert RowState.RUNNING is stage.row(job, run_id).state


def test_within_a_day_the_sweeper_finds_a_job_whose_schedule_was_lost() -> None:
    stage = Scheduling()
    job = stage.create(schedule=DAILY)
    stage.firings.planned.clear()

    swept = 0
    for _ in range(24):
        swept += sweep_all(stage.ports).schedules
        stage.clock.move(3_600)

    assert 1 == swept
    assert job.id in stage.firings.planned


def test_within_a_day_the_sweeper_takes_away_the_schedule_of_a_paused_job() -> None:
    stage = Scheduling()
    job = stage.create(schedule=DAILY)
    scheduled_jobs.pause_scheduled_job(stage.ports, job.id)
    stage.firings.put(job, stage.clock.now())  # by a pause that died before it removed it

    for _ in range(24):
        sweep_all(stage.ports)
        stage.clock.move(3_600)

    assert {} == stage.firings.planned


def test_a_job_that_is_changed_while_the_sweeper_looks_keeps_its_new_schedule() -> None:
    stage = Scheduling()
    job = stage.create(schedule=DAILY)
    ports, watch = watched(stage.ports)

    def change() -> None:
        stage.change(job, schedule=HOURLY)

    watch.after["table.scan", 1] = change
    sweep.ring_all(ports)

    assert 2 == stage.firings.planned[job.id].job.revision
