"""Event subprocesses: what triggers one, what it ends, and what catches what it throws."""

from __future__ import annotations

import pytest

from chalicelib.engine.state import InstanceState, Job, JobState
from chalicelib.profile import Profile
from tests.engine.models import (
    boundary_error,
    end,
    error,
    error_end,
    escalation,
    escalation_end,
    escalation_throw,
    event_sub,
    inclusive,
    io,
    line,
    parallel,
    process,
    service,
    start,
    sub,
    task,
)
from tests.play import play

E = {"e1": "E-1", "e2": "E-2"}
X = {"escalation1": "X-1"}


def test_an_error_triggers_the_event_subprocess_of_its_scope_and_ends_all_else_there() -> None:
    handler = event_sub("h", error(), service("mend"), flows="h_start > mend")
    xml = process(*(start(), service("a"), service("b"), handler), flows="start > a; start > b")
    game = play(xml).create().fail("a", error_code="E-9")

    assert (["h", "mend"], ["mend"]) == (game.waiting, game.open_jobs)
    assert JobState.TERMINATED == next(job for job in game.records(Job)).state
    assert InstanceState.COMPLETED == game.complete("mend").state


def test_an_error_that_names_its_code_comes_before_one_that_catches_all() -> None:
    one = event_sub("one", error(), service("any"), flows="one_start > any")
    two = event_sub("two", error("e1"), service("exact"), flows="two_start > exact")
    game = play(
        line(service("a"), errors=E).replace(b"</process>", (one + two + "</process>").encode())
    )

    assert ["exact"] == game.create().fail("a", error_code="E-1").open_jobs


def test_a_boundary_event_on_the_activity_comes_before_an_event_subprocess() -> None:
    handler = event_sub("h", error("e1"), service("mend"), flows="h_start > mend")
    parts = (start(), service("a"), boundary_error("b", "a"), service("here"), handler)
    game = play(process(*parts, flows="start > a; b > here", errors=E)).create()

    assert ["here"] == game.fail("a", error_code="E-1").open_jobs


def test_what_an_event_subprocess_throws_is_caught_further_out_and_not_beside_it() -> None:
    """Row 52 of the known ways to get it wrong."""
    first = event_sub("one", error("e1"), error_end("again", "e2"), flows="one_start > again")
    second = event_sub("two", error("e2"), service("beside"), flows="two_start > beside")
    inner = sub("s", start("si"), service("a"), first, second, flows="si > a")
    parts = (start(), inner, boundary_error("b", "s", "e2"), service("outside"))
    game = play(process(*parts, flows="start > s; b > outside", errors=E)).create()

    game.fail("a", error_code="E-1")

    assert (["outside"], ["outside"]) == (game.open_jobs, game.waiting)


def test_an_error_in_an_event_subprocess_that_nobody_catches_is_an_incident_and_keeps_the_job() -> (
    None
):
    """Row 53 of the known ways to get it wrong."""
    handler = event_sub("h", error(), service("mend"), flows="h_start > mend")
    game = play(process(start(), service("a"), handler, flows="start > a")).create()
    game.fail("a", error_code="E").fail("mend", error_code="F")

    assert ["UNHANDLED_ERROR_EVENT"] == [incident.error_type for incident in game.incidents]
    assert [JobState.TERMINATED, JobState.FAILED] == [job.state for job in game.records(Job)]
    assert InstanceState.COMPLETED == game.resolve().complete("mend").state


def test_an_event_subprocess_starts_though_a_join_waits() -> None:
    """Row 7 of the known ways to get it wrong."""
    handler = event_sub("h", error(), service("mend"), flows="h_start > mend")
    parts = (start(), parallel("f"), service("a"), service("b"), parallel("j"), end(), handler)
    game = play(process(*parts, flows="start > f; f > a > j; f > b > j; j > end")).create()
    game.complete("a")
    assert {} != game.root.joins

    game.fail("b", error_code="E")

    assert (["mend"], {}) == (game.open_jobs, game.root.joins)
    assert InstanceState.COMPLETED == game.complete("mend").state


def test_a_join_inside_an_event_subprocess_looks_at_its_own_scope() -> None:
    """Row 8 of the known ways to get it wrong."""
    handler = event_sub(
        *("h", escalation(), inclusive("f"), service("a"), service("b"), inclusive("j"), task("t")),
        flows="h_start > f; f > a: x; f > b; a > j; b > j; j > t",
        interrupting=False,
    )
    parts = (start(), escalation_throw("up", "escalation1"), service("main"), handler)
    game = play(process(*parts, flows="start > up > main", errors=X)).create(x=True)
    assert ["a", "b", "main"] == sorted(game.open_jobs)

    game.complete("a")
    assert "t" not in game.path
    game.complete("b")

    assert (["main"], 1) == (game.waiting, game.path.count("t"))
    assert InstanceState.COMPLETED == game.complete("main").state


def test_one_that_does_not_interrupt_runs_beside_as_often_as_it_is_triggered() -> None:
    handler = event_sub("h", escalation(), service("m"), flows="h_start > m", interrupting=False)
    parts = (
        start(),
        escalation_throw("one", "escalation1"),
        escalation_throw("two", "escalation1"),
    )
    game = play(process(*parts, service("a"), handler, flows="start > one > two > a", errors=X))
    game.create()

    assert ["a", "m", "m"] == sorted(game.open_jobs)
    game.complete("a").complete("m")
    assert InstanceState.COMPLETED == game.complete("m").state


@pytest.mark.parametrize("profile", Profile)
def test_what_came_with_the_event_is_its_own(profile: Profile) -> None:
    handler = event_sub(
        *("h", error(), service("m")),
        flows="h_start > m",
        extensions=io(outputs={"seen": "=why"}),
    )
    game = play(
        line(service("a")).replace(b"</process>", (handler + "</process>").encode()),
        profile=profile,
    )
    game.create(x=1).fail("a", error_code="E", variables={"why": "late"})

    assert "late" == game.job("m").inputs["why"]
    assert "late" == game.job("m").inputs["seen"]
    assert "why" not in game.variables


def test_one_in_a_subprocess_ends_just_what_is_in_there() -> None:
    handler = event_sub("h", error("e1"), service("mend"), flows="h_start > mend")
    inner = sub("s", start("si"), service("a"), service("b"), handler, flows="si > a; si > b")
    parts = (start(), inner, service("c"), service("after"))
    game = play(process(*parts, flows="start > s > after; start > c", errors=E)).create()

    game.fail("a", error_code="E-1")
    assert ["c", "mend"] == sorted(game.open_jobs)
    assert ["after", "c"] == sorted(game.complete("mend").open_jobs)


def test_an_escalation_end_event_inside_an_event_subprocess_is_caught_outside() -> None:
    handler = event_sub("h", error(), escalation_end("x", "escalation1"), flows="h_start > x")
    outer = event_sub("o", escalation(), service("m"), flows="o_start > m", interrupting=False)
    inner = sub("s", start("si"), service("a"), handler, flows="si > a")
    parts = (start(), inner, service("after"), outer)
    game = play(process(*parts, flows="start > s > after", errors=X)).create()

    game.fail("a", error_code="E")

    assert ["after", "m"] == sorted(game.open_jobs)
