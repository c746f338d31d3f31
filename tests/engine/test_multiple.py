"""Events of several definitions: one is enough, or, if they are parallel, all are needed."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.engine.commands import BroadcastSignal, PublishMessage
from chalicelib.engine.effects import Send
from chalicelib.engine.state import InstanceState
from chalicelib.profile import Profile
from tests.bpmn.models import line as line_of
from tests.bpmn.models import refusal_of
from tests.engine.event_models import (
    boundary_escalation,
    escalation,
    event_sub_of,
    message,
    several,
    signal,
    timer,
)
from tests.engine.models import event_gateway, io, process, service, start, sub
from tests.play import Play, play

NAMES = {"messages": {"M": "=1"}, "signals": {"S": "go"}}
ANY = (message("M"), signal("S"), timer(duration="PT10S"))
ALL = 'parallelMultiple="true"'


def caught(*definitions: str, attributes: str = "", **variables: Any) -> Play:
    event = several("intermediateCatchEvent", "c", *definitions, attributes=attributes)
    xml = process(start(), event, service("a"), flows="start > c > a", **NAMES)
    return play(xml, profile=Profile.PRIOSTACK).create(variables)


@pytest.mark.parametrize("first", ["M", "go", "time"])
def test_the_first_of_several_lets_a_catch_event_go_on_and_the_others_close(first: str) -> None:
    game = caught(*ANY)
    assert (2, 1) == (len(game.subscriptions), len(game.timers))

    game.wait(11) if first == "time" else game.publish(first, x=1)

    assert (["a"], [], []) == (game.waiting, game.subscriptions, game.timers)


def test_a_parallel_one_needs_them_all_whatever_their_order() -> None:
    game = caught(*ANY, attributes=ALL).publish("go", x=1)
    assert (["c"], 1, 1) == (game.waiting, len(game.subscriptions), len(game.timers))
    game.wait(11)
    assert (["c"], []) == (game.waiting, game.timers)

    game.publish("M", y=2)

    assert (["a"], {"x": 1, "y": 2}) == (game.waiting, dict(game.variables))


def on_task(*definitions: str, attributes: str = "") -> Play:
    attributes = f'attachedToRef="a" {attributes}'
    event = several("boundaryEvent", "b", *definitions, attributes=attributes)
    late = several("boundaryEvent", "late", timer(duration="P1D"), attributes='attachedToRef="a"')
    parts = (start(), service("a"), event, late, service("after"))
    xml = process(*parts, flows="start > a; b > after", **NAMES)
    return play(xml, profile=Profile.PRIOSTACK).create()


@pytest.mark.parametrize("first", ["M", "go"])
def test_the_first_interrupts_an_activity(first: str) -> None:
    game = on_task(*ANY).publish(first)

    assert (["after"], [], []) == (game.waiting, game.subscriptions, game.timers)


def test_a_parallel_one_interrupts_when_all_came() -> None:
    game = on_task(*ANY, attributes=ALL).publish("go").wait(11)
    assert ["a"] == game.waiting

    assert ["after"] == game.publish("M").waiting


def test_one_that_does_not_interrupt_waits_on_for_each_of_them() -> None:
    cycle = timer(cycle="R/PT10S")
    game = on_task(message("M"), signal("S"), cycle, attributes='cancelActivity="false"')
    game.publish("go").publish("M").publish("go").wait(21)

    assert ["a", *["after"] * 5] == game.open_jobs
    assert (2, 2) == (len(game.subscriptions), len(game.timers))


def test_an_event_subprocess_is_triggered_by_the_first_or_by_all() -> None:
    for attributes, needed in (("", ["M"]), (ALL, ["M", "go"])):
        handler = event_sub_of("h", *ANY[:2], inside=service("m"), attributes=attributes)
        xml = process(start(), service("a"), handler, flows="start > a", **NAMES)
        game = play(xml, profile=Profile.PRIOSTACK).create()
        for name in needed:
            assert ["a"] == game.open_jobs
            game.publish(name)
        assert (["m"], []) == (game.open_jobs, game.subscriptions)
        assert InstanceState.COMPLETED == game.complete("m").state


def test_one_behind_an_event_based_gateway_closes_the_others_too() -> None:
    event = several("intermediateCatchEvent", "c", *ANY[:2])
    other = several("intermediateCatchEvent", "d", timer(duration="PT5S"))
    parts = (start(), event_gateway("g"), event, other, service("a"))
    xml = process(*parts, flows="start > g; g > c > a; g > d", **NAMES)
    game = play(xml, profile=Profile.PRIOSTACK).create().publish("go")

    assert (["a"], [], []) == (game.waiting, game.timers, game.subscriptions)


def test_all_are_thrown() -> None:
    thrown = several("intermediateThrowEvent", "t", *ANY[:2], escalation("escalation1"))
    inner = sub("s", start("si"), thrown, service("a"), flows="si > t > a")
    event = boundary_escalation("b", "s", interrupting=False)
    parts = (start(), inner, event, service("caught"))
    xml = process(*parts, flows="start > s; b > caught", errors={"escalation1": "X"}, **NAMES)
    game = play(xml, profile=Profile.PRIOSTACK)
    turn = game.create().turns[0]

    sent = [e.command for e in turn.effects if isinstance(e, Send)]
    assert [PublishMessage, BroadcastSignal] == [type(command) for command in sent]
    assert ["a", "caught"] == sorted(game.open_jobs)


@pytest.mark.parametrize(
    ("event", "what"),
    [
        (
            several(
                "intermediateCatchEvent",
                "a",
                timer(date="2030-01-01T00:00:00Z"),
                "<linkEventDefinition/>",
            ),
            "timerEventDefinition and linkEventDefinition in one intermediateCatchEvent",
        ),
        (
            several("endEvent", "a", "<terminateEventDefinition/>", signal("S")),
            "terminateEventDefinition and signalEventDefinition in one endEvent",
        ),
    ],
)
def test_what_cannot_be_in_one_event_is_refused(event: str, what: str) -> None:
    assert f"unsupported element type {what}" in refusal_of(line_of(event))


def test_what_came_first_is_kept_though_it_cannot_be_handed_on_yet() -> None:
    mapped = f"<extensionElements>{io(outputs={'a.b': '=x'})}</extensionElements>"
    game = caught(mapped, *ANY, a=5).publish("M", x=7)
    assert ([], []) == (game.subscriptions, game.timers)

    game.set(a={}).wait(10)
    assert ["a"] == game.resolve().open_jobs
    assert {"b": 7} == game.variables["a"]
