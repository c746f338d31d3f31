"""Messages that wait: whoever comes first, message and subscription meet once, and in time."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.delivery import commands
from chalicelib.engine.state import Instance, InstanceState
from chalicelib.errors import Reason, Rejected, TooLarge
from chalicelib.operations import buffering, instances, messages, owed
from chalicelib.operations.messages import Message
from chalicelib.profile import Profile
from chalicelib.store import lists, publications
from chalicelib.store.definitions import Definition
from chalicelib.store.lists import Cut, WantedInstances
from chalicelib.store.marks import Once
from tests.engine.models import (
    boundary_message,
    end,
    line,
    message_catch,
    message_event,
    process,
    service,
    start,
)
from tests.operations.stage import Stage
from tests.simulation.replacing import replaced

KEY = {"paid": "=order"}
CATCH = line(message_catch("c", "paid"), messages=KEY)
MINUTE = timedelta(minutes=1)
DONE, ACTIVE = InstanceState.COMPLETED, InstanceState.ACTIVE


def deployed(stage: Stage, xml: bytes = CATCH, process_id: str = "p") -> Definition:
    named = xml.replace(b'process id="p"', f'process id="{process_id}"'.encode())
    return stage.deploy(named, Profile.PRIOSTACK)


def publish(
    stage: Stage, key: str | None = "o-1", lives: timedelta = MINUTE, id_: str = "", **more: object
) -> None:
    message = Message("paid", key, dict(more), Profile.PRIOSTACK)
    messages.let_message_wait(stage.ports, message, lives, id_)


def test_a_message_waits_for_who_comes_later() -> None:
    stage = Stage()
    definition = deployed(stage)
    publish(stage, by="card")

    key = stage.create(definition, order="o-1")

    assert (DONE, "card") == (stage.state(key), stage.variables(key)["by"])


def test_who_came_later_looks_by_a_command_if_nobody_did_at_once() -> None:
    stage = Stage()
    definition = deployed(stage)
    publish(stage)
    with replaced(owed, INLINE_MAX=0):
        key = stage.create(definition, order="o-1")
    assert ACTIVE == stage.state(key)

    stage.wait(6)

    assert DONE == stage.state(key)


def test_a_message_that_met_one_meets_no_other_of_the_process_id() -> None:
    stage = Stage()
    one, two = deployed(stage), deployed(stage, process_id="q")
    first = stage.create(one, order="o-1")
    publish(stage)
    later = [stage.create(each, order="o-1") for each in (one, two)]

    assert [DONE, ACTIVE, DONE] == [stage.state(key) for key in (first, *later)]


def test_several_messages_come_in_their_order() -> None:
    stage = Stage()
    xml = process(
        *(start(), service("a"), boundary_message("b", "a", "paid", interrupting=False)),
        *(service("after"), end()),
        flows="start > a > end; b > after",
        messages=KEY,
    )
    definition = deployed(stage, xml)
    for number in "123":
        publish(stage, number=number)
        stage.clock.move(0.01)

    key = stage.create(definition, order="o-1")

    assert (4, "3") == (len(stage.jobs_of(key)), stage.variables(key)["number"])


def test_a_message_is_not_correlated_after_its_time() -> None:
    """Row 32 of the known ways to get it wrong: what DynamoDB has not removed yet is over."""
    stage = Stage()
    definition = deployed(stage)
    publish(stage, lives=timedelta(seconds=10))
    stage.clock.move(10)

    key = stage.create(definition, order="o-1")
    stage.wait(6)

    assert ACTIVE == stage.state(key)


def test_a_message_that_was_to_be_delivered_to_a_cancelled_instance_is_free_again() -> None:
    """Row 35 of the known ways to get it wrong."""
    stage = Stage()
    definition = deployed(stage)
    publish(stage)
    with replaced(owed, INLINE_MAX=0):
        cancelled = stage.create(definition, order="o-1")
    instances.cancel_process_instance(stage.ports, cancelled)
    stage.wait(6)

    assert DONE == stage.state(stage.create(definition, order="o-1"))


def test_two_messages_without_time_to_live_both_come_to_a_boundary() -> None:
    """Row 31 of the known ways to get it wrong."""
    stage = Stage()
    xml = process(
        *(start(), service("a"), boundary_message("b", "a", "paid", interrupting=False)),
        *(service("after"), end()),
        flows="start > a > end; b > after",
        messages=KEY,
    )
    key = stage.create(deployed(stage, xml), order="o-1")
    publish(stage, lives=timedelta(0))
    publish(stage, lives=timedelta(0))

    assert 3 == len(stage.jobs_of(key))


def test_a_message_id_is_taken_once_while_its_message_waits() -> None:
    stage = Stage()
    publish(stage, id_="m-1")
    publish(stage, "o-2", id_="m-1")
    publish(stage, id_="m-2")

    with pytest.raises(Rejected, match="expected a new message id, found 'm-1'") as refused:
        publish(stage, id_="m-1")

    assert Reason.INVALID_STATE == refused.value.reason
    stage.clock.move(61)
    publish(stage, id_="m-1")


def test_a_message_id_without_a_key_is_taken_once_too() -> None:
    stage = Stage()
    deployed(stage, STARTED)
    deployed(stage, STARTED, process_id="q")
    publish(stage, None, id_="m-1")

    with pytest.raises(Rejected, match="expected a new message id, found 'm-1'"):
        publish(stage, None, id_="m-1")

    assert 2 == len(stage.activate("a", max_jobs=9))
    stage.clock.move(61)
    publish(stage, None, id_="m-1")
    assert 2 == len(stage.activate("a", max_jobs=9))


def test_the_ids_of_one_name_and_key_are_no_others() -> None:
    stage = Stage()
    named = (("paid", "now x"), ("paid now", "x"), ("paid now x", None))
    for name, key in named:
        message = Message(name, key, profile=Profile.PRIOSTACK)
        messages.let_message_wait(stage.ports, message, MINUTE, "m-1")

    now = stage.clock.now()
    assert [1, 1, 0] == [  # nobody who comes later can wait for what has no key
        len(list(publications.waiting(stage.table, name, key or "", now))) for name, key in named
    ]


def test_a_repeated_request_with_a_message_id_starts_once() -> None:
    stage = Stage()
    deployed(stage, STARTED)
    once = Once("POST /api/v1/messages/publish", "k", "f")
    message = Message("paid", profile=Profile.PRIOSTACK)
    for _ in range(2):
        messages.let_message_wait(stage.ports, message, MINUTE, "m-1", once)

    assert 1 == len(stage.activate("a", max_jobs=9))


def test_behind_very_many_messages_that_were_met_one_is_found_still() -> None:
    stage = Stage()
    definition = deployed(stage)
    with replaced(buffering, LOOKS_MAX=2):
        for _ in range(5):
            stage.create(definition, order="o-1")
            publish(stage)
            stage.clock.move(0.01)
        publish(stage, by="card")

        key = stage.create(definition, order="o-1")
        stage.wait(2)

    assert (DONE, "card") == (stage.state(key), stage.variables(key)["by"])


def test_a_key_that_is_free_again_is_for_messages_of_every_name() -> None:
    stage = Stage()
    xml = process(
        *(message_event("startEvent", "m", "paid"), message_event("startEvent", "n", "billed")),
        *(service("a"), service("b")),
        flows="m > a; n > b",
        messages={"paid": None, "billed": None},
    )
    deployed(stage, xml)
    publish(stage)
    message = Message("billed", "o-1", profile=Profile.PRIOSTACK)
    messages.let_message_wait(stage.ports, message, MINUTE)
    stage.clock.move(1)
    publish(stage)
    assert [] == stage.activate("b")

    stage.work("a")
    stage.wait(2)

    stage.work("b")
    stage.wait(2)
    stage.work("a")


def test_a_repeated_request_publishes_once() -> None:
    stage = Stage()
    definition = deployed(stage)
    once = Once("POST /api/v1/messages/publish", "k", "f")
    message = Message("paid", "o-1", profile=Profile.PRIOSTACK)
    for _ in range(2):
        messages.let_message_wait(stage.ports, message, MINUTE, once=once)

    keys = [stage.create(definition, order="o-1") for _ in range(2)]

    assert [DONE, ACTIVE] == [stage.state(key) for key in keys]


def test_without_a_key_a_message_only_starts() -> None:
    stage = Stage()
    xml = process(
        *(message_event("startEvent", "m", "paid"), service("a"), end()),
        flows="m > a > end",
        messages={"paid": None},
    )
    deployed(stage, xml)
    publish(stage, None)
    key = stage.create(deployed(stage, process_id="q"), order="")

    assert (1, ACTIVE) == (len(stage.activate("a", max_jobs=5)), stage.state(key))


STARTED = process(
    *(message_event("startEvent", "m", "paid"), service("a"), end()),
    flows="m > a > end",
    messages={"paid": None},
)


def test_a_key_starts_one_instance_at_a_time_and_the_others_wait() -> None:
    stage = Stage()
    deployed(stage, STARTED)
    for number in "123":
        publish(stage, number=number)
        stage.clock.move(0.01)
    publish(stage, "o-2")

    first, other = stage.activate("a", max_jobs=9)
    assert ("1", "o-2") == (stage.variables(first.instance_key)["number"], "o-2")
    stage.complete(first)
    stage.complete(other)
    (second,) = stage.activate("a", max_jobs=9)
    assert "2" == stage.variables(second.instance_key)["number"]
    instances.cancel_process_instance(stage.ports, second.instance_key)
    (third,) = stage.activate("a", max_jobs=9)
    assert "3" == stage.variables(third.instance_key)["number"]
    stage.complete(third)
    assert [] == stage.activate("a", max_jobs=9)


def test_a_message_that_waited_too_long_to_start_an_instance_is_over() -> None:
    stage = Stage()
    deployed(stage, STARTED)
    publish(stage)
    publish(stage, lives=timedelta(seconds=10))
    stage.clock.move(10)
    stage.work("a")
    stage.wait(6)

    assert [] == stage.activate("a")


def test_instances_that_end_as_they_start_start_one_after_the_other() -> None:
    stage = Stage()
    xml = process(
        message_event("startEvent", "m", "paid"), end(), flows="m > end", messages={"paid": None}
    )
    definition = deployed(stage, xml)
    for _ in range(3):
        publish(stage)

    assert [DONE] * 3 == [each.root.state for each in stage_instances(stage, definition)]


def stage_instances(stage: Stage, definition: Definition) -> list[Instance]:
    wanted = WantedInstances(definition_keys=frozenset({definition.key}))
    return list(lists.list_instances(stage.table, wanted, Cut(0, 10)).items)


def test_zenbpms_profile_buffers_nothing() -> None:
    stage = Stage()
    publish(stage)
    stage.wait(6)
    key = stage.create(stage.deploy(CATCH), order="o-1")
    stage.wait(6)

    assert ACTIVE == stage.state(key)
    assert not any('"seek"' in body for body in stage.queues.bodies(commands.QUEUE))


def test_a_message_that_is_too_large_is_refused() -> None:
    with pytest.raises(TooLarge, match="expected at most 200000 bytes"):
        publish(Stage(), a="x" * 200_000)


def test_a_message_whose_publisher_died_before_it_looked_is_offered_by_its_command() -> None:
    stage = Stage()
    key = stage.create(deployed(stage), order="o-1")
    with replaced(buffering, publish=lambda *_: []):
        publish(stage)
    assert ACTIVE == stage.state(key)

    stage.wait(6)

    assert DONE == stage.state(key)


def test_the_offer_of_a_message_that_was_never_put_goes_in_the_end() -> None:
    stage = Stage()
    with (
        replaced(publications, put=lambda *_: False),
        pytest.raises(Rejected, match="expected a new message id"),
    ):
        publish(stage)

    stage.wait(150)

    assert [] == stage.queues.bodies(commands.QUEUE)
