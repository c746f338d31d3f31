"""Resolving the incident of a job: a fresh series of attempts (contracts/zenbpm.md 2 M)."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from chalicelib.engine.commands import (
    ResolveIncident,
)
from chalicelib.engine.effects import Ring
from chalicelib.engine.guards import Guard
from chalicelib.engine.retries import set_by_operator
from chalicelib.engine.state import (
    Failure,
    Instance,
    InstanceState,
    Job,
    JobState,
    RecordKey,
)
from chalicelib.errors import Reason, Rejected
from chalicelib.profile import Profile
from tests.engine.models import (
    ad_hoc,
    boundary,
    boundary_message,
    io,
    line,
    message_catch,
    process,
    receive,
    service,
    start,
    sub,
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
    records = {**game.instance.records, RecordKey(Job, job.key): job._replace(**fields)}
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


@pytest.mark.rule("R147")
@pytest.mark.parametrize("state", [JobState.ACTIVE, JobState.COMPLETED, JobState.TERMINATED])
def test_an_incident_whose_job_does_not_wait_is_refused(state: JobState) -> None:
    game = failed()
    change(game, state=state)

    refusal = refused(game)

    assert Reason.INVALID_STATE == refusal.reason
    assert "does not wait" in refusal.message


@pytest.mark.rule("R147")
def test_of_jobs_in_one_scope_the_one_the_incident_names_starts_again() -> None:
    xml = process(start(), service("a"), service("b"), flows="start > a; start > b")
    game = play(xml).create()
    for what in ("a", "b"):
        game.fail(what)

    game.resolve("b")

    assert (["b"], ["a"]) == (game.open_jobs, [each.element_id for each in game.incidents])


def test_a_job_that_failed_while_its_timers_were_not_set_has_them_set_by_the_resolve() -> None:
    xml = line(service("a"), boundary("late", "a", duration="=d"))
    game = play(xml).create(d="soon")
    game.fail("a")
    (incident,) = game.incidents
    assert ("a", True, []) == (incident.element_id, incident.is_unarmed, game.timers)

    game.resolve()  # the duration is wrong still

    (incident,) = game.incidents
    assert (["a"], None) == (game.open_jobs, incident.job_key)
    game.set(d="PT1H").resolve()
    assert ([], ["late"]) == (game.incidents, [timer.element_id for timer in game.timers])


def test_variables_of_a_resolve_are_set_where_its_element_sees_them() -> None:
    inner = sub("s", start("in"), service("a", retries="=n"), flows="in > a")
    game = play(line(inner)).create(n="many")

    game.resolve(variables={"n": Decimal(2)})

    (job,) = game.jobs
    assert (2, {"n": "many"}) == (job.retries, game.variables)
    assert {"n": 2} == game.variables_of(job.scope)


@pytest.mark.parametrize("profile", list(Profile))
def test_a_subprocess_that_is_to_complete_sees_them_before_what_it_has(profile: Profile) -> None:
    mapped = io({"n": "=text"}, {"seen": "=assert(n, n = 2)"})
    inner = sub("s", start("si"), service("a"), flows="si > a", extensions=mapped)
    game = play(line(inner), profile=profile).create(text="two").complete("a")
    game.resolve("s", variables=to_json({"n": 2}))

    assert {"text": "two", "seen": 2} == game.variables


MAPPED = io({"got": "=1"}, {"seen": "=assert(n, n = 2)", "had": "=got"})


@pytest.mark.parametrize("profile", list(Profile))
def test_they_come_instead_of_what_a_job_gave_under_their_names(profile: Profile) -> None:
    game = play(line(service("a", extensions=MAPPED), service("b")), profile=profile).create()
    game.complete("a", n="two").resolve("a", variables=to_json({"n": 2, "got": 3}))

    assert ["b"] == game.open_jobs
    assert (2, 3) == (game.variables["seen"], game.variables["had"])


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("kind", ["catch", "receive", "boundary"])
def test_they_come_instead_of_what_was_caught_under_their_names(
    profile: Profile, kind: str
) -> None:
    mapped = io(outputs={"seen": "=assert(n, n = 2)"})
    parts = [message_catch("c", "m", extensions=mapped)]
    if kind == "receive":
        parts = [receive("c", "m", extensions=mapped)]
    elif kind == "boundary":
        event = boundary_message("c", "a", "m")
        parts = [
            service("a"),
            event.replace(">", f"><extensionElements>{mapped}</extensionElements>", 1),
        ]
    xml = process(
        *(start(), *parts, service("b")),
        flows="start > a; c > b" if kind == "boundary" else "start > c > b",
        messages={"m": "=k"},
    )
    game = play(xml, profile=profile).create(k="k")
    game.publish("m", n="two").resolve("c", variables=to_json({"n": 2}))

    assert ["b"] == game.open_jobs
    assert 2 == game.variables["seen"]


@pytest.mark.parametrize("profile", list(Profile))
def test_an_ad_hoc_subprocess_sees_them_too(profile: Profile) -> None:
    box = ad_hoc("h", service("a"), active='["a"]', until="enough")
    game = play(line(box), profile=profile).create().complete("a")
    game.resolve("h", variables={"enough": True})

    assert InstanceState.COMPLETED == game.state


def test_variables_of_a_resolve_that_is_refused_are_not_set() -> None:
    game = failed()
    before = game.variables

    refused(game, variables={"n": Decimal(2)}, retries=0)

    assert before == game.variables
