"""The standard loop marker: how often an activity is done, and what passes out of its rounds."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from chalicelib.engine.commands import DeleteVariable, SetVariables
from chalicelib.engine.state import InstanceState, Variables
from chalicelib.profile import Profile
from tests.bpmn.models import line as line_of
from tests.bpmn.models import refusal_of
from tests.engine.models import (
    boundary,
    boundary_error,
    io,
    line,
    looped,
    many,
    process,
    receive,
    script,
    service,
    start,
    sub,
    task,
)
from tests.play import Play, play

COUNT = script("n", "n", "if n = null then 1 else n + 1")


def rounds(game: Play) -> int:
    return game.path.count("n") - 1  # one entry is the body's


@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize(
    ("condition", "maximum", "before", "done"),
    [
        (None, 3, False, 3),
        (None, 3, True, 3),
        ("n < 4", None, False, 4),
        ("n < 4", 2, False, 2),
        ("n = null or n < 4", None, True, 4),
        ("false", None, False, 1),
        ("loopCounter < 5", None, False, 5),
        ("loopCounter < 5", None, True, 5),
    ],
)
def test_an_activity_is_done_while_its_condition_holds_and_at_most_so_often(
    condition: str | None, maximum: int | None, before: bool, done: int, profile: Profile
) -> None:
    part = looped(COUNT, condition, maximum, before=before)
    game = play(line(part, task("t")), profile=profile).create()

    assert (done, done) == (rounds(game), game.variables["n"])
    assert (InstanceState.COMPLETED, 1) == (game.state, game.path.count("t"))
    assert [game.root.key] == [record.scope for record in game.records(Variables)]


def test_tested_before_it_may_be_done_not_at_all() -> None:
    game = play(line(looped(COUNT, "false", before=True), task("t"))).create()

    assert (0, InstanceState.COMPLETED) == (rounds(game), game.state)


def test_each_round_is_a_job_that_is_told_which() -> None:
    game = play(line(looped(service("a"), "more"))).create(more=True)
    seen = []
    for more in (True, True, False):
        seen.append(game.job("a").inputs["loopCounter"])
        game.set(more=more).complete("a")

    assert ([1, 2, 3], InstanceState.COMPLETED) == (seen, game.state)
    assert "loopCounter" not in game.variables


@pytest.mark.parametrize("profile", Profile)
def test_what_a_round_hands_on_is_seen_by_the_condition_and_by_what_follows(
    profile: Profile,
) -> None:
    part = looped(service("a", extensions=io(outputs={"more": "=again"})), "more")
    game = play(line(part, service("b")), profile=profile).create()
    game.complete("a", again=True).complete("a", again=False)

    assert (["b"], False) == (game.open_jobs, game.job("b").inputs["more"])


def test_a_subprocess_repeats_with_a_scope_for_each_round() -> None:
    inner = sub("s", start("si"), service("a"), service("b"), flows="si > a; si > b")
    game = play(line(looped(inner, None, 2), service("after"))).create()
    first = {job.scope for job in game.jobs}
    game.complete("a").complete("b")
    second = {job.scope for job in game.jobs}

    assert (1, 1, set()) == (len(first), len(second), first & second)
    assert ["after"] == game.complete("a").complete("b").open_jobs


def test_a_boundary_event_is_about_all_rounds_and_ends_them() -> None:
    parts = (start(), looped(service("a"), None, 9), boundary("late", "a", duration="PT10S"))
    xml = process(*parts, service("b"), flows="start > a; late > b")
    game = play(xml).create().wait(6).complete("a").wait(5)

    assert (["b"], ["b"], []) == (game.open_jobs, game.waiting, game.timers)


def test_an_error_in_a_round_is_caught_on_the_activity() -> None:
    parts = (start(), looped(service("a"), None, 9), boundary_error("e", "a"), service("b"))
    game = play(process(*parts, flows="start > a; e > b")).create().complete("a")

    assert ["b"] == game.fail("a", error_code="E").waiting


def test_a_condition_that_is_none_is_an_incident_that_can_be_mended() -> None:
    game = play(line(looped(COUNT, "go"), service("b"))).create()
    assert ["EXTRACT_VALUE_ERROR"] == [incident.error_type for incident in game.incidents]

    game.set(go=False).resolve()

    assert (["b"], 1) == (game.open_jobs, rounds(game))


@pytest.mark.parametrize("profile", Profile)
@pytest.mark.parametrize("counter", ["x", None, Decimal("1.5"), -1, Decimal("1E+6000"), True, [1]])
def test_a_counter_that_a_worker_broke_is_an_incident_that_can_be_mended(
    counter: Any, profile: Profile
) -> None:
    part = looped(service("a", extensions=io(outputs={"loopCounter": "=c"})), None, 2)
    game = play(line(part, service("b")), profile=profile).create().complete("a", c=counter)
    assert ["EXTRACT_VALUE_ERROR"] == [incident.error_type for incident in game.incidents]
    assert "loopCounter of a: expected a whole number" in game.incident().message
    (body,) = [each.key for each in game.root.live.values() if each.element_id == "a"]

    game.send(SetVariables({"loopCounter": Decimal(2)}, body)).resolve()

    assert (["b"], []) == (game.open_jobs, game.incidents)


def test_a_counter_that_was_deleted_is_an_incident() -> None:
    inner = sub("s", start("si"), service("a"), flows="si > a")
    game = play(line(looped(inner, None, 2))).create()
    body = next(each.key for each in game.root.live.values() if each.element_id == "s")

    game.send(DeleteVariable("loopCounter", body)).complete("a")

    assert ["EXTRACT_VALUE_ERROR"] == [incident.error_type for incident in game.incidents]


def test_cancelling_ends_the_round_that_runs() -> None:
    game = play(line(looped(service("a"), None, 3))).create().complete("a").cancel()

    assert (InstanceState.TERMINATED, []) == (game.state, game.open_jobs)


@pytest.mark.parametrize(
    ("marker", "problem"),
    [
        ("<standardLoopCharacteristics/>", "expected a loopCondition or a loopMaximum"),
        ('<standardLoopCharacteristics loopMaximum="0"/>', "expected a whole number from 1"),
        ('<standardLoopCharacteristics loopMaximum="x"/>', "expected a whole number from 1"),
        (
            "<standardLoopCharacteristics><loopCondition>= 1 +</loopCondition>"
            "</standardLoopCharacteristics>",
            "loopCondition",
        ),
    ],
)
def test_a_loop_without_an_end_is_refused(marker: str, problem: str) -> None:
    assert problem in refusal_of(line_of(f'<task id="a">{marker}</task>'))


def test_a_receive_task_waits_for_a_message_each_round() -> None:
    parts = (start(), looped(receive("a", "M"), None, 2), service("b"))
    game = play(
        process(*parts, flows="start > a > b", messages={"M": "=1"}), profile=Profile.PRIOSTACK
    )
    game.create().publish("M")
    assert [] == game.open_jobs

    assert ["b"] == game.publish("M").waiting


@pytest.mark.rule("P42")
@pytest.mark.parametrize(
    "marked",
    [
        many(task("a"), cardinality="=wanted"),
        many(task("a"), cardinality="=1", enough="=numberOfCompletedInstances >= wanted"),
        looped(task("a"), "wanted > loopCounter"),
        looped(task("a"), "wanted > loopCounter", before=True),
    ],
    ids=["cardinality", "completion condition", "loop condition", "loop condition before"],
)
def test_a_variable_that_is_not_there_is_why_it_cannot_be_said_how_often(marked: str) -> None:
    game = play(line(marked), profile=Profile.PRIOSTACK).create()

    assert "VARIABLE_MISSING" == game.incident("a").error_type
    assert "no variable wanted" in game.incident("a").message
    assert InstanceState.COMPLETED == game.set(wanted=1).resolve().state
