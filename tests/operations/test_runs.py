"""What follows an attempt: continuations, retries, ends, locks; and what dies in between."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest

from chalicelib.operations import scheduled_jobs
from chalicelib.scheduler.definition import Loop, Once, Retry
from chalicelib.scheduler.rows import RowState
from chalicelib.store import runs as rows
from tests.fakes.runner import CANCELLED, FAILED, Said, remaining
from tests.operations.scheduling import DAILY, LOOPING, RETRYING, Scheduling, at, listening
from tests.operations.watched import watched

CAP_LINE = "loop max iterations hit, stopping"


# --- continuations -----------------------------------------------------------------------------


@pytest.mark.rule("Z20", "Z24", "Z25")
def test_a_continuation_is_a_new_row_with_a_budget_of_its_own() -> None:
    stage = Scheduling(FAILED, remaining(1), remaining(0))
    job = stage.create(loop=LOOPING, retry=RETRYING, pool_count=1)

    run = stage.fire(job)
    stage.wait(5)

    first, second = stage.rows(job, run)
    assert (RowState.COMPLETED, 2, 0) == (first.state, first.attempt, first.iteration)
    assert (RowState.COMPLETED, 1, 1) == (second.state, second.attempt, second.iteration)
    assert (5, first.pool_idx) == (second.budget, second.pool_idx)


@pytest.mark.rule("Z21", "Z22", "Z23")
@pytest.mark.parametrize("jitter_ms", [0, 10_000])
def test_a_continuation_is_due_after_the_delay_and_a_share_of_the_jitter(jitter_ms: int) -> None:
    stage = Scheduling(Said(output=b'{"result":{"remaining":1}}', takes_s=7))
    job = stage.create(
        loop=Loop(enabled=True, delay_ms=20_000, jitter_ms=jitter_ms),
        retry=Retry(enabled=True, base_delay_ms=5),
    )
    run = stage.fire(job)

    stage.pump()

    due = stage.row(job, run, iteration=1).due
    assert at(27) <= due <= at(27) + timedelta(milliseconds=jitter_ms)
    assert jitter_ms == 0 or due > at(27)
    stage.wait((due - at(7)).total_seconds() - 1.5)
    assert 1 == len(stage.runner.made)
    stage.wait(3)
    assert 2 == len(stage.runner.made)


@pytest.mark.rule("Z26", "Z27", "Z28", "Z29", "Z31", "Z32")
@pytest.mark.parametrize(("cap", "calls"), [(0, 50), (3, 3)])
def test_a_loop_stops_at_its_cap(cap: int, calls: int) -> None:
    stage = Scheduling(remaining(1))
    job = stage.create(loop=Loop(enabled=True, max_iterations=cap))

    with listening() as heard:
        run = stage.fire(job)
        stage.wait(3)

    assert calls == len(stage.runner.made)
    assert [RowState.COMPLETED] * calls == [row.state for row in stage.rows(job, run)]
    (told,) = [record for record in heard if record.getMessage() == CAP_LINE]
    line = told.__dict__
    assert (logging.ERROR, job.id, "drain", 0, calls) == (
        told.levelno,
        *(line[name] for name in ("job_id", "job_name", "pool_idx", "cap")),
    )
    assert ([], []) == (stage.locks(job), stage.alerts.sent)


@pytest.mark.rule("Z35")
def test_a_loop_that_is_through_exactly_at_its_cap_writes_no_line() -> None:
    stage = Scheduling(remaining(2), remaining(1), remaining(0))
    job = stage.create(loop=Loop(enabled=True, max_iterations=3))

    with listening() as heard:
        stage.fire(job)
        stage.wait(1)

    assert 3 == len(stage.runner.made)
    assert [] == [record for record in heard if record.getMessage() == CAP_LINE]


@pytest.mark.rule("Z30")
@pytest.mark.parametrize(
    "said", [(remaining(1),), (remaining(0),), (FAILED,), (CANCELLED,)], ids=str
)
def test_a_one_off_is_done_after_every_end_of_its_run(said: tuple[Said, ...]) -> None:
    stage = Scheduling(*said)
    job = stage.create(schedule=Once(at(5)), loop=Loop(enabled=True, max_iterations=2))

    stage.wait(10)

    assert scheduled_jobs.get_scheduled_job(stage.ports, job.id).is_done
    assert [] == stage.locks(job)


def test_a_one_off_that_is_run_by_hand_still_has_its_time() -> None:
    stage = Scheduling()
    job = stage.create(schedule=Once(at(60)))

    stage.trigger(job)
    stage.wait(1)

    assert not scheduled_jobs.get_scheduled_job(stage.ports, job.id).is_done


@pytest.mark.rule("Z34")
def test_a_retry_does_not_raise_the_iteration() -> None:
    stage = Scheduling(FAILED, FAILED, remaining(1), remaining(0))
    job = stage.create(loop=LOOPING, retry=RETRYING)

    stage.fire(job)
    stage.wait(10)

    assert [(0, 1), (0, 2), (0, 3), (1, 1)] == [
        (made.iteration, made.attempt) for made in stage.runner.made
    ]


@pytest.mark.rule("Z75")
def test_a_member_s_continuations_and_retries_carry_its_index() -> None:
    stage = Scheduling(remaining(1), FAILED, remaining(1), FAILED, remaining(0))
    job = stage.create(loop=LOOPING, retry=RETRYING, pool_count=2)

    run = stage.fire(job)
    stage.wait(10)

    for index in (0, 1):
        own = [made for made in stage.runner.made if made.pool_idx == index]
        assert len(own) == sum(row.attempt for row in stage.rows(job, run) if row.pool_idx == index)


# --- retries -----------------------------------------------------------------------------------


@pytest.mark.rule("Z45")
def test_the_delay_is_read_when_it_is_needed() -> None:
    stage = Scheduling(FAILED)
    job = stage.create(retry=Retry(enabled=True, base_delay_ms=10_000))
    run = stage.fire(job)
    stage.pump()
    assert at(10) == stage.row(job, run).due

    stage.change(job, retry=Retry(enabled=True, base_delay_ms=30_000, multiplier=Decimal(2)))
    stage.wait(10)

    assert at(10 + 60) == stage.row(job, run).due


@pytest.mark.rule("Z46", "Z52", "Z53")
def test_the_last_allowed_failure_discards_the_row_and_releases_the_lock() -> None:
    stage = Scheduling(FAILED)
    job = stage.create(retry=Retry(enabled=True, base_delay_ms=1_000, max_attempts=5))

    run = stage.fire(job)
    stage.wait(14)
    assert (RowState.RETRYABLE, 4) == (stage.row(job, run).state, stage.row(job, run).attempt)
    stage.wait(2)

    assert (RowState.DISCARDED, 5) == (stage.row(job, run).state, len(stage.runner.made))
    assert [] == stage.locks(job)


@pytest.mark.rule("Z47")
@pytest.mark.parametrize("attempts", [0, -3])
def test_a_senseless_budget_counts_as_5(attempts: int) -> None:
    stage = Scheduling(FAILED)
    job = stage.create(retry=Retry(enabled=True, base_delay_ms=1, max_attempts=attempts))

    stage.fire(job)
    stage.wait(20)

    assert 5 == len(stage.runner.made)


@pytest.mark.rule("Z48")
def test_without_retry_a_failure_cancels_the_row() -> None:
    stage = Scheduling(FAILED)
    job = stage.create(retry=Retry(enabled=False))

    run = stage.fire(job)
    stage.wait(60)

    assert (RowState.CANCELLED, 1) == (stage.row(job, run).state, len(stage.runner.made))
    assert [] == stage.locks(job)


@pytest.mark.rule("Z49", "Z50", "Z51")
def test_a_budget_is_frozen_in_its_row_and_new_in_the_next() -> None:
    stage = Scheduling(FAILED, FAILED, remaining(1), FAILED)
    job = stage.create(loop=LOOPING, retry=Retry(enabled=True, base_delay_ms=1_000, max_attempts=3))
    run = stage.fire(job)
    stage.pump()

    stage.change(job, retry=Retry(enabled=True, base_delay_ms=1_000, max_attempts=2))
    stage.wait(20)

    assert [3, 2] == [row.budget for row in stage.rows(job, run)]
    assert [RowState.COMPLETED, RowState.DISCARDED] == [row.state for row in stage.rows(job, run)]


@pytest.mark.rule("Z54")
def test_nothing_follows_a_discarded_iteration() -> None:
    stage = Scheduling(remaining(5), FAILED)
    job = stage.create(loop=LOOPING, retry=Retry(enabled=True, base_delay_ms=1, max_attempts=2))

    run = stage.fire(job)
    stage.wait(30)

    assert [RowState.COMPLETED, RowState.DISCARDED] == [row.state for row in stage.rows(job, run)]
    assert ([], []) == (stage.locks(job), stage.waiting())


@pytest.mark.rule("Z63", "Z64", "Z65", "Z66", "Z67")
def test_what_can_never_succeed_ends_cancelled_whatever_budget_is_left() -> None:
    stage = Scheduling(CANCELLED)
    job = stage.create(retry=RETRYING)

    run = stage.fire(job)
    stage.wait(60)

    assert (RowState.CANCELLED, 1) == (stage.row(job, run).state, len(stage.runner.made))
    assert [] == stage.locks(job)


# --- the lock ----------------------------------------------------------------------------------


@pytest.mark.rule("Z84", "Z85")
@pytest.mark.parametrize("said", [remaining(1), FAILED], ids=["loop", "retry"])
def test_the_lock_is_held_between_attempts(said: Said) -> None:
    stage = Scheduling(said)
    job = stage.create(
        loop=Loop(enabled=True, delay_ms=600_000),
        retry=Retry(enabled=True, base_delay_ms=600_000, max_delay_ms=600_000),
    )
    run = stage.fire(job)
    stage.wait(300)

    assert [] == stage.rows(job, stage.fire(job))
    assert [run] == [lock.run_id for lock in stage.locks(job)]


@pytest.mark.rule("Z86")
@pytest.mark.parametrize(
    "said", [(remaining(0),), (remaining(1),), (CANCELLED,), (FAILED,)], ids=str
)
def test_every_end_releases_the_lock(said: tuple[Said, ...]) -> None:
    stage = Scheduling(*said)
    job = stage.create(
        loop=Loop(enabled=True, max_iterations=1),
        retry=Retry(enabled=True, max_attempts=1),
    )

    stage.fire(job)
    stage.pump()

    assert [] == stage.locks(job)


@pytest.mark.rule("Z88", "Z89")
def test_a_loop_of_three_hours_never_loses_its_lock() -> None:
    stage = Scheduling(remaining(1), FAILED, remaining(1))
    job = stage.create(
        loop=Loop(enabled=True, delay_ms=1_800_000),
        retry=Retry(enabled=True, base_delay_ms=1_800_000, max_delay_ms=1_800_000),
        schedule=DAILY,
    )
    fired = stage.trigger(job)
    assert [0] == fired.fired
    (lock,) = stage.locks(job)

    for _ in range(6):
        stage.wait(1_700)
        (held,) = stage.locks(job)
        assert (lock.run_id, lock.since) == (held.run_id, held.since)
        assert stage.clock.now() - held.refreshed_at <= timedelta(minutes=31)
        assert [] == stage.rows(job, stage.fire(job))


@pytest.mark.rule("Z88")
@pytest.mark.parametrize("said", [remaining(1), FAILED], ids=["succeeded", "failed"])
def test_every_attempt_sets_the_lock_s_time_to_its_end(said: Said) -> None:
    stage = Scheduling(replace(said, takes_s=600))
    job = stage.create(
        loop=Loop(enabled=True, delay_ms=60_000), retry=Retry(enabled=True, base_delay_ms=60_000)
    )
    stage.fire(job)
    stage.wait(30)

    assert [at(600)] == [lock.refreshed_at for lock in stage.locks(job)]


@pytest.mark.rule("Z76", "Z88")
def test_an_attempt_sets_the_time_of_no_other_index_s_lock() -> None:
    stage = Scheduling(remaining(1), FAILED, FAILED)
    job = stage.create(
        pool_count=2,
        loop=Loop(enabled=True, delay_ms=600_000),
        retry=Retry(enabled=True, base_delay_ms=60_000),
    )
    stage.fire(job)
    stage.wait(90)

    assert [at(0), at(60)] == [lock.refreshed_at for lock in stage.locks(job)]


@pytest.mark.rule("Z93")
def test_a_run_that_was_taken_over_does_not_release_its_successor_s_lock() -> None:
    stage = Scheduling()
    job = stage.create()
    taken_over = stage.fire(job)
    successor: list[str] = []

    def take_over() -> None:
        stage.clock.move(3_601)
        successor.append(stage.fire(job))

    ports, watch = watched(stage.ports)
    watch.after["table.transact", 1] = take_over
    (first, *_) = stage.waiting()
    stage.serve([first], ports)

    assert 1 == len(stage.runner.made)
    assert RowState.COMPLETED is stage.row(job, taken_over).state
    assert successor == [lock.run_id for lock in stage.locks(job)]


def test_a_run_whose_index_another_one_has_does_not_go_on() -> None:
    stage = Scheduling(remaining(1))
    job = stage.create(loop=Loop(enabled=True, delay_ms=5_400_000), schedule=DAILY)
    first = stage.fire(job)
    stage.wait(3_605)
    successor = stage.fire(job)
    stage.wait(1)

    stage.wait(1_900)

    assert [first, successor] == [made.run_id for made in stage.runner.made]
    assert RowState.CANCELLED is stage.row(job, first, iteration=1).state
    assert [successor] == [lock.run_id for lock in stage.locks(job)]


def test_a_run_that_lost_its_lock_takes_it_again_if_nobody_did() -> None:
    stage = Scheduling(remaining(1))
    job = stage.create(loop=Loop(enabled=True, delay_ms=60_000), schedule=DAILY)
    run = stage.fire(job)
    stage.wait(10)
    rows.unlock(stage.table, job.id, 0)

    stage.wait(60)

    assert 2 == len(stage.runner.made)
    assert [run] == [lock.run_id for lock in stage.locks(job)]
