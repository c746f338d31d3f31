"""Firings that die on their way: what they left behind is made good, and the chain goes on."""

from __future__ import annotations

import pytest

from chalicelib.delivery import runs
from chalicelib.delivery.runs import Firing
from chalicelib.operations import firings
from chalicelib.scheduler.definition import Every, Missed
from tests.operations.scheduling import Scheduling
from tests.operations.watched import Crash, die, watched


def test_a_firing_that_dies_first_of_all_has_not_ended_the_chain() -> None:
    stage = Scheduling(recurs=False)
    stage.create(schedule=Every(60_000))
    stage.clock.move(60)
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 1] = die
    with pytest.raises(Crash):
        stage.pump(ports)

    stage.wait(60)

    assert ["20260302T090200Z"] == [made.run_id for made in stage.runner.made]


def test_a_firing_that_dies_between_lock_and_message_sends_when_it_comes_again() -> None:
    stage = Scheduling()
    job = stage.create(missed=Missed.SKIP)
    stage.clock.move(3_600)
    ports, watch = watched(stage.ports)
    watch.before["queues.send", 1] = die
    with pytest.raises(Crash):
        stage.pump(ports)
    assert 1 == len(stage.locks(job))

    stage.wait(runs.VISIBILITY.total_seconds() + 1)

    assert ["20260302T100000Z"] == [made.run_id for made in stage.runner.made]
    assert [] == stage.locks(job)


def test_a_firing_reminds_of_the_run_that_holds_its_index_and_is_overdue() -> None:
    stage = Scheduling()
    job = stage.create(schedule=Every(60_000))
    stage.clock.move(60)
    ports, watch = watched(stage.ports)
    watch.before["queues.send", 1] = die
    with pytest.raises(Crash):
        stage.pump(ports)

    stage.wait(59)
    assert [] == stage.runner.made
    stage.wait(2)

    assert ["20260302T090100Z"] == [made.run_id for made in stage.runner.made]
    assert [] == stage.locks(job)


@pytest.mark.parametrize("fields", [{"name": "drains"}, {"enabled": False}], ids=str)
def test_a_firing_that_died_is_made_good_although_its_job_was_changed(
    fields: dict[str, object],
) -> None:
    stage = Scheduling()
    job = stage.create()
    ports, watch = watched(stage.ports)
    watch.before["queues.send", 1] = die
    firing = Firing(job.id, job.revision, stage.clock.now())
    with pytest.raises(Crash):
        firings.fire(ports, firing)
    stage.change(job, **fields)

    stage.serve([runs.to_text(firing)])
    stage.pump()

    assert (1, []) == (len(stage.runner.made), stage.locks(job))
