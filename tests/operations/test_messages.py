"""Messages that meet who waits for them, once, whoever publishes and however often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from chalicelib.delivery import commands
from chalicelib.engine.facts import Fact, MessageCorrelated, MessageNotCorrelated
from chalicelib.engine.state import InstanceState
from chalicelib.errors import Rejected
from chalicelib.operations import instances, messages, owed
from chalicelib.operations.messages import Message
from chalicelib.ports import Message as QueueMessage
from chalicelib.profile import Profile
from chalicelib.store.marks import Once
from tests.engine.models import (
    boundary_message,
    end,
    io,
    line,
    message_catch,
    message_event,
    process,
    receive,
    service,
    start,
)
from tests.operations.stage import Stage
from tests.simulation.replacing import replaced

KEY = {"paid": "=order"}
CATCH = line(message_catch("c", "paid"), messages=KEY)
STARTED = process(
    message_event("startEvent", "m", "paid"), end(), flows="m > end", messages={"paid": None}
)


def named(xml: bytes, process_id: str) -> bytes:
    return xml.replace(b'process id="p"', f'process id="{process_id}"'.encode())


@dataclass
class Notes:
    """A journal that keeps what it is told."""

    told: list[Fact] = field(default_factory=list)

    def tell(self, facts: Sequence[Fact]) -> None:
        self.told += facts


def listened() -> tuple[Stage, list[Fact]]:
    """Return a stage, and what its journal is told."""
    stage, notes = Stage(), Notes()
    stage.ports = replace(stage.ports, journal=notes)
    return stage, notes.told


def thrower(**inputs: str) -> bytes:
    """Return a process that throws the message itself."""
    event = message_event("intermediateThrowEvent", "t", "paid", extensions=io(inputs=inputs))
    return named(line(event, messages=KEY), "thrower")


def test_a_thrown_message_has_arrived_when_the_thrower_is_answered() -> None:
    stage = Stage()
    waits = stage.create(CATCH, order="o-1")
    stage.create(thrower(amount="=7"), order="o-1")

    assert (InstanceState.COMPLETED, 7) == (stage.state(waits), stage.variables(waits)["amount"])


def test_a_thrown_message_arrives_by_its_command_if_nobody_ran_it() -> None:
    stage = Stage()
    waits = stage.create(CATCH, order="o-1")
    with replaced(owed, INLINE_MAX=0):
        stage.create(thrower(), order="o-1")
    assert InstanceState.ACTIVE == stage.state(waits)

    stage.wait(6)

    assert InstanceState.COMPLETED == stage.state(waits)


def test_a_thrown_message_comes_once_however_often_its_command_does() -> None:
    stage = Stage()
    xml = process(
        *(start(), service("a"), boundary_message("b", "a", "paid", interrupting=False), end()),
        *(service("after"),),
        flows="start > a > end; b > after",
        messages=KEY,
    )
    waits = stage.create(xml, order="o-1")
    stage.create(thrower(), order="o-1")
    (body,) = (b for b in stage.queues.bodies(commands.QUEUE) if '"publish"' in b)
    for _ in range(3):
        stage.queues.send(commands.QUEUE, [QueueMessage(body)])
    stage.wait(10)

    assert 2 == len(stage.jobs_of(waits))


def test_a_thrown_message_that_nobody_waits_for_is_lost_and_told_so() -> None:
    stage, told = listened()
    thrown = stage.create(thrower(), order="o-1")
    waits = stage.create(CATCH, order="o-1")
    stage.wait(10)

    assert (InstanceState.COMPLETED, InstanceState.ACTIVE) == (
        stage.state(thrown),
        stage.state(waits),
    )
    assert [MessageNotCorrelated("paid", "nobody waits")] == [
        fact for fact in told if isinstance(fact, MessageNotCorrelated)
    ]


def test_a_message_that_meets_somebody_is_told_once() -> None:
    stage, told = listened()
    stage.create(CATCH, order="o-1")
    stage.deploy(STARTED)
    messages.publish_message(stage.ports, Message("paid", "o-1"))
    messages.publish_message(stage.ports, Message("paid", "o-1"))

    assert 2 == sum(isinstance(fact, MessageCorrelated) for fact in told)


def test_in_zenbpms_profile_a_message_meets_one() -> None:
    stage = Stage()
    definitions = [stage.deploy(named(CATCH, each), Profile.PRIOSTACK) for each in "xy"]
    waits = [stage.create(definition, order="o-1") for definition in definitions]

    messages.publish_message(stage.ports, Message("paid", "o-1"))

    states = sorted(stage.state(key) for key in waits)
    assert [InstanceState.ACTIVE, InstanceState.COMPLETED] == states


def test_elsewhere_a_message_meets_one_of_each_process_id() -> None:
    stage = Stage()
    one, two = (stage.deploy(named(CATCH, each), Profile.PRIOSTACK) for each in "xy")
    waits = [stage.create(each, order="o-1") for each in (one, one, two)]
    stage.deploy(named(STARTED, "z"), Profile.PRIOSTACK)

    messages.publish_message(stage.ports, Message("paid", "o-1", profile=Profile.PRIOSTACK))

    done, active = InstanceState.COMPLETED, InstanceState.ACTIVE
    assert [done, active, done] == [stage.state(key) for key in waits]


def test_a_repeat_in_a_profile_that_meets_many_meets_nobody_else() -> None:
    stage = Stage()
    definition = stage.deploy(CATCH, Profile.PRIOSTACK)
    waits = [stage.create(definition, order="o-1") for _ in range(2)]
    message = Message("paid", "o-1", profile=Profile.PRIOSTACK)
    once = Once("POST /api/v1/messages", "k", "f")

    for _ in range(2):
        messages.publish_message(stage.ports, message, once)

    assert [InstanceState.COMPLETED, InstanceState.ACTIVE] == [stage.state(key) for key in waits]


def test_a_message_does_not_reach_an_instance_that_was_cancelled() -> None:
    stage = Stage()
    key = stage.create(CATCH, order="o-1")
    instances.cancel_process_instance(stage.ports, key)

    with pytest.raises(Rejected, match="nobody waits"):
        messages.publish_message(stage.ports, Message("paid", "o-1"))


def test_a_receive_task_that_instantiates_has_one_live_instance_in_zenbpms_profile() -> None:
    stage = Stage()
    xml = process(
        *(receive("r", "paid", instantiates=True), service("a"), end()),
        flows="r > a > end",
        messages={"paid": None},
    )
    stage.deploy(xml)
    messages.publish_message(stage.ports, Message("paid"))
    with pytest.raises(Rejected, match="nobody waits"):
        messages.publish_message(stage.ports, Message("paid"))
    stage.work("a")

    messages.publish_message(stage.ports, Message("paid"))

    assert 1 == len(stage.activate("a", max_jobs=5))


def test_message_start_events_start_as_many_as_come_in_zenbpms_profile() -> None:
    stage = Stage()
    xml = process(
        *(message_event("startEvent", "m", "paid"), service("a"), end()),
        flows="m > a > end",
        messages={"paid": None},
    )
    stage.deploy(xml)
    for _ in range(2):
        messages.publish_message(stage.ports, Message("paid", "o-1"))

    assert 2 == len(stage.activate("a", max_jobs=5))
