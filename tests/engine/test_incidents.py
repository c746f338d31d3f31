"""Incidents: why one is opened, and what resolving takes up again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.engine.commands import (
    CompleteJob,
    Continue,
    CreateInstance,
    FireTimer,
    SetVariables,
)
from chalicelib.engine.draft import Given
from chalicelib.engine.effects import SetTimer
from chalicelib.engine.guards import Guard
from chalicelib.engine.incidents import limit_turn
from chalicelib.engine.keys import Keys
from chalicelib.engine.limits import DEFAULT_LIMITS, Limits
from chalicelib.engine.state import (
    Incident,
    InstanceState,
    Job,
    JobState,
    RecordKey,
    Stage,
)
from chalicelib.errors import Reason, Rejected
from chalicelib.feel.moment import Moment
from chalicelib.profile import Profile
from tests.engine.models import (
    boundary,
    boundary_error,
    catch,
    end,
    exclusive,
    io,
    line,
    parallel,
    process,
    script,
    service,
    start,
    sub,
    task,
)
from tests.play import Play, play, to_json

HOUR = timedelta(hours=1)


def refused(game: Play, **request: Any) -> Rejected:
    before = game.instance
    with pytest.raises(Rejected) as caught:
        game.resolve(**request)
    assert before is game.instance
    return caught.value


@pytest.mark.rule("R142")
def test_retries_for_an_incident_without_a_job_are_refused() -> None:
    game = play(line(service("a", "=type"))).create()

    assert Reason.INVALID_ARGUMENT == refused(game, retries=3).reason


@pytest.mark.rule("R143", "R144")
def test_an_incident_that_the_waiting_job_did_not_raise_lets_it_be_or_sets_its_retries() -> None:
    xml = process(
        *(start(), service("a", retries="5"), boundary("late", "a", duration="=wait"), task("t")),
        flows="start > a; late > t",
    )
    game = play(xml).create().fail("a", backoff=HOUR)
    waiting = game.job("a")
    game.set(wait="PT1H")

    assert waiting == play_on(game).resolve().job("a")
    changed = game.resolve(retries=9).job("a")
    assert (9, 1, True, None) == (
        changed.retries,
        changed.attempts,
        changed.retries_set_by_operator,
        changed.retry_at,
    )
    assert Guard.SET_RETRIES == game.turns[-1].guards[RecordKey(Job, changed.key)]


def play_on(game: Play) -> Play:
    """Return a second world that goes on from here."""
    other = Play(game.process, game.profile, game.limits, game.now)
    other.instance = game.instance
    return other


def test_a_gateway_without_a_way_is_an_incident_and_tries_again() -> None:
    xml = process(
        *(start(), exclusive("x"), service("a"), service("b")),
        flows="start > x; x > a: n > 5; x > b: n < 0",
    )
    game = play(xml).create(n=3)

    (incident,) = game.incidents
    assert ("CONDITION_ERROR", "x", Stage.LEAVING) == (
        incident.error_type,
        incident.element_id,
        incident.stage,
    )
    assert incident.message.startswith(
        "No default flow, nor matching expressions found, for flow elements: "
    )
    assert ["x"] == game.waiting
    assert ["a"] == game.set(n=9).resolve().open_jobs
    assert 1 == game.path.count("x")


@pytest.mark.parametrize("condition", ["n", "n + 1", "null", '"true"'])
def test_a_condition_that_is_no_boolean_is_an_incident(condition: str) -> None:
    xml = process(
        *(start(), exclusive("x", "x-b"), service("a"), service("b")),
        flows=f"start > x; x > b; x > a: {condition}",
    )
    game = play(xml).create(n=3)

    assert "EXTRACT_VALUE_ERROR" == game.incident("x").error_type
    assert "condition of flow x-a: expected a boolean, found" in game.incident("x").message


def test_a_condition_out_of_an_activity_tries_again_without_its_work() -> None:
    xml = process(
        *(start(), service("a", extensions=io({}, {"n": "=n"})), service("b")),
        flows="start > a; a > b: n > 5",
    )
    game = play(xml).create().complete("a", n=1)

    assert ("CONDITION_ERROR", {"n": 1}) == (game.incident("a").error_type, game.variables)
    assert [JobState.COMPLETED] == [job.state for job in game.records(Job)]
    assert ["b"] == game.set(n=7).resolve().open_jobs
    with pytest.raises(AssertionError):
        game.job("a")


def test_resolving_what_is_not_mended_opens_the_incident_again() -> None:
    game = play(line(service("a", "=type"))).create()
    first = game.incident().key
    game.resolve()

    (second,) = game.incidents
    assert (first != second.key, 1) == (True, game.root.incident_count)
    assert ["start", "a"] == game.path
    assert ["a"] == game.set(type="t").resolve().open_jobs


def test_a_subprocess_whose_outputs_fail_waits_with_its_variables() -> None:
    mapped = io({}, {"x": "=assert(y, y != null)"})
    inner = sub("s", start("si"), task("t"), flows="si > t", extensions=mapped)
    xml = line(inner, service("after"))
    game = play(xml, profile=Profile.PRIOSTACK).create()

    assert ("s", "IO_MAPPING_ERROR") == (game.incident().element_id, game.incident().error_type)
    assert ["after"] == game.set(y=1).resolve().open_jobs
    assert 1 == game.variables["x"]


def test_what_a_boundary_event_caught_waits_with_its_incident() -> None:
    mapped = io({}, {"x": "=assert(y, y != null) + z"})
    xml = process(
        *(start(), service("a"), boundary_error("b", "a", extensions=mapped), service("after")),
        flows="start > a; b > after",
    )
    game = play(xml, profile=Profile.PRIOSTACK).create()
    game.fail("a", error_code="E", variables={"z": 10})

    assert "b" == game.incident().element_id
    game.set(y=1).resolve()
    assert (["after"], 11) == (game.open_jobs, game.variables["x"])


# --- limits ----------------------------------------------------------------------------------


def test_an_instance_that_runs_on_and_on_is_halted_by_one_incident() -> None:
    xml = process(
        *(start(), exclusive("again"), parallel("f"), task("a"), task("b"), service("c")),
        flows="start > again > f > a > again; f > b; f > c",
    )
    game = play(xml, limits=Limits(max_elements=50)).create()

    (incident,) = game.incidents
    assert "EXECUTION_LIMIT" == incident.error_type
    assert "more than 50 elements (cluster.engine.maxElementExecutionCount)" in incident.message
    assert 51 == game.root.element_count
    assert InstanceState.ACTIVE == game.state
    game.send(SetVariables(to_json({"x": 1})))  # commands pass all the same
    assert 51 == game.root.element_count
    assert InstanceState.TERMINATED == game.cancel().state


def test_resolving_lets_a_halted_instance_run_as_far_again() -> None:
    xml = process(
        *(start(), script("a", "i", "i + 1"), exclusive("x", "x-end"), end()),
        flows="start > a > x; x > a: i < 30; x > end",
    )
    game = play(xml, limits=Limits(max_elements=40)).create(i=0)
    assert 1 == len(game.incidents)

    assert InstanceState.COMPLETED == game.resolve().state
    assert 30 == game.variables["i"]


def limited(game: Play, command: Any) -> Play:
    """Take the turn that opens an incident in place of one that would be too large."""
    assert game.instance is not None
    root = game.root
    given = Given(Moment(game.now), Keys(root.blocks[-1], root.next_offset), DEFAULT_LIMITS)
    turn = limit_turn(game.process, game.instance, command, "too much", given)
    game.instance = turn.after
    game.turns.append(turn)
    return game


def test_a_move_that_would_go_too_far_is_stopped_and_the_others_go_on() -> None:
    xml = process(
        *(start(), script("a", "x", "1"), service("b"), service("c")),
        flows="start > a; start > b; start > c",
    )
    game = play(xml, limits=Limits(moves_max=1))
    game.turn(CreateInstance(1, 1, game.profile, {}))
    assert [("a", 0), ("start", 1)] == [(m.element_id, m.position) for m in game.root.agenda[::-1]]

    limited(game, None)

    incident = game.incident("a")
    assert ("SIZE_LIMIT", "too much") == (incident.error_type, incident.message)
    game.limits = DEFAULT_LIMITS
    game.set(y=1)
    assert ["b", "c"] == game.open_jobs
    game.resolve("a")
    assert 1 == game.variables["x"]


def test_a_command_that_would_go_too_far_stops_its_element() -> None:
    game = play(line(service("a"))).create()
    key = game.job("a").key

    limited(game, CompleteJob(key))

    assert ("a", None) == (game.incident().element_id, game.incident().job_key)
    assert ["a"] == game.open_jobs
    assert ["a"] == game.resolve().open_jobs
    assert InstanceState.COMPLETED == game.complete("a").state


def test_a_timer_that_would_go_too_far_is_owed_again_by_the_resolve() -> None:
    game = play(line(catch("c", duration="PT1S"))).create()
    timer = game.timers[0]
    game.now = timer.due
    limited(game, FireTimer(timer.key, timer.due))
    limited(game, FireTimer(timer.key, timer.due))
    assert 1 == len(game.incidents)

    game.resolve()

    assert (SetTimer(game.root.key, timer.key, timer.due, game.root.version),) == game.turns[
        -1
    ].effects
    assert InstanceState.COMPLETED == game.wait(0).state


def test_incidents_say_where_they_are() -> None:
    game = play(line(service("a", "=type"))).create()

    (incident,) = game.records(Incident)
    element = game.root.live[incident.element_key]
    assert (game.root.key, "a", incident.key) == (
        incident.instance_key,
        element.element_id,
        element.incident,
    )


def test_a_move_into_a_join_is_never_stopped() -> None:
    xml = process(
        *(start(), parallel("f"), task("a"), service("b"), parallel("j"), service("c")),
        flows="start > f > a > j > c; f > b > j",
    )
    game = play(xml, limits=Limits(moves_max=3))
    game.turn(CreateInstance(1, 1, game.profile, {}))
    assert ["f", "j"] == [move.element_id for move in game.root.agenda]

    limited(game, None)

    assert ["b"] == [incident.element_id for incident in game.incidents]
    assert (["start", "f", "a", "b"], ["f-b"]) == (game.path, game.flows[-1:])
    assert ["c"] == game.send(Continue()).resolve().complete("b").open_jobs
