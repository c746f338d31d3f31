"""A manual trigger starts what is free, and is insured against its own death."""

from __future__ import annotations

import pytest

from chalicelib.errors import Reason, Rejected
from chalicelib.operations import firings
from chalicelib.store import runs as rows
from tests.operations.scheduling import Scheduling
from tests.operations.watched import Crash, die, watched


@pytest.mark.rule("Z79")
def test_a_trigger_starts_the_indices_that_are_free() -> None:
    stage = Scheduling()
    job = stage.create(pool_count=3)
    stage.fire(job)
    for free in (0, 2):
        rows.unlock(stage.table, job.id, free)

    fired = stage.trigger(job)

    assert ([0, 2], [1]) == (fired.fired, fired.skipped)


@pytest.mark.rule("Z80")
def test_a_trigger_of_a_job_whose_indices_all_run_is_refused() -> None:
    stage = Scheduling()
    job = stage.create(pool_count=3)
    stage.fire(job)
    before = stage.table.scan(0, 1).items

    with pytest.raises(Rejected, match="run in progress") as refused:
        stage.trigger(job)

    assert Reason.INVALID_STATE is refused.value.reason
    assert before == stage.table.scan(0, 1).items


def test_a_job_that_is_paused_runs_by_hand() -> None:
    stage = Scheduling()
    job = stage.create(enabled=False)

    stage.trigger(job)
    stage.wait(1)

    assert 1 == len(stage.runner.made)


def test_a_trigger_of_an_unknown_job_is_refused() -> None:
    stage = Scheduling()

    with pytest.raises(Rejected) as refused:
        firings.trigger(stage.ports, "nobody")

    assert Reason.NOT_FOUND is refused.value.reason


def test_an_unlocked_index_is_free() -> None:
    stage = Scheduling()
    job = stage.create(pool_count=2)
    stage.fire(job)
    stage.clock.move(60)

    firings.unlock(stage.ports, job.id, 1)

    assert [1] == [row.pool_idx for row in stage.rows(job, stage.fire(job))]


@pytest.mark.parametrize("index", [-1, 20])
def test_an_index_that_no_job_has_is_refused(index: int) -> None:
    stage = Scheduling()
    job = stage.create()

    with pytest.raises(Rejected) as refused:
        firings.unlock(stage.ports, job.id, index)

    assert {"field": "pool_idx"} == refused.value.details


# --- crashes -----------------------------------------------------------------------------------


def test_a_trigger_that_dies_between_lock_and_message_is_insured() -> None:
    stage = Scheduling()
    job = stage.create(pool_count=2)
    ports, watch = watched(stage.ports)
    watch.before["queues.send", 2] = die
    with pytest.raises(Crash):
        firings.trigger(ports, job.id)

    stage.wait(6)

    assert [0, 1] == [made.pool_idx for made in stage.runner.made]
    stage.wait(20)
    assert ([], []) == (stage.waiting(), stage.locks(job))


def test_a_trigger_that_dies_between_two_rows_runs_the_one_it_inserted() -> None:
    stage = Scheduling()
    job = stage.create(pool_count=2)
    ports, watch = watched(stage.ports)
    watch.after["table.transact", 1] = die
    with pytest.raises(Crash):
        firings.trigger(ports, job.id)

    stage.wait(6)

    assert [0] == [made.pool_idx for made in stage.runner.made]
    stage.wait(150)
    assert ([], []) == (stage.waiting(), stage.locks(job))


def test_an_insurance_sends_nothing_that_has_begun() -> None:
    stage = Scheduling()
    job = stage.create()
    stage.trigger(job)
    stage.wait(10)

    assert 1 == len(stage.runner.made)
    assert [] == stage.waiting()


def test_a_trigger_that_stalls_is_insured_anew_before_it_goes_on() -> None:
    stage = Scheduling()
    job = stage.create(pool_count=2)
    ports, watch = watched(stage.ports)
    watch.after["table.transact", 1] = lambda: stage.clock.move(25)

    firings.trigger(ports, job.id)

    assert 2 == sum('"again"' in body for body in stage.waiting())
