"""Commands of messages, signals and iterations that were lost: the sweeper tells them again."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.delivery import commands
from chalicelib.engine.commands import BroadcastSignal, CompleteJob
from chalicelib.engine.state import InstanceState
from chalicelib.operations import broadcasts, buffering, messages, owed, signals
from chalicelib.operations.messages import Message
from chalicelib.operations.sweep import Swept, ring_all
from chalicelib.operations.turns import take_turns
from chalicelib.profile import Profile
from chalicelib.store import broadcasts as kept
from chalicelib.store import names
from tests.engine.models import (
    line,
    many,
    message_catch,
    message_event,
    process,
    service,
    signal_event,
)
from tests.operations.stage import Stage
from tests.operations.sweeping import sweep_all
from tests.operations.test_parts import DONE, WORK, by_two
from tests.simulation.replacing import replaced

assert by_two  # a fixture
DAY = timedelta(days=1)
CATCH = line(message_catch("c", "paid"), messages={"paid": "=order"})
ALARM = line(signal_event("intermediateCatchEvent", "c", "s"), signals={"s": "alarm"})
STARTED = process(
    *(message_event("startEvent", "m", "paid"), service("a")),
    flows="m > a",
    messages={"paid": "=order"},
)
COMPLETED, ACTIVE = InstanceState.COMPLETED, InstanceState.ACTIVE


def publish(stage: Stage) -> None:
    message = Message("paid", "o-1", profile=Profile.PRIOSTACK)
    messages.let_message_wait(stage.ports, message, DAY, "")


def lose(stage: Stage) -> None:
    stage.queues.lose(commands.QUEUE)


# --- messages ------------------------------------------------------------------------------------


def test_a_subscription_whose_look_for_messages_was_lost_meets_its_message() -> None:
    stage = Stage()
    definition = stage.deploy(CATCH, Profile.PRIOSTACK)
    publish(stage)
    with replaced(owed, INLINE_MAX=0):
        key = stage.create(definition, order="o-1")
    lose(stage)

    stage.clock.move(200)
    assert Swept() == sweep_all(stage.ports)
    stage.clock.move(200)
    assert Swept(unmet=1, mended=1) == sweep_all(stage.ports)
    stage.wait(2)

    assert COMPLETED is stage.state(key)
    assert Swept() == sweep_all(stage.ports)


def test_a_message_whose_offer_was_lost_with_its_publisher_meets_who_waits() -> None:
    stage = Stage()
    key = stage.create(stage.deploy(CATCH, Profile.PRIOSTACK), order="o-1")

    def die(*args: object) -> None:
        raise KeyboardInterrupt

    with replaced(buffering, publish=die), pytest.raises(KeyboardInterrupt):
        publish(stage)
    lose(stage)
    assert ACTIVE is stage.state(key)

    assert Swept(unmet=1) == ring_all(stage.ports)
    stage.wait(2)

    assert COMPLETED is stage.state(key)


def test_a_start_whose_look_for_the_next_message_was_lost_begins_with_it() -> None:
    stage = Stage()
    stage.deploy(STARTED, Profile.PRIOSTACK)
    publish(stage)
    publish(stage)
    (job,) = stage.activate("a", max_jobs=10)
    take_turns(stage.ports, job.key, CompleteJob(job.key), stage.clock.now())
    lose(stage)
    assert [] == stage.activate("a")

    stage.clock.move(400)
    assert Swept(unmet=1, mended=1) == sweep_all(stage.ports)
    stage.wait(2)

    assert 1 == len(stage.activate("a"))


def test_messages_that_nobody_waits_for_are_left_alone_and_those_that_are_over() -> None:
    stage = Stage()
    stage.deploy(CATCH, Profile.PRIOSTACK)
    publish(stage)
    stage.clock.move(400)
    assert Swept() == sweep_all(stage.ports)

    stage.clock.move(90_000)
    with replaced(owed, INLINE_MAX=0):
        stage.create(stage.deploy(CATCH, Profile.PRIOSTACK), order="o-1")
    stage.clock.move(400)
    assert 0 == sweep_all(stage.ports).unmet


# --- signals -------------------------------------------------------------------------------------


def is_kept(stage: Stage) -> bool:
    return any(str(item["pk"]).startswith(kept.PK) for item in stage.table.scan(0, 1).items)


def test_the_pages_of_a_broadcast_that_were_lost_are_begun_again() -> None:
    stage = Stage()
    definition = stage.deploy(ALARM)
    waiting = [stage.create(definition) for _ in range(broadcasts.PAGE_MAX + 5)]
    signals.broadcast_signal(stage.ports, "alarm", {})
    lose(stage)
    left = [key for key in waiting if stage.state(key) is ACTIVE]
    stage.clock.move(10)
    late = stage.create(definition)
    assert left

    stage.clock.move(400)
    swept = sweep_all(stage.ports)
    assert 0 < swept.unmet <= names.SIGNAL_SHARDS
    stage.wait(10)

    assert {COMPLETED} == {stage.state(key) for key in waiting}
    assert ACTIVE is stage.state(late)
    assert is_kept(stage)
    assert Swept() == sweep_all(stage.ports)
    assert not is_kept(stage)


def test_who_waited_by_a_clock_that_is_ahead_is_reached_as_well() -> None:
    stage = Stage()
    definition = stage.deploy(ALARM)
    waiting = [stage.create(definition) for _ in range(broadcasts.PAGE_MAX + 5)]
    behind = stage.clock.now() - timedelta(seconds=1)
    broadcasts.broadcast(stage.ports, BroadcastSignal("b-1", "alarm", behind, {}))
    lose(stage)
    assert ACTIVE in {stage.state(key) for key in waiting}

    stage.clock.move(400)
    assert 0 < sweep_all(stage.ports).unmet
    stage.wait(10)

    assert {COMPLETED} == {stage.state(key) for key in waiting}


def test_a_broadcast_that_died_before_it_was_handed_on_is_begun_again() -> None:
    stage = Stage()
    definition = stage.deploy(ALARM)
    key = stage.create(definition)

    def die(*args: object) -> None:
        raise KeyboardInterrupt

    with replaced(broadcasts, _reach=die), pytest.raises(KeyboardInterrupt):
        signals.broadcast_signal(stage.ports, "alarm", {})
    lose(stage)

    stage.clock.move(400)
    assert Swept(unmet=1, mended=1) == sweep_all(stage.ports)
    stage.wait(2)

    assert COMPLETED is stage.state(key)


# --- iterations ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("by_two")
@pytest.mark.parametrize("enough", ["=numberOfCompletedInstances = 3", "=mine = 30", "=false"])
def test_iterations_whose_reports_were_lost_are_reported_again(enough: str) -> None:
    stage = Stage()
    key = stage.create(line(many(WORK, each=DONE, enough=enough)), items=[1, 2, 3])
    stage.wait(10)
    with replaced(owed, INLINE_MAX=0):
        for job in stage.activate("work", max_jobs=10):
            stage.complete(job, answer=10 * int(job.inputs["item"]))
    lose(stage)
    assert ACTIVE is stage.state(key)

    stage.clock.move(400)
    assert sweep_all(stage.ports).children >= 3
    for _ in range(3):
        stage.wait(200)

    assert COMPLETED is stage.state(key)
    assert [10, 20, 30] == stage.variables(key)["done"]


@pytest.mark.usefixtures("by_two")
def test_a_report_of_a_part_that_is_still_at_work_is_made_again() -> None:
    stage = Stage()
    enough = "=numberOfCompletedInstances = 1"
    key = stage.create(line(many(WORK, each=DONE, enough=enough)), items=[1, 2, 3, 4])
    stage.wait(10)
    with replaced(owed, INLINE_MAX=0):
        stage.complete(stage.activate("work")[0], answer=7)
    lose(stage)

    stage.clock.move(400)
    sweep_all(stage.ports)
    stage.wait(60)

    assert COMPLETED is stage.state(key)
    assert [7] == [each for each in stage.variables(key)["done"] if each is not None]


@pytest.mark.usefixtures("by_two")
def test_what_was_reported_is_not_told_again() -> None:
    stage = Stage()
    stage.create(line(many(WORK, each=DONE, enough="=false")), items=[1, 2, 3])
    stage.wait(10)
    stage.complete(stage.activate("work")[0], answer=7)
    stage.wait(10)

    stage.clock.move(400)
    assert 0 == sweep_all(stage.ports).children
