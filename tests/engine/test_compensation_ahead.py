"""Compensation that is asked for and not waited for: `waitForCompletion="false"`."""

from __future__ import annotations

import pytest

from chalicelib.bpmn import codec
from chalicelib.engine.commands import ModifyInstance
from chalicelib.engine.state import InstanceState, Stage
from chalicelib.engine.turn import Entered, Left
from chalicelib.profile import Profile
from chalicelib.store import execution
from tests.engine.event_models import compensation_end, compensation_throw, undone
from tests.engine.models import (
    boundary,
    inclusive,
    io,
    parallel,
    process,
    service,
    start,
    sub,
)
from tests.play import Play, load, play

A = undone(service("a"), service("undo_a"))
B = undone(service("b"), service("undo_b"))
AHEAD = compensation_throw("c").replace(
    "<compensateEventDefinition", '<compensateEventDefinition waitForCompletion="false"'
)


def line(*more: str, flows: str = "start > a > c > after") -> Play:
    return play(process(start(), A, AHEAD, service("after"), *more, flows=flows)).create()


def test_the_token_goes_on_while_the_handlers_run() -> None:
    game = line().complete("a")

    assert ["after", "undo_a"] == sorted(game.open_jobs)
    assert InstanceState.ACTIVE == game.complete("after").state
    assert ["c", "undo_a"] == game.waiting
    assert InstanceState.COMPLETED == game.complete("undo_a").state


def test_it_may_end_before_its_token_does() -> None:
    game = line().complete("a").complete("undo_a")

    assert ["after"] == game.waiting
    assert InstanceState.COMPLETED == game.complete("after").state


def test_with_nothing_to_undo_it_is_passed() -> None:
    game = line(flows="start > c > after")

    assert ["after"] == game.waiting
    assert InstanceState.COMPLETED == game.complete("after").state


def test_it_is_entered_and_left_once() -> None:
    game = line().complete("a").complete("undo_a").complete("after")
    events = [event for turn in game.turns for event in turn.history]
    (entered,) = [e.key for e in events if isinstance(e, Entered) and e.element_id == "c"]

    assert 1 == sum(isinstance(e, Left) and e.key == entered for e in events)


def test_its_scope_waits_for_the_handlers() -> None:
    inner = sub("s", start("si"), A, AHEAD, flows="si > a > c")
    game = play(process(start(), inner, service("after"), flows="start > s > after")).create()
    game.complete("a")

    assert ["s", "c", "undo_a"] == game.waiting
    assert ["after"] == game.complete("undo_a").waiting


def test_it_is_interrupted_with_its_handlers() -> None:
    inner = sub("s", start("si"), A, AHEAD, service("d"), flows="si > a > c > d")
    late = boundary("late", "s", duration="PT5S")
    xml = process(start(), inner, late, service("after"), flows="start > s; late > after")
    game = play(xml).create().complete("a").wait(5)

    assert ["after"] == game.open_jobs


def test_an_inclusive_join_does_not_wait_for_a_token_that_has_gone() -> None:
    parts = (start(), parallel("f"), A, AHEAD, B, inclusive("j"), service("after"))
    game = play(process(*parts, flows="start > f; f > a > c > j; f > b > j; j > after")).create()
    game.complete("a").complete("b")

    assert ["undo_a", "after"] == game.open_jobs


def test_what_it_maps_is_set_when_its_token_goes_on() -> None:
    mapped = AHEAD.replace(
        '<intermediateThrowEvent id="c">',
        '<intermediateThrowEvent id="c"><extensionElements>'
        f"{io(outputs={'asked': '=1 + n'})}</extensionElements>",
    )
    xml = process(start(), A, mapped, service("after"), flows="start > a > c > after")
    game = play(xml).create(n=1).complete("a")

    assert 2 == game.job("after").inputs["asked"]


def test_a_flow_that_cannot_be_chosen_is_an_incident_before_anything_is_undone() -> None:
    game = line(flows="start > a > c; c > after: go").complete("a")

    assert (Stage.ENTERING, []) == (game.incident("c").stage, game.open_jobs)
    game.set(go=True).resolve("c")
    assert ["after", "undo_a"] == sorted(game.open_jobs)


def test_an_end_event_has_no_token_to_let_go() -> None:
    over = compensation_end("c").replace(
        "<compensateEventDefinition", '<compensateEventDefinition waitForCompletion="false"'
    )
    made = load(process(start(), A, over, flows="start > a > c"), Profile.ZENBPM)

    assert not made.elements["c"].goes_ahead
    assert InstanceState.COMPLETED == play(made).create().complete("a").complete("undo_a").state


@pytest.mark.parametrize("element", ["c", "after"])
def test_withdrawing_one_of_the_two_leaves_the_other(element: str) -> None:
    game = line().complete("a")
    key = next(e.key for e in game.root.live.values() if e.element_id == element)

    game.send(ModifyInstance(terminate=(key,)))

    assert [("undo_a" if element == "after" else "after")] == game.open_jobs
    game.complete(game.open_jobs[0])
    assert InstanceState.COMPLETED == game.state


def test_it_is_read_back_as_it_was_written() -> None:
    game = line().complete("a")
    made, root = game.process, game.root

    assert made.elements["c"].goes_ahead
    assert made == codec.from_json(codec.to_json(made))
    again = execution.from_text(execution.to_text(root), root.key, root.created_at)
    assert root.live == again["live"]
