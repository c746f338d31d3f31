"""Events of several definitions among which are conditions, events that happen again and again
when all came, and what is thrown at one of several."""

from __future__ import annotations

import pytest

from chalicelib.engine.commands import CreateInstance
from chalicelib.engine.limits import Limits
from chalicelib.engine.state import InstanceState
from chalicelib.profile import Profile
from tests.engine.event_models import (
    conditional,
    error,
    escalation,
    escalation_throw,
    event_sub_of,
    message,
    several,
    signal,
    timer,
)
from tests.engine.models import end, error_end, event_gateway, process, service, start, sub
from tests.play import Play, play, to_json

NAMES = {"messages": {"M": "=1", "N": "=1"}, "signals": {"S": "go"}}
ALL = 'parallelMultiple="true"'
BESIDE = f'{ALL} cancelActivity="false"'


def playing(*parts: str, flows: str) -> Play:
    xml = process(*parts, flows=flows, errors={"E": "E", "escalation1": "F"}, **NAMES)
    return play(xml, profile=Profile.PRIOSTACK)


def on_task(*definitions: str, attributes: str = "") -> Play:
    event = several(
        "boundaryEvent", "b", *definitions, attributes=f'attachedToRef="a" {attributes}'
    )
    return playing(start(), service("a"), event, service("after"), flows="start > a; b > after")


# --- again and again when all came -------------------------------------


def test_one_that_goes_on_happens_each_time_that_all_came() -> None:
    game = on_task(message("M"), signal("S"), attributes=BESIDE).create()

    assert ["a"] == game.publish("M").open_jobs
    assert ["a", "after"] == game.publish("go").open_jobs
    assert ["a", "after"] == game.publish("go").open_jobs
    assert ["a", "after", "after"] == game.publish("M").open_jobs


def test_each_definition_is_counted_for_itself_and_none_is_lost() -> None:
    game = on_task(message("M"), signal("S"), attributes=BESIDE).create()
    for _ in range(3):
        game.publish("M")
    assert ["a"] == game.open_jobs

    for times in range(1, 4):
        assert ["a", *["after"] * times] == game.publish("go").open_jobs
    assert ["a", *["after"] * 3] == game.publish("go").open_jobs


def test_two_definitions_of_one_kind_are_not_taken_for_each_other() -> None:
    game = on_task(message("M"), message("N"), attributes=BESIDE).create()

    assert ["a"] == game.publish("M").publish("M").open_jobs
    assert ["a", "after"] == game.publish("N").open_jobs
    assert ["M", "N"] == sorted(each.name for each in game.subscriptions)


def test_a_cycle_counts_as_often_as_it_fires() -> None:
    game = on_task(message("M"), timer(cycle="R/PT10S"), attributes=BESIDE).create().wait(35)

    assert ["a", "after", "after"] == game.publish("M").publish("M").open_jobs


def test_an_event_subprocess_that_goes_beside_is_triggered_each_time_that_all_came() -> None:
    attributes = f'{ALL} isInterrupting="false"'
    handler = event_sub_of(
        "h", message("M"), signal("S"), inside=service("m"), attributes=attributes
    )
    game = playing(start(), service("a"), end(), handler, flows="start > a > end").create()

    game.publish("M").publish("go").publish("go").publish("M")

    assert ["a", "m", "m"] == sorted(game.open_jobs)
    assert InstanceState.COMPLETED == game.complete("m").complete("m").complete("a").state
    assert [] == game.subscriptions


def test_what_came_is_forgotten_with_the_activity() -> None:
    game = on_task(message("M"), signal("S"), attributes=BESIDE).create().publish("M")

    assert InstanceState.COMPLETED == game.complete("a").state
    assert [] == game.subscriptions


# --- conditions among several -------------------------------------


@pytest.mark.parametrize("first", ["condition", "message"])
def test_a_condition_can_be_the_first_of_several(first: str) -> None:
    event = several("intermediateCatchEvent", "c", message("M"), conditional("x > 1"))
    game = playing(start(), event, service("a"), flows="start > c > a").create(x=0)
    assert ["c"] == game.waiting

    game.set(x=2) if first == "condition" else game.publish("M")

    assert (["a"], []) == (game.waiting, game.subscriptions)


def test_a_condition_that_holds_on_entry_is_the_first_at_once() -> None:
    event = several("intermediateCatchEvent", "c", message("M"), conditional("x > 1"))
    game = playing(start(), event, service("a"), flows="start > c > a").create(x=2)

    assert (["a"], []) == (game.waiting, game.subscriptions)


def test_a_condition_that_came_true_once_is_one_of_all() -> None:
    event = several(
        "intermediateCatchEvent", "c", message("M"), conditional("x > 1"), attributes=ALL
    )
    game = playing(start(), event, service("a"), flows="start > c > a").create(x=0)

    assert ["c"] == game.publish("M").waiting
    assert ["a"] == game.set(x=2).waiting

    again = playing(start(), event, service("a"), flows="start > c > a").create(x=2)
    assert ["c"] == again.set(x=0).waiting
    assert ["a"] == again.publish("M").waiting


def test_a_boundary_event_happens_for_its_condition_and_for_its_message() -> None:
    game = on_task(message("M"), conditional("x > 1"), attributes='cancelActivity="false"')

    game.create(x=0).set(x=2).publish("M").set(x=3)

    assert ["a", *["after"] * 3] == game.open_jobs


def test_two_conditions_that_have_to_hold_need_not_hold_together() -> None:
    handler = event_sub_of(
        "h", conditional("x > 1"), conditional("y > 1"), inside=service("m"), attributes=ALL
    )
    game = playing(start(), service("a"), handler, flows="start > a").create(x=2, y=0)

    assert ["a"] == game.set(x=0).open_jobs
    assert ["m"] == game.set(y=2).open_jobs


def test_an_event_subprocess_inside_of_a_subprocess_sees_its_conditions_on_entry() -> None:
    handler = event_sub_of("h", message("M"), conditional("x > 1"), inside=service("m"))
    inner = sub("s", start("si"), service("a"), handler, flows="si > a")
    game = playing(start(), inner, flows="start > s")

    assert ["m"] == game.create(x=2).open_jobs
    assert [] == game.subscriptions


# --- behind an event-based gateway -------------------------------------


def behind(*events: str) -> Play:
    flows = "; ".join(["start > g", *(f"g > {n} > {n}a" for n in ("c", "d")[: len(events)])])
    tasks = [service(f"{n}a") for n in ("c", "d")[: len(events)]]
    return playing(start(), event_gateway("g"), *events, *tasks, flows=flows)


def test_a_condition_behind_a_gateway_wins_when_it_comes_true() -> None:
    condition = several("intermediateCatchEvent", "c", conditional("x > 1"))
    other = several("intermediateCatchEvent", "d", message("M"))
    game = behind(condition, other).create(x=0)
    assert (["g"], 1) == (game.waiting, len(game.subscriptions))

    assert (["ca"], []) == (game.set(x=2).waiting, game.subscriptions)
    assert "g" in game.path
    assert "c" in game.path


def test_a_condition_behind_a_gateway_that_holds_wins_at_once_the_first_of_them() -> None:
    first = several("intermediateCatchEvent", "c", conditional("x > 1"))
    second = several("intermediateCatchEvent", "d", conditional("x > 0"))

    assert ["ca"] == behind(first, second).create(x=2).waiting
    assert ["da"] == behind(first, second).create(x=1).waiting


def test_another_event_wins_before_a_condition() -> None:
    condition = several("intermediateCatchEvent", "c", conditional("x > 1"))
    other = several("intermediateCatchEvent", "d", message("M"))
    game = behind(condition, other).create(x=0).publish("M")

    assert ["da"] == game.waiting
    assert ["da"] == game.set(x=2).waiting


def test_one_that_needs_all_wins_behind_a_gateway_when_all_came() -> None:
    both = several(
        "intermediateCatchEvent", "c", message("M"), conditional("x > 1"), attributes=ALL
    )
    other = several("intermediateCatchEvent", "d", timer(duration="PT1M"))
    game = behind(both, other).create(x=0).publish("M")
    assert (["g"], []) == (game.waiting, game.subscriptions)

    assert (["ca"], []) == (game.set(x=2).waiting, game.timers)

    late = behind(both, other).create(x=0).publish("M").wait(61)
    assert ["da"] == late.waiting
    assert ["da"] == late.set(x=2).waiting


# --- what is thrown -------------------------------------


def test_an_error_can_be_one_of_several_on_a_boundary() -> None:
    game = on_task(message("M"), error("E")).create()

    assert (["after"], []) == (game.fail("a", error_code="E").waiting, game.subscriptions)
    assert ["after"] == on_task(message("M"), error("E")).create().publish("M").waiting


def test_an_error_can_be_one_of_several_that_trigger_an_event_subprocess() -> None:
    handler = event_sub_of("h", message("M"), error("E"), inside=service("m"))
    parts = (start(), service("a"), error_end("x", "E"), handler)
    game = playing(*parts, flows="start > a > x").create()

    assert (["m"], []) == (game.complete("a").open_jobs, game.subscriptions)


def test_an_escalation_can_be_one_of_several_beside() -> None:
    thrown = escalation_throw("t", "escalation1")
    inner = sub("s", start("si"), thrown, service("a"), flows="si > t > a")
    attributes = 'attachedToRef="s" cancelActivity="false"'
    event = several("boundaryEvent", "b", escalation("escalation1"), message("M"))
    event = event.replace('id="b" ', f'id="b" {attributes} ')
    game = playing(start(), inner, event, service("after"), flows="start > s; b > after").create()

    assert ["a", "after"] == sorted(game.open_jobs)
    assert ["a", "after", "after"] == sorted(game.publish("M").open_jobs)


# --- that start an instance -------------------------------------


def started(*definitions: str, at: str = "e", attributes: str = "", **variables: object) -> Play:
    event = several("startEvent", "e", *definitions, attributes=attributes)
    game = playing(event, service("a"), flows="e > a")
    command = CreateInstance(1, 1, Profile.PRIOSTACK, to_json(variables), caught_at=at)
    return game.send(command)


def test_any_of_several_starts_an_instance_with_what_came() -> None:
    game = started(message("M"), signal("S"), conditional("x > 1"), x=2)

    assert (["a"], {"x": 2}, []) == (game.waiting, dict(game.variables), game.subscriptions)


@pytest.mark.parametrize("moves_max", [1, 100])
def test_the_first_of_all_starts_an_instance_that_waits_for_the_others(moves_max: int) -> None:
    event = several("startEvent", "e", message("M"), message("N"), attributes=ALL)
    xml = process(event, service("a"), flows="e > a", messages={"M": "=k", "N": "=k"})
    game = play(xml, profile=Profile.PRIOSTACK, limits=Limits(moves_max=moves_max))
    command = CreateInstance(
        1, 1, Profile.PRIOSTACK, to_json({"k": "7", "y": 1}), caught_at="e", message="N"
    )
    game.send(command)
    assert ["e"] == game.waiting
    assert [("M", "7")] == [(each.name, each.correlation_key) for each in game.subscriptions]

    game.publish("M", x=1)

    assert (["a"], {"k": "7", "x": 1, "y": 1}) == (game.waiting, dict(game.variables))
    assert ["e", "a"] == game.path


def test_a_start_that_cannot_wait_for_the_others_does_when_its_key_is_mended() -> None:
    event = several("startEvent", "e", message("M"), message("N"), attributes=ALL)
    xml = process(event, service("a"), flows="e > a", messages={"M": "=k", "N": "=k"})
    game = play(xml, profile=Profile.PRIOSTACK)
    game.send(CreateInstance(1, 1, Profile.PRIOSTACK, {}, caught_at="e", message="N"))
    assert ["VARIABLE_MISSING"] == [each.error_type for each in game.incidents]

    game.set(k="7").resolve("e")

    assert ["M"] == [each.name for each in game.subscriptions]
    assert ["a"] == game.publish("M").waiting
