"""The runs queue: attempts are made at their time, what is early waits, what is spare goes."""

from __future__ import annotations

import pytest

from chalicelib.delivery import runs
from chalicelib.ports import Message
from chalicelib.scheduler.definition import Loop
from chalicelib.triggers.runs import on_runs
from tests.fakes.runner import remaining
from tests.operations.scheduling import DAILY, VISIBILITY_S, Scheduling
from tests.operations.watched import fault, watched

FAR = Loop(enabled=True, delay_ms=7_200_000)


def test_an_attempt_hours_away_goes_by_way_of_one_schedule() -> None:
    stage = Scheduling(remaining(1), remaining(0))
    job = stage.create(schedule=None, loop=FAR)
    stage.trigger(job)

    stage.wait(901)
    (plan,) = stage.schedules.planned.values()
    assert ([], 1) == (stage.waiting(), len(stage.runner.made))
    stage.wait(7_190 - 901)
    assert 1 == len(stage.runner.made)
    stage.wait(12)

    assert (2, {}) == (len(stage.runner.made), stage.schedules.planned)
    assert runs.QUEUE == plan.queue


@pytest.mark.parametrize("body", ["", "junk", '{"run":1}', '{"again":"j"}'])
def test_what_is_none_of_ours_is_dropped(body: str) -> None:
    assert [] == on_runs(Scheduling().ports, [("m", body)])


def test_an_early_message_is_looked_at_again_and_goes_after_the_horizon() -> None:
    stage = Scheduling()
    job = stage.create(schedule=DAILY)
    unborn = runs.RunMessage(job.id, "r", 0, 0, 1, stage.clock.now())

    stage.serve([runs.to_text(unborn)])

    assert [0.020, 0.040, 0.080] == stage.clock.slept
    assert 1 == len(stage.waiting())
    stage.wait(140)
    assert [] == stage.waiting()


def test_only_the_message_that_faults_is_delivered_again() -> None:
    stage = Scheduling()
    jobs = [stage.create(schedule=DAILY) for _ in range(2)]
    bodies = [runs.to_text(runs.Firing(job.id, job.revision, stage.clock.now())) for job in jobs]
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 1] = fault

    assert ["0"] == on_runs(ports, [(str(n), body) for n, body in enumerate(bodies)])
    assert [0, 1] == [len(stage.locks(job)) for job in jobs]


def test_a_message_that_faults_is_shown_again_soon() -> None:
    stage = Scheduling()
    job = stage.create(schedule=DAILY)
    body = runs.to_text(runs.Firing(job.id, job.revision, stage.clock.now()))
    stage.queues.send(runs.QUEUE, [Message(body)])
    (received,) = stage.queues.receive(runs.QUEUE, 1, VISIBILITY_S, 0)
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 1] = fault

    assert ["m"] == on_runs(ports, [("m", received.body)], {"m": received.receipt})

    stage.wait(29)
    assert [] == stage.runner.made
    stage.wait(1)
    assert 1 == len(stage.runner.made)
