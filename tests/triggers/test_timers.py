"""The timers queue: what is due fires once, what is early or far waits, what is spare goes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.delivery import timers
from chalicelib.delivery.timers import TimerMessage
from chalicelib.engine.commands import CancelInstance
from chalicelib.engine.state import InstanceState, Timer
from chalicelib.operations.advance import advance
from chalicelib.triggers.timers import on_timers
from tests.operations.models import timer_then_task
from tests.operations.stage import Stage
from tests.operations.watched import fault, watched

SECOND = timedelta(seconds=1)


def timer_of(stage: Stage, key: int) -> Timer:
    """Return the only timer of an instance."""
    (timer,) = [r for r in stage.instance(key).records.values() if isinstance(r, Timer)]
    return timer


def test_a_timer_fires_at_its_time_and_not_before() -> None:
    stage = Stage()
    key = stage.create(timer_then_task("PT10S"))

    stage.wait(9)
    assert [] == stage.jobs_of(key)
    stage.wait(1)
    assert ["work"] == [job.type for job in stage.jobs_of(key)]


def test_a_message_that_comes_too_soon_is_sent_on_for_its_time() -> None:
    stage = Stage()
    key = stage.create(timer_then_task("PT10S"))
    (body,) = stage.queues.bodies(timers.QUEUE)

    assert [] == on_timers(stage.ports, [("m", body)])

    assert [body, body] == stage.queues.bodies(timers.QUEUE)
    stage.wait(10)
    assert 1 == len(stage.jobs_of(key))


def test_a_timer_of_days_goes_by_way_of_one_schedule() -> None:
    stage = Stage()
    key = stage.create(timer_then_task("P3D"))
    due = timer_of(stage, key).due

    stage.wait(900)
    assert 1 == len(stage.schedules.planned)
    assert [] == stage.queues.bodies(timers.QUEUE)
    (plan,) = stage.schedules.planned.values()
    assert 75 * SECOND <= due - plan.at < 856 * SECOND

    stage.clock.move((plan.at - stage.clock.now()).total_seconds())
    stage.wait((due - stage.clock.now()).total_seconds() - 1)
    assert [] == stage.jobs_of(key)
    stage.wait(1)
    assert 1 == len(stage.jobs_of(key))
    assert {} == stage.schedules.planned


def test_a_cancelled_timer_s_message_finds_nothing() -> None:
    stage = Stage()
    key = stage.create(timer_then_task("PT10S"))
    advance(stage.ports, key, CancelInstance())

    stage.wait(11)

    assert InstanceState.TERMINATED is stage.state(key)
    assert [] == stage.queues.bodies(timers.QUEUE)


def test_a_message_that_comes_twice_fires_once() -> None:
    stage = Stage()
    key = stage.create(timer_then_task("PT10S"))
    (body,) = stage.queues.bodies(timers.QUEUE)
    stage.clock.move(10)

    assert [] == on_timers(stage.ports, [("m", body), ("n", body)])

    assert 1 == len(stage.jobs_of(key))


def test_a_boundary_timer_that_fires_takes_the_job_away() -> None:
    stage = Stage()
    key = stage.create("boundary_timer.bpmn")

    stage.wait(31)

    assert ["remind"] == [job.type for job in stage.jobs_of(key) if job.state == "active"]
    assert [] == stage.activate("charge")


def test_a_message_that_comes_before_its_commit_is_put_back_with_its_age() -> None:
    stage = Stage()
    unborn = TimerMessage(2**32, 2**32 + 5, stage.clock.now(), 1, stage.clock.now())
    body = timers.to_text(unborn)

    assert [] == on_timers(stage.ports, [("m", body)])

    assert [body] == stage.queues.bodies(timers.QUEUE)
    assert [] == stage.queues.visible(timers.QUEUE)
    assert [0.020, 0.040, 0.080] == stage.clock.slept


def test_an_early_message_goes_after_the_horizon() -> None:
    stage = Stage()
    unborn = TimerMessage(2**32, 2**32 + 5, stage.clock.now(), 1, stage.clock.now())
    stage.clock.move(121)

    on_timers(stage.ports, [("m", timers.to_text(unborn))])

    assert [] == stage.queues.bodies(timers.QUEUE)


def test_a_timer_that_is_committed_while_it_is_looked_for_fires() -> None:
    stage = Stage()
    definition = stage.deploy(timer_then_task("PT0S"))
    first = stage.create(definition)
    (body,) = stage.queues.bodies(timers.QUEUE)
    following = body.replace(str(first), str(first + 4096)).replace(
        str(timer_of(stage, first).key), str(timer_of(stage, first).key + 4096)
    )
    born: list[int] = []

    def commit_meanwhile(_: float) -> None:
        if not born:
            born.append(stage.create(definition))

    stage.clock.on_sleep = commit_meanwhile
    on_timers(stage.ports, [("m", following)])

    assert [first + 4096] == born
    assert 1 == len(stage.jobs_of(born[0]))


@pytest.mark.parametrize("body", ["", "junk", '{"instance":1}'])
def test_what_is_no_timer_message_is_dropped(body: str) -> None:
    stage = Stage()

    assert [] == on_timers(stage.ports, [("m", body)])


def test_only_the_message_that_faults_is_delivered_again() -> None:
    stage = Stage()
    definition = stage.deploy(timer_then_task("PT10S"))
    keys = [stage.create(definition), stage.create(definition)]
    one, two = stage.queues.bodies(timers.QUEUE)
    stage.clock.move(10)
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 1] = fault

    assert ["one"] == on_timers(ports, [("one", one), ("two", two)])
    assert [0, 1] == [len(stage.jobs_of(key)) for key in keys]

    assert [] == on_timers(stage.ports, [("one", one)])
    assert [1, 1] == [len(stage.jobs_of(key)) for key in keys]
