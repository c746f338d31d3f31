"""Signals that are waited for, and messages and signals that an instance throws itself."""

from __future__ import annotations

import pytest

from chalicelib.bpmn.model import EventType
from chalicelib.engine.commands import BroadcastSignal, Correlate, PublishMessage
from chalicelib.engine.effects import Send
from chalicelib.engine.state import InstanceState, Job, Stage
from chalicelib.errors import Rejected
from chalicelib.profile import Profile
from tests.engine.models import (
    boundary_signal,
    end,
    io,
    line,
    message_event,
    process,
    service,
    signal_event,
    start,
)
from tests.play import Play, play, to_json

ALARM = {"s": "alarm"}
CATCH = "intermediateCatchEvent"
THROW = "intermediateThrowEvent"


def thrown(game: Play) -> list[PublishMessage | BroadcastSignal]:
    """Return the messages and signals that the latest turn owes."""
    owed = (effect for turn in game.turns for effect in turn.effects if isinstance(effect, Send))
    wanted = (PublishMessage, BroadcastSignal)
    return [each.command for each in owed if isinstance(each.command, wanted)]


# --- signals that are waited for ---------------------------------------------------------------


def test_a_signal_is_waited_for_by_its_name_alone() -> None:
    game = play(line(signal_event(CATCH, "c", "s"), signals=ALARM)).create()
    (waiting,) = game.subscriptions
    assert (EventType.SIGNAL, "alarm", None, False) == (
        *(waiting.kind, waiting.name, waiting.correlation_key),
        waiting.is_unique,
    )

    game.publish("alarm", level=3)

    assert (InstanceState.COMPLETED, {"level": 3}) == (game.state, game.variables)


@pytest.mark.parametrize(("interrupting", "jobs"), [(True, ["after"]), (False, ["a", "after"])])
def test_a_signal_at_the_boundary(interrupting: bool, jobs: list[str]) -> None:
    xml = process(
        *(start(), service("a"), boundary_signal("b", "a", "s", interrupting=interrupting)),
        *(service("after"), end()),
        flows="start > a > end; b > after",
        signals=ALARM,
    )
    game = play(xml).create().publish("alarm")

    assert (jobs, len(jobs) - 1) == (game.open_jobs, len(game.subscriptions))


def test_a_signal_starts_an_instance() -> None:
    xml = process(signal_event("startEvent", "b", "s"), end(), flows="b > end", signals=ALARM)

    assert {"level": 3} == play(xml).start_at("b", level=3).variables


def test_a_broadcast_is_over_for_those_who_wait_in_answer_to_it() -> None:
    two = (signal_event(CATCH, "c", "s"), signal_event(CATCH, "d", "s"))
    game = play(line(*two, signals=ALARM)).create()
    (first,) = game.subscriptions
    game.send(Correlate(first.key, "alarm", {}, "b-1"))
    (second,) = game.subscriptions
    assert (["d"], "b-1") == (game.waiting, second.after)

    with pytest.raises(Rejected):
        game.send(Correlate(second.key, "alarm", {}, "b-1"))

    assert InstanceState.COMPLETED == game.send(Correlate(second.key, "alarm", {}, "b-2")).state


# --- what is thrown ----------------------------------------------------------------------------


@pytest.mark.parametrize("tag", [THROW, "endEvent"])
def test_a_signal_is_thrown_with_what_input_mappings_make(tag: str) -> None:
    event = signal_event(tag, "t", "s", extensions=io(inputs={"level": "=grade + 1"}))
    xml = process(start(), event, flows="start > t", signals=ALARM)
    game = play(xml).create(grade=2)

    assert InstanceState.COMPLETED == game.state
    (signal,) = thrown(game)
    assert ("alarm", to_json({"level": 3}), game.now, None) == (
        *(signal.name, signal.variables, signal.at),  # type: ignore[union-attr]
        signal.shard,  # type: ignore[union-attr]
    )


@pytest.mark.parametrize("tag", [THROW, "endEvent"])
@pytest.mark.parametrize(("key", "expected"), [("=order", "o-1"), (None, None)])
def test_a_message_without_a_job_is_thrown_by_the_instance(
    tag: str, key: str | None, expected: str | None
) -> None:
    event = message_event(tag, "t", "paid", extensions=io(inputs={"amount": "=7"}))
    xml = process(start(), event, flows="start > t", messages={"paid": key})
    game = play(xml).create(order="o-1")

    assert (InstanceState.COMPLETED, []) == (game.state, list(game.records(Job)))
    (message,) = thrown(game)
    assert PublishMessage(message.id, "paid", expected, Profile.ZENBPM, to_json({"amount": 7})) == (
        message
    )


def test_a_send_task_without_a_job_throws_its_message() -> None:
    xml = line('<sendTask id="t" messageRef="paid"/>', messages={"paid": None})
    game = play(xml).create()

    assert (InstanceState.COMPLETED, ["paid"]) == (game.state, [m.name for m in thrown(game)])


def test_a_message_with_a_job_is_thrown_by_its_worker() -> None:
    job = '<zeebe:taskDefinition type="mail"/>'
    event = message_event(THROW, "t", "paid", extensions=job)
    game = play(line(event, messages={"paid": None})).create()

    assert (["t"], []) == (game.open_jobs, thrown(game))


def test_what_is_thrown_is_named_by_the_element_that_does() -> None:
    xml = process(
        *(start(), message_event(THROW, "t", "paid"), end()),
        flows="start > t > end; start > t",
        messages={"paid": None},
    ).replace(b'<sequenceFlow id="start-t" ', b'<sequenceFlow id="again" ', 1)
    game = play(xml).create()

    assert 2 == len({message.id for message in thrown(game)})


def test_a_key_that_fails_throws_nothing_until_it_is_mended() -> None:
    game = play(line(message_event(THROW, "t", "paid"), messages={"paid": "=order"})).create()
    assert (Stage.ENTERING, []) == (game.incident("t").stage, thrown(game))

    game.set(order="o-1").resolve("t")

    assert (InstanceState.COMPLETED, 1) == (game.state, len(thrown(game)))


def test_outputs_that_fail_do_not_throw_twice() -> None:
    event = message_event(THROW, "t", "paid", extensions=io(outputs={"a.b": "=1"}))
    game = play(line(event, messages={"paid": None})).create(a=1)
    assert (["t"], []) == (game.waiting, thrown(game))

    game.delete("a").resolve("t")

    assert (InstanceState.COMPLETED, 1) == (game.state, len(thrown(game)))
