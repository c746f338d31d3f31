"""Events that wait for a message: caught, interrupting, re-armed, handed on, and stuck."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.bpmn.model import EventType
from chalicelib.engine.commands import Correlate
from chalicelib.engine.guards import Guard
from chalicelib.engine.state import InstanceState, RecordKey, Stage, Subscription, Variables, Waited
from chalicelib.engine.turn import Subscribed, Unsubscribed
from chalicelib.errors import Reason, Rejected
from chalicelib.profile import Profile
from tests.engine.models import (
    boundary,
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
    sub,
    task,
)
from tests.play import Play, play

KEY = {"paid": "=order"}


def waiting_task(*, interrupting: bool, **more: Any) -> Play:
    """Return an instance whose job has a boundary event for a message."""
    xml = process(
        *(start(), service("a"), boundary_message("b", "a", "paid", interrupting=interrupting)),
        *(service("after"), end()),
        flows="start > a > end; b > after",
        messages=KEY,
    )
    return play(xml, **more).create(order="o-1")


# --- catch events and receive tasks ----------------------------------------------------------


@pytest.mark.parametrize("catching", [message_catch("c", "paid"), receive("c", "paid")])
def test_a_message_is_waited_for_by_its_name_and_key(catching: str) -> None:
    game = play(line(catching, messages=KEY)).create(order="o-1")

    (waiting,) = game.subscriptions
    assert ("c", EventType.MESSAGE, "paid", "o-1") == (
        *(waiting.element_id, waiting.kind, waiting.name),
        waiting.correlation_key,
    )
    live = game.root.live[waiting.element_key]
    assert (["c"], (waiting.key,)) == (game.waiting, live.subscriptions)


@pytest.mark.parametrize("catching", [message_catch("c", "paid"), receive("c", "paid")])
def test_all_that_a_message_carries_goes_on_without_output_mappings(catching: str) -> None:
    game = play(line(catching, messages=KEY)).create(order="o-1").publish("paid", amount=7)

    assert (InstanceState.COMPLETED, []) == (game.state, game.subscriptions)
    assert {"order": "o-1", "amount": 7} == game.variables
    assert 0 == game.reads


def test_with_output_mappings_only_what_they_name_goes_on() -> None:
    mapped = message_catch("c", "paid", extensions=io(outputs={"sum": "=amount"}))
    game = play(line(mapped, messages=KEY)).create(order="o-1").publish("paid", amount=7, tip=1)

    assert {"order": "o-1", "sum": 7} == game.variables


def test_the_key_sees_what_input_mappings_make() -> None:
    mapped = receive("c", "paid", extensions=io(inputs={"order": "=id"}))

    assert [("paid", "o-2")] == play(line(mapped, messages=KEY)).create(id="o-2").names


def test_a_name_may_be_computed() -> None:
    xml = line(message_catch("c", "m"), messages={"m": "=order"}).replace(
        b'name="m"', b"name='=\"paid-\" + shop'"
    )

    assert [("paid-x", "o-1")] == play(xml).create(order="o-1", shop="x").names


def test_a_subscription_that_is_over_is_not_found() -> None:
    game = play(line(message_catch("c", "paid"), service("a"), messages=KEY)).create(order="o-1")
    (key,) = (each.key for each in game.subscriptions)
    game.publish("paid")

    with pytest.raises(Rejected) as refused:
        game.send(Correlate(key, "paid"))

    assert Reason.NOT_FOUND == refused.value.reason
    assert f"subscription {key} waits no more" in refused.value.message


def test_history_tells_who_waited_and_what_came() -> None:
    game = waiting_task(interrupting=True)
    (one,) = game.subscriptions
    events = [event for turn in game.turns for event in turn.history]
    assert Subscribed(one.key, "b", one.element_key, "paid", "o-1") in events

    game.publish("paid")

    assert Unsubscribed(one.key, came=True) in game.turns[-1].history


# --- boundary events -------------------------------------------------------------------------


def test_an_interrupting_message_ends_its_activity() -> None:
    game = waiting_task(interrupting=True).publish("paid", by="card")

    assert (["after"], []) == (game.open_jobs, game.subscriptions)
    assert {"order": "o-1", "by": "card"} == game.variables


def test_a_message_that_does_not_interrupt_waits_on_under_a_new_key() -> None:
    """Row 31 of the known ways to get it wrong: each of several messages is counted."""
    game = waiting_task(interrupting=False)
    (first,) = game.subscriptions
    game.publish("paid").publish("paid")

    assert ["a", "after", "after"] == game.open_jobs
    (third,) = game.subscriptions
    assert (first.key < third.key, ("paid", "o-1")) == (True, (third.name, third.correlation_key))
    assert Guard.NEW == game.turns[-1].guards[RecordKey(Subscription, third.key)]


def test_completing_an_activity_ends_what_it_waits_for() -> None:
    game = waiting_task(interrupting=False).complete("a")

    assert (InstanceState.COMPLETED, []) == (game.state, game.subscriptions)
    assert 0 == game.reads


def test_cancelling_ends_what_is_waited_for() -> None:
    inner = sub("s", start("si"), message_catch("c", "paid"), flows="si > c")
    game = play(line(inner, messages=KEY)).create(order="o-1").cancel()

    assert (InstanceState.TERMINATED, [], 0) == (game.state, game.subscriptions, game.reads)


def test_a_receive_task_has_boundary_events() -> None:
    xml = process(
        *(start(), receive("r", "paid"), boundary("late", "r", duration="PT1H"), service("a")),
        *(boundary_message("stop", "r", "stopped"), service("b"), end()),
        flows="start > r > end; late > a; stop > b",
        messages={**KEY, "stopped": "=order"},
    )
    game = play(xml).create(order="o-1")
    assert [("paid", "o-1"), ("stopped", "o-1")] == game.names

    assert (["b"], [], []) == (
        *(game.publish("stopped").open_jobs, game.subscriptions),
        game.timers,
    )


# --- what cannot be waited for ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "order", "found"),
    [
        (Profile.ZENBPM, 7, "expected a text, found 7"),
        (Profile.ZENBPM, None, "expected a text, found null"),
        (Profile.PRIOSTACK, None, "expected a text or a number, found null"),
        (Profile.PRIOSTACK, True, "expected a text or a number, found true"),
    ],
)
def test_a_key_of_another_kind_is_an_incident_that_resolve_arms_again(
    profile: Profile, order: Any, found: str
) -> None:
    xml = line(message_catch("c", "paid"), messages=KEY)
    game = play(xml, profile=profile).create(order=order)
    assert (Stage.ENTERING, "EXTRACT_VALUE_ERROR", f"correlation key of c: {found}") == (
        *(game.incident("c").stage, game.incident("c").error_type),
        game.incident("c").message,
    )

    game.set(order="o-1").resolve("c")

    assert ([("paid", "o-1")], []) == (game.names, game.incidents)
    assert InstanceState.COMPLETED == game.publish("paid").state


def test_a_number_is_a_key_where_the_profile_takes_one() -> None:
    xml = line(message_catch("c", "paid"), messages=KEY)

    assert [("paid", "12.50")] == play(xml, profile=Profile.PRIOSTACK).create(
        order=12.50
    ).names or [("paid", "12.5")] == play(xml, profile=Profile.PRIOSTACK).create(order=12.50).names


def test_a_boundary_key_that_fails_leaves_the_job_waiting_and_is_armed_again() -> None:
    xml = process(
        *(start(), service("a"), boundary_message("b", "a", "paid"), end()),
        flows="start > a > end; b > end",
        messages=KEY,
    )
    game = play(xml).create()
    assert (["a"], Stage.ARMING, []) == (game.open_jobs, game.incident("a").stage, game.names)

    game.set(order="o-1").resolve("a")

    assert ([("paid", "o-1")], []) == (game.names, game.incidents)
    assert InstanceState.COMPLETED == game.publish("paid").state


def test_what_came_waits_until_it_can_be_handed_on() -> None:
    mapped = receive("c", "paid", extensions=io(outputs={"a.b": "=amount"}))
    game = play(line(mapped, messages=KEY)).create(order="o-1", a=1).publish("paid", amount=7)
    (caught,) = (each for each in game.records(Variables) if each.scope != game.root.key)
    assert (Stage.COMPLETING, {"amount": 7}, []) == (
        *(game.incident("c").stage, caught.values),
        game.names,
    )

    game.delete("a").resolve("c")

    assert (InstanceState.COMPLETED, {"b": 7}) == (game.state, game.variables["a"])
    assert [game.root.key] == [each.scope for each in game.records(Variables)]


@pytest.mark.parametrize("ends", ["cancel", "late"])
def test_what_came_and_could_not_be_handed_on_ends_with_its_element(ends: str) -> None:
    mapped = receive("c", "paid", extensions=io(outputs={"a.b": "=amount"}))
    xml = line(mapped, boundary("late", "c", duration="PT1H"), messages=KEY)
    game = play(xml).create(order="o-1", a=1).publish("paid", amount=7)

    game.cancel() if ends == "cancel" else game.wait(3_600)

    assert [game.root.key] == [each.scope for each in game.records(Variables)]


# --- who may wait ----------------------------------------------------------------------------


def test_a_second_one_to_wait_for_a_message_is_an_incident_until_it_is_free() -> None:
    game = play(line(message_catch("c", "paid"), messages=KEY))
    game.holders[Waited("paid", "o-1")] = 7
    game.create(order="o-1")
    assert ("NAME_TAKEN", []) == (game.incident("c").error_type, game.names)
    assert "nobody to wait for message" in game.incident("c").message

    game.holders.clear()

    assert [("paid", "o-1")] == game.resolve("c").names


def test_two_branches_of_an_instance_cannot_wait_for_one_message() -> None:
    xml = process(
        *(start(), message_catch("c", "paid"), message_catch("d", "paid"), end()),
        flows="start > c > end; start > d > end",
        messages=KEY,
    )
    game = play(xml).create(order="o-1")
    assert (["c", "d"], "NAME_TAKEN") == (game.waiting, game.incident("d").error_type)

    game.publish("paid").resolve("d")

    assert (["d"], [("paid", "o-1")]) == (game.waiting, game.names)


def test_two_boundary_events_of_one_activity_cannot_wait_for_one_message() -> None:
    xml = process(
        *(start(), service("a"), boundary_message("b", "a", "paid"), end()),
        *(boundary_message("c", "a", "paid"),),
        flows="start > a > end; b > end; c > end",
        messages=KEY,
    )
    game = play(xml).create(order="o-1")

    assert (["a"], "NAME_TAKEN", []) == (
        *(game.open_jobs, game.incident("a").error_type),
        game.names,
    )


def test_elsewhere_several_may_wait_for_one_message() -> None:
    game = play(line(message_catch("c", "paid"), messages=KEY), profile=Profile.PRIOSTACK)
    game.holders[Waited("paid", "o-1")] = 7

    assert [("paid", "o-1")] == game.create(order="o-1").names


def test_a_loop_waits_for_the_same_message_again() -> None:
    xml = process(
        *(start(), message_catch("c", "paid"), task("t")),
        flows="start > c > t > c",
        messages=KEY,
    )
    game = play(xml).create(order="o-1").publish("paid").publish("paid")

    assert [("paid", "o-1")] == game.names


# --- starting --------------------------------------------------------------------------------


def test_a_message_starts_an_instance_with_all_that_it_carries() -> None:
    xml = process(
        *(message_event("startEvent", "m", "ordered"), service("a"), end()),
        flows="m > a > end",
        messages={"ordered": None},
    )
    game = play(xml).start_at("m", order="o-1")

    assert (["m", "a"], {"order": "o-1"}) == (game.path, game.variables)
    assert [game.root.key] == [each.scope for each in game.records(Variables)]


def test_a_message_start_hands_on_what_its_mappings_name() -> None:
    mapped = message_event("startEvent", "m", "ordered", extensions=io(outputs={"id": "=order"}))
    xml = process(mapped, end(), flows="m > end", messages={"ordered": None})

    assert {"id": "o-1"} == play(xml).start_at("m", order="o-1", more=1).variables


def test_a_receive_task_that_instantiates_has_received_when_the_instance_starts() -> None:
    xml = process(
        *(receive("r", "ordered", instantiates=True), service("a"), end()),
        flows="r > a > end",
        messages={"ordered": None},
    )
    game = play(xml).start_at("r", order="o-1")

    assert (["r", "a"], {"order": "o-1"}, []) == (game.path, game.variables, game.names)
