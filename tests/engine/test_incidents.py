"""Incidents: why one is opened, and what resolving takes up again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.engine.commands import (
    CompleteJob,
    CreateInstance,
    FireTimer,
    ResolveIncident,
    SetVariables,
)
from chalicelib.engine.draft import Given
from chalicelib.engine.effects import Ring, SetTimer
from chalicelib.engine.guards import Guard
from chalicelib.engine.incidents import limit_turn
from chalicelib.engine.keys import Keys
from chalicelib.engine.limits import DEFAULT_LIMITS, Limits
from chalicelib.engine.retries import set_by_operator
from chalicelib.engine.state import (
    Failure,
    Incident,
    Instance,
    InstanceState,
    Job,
    JobState,
    RecordKey,
    Stage,
)
from chalicelib.errors import Reason, Rejected
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


def failed(retries: str = "2", extensions: str = "") -> Play:
    """Return an instance whose job was handed out, failed, and waits for an operator."""
    xml = line(service("a", retries=retries, extensions=extensions), service("b"))
    game = play(xml).create(n=3)
    change(game, delivery_token=5)
    while game.jobs:
        game.fail("a", message="no", variables={"why": "so"})
    return game


def change(game: Play, **fields: Any) -> None:
    """Change the one job as a job-only write does."""
    assert game.instance is not None
    (job,) = game.records(Job)
    records = {**game.instance.records, RecordKey(Job, job.key): replace(job, **fields)}
    game.instance = Instance(game.root, records)


# --- a job's own -----------------------------------------------------------------------------


@pytest.mark.rule("R134", "R148", "R122")
def test_resolving_gives_the_job_a_fresh_series_and_rings() -> None:
    game = failed(retries="=n", extensions=io({"m": "=n * 2"}))
    assert {"n": 3, "m": 6} == next(game.records(Job)).inputs

    game.set(n=4).resolve()

    (job,) = game.jobs
    assert (4, 0, None, 5) == (job.retries, job.attempts, job.retry_at, job.delivery_token)
    assert ({"n": 4, "m": 8}, None) == (job.inputs, job.outputs)
    bell = Ring(job.key, "bpmn", "a", Profile.ZENBPM, job.ring, game.now)
    assert (bell,) == game.turns[-1].effects
    assert Guard.RESOLVE == game.turns[-1].guards[RecordKey(Job, job.key)]
    assert ([], 0, None) == (
        game.incidents,
        game.root.incident_count,
        game.root.live[job.element_key].incident,
    )
    assert 3 == len(list(game.records(Failure)))
    assert ["b"] == game.complete("a").open_jobs


@pytest.mark.rule("R122")
def test_attempts_are_counted_anew_after_a_resolve() -> None:
    game = failed(retries="1").resolve().fail("a", message="again")

    assert [1, 1] == [failure.attempt for failure in game.records(Failure)]
    assert [1, 2] == [failure.number for failure in game.records(Failure)]
    assert "1 attempt," in game.incident().message


@pytest.mark.rule("R135")
def test_an_error_nobody_caught_is_resolved_alike() -> None:
    game = play(line(service("a", retries="2"))).create()
    game.fail("a").fail("a", error_code="E", variables={"why": "so"}).resolve()

    (job,) = game.jobs
    assert (2, 0, None) == (job.retries, job.attempts, job.outputs)


@pytest.mark.rule("R136")
def test_retries_that_the_operator_set_since_are_kept_once() -> None:
    game = failed()
    (job,) = game.records(Job)
    later = game.now + HOUR
    change(
        game,
        **{
            f: getattr(set_by_operator(job, 7, later, game.now), f)
            for f in ("retries", "retry_at", "retries_set_by_operator", "ring", "ring_at")
        },
    )
    game.resolve()

    (job,) = game.jobs
    assert (7, later, False, later) == (
        job.retries,
        job.retry_at,
        job.retries_set_by_operator,
        job.ring_at,
    )


@pytest.mark.rule("R132")
def test_retries_set_on_an_active_job_are_forgotten_when_its_series_ends() -> None:
    game = play(line(service("a", retries="2"))).create()
    (job,) = game.jobs
    change(game, retries=1, retries_set_by_operator=True)
    game.fail("a").resolve()

    assert 2 == game.job("a").retries
    assert job.key == game.job("a").key


@pytest.mark.rule("R137")
def test_a_definition_that_no_longer_evaluates_refuses_and_says_the_way_out() -> None:
    game = failed(retries="=n").delete("n")

    found = refused(game)
    assert Reason.INVALID_STATE == found.reason
    assert "retries of a" in found.message
    assert "/resolve" in found.message
    assert 9 == game.resolve(retries=9).job("a").retries


@pytest.mark.rule("R138", "R139")
def test_the_requests_retries_beat_all_others() -> None:
    game = failed()
    change(game, retries=7, retries_set_by_operator=True, retry_at=game.now + 2 * HOUR)
    game.resolve(retries=9)
    assert (9, 0, None) == (game.job("a").retries, game.job("a").attempts, game.job("a").retry_at)

    other = failed()
    other.resolve(retries=9, retry_at=other.now + HOUR)
    assert other.now + HOUR == other.job("a").retry_at == other.job("a").ring_at


@pytest.mark.rule("R140", "R141")
@pytest.mark.parametrize(
    "request_",
    [
        {"retry_at_in": HOUR},
        {"retries": 0},
        {"retries": 101},
        {"retries": 1, "retry_at_in": 25 * HOUR},
    ],
)
def test_words_out_of_bounds_are_refused(request_: dict[str, Any]) -> None:
    game = failed()
    if (ahead := request_.pop("retry_at_in", None)) is not None:
        request_["retry_at"] = game.now + ahead

    assert Reason.INVALID_ARGUMENT == refused(game, **request_).reason


@pytest.mark.rule("R145")
def test_an_incident_is_resolved_once() -> None:
    game = failed()
    incident = game.incident()
    game.resolve()

    with pytest.raises(Rejected) as found:
        game.send(ResolveIncident(incident.key, retries=9))
    assert Reason.INVALID_STATE == found.value.reason
    assert 2 == game.job("a").retries


def test_an_incident_that_does_not_exist_is_not_found() -> None:
    game = failed()
    with pytest.raises(Rejected) as found:
        game.send(ResolveIncident(game.root.key + 99))
    assert Reason.NOT_FOUND == found.value.reason


# --- others ----------------------------------------------------------------------------------


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

    assert waiting == replace(play_on(game).resolve().job("a"))
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
    given = Given(game.now, Keys(root.blocks[-1], root.next_offset), DEFAULT_LIMITS)
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
