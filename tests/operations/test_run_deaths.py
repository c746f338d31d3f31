"""Processes that die, stall or come twice, and definitions that change, in the middle of a run."""

from __future__ import annotations

import pytest

from chalicelib.delivery import runs
from chalicelib.operations import scheduled_jobs
from chalicelib.operations.runs import DIED
from chalicelib.scheduler.definition import Loop, Once, Retry
from chalicelib.scheduler.rows import Outcome, RowState
from tests.fakes.runner import Said, remaining
from tests.operations.scheduling import LOOPING, RETRYING, Scheduling, at
from tests.operations.watched import Crash, die, fault, watched

VISIBILITY_S = runs.VISIBILITY.total_seconds()

# --- definitions that change meanwhile ---------------------------------------------------------


def test_a_run_under_way_goes_on_when_its_job_is_paused() -> None:
    stage = Scheduling(remaining(1), remaining(0))
    job = stage.create(loop=Loop(enabled=True, delay_ms=10_000))
    stage.fire(job)
    stage.pump()

    stage.change(job, enabled=False)
    stage.wait(11)

    assert (2, []) == (len(stage.runner.made), stage.locks(job))


def test_a_run_of_a_deleted_job_ends_where_it_is() -> None:
    stage = Scheduling(remaining(1))
    job = stage.create(loop=Loop(enabled=True, delay_ms=10_000))
    stage.fire(job)
    stage.pump()

    scheduled_jobs.delete_scheduled_job(stage.ports, job.id)
    stage.wait(11)

    assert 1 == len(stage.runner.made)
    assert ([], []) == (stage.waiting(), stage.locks(job))


def test_a_job_that_is_deleted_at_work_leaves_nothing() -> None:
    stage = Scheduling(remaining(1))
    job = stage.create(loop=LOOPING)
    stage.fire(job)
    ports, watch = watched(stage.ports)
    watch.after["table.transact", 1] = lambda: scheduled_jobs.delete_scheduled_job(
        stage.ports, job.id
    )

    stage.pump(ports)

    assert ([], []) == (stage.waiting(), stage.history(job))


def test_a_one_off_that_is_changed_at_its_end_is_read_again() -> None:
    stage = Scheduling()
    job = stage.create(schedule=Once(at(5)))
    stage.clock.move(5)
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 3] = lambda: stage.change(  # type: ignore[assignment]
        job, schedule=Once(at(600))
    )

    stage.pump(ports)

    assert not scheduled_jobs.get_scheduled_job(stage.ports, job.id).is_done
    assert ([], 1) == (stage.locks(job), len(stage.history(job)))


# --- crashes -----------------------------------------------------------------------------------


@pytest.mark.parametrize("retried", [True, False])
def test_an_attempt_whose_executor_died_counts_as_failed(retried: bool) -> None:
    stage = Scheduling()
    job = stage.create(retry=Retry(enabled=retried), schedule=None)
    stage.trigger(job)
    ports, watch = watched(stage.ports)
    watch.after["table.transact", 1] = die
    with pytest.raises(Crash):
        stage.pump(ports)
    assert [] == stage.runner.made

    stage.wait(VISIBILITY_S - 5)
    assert [] == stage.history(job)
    stage.wait(10)

    told = [(each.outcome, each.error) for each in stage.history(job)]
    assert (Outcome.FAILED, DIED) == told[0]
    assert [Outcome.SUCCEEDED] * retried == [outcome for outcome, _ in told[1:]]
    assert ([], []) == (stage.locks(job), stage.waiting())


def test_a_process_that_dies_between_run_and_record_has_failed() -> None:
    stage = Scheduling(remaining(1), remaining(0))
    job = stage.create(loop=LOOPING, retry=RETRYING, schedule=None)
    stage.trigger(job)
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 2] = die
    with pytest.raises(Crash):
        stage.pump(ports)
    assert 1 == len(stage.runner.made)

    stage.wait(VISIBILITY_S + 5)

    assert [DIED, ""] == [each.error for each in stage.history(job)]
    assert ([], []) == (stage.locks(job), stage.waiting())


def test_what_follows_waits_until_its_attempt_is_written_down() -> None:
    stage = Scheduling(remaining(1), remaining(0))
    job = stage.create(loop=LOOPING, schedule=None)
    stage.trigger(job)
    ports, watch = watched(stage.ports)
    seen: list[int] = []

    def look() -> None:
        stage.serve(stage.queues.visible(runs.QUEUE))
        seen.append(len(stage.runner.made))

    watch.before["table.transact", 2] = look
    stage.pump(ports)
    stage.wait(20)

    assert ([1], 2) == (seen, len(stage.runner.made))
    assert [] == stage.waiting()


def test_a_message_that_comes_twice_at_once_makes_one_attempt() -> None:
    stage = Scheduling()
    job = stage.create(schedule=None)
    stage.trigger(job)
    (message, _) = sorted(stage.waiting(), key=lambda body: '"again"' in body)
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 1] = lambda: stage.serve([message])

    stage.serve([message], ports)
    stage.wait(VISIBILITY_S)

    assert (1, 1) == (len(stage.runner.made), len(stage.history(job)))
    assert [] == stage.waiting()


def test_an_attempt_that_was_taken_for_dead_records_nothing() -> None:
    stage = Scheduling(Said(takes_s=2_000))
    job = stage.create(schedule=None)
    stage.trigger(job)
    message = min(stage.waiting(), key=lambda body: '"again"' in body)
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 2] = lambda: stage.serve([message])

    stage.serve([message], ports)

    assert [DIED] == [each.error for each in stage.history(job)]


def test_a_fault_while_it_is_recorded_is_told_to_the_queue() -> None:
    stage = Scheduling()
    job = stage.create(schedule=None)
    stage.trigger(job)
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 2] = fault

    stage.pump(ports)

    assert RowState.RUNNING is stage.row(job, stage.locks(job)[0].run_id).state
    stage.wait(VISIBILITY_S + 5)
    assert ([], [DIED]) == (stage.locks(job), [each.error for each in stage.history(job)])


def test_a_commit_that_stalls_promises_once_more() -> None:
    stage = Scheduling(remaining(1))
    job = stage.create(loop=Loop(enabled=True, delay_ms=60_000), schedule=None)
    stage.trigger(job)
    message = min(stage.waiting(), key=lambda body: '"again"' in body)
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 2] = lambda: stage.clock.move(25)

    stage.serve([message], ports)

    assert 2 == sum('"iteration":1' in body for body in stage.waiting())
