"""Escalations: thrown on the way or at an end, caught by whoever is around, or by nobody."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chalicelib.engine.state import InstanceState
from tests.engine.event_models import (
    boundary_escalation,
    escalation,
    escalation_end,
    escalation_throw,
    several,
    signal,
)
from tests.engine.models import (
    end,
    event_sub,
    line,
    process,
    service,
    start,
    sub,
)
from tests.play import Play, play

X = {"escalation1": "X-1", "escalation2": "X-2"}
THROWING = sub(
    *("s", start("si"), escalation_throw("up", "escalation1"), service("a"), end("se")),
    flows="si > up > a > se",
)
ENDING = sub(
    *("s", start("si"), service("a"), escalation_end("up", "escalation1")),
    flows="si > a > up",
)


def around(inner: str, *events: str, flows: str) -> Play:
    parts = (start(), inner, *events, service("after"), service("caught"), service("other"))
    return play(process(*parts, flows=f"start > s > after; {flows}", errors=X)).create()


def test_one_that_nobody_catches_passes_on() -> None:
    game = play(line(escalation_throw("up", "escalation1"), service("a"), errors=X)).create()

    assert (["a"], []) == (game.open_jobs, game.incidents)
    assert (
        InstanceState.COMPLETED
        == play(process(start(), escalation_end("up", "escalation1"), flows="start > up", errors=X))
        .create()
        .state
    )


def test_a_boundary_event_interrupts_what_it_is_on() -> None:
    game = around(THROWING, boundary_escalation("b", "s"), flows="b > caught")

    assert (["caught"], ["caught"]) == (game.open_jobs, game.waiting)


def test_a_boundary_event_that_does_not_interrupt_sends_a_token_beside() -> None:
    beside = boundary_escalation("b", "s", interrupting=False)
    game = around(THROWING, beside, flows="b > caught")

    assert ["a", "caught"] == sorted(game.open_jobs)
    assert ["after", "caught"] == sorted(game.complete("a").open_jobs)


@pytest.mark.parametrize("interrupting", [True, False])
def test_an_end_event_throws_and_ends(interrupting: bool) -> None:
    event = boundary_escalation("b", "s", interrupting=interrupting)
    game = around(ENDING, event, flows="b > caught").complete("a")

    expected = ["caught"] if interrupting else ["after", "caught"]
    assert expected == sorted(game.open_jobs)


def test_the_event_that_names_the_code_comes_before_the_one_that_catches_all() -> None:
    events = (boundary_escalation("b1", "s"), boundary_escalation("b2", "s", "escalation1"))
    assert ["caught"] == around(THROWING, *events, flows="b1 > other; b2 > caught").open_jobs


def test_another_code_is_not_caught() -> None:
    event = boundary_escalation("b", "s", "escalation2")
    assert ["a"] == around(THROWING, event, flows="b > caught").open_jobs


def test_an_event_subprocess_of_the_scope_comes_before_a_boundary_event_on_it() -> None:
    handler = event_sub("h", escalation(), service("m"), flows="h_start > m")
    inner = THROWING.replace("</subProcess>", handler + "</subProcess>")
    game = around(inner, boundary_escalation("b", "s"), flows="b > caught")

    assert (["m"], ["s", "h", "m"]) == (game.open_jobs, game.waiting)
    assert ["after"] == game.complete("m").open_jobs


def test_it_is_caught_scopes_further_out() -> None:
    middle = sub("m", start("mi"), THROWING, flows="mi > s")
    parts = (start(), middle, boundary_escalation("b", "m", "escalation1"), service("caught"))
    game = play(process(*parts, flows="start > m; b > caught", errors=X)).create()

    assert ["caught"] == game.waiting


@pytest.mark.parametrize("throws", [escalation_throw, escalation_end])
def test_its_code_may_be_computed(throws: Callable[[str, str], str]) -> None:
    inner = sub("s", start("si"), throws("up", "escalation2"), flows="si > up")
    caught = boundary_escalation("b", "s", "escalation1")
    codes = {"escalation1": "X-1", "escalation2": '="X-" + string(n)'}
    parts = (start(), inner, caught, service("after"), service("caught"))
    xml = process(*parts, flows="start > s > after; b > caught", errors=codes)

    assert ["caught"] == play(xml).create(n=1).open_jobs
    assert ["after"] == play(xml).create(n=2).open_jobs


def test_one_among_several_that_are_thrown_may_have_a_computed_code() -> None:
    thrown = several("intermediateThrowEvent", "up", escalation("escalation2"), signal("s1"))
    inner = sub("s", start("si"), thrown, flows="si > up")
    caught = boundary_escalation("b", "s", "escalation1")
    xml = process(
        *(start(), inner, caught, service("after"), service("caught")),
        flows="start > s > after; b > caught",
        errors={"escalation1": "X-1", "escalation2": "=code"},
        signals={"s1": "go"},
    )

    game = play(xml).create()
    assert "EXTRACT_VALUE_ERROR" == game.incident("up").error_type
    game.resolve(variables={"code": "X-1"})
    assert ["caught"] == game.open_jobs
