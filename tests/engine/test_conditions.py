"""Conditional events: when a condition is evaluated, and what happens when it holds."""

from __future__ import annotations

import pytest

from chalicelib.engine.limits import Limits
from chalicelib.engine.state import InstanceState
from chalicelib.profile import Profile
from tests.bpmn.models import line as line_of
from tests.bpmn.models import parsed, refusal_of
from tests.engine.event_models import (
    boundary_condition,
    conditional,
    conditional_catch,
)
from tests.engine.models import (
    end,
    event_sub,
    io,
    line,
    looped,
    process,
    script,
    service,
    start,
    sub,
    task,
)
from tests.play import Play, play


def on_task(*args: str, interrupting: bool = True, **variables: object) -> Play:
    event = boundary_condition("b", "a", *args, interrupting=interrupting)
    parts = (start(), service("a"), event, service("after"), end())
    return play(process(*parts, flows="start > a > end; b > after")).create(variables)


def test_a_catch_event_goes_on_at_once_if_its_condition_holds() -> None:
    game = play(line(conditional_catch("c", "x > 1"), service("a"))).create(x=2)

    assert (["a"], ["start", "c", "a"]) == (game.waiting, game.path)


@pytest.mark.parametrize("profile", Profile)
def test_a_catch_event_waits_until_its_condition_holds(profile: Profile) -> None:
    game = play(line(conditional_catch("c", "x > 1"), service("a")), profile=profile).create(x=0)
    assert ["c"] == game.waiting
    assert ["c"] == game.set(x=1).waiting

    assert ["a"] == game.set(x=2).waiting


def test_what_is_not_there_yet_is_not_true() -> None:
    game = play(line(conditional_catch("c", "x > 1"), service("a"))).create()

    assert (["c"], []) == (game.waiting, game.incidents)
    assert ["a"] == game.set(x=2).waiting


def test_a_boundary_event_interrupts_when_its_condition_comes_true() -> None:
    game = on_task("x > 1", x=0)
    assert ["a"] == game.open_jobs

    assert ["after"] == game.set(x=2).waiting


def test_a_boundary_event_whose_condition_holds_interrupts_at_once() -> None:
    assert ["after"] == on_task("x > 1", x=2).waiting


def test_one_that_does_not_interrupt_happens_at_each_change_that_finds_it_true() -> None:
    game = on_task("x > 1", interrupting=False, x=0).set(x=2).set(y=1).set(x=1).set(x=3)

    assert ["a", "after", "after"] == game.open_jobs


def test_it_happens_once_in_a_command_that_changes_variables_again() -> None:
    event = boundary_condition("b", "a", "x > 0", interrupting=False)
    parts = (start(), service("a"), event, script("s", "x", "x + 1"))
    game = play(process(*parts, flows="start > a; b > s")).create(x=0).set(x=1)

    assert (1, 2) == (game.path.count("b"), game.variables["x"])
    assert 2 == game.set(x=5).path.count("b")


def test_a_job_that_changes_a_variable_lets_a_condition_elsewhere_come_true() -> None:
    mapped = service("b", extensions=io(outputs={"x": "=y"}))
    event = boundary_condition("e", "a", "x > 1")
    parts = (start(), service("a"), event, mapped, service("after"))
    game = (
        play(process(*parts, flows="start > a; start > b; e > after")).create().complete("b", y=2)
    )

    assert ["after"] == game.open_jobs


@pytest.mark.parametrize(
    ("names", "changes", "happens"),
    [
        ("x", None, True),
        ("y", None, False),
        ("y, x", "update", True),
        ("x", "create", False),
        ("x", "create, update", True),
    ],
)
def test_a_filter_narrows_the_changes_that_count(
    names: str, changes: str | None, happens: bool
) -> None:
    game = on_task("x > 1", names, changes or "", x=0).set(x=2)

    assert (["after"] if happens else ["a"]) == game.open_jobs


def test_a_filter_can_ask_for_a_variable_that_is_made() -> None:
    assert ["after"] == on_task("x > 1", "x", "create").set(x=2).open_jobs


@pytest.mark.parametrize("profile", Profile)
def test_an_event_subprocess_of_the_process_is_triggered_by_a_condition(profile: Profile) -> None:
    handler = event_sub("h", conditional("x > 1"), service("m"), flows="h_start > m")
    game = play(process(start(), service("a"), handler, flows="start > a"), profile=profile)
    game.create(x=0).set(x=2)

    assert (["m"], ["h", "m"]) == (game.open_jobs, game.waiting)
    assert ["m"] == game.set(x=3).open_jobs
    assert InstanceState.COMPLETED == game.complete("m").state


def test_an_event_subprocess_whose_condition_holds_starts_with_its_scope() -> None:
    handler = event_sub("h", conditional("x > 1"), service("m"), flows="h_start > m")
    inner = sub("s", start("si"), service("a"), handler, flows="si > a")

    assert ["m"] == play(process(start(), inner, flows="start > s")).create(x=2).open_jobs
    top = process(start(), service("a"), handler, flows="start > a")
    assert ["m"] == play(top).create(x=2).open_jobs


def test_one_that_does_not_interrupt_runs_beside_and_the_instance_ends() -> None:
    handler = event_sub(
        "h", conditional("x > 1"), service("m"), flows="h_start > m", interrupting=False
    )
    game = play(process(start(), service("a"), handler, flows="start > a")).create(x=0)
    game.set(x=2).set(x=3)

    assert ["a", "m", "m"] == game.open_jobs
    game.complete("m").complete("m").complete("a")
    assert InstanceState.COMPLETED == game.state


def test_the_outermost_comes_first_and_ends_what_is_inside() -> None:
    handler = event_sub("h", conditional("x > 1"), service("m"), flows="h_start > m")
    inner = sub(
        *("s", start("si"), service("a"), boundary_condition("b", "a", "x > 1"), service("late")),
        flows="si > a; b > late",
    )
    game = play(process(start(), inner, handler, flows="start > s"), profile=Profile.PRIOSTACK)

    assert ["m"] == game.create(x=0).set(x=2).open_jobs
    assert "b" not in game.path


def test_at_most_one_condition_interrupts_a_scope() -> None:
    one = event_sub("one", conditional("x > 1"), service("m1"), flows="one_start > m1")
    two = event_sub("two", conditional("x > 0"), service("m2"), flows="two_start > m2")
    game = play(process(start(), service("a"), one, two, flows="start > a")).create(x=0)

    assert ["m1"] == game.set(x=2).open_jobs
    assert ["m1"] == game.set(x=1).open_jobs


def test_a_deleted_variable_is_a_change() -> None:
    assert ["after"] == on_task("x = null", x=1).delete("x").open_jobs


@pytest.mark.parametrize("moves_max", [1, 2, 300])
def test_a_condition_comes_true_in_bounded_turns_too(moves_max: int) -> None:
    event = boundary_condition("b", "a", "x > 1")
    parts = (start(), service("a"), event, script("s", "x", "5"), task("t"), service("after"))
    flows = "start > a; start > s > t; b > after"
    game = play(process(*parts, flows=flows), limits=Limits(moves_max=moves_max)).create()

    assert ["after"] == game.open_jobs


def test_a_repeated_round_is_interrupted_on_its_activity() -> None:
    event = boundary_condition("b", "a", "x")
    parts = (start(), looped(service("a"), None, 5), event, service("after"))
    game = play(process(*parts, flows="start > a; b > after")).create(x=False).complete("a")

    assert ["after"] == game.set(x=True).waiting


def test_a_condition_is_read_with_its_filter() -> None:
    event = f'<intermediateCatchEvent id="a">{conditional("x", "x, y", "update")}'
    element = parsed(line_of(event + "</intermediateCatchEvent>")).elements["a"]

    assert element.condition is not None
    assert (("x", "y"), False, True) == (
        *(element.condition.names, element.condition.creates),
        element.condition.updates,
    )


@pytest.mark.parametrize(
    ("definition", "problem"),
    [
        ("<conditionalEventDefinition/>", "expected a condition, found none"),
        (conditional("1 +"), "condition"),
        (conditional("x", "x", "destroy"), "variableEvents: expected create, update or both"),
    ],
)
def test_a_condition_that_is_none_is_refused(definition: str, problem: str) -> None:
    event = f'<intermediateCatchEvent id="a">{definition}</intermediateCatchEvent>'

    assert problem in refusal_of(line_of(event))
