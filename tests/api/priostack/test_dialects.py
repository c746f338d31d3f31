"""One store, three dialects: each keeps what it promised, whoever else is there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.operations import holds
from tests.api import driver as zenbpm
from tests.api.client import Client
from tests.api.priostack import driver as priostack
from tests.api.priostack.driver import API, GONE, one_task
from tests.api.priostack.test_timers import model as late
from tests.operations.stage import Stage

HOUR = 3_600.0
BACKOFF = 'retries="5" retryBackoff="PT1M"'


def elsewhere(client: Client, **body: Any) -> list[Any]:
    """Activate as a worker of ZenBPM."""
    return zenbpm.activate(client, **body)


@pytest.mark.rule("X1")
def test_retries_are_those_of_the_api_it_was_deployed_through(client: Client) -> None:
    here = priostack.start(client, one_task())
    there = zenbpm.create(client, one_task())

    assert [3, 1] == [zenbpm.the_job(client, key)["retries"] for key in (here, there)]


@pytest.mark.rule("X2")
def test_a_failure_that_says_nothing_means_what_its_api_says(client: Client) -> None:
    xml = one_task(definition='retries="2"')
    here, there = (priostack.start(client, xml) for _ in range(2))
    first, second = (zenbpm.the_job(client, key) for key in (here, there))

    assert (200, {}) == priostack.fail(client, first)
    assert 204 == zenbpm.fail(client, second["key"]).status
    assert ["INCIDENT", "ACTIVE"] == [priostack.state(client, key) for key in (here, there)]
    assert 1 == zenbpm.job(client, second["key"])["retries"]


@pytest.mark.rule("X3")
def test_what_was_activated_here_is_not_handed_out_there(client: Client, stage: Stage) -> None:
    priostack.start(client, one_task())
    (job,) = priostack.activate(client)
    stage.wait(HOUR)

    assert [] == elsewhere(client)
    held = client.post(f"/v1/jobs/{job['key']}/claim", {"clientId": "b"})
    assert (409, "held") == (held.status, held.json["reason"])
    priostack.fail(client, job, retries=1)
    assert [job["key"]] == [each["key"] for each in elsewhere(client)]


@pytest.mark.rule("X4")
def test_what_is_locked_there_is_handed_out_here_when_the_lock_has_lapsed(
    client: Client, stage: Stage
) -> None:
    priostack.start(client, one_task())
    (job,) = elsewhere(client, lockDuration="PT30S")
    stage.wait(25)

    assert [] == priostack.activate(client)
    assert ["active"] == [each["state"] for each in priostack.jobs(client)]
    stage.wait(10)
    assert [job["key"]] == [each["key"] for each in priostack.activate(client)]


@pytest.mark.rule("X5")
def test_an_incident_called_resolved_here_is_resolved_there(client: Client) -> None:
    key = priostack.start(client, one_task())
    (job,) = priostack.activate(client)
    priostack.fail(client, job)
    (incident,) = priostack.incidents(client)
    priostack.patch(client, incident["id"])

    (still_open,) = zenbpm.incidents(client, key)
    assert incident["id"] == still_open["key"]
    assert 201 == zenbpm.resolve(client, incident["id"]).status
    assert "ACTIVE" == priostack.state(client, key)
    assert [job["key"]] == [each["key"] for each in priostack.activate(client)]


@pytest.mark.rule("X6")
def test_a_completed_job_is_completed_again_there_and_gone_here(client: Client) -> None:
    priostack.start(client, one_task())
    (job,) = priostack.activate(client)
    priostack.complete(client, job)

    assert 201 == zenbpm.complete(client, job["key"]).status
    assert GONE == priostack.complete(client, job)


@pytest.mark.rule("X7")
def test_a_failure_of_an_older_delivery_is_refused(client: Client, stage: Stage) -> None:
    priostack.start(client, one_task())
    (old,) = elsewhere(client, lockDuration="PT10S")
    stage.wait(11)
    (job,) = priostack.activate(client)
    before = zenbpm.job(client, job["key"])

    answer = zenbpm.fail(client, job["key"], deliveryToken=old["deliveryToken"])

    assert (409, before) == (answer.status, zenbpm.job(client, job["key"]))
    assert old["deliveryToken"] + 1 == before["deliveryToken"]


@pytest.mark.rule("X8")
def test_a_restart_frees_what_is_held_here_and_locked_there(client: Client, stage: Stage) -> None:
    priostack.start(client, one_task("p"))
    (held,) = priostack.activate(client)
    priostack.started(client, "p")
    (locked,) = elsewhere(client, lockDuration="PT1H")

    freed = holds.release(stage.ports, holds.held(stage.ports, with_locks=True))

    again = priostack.activate(client)
    assert 2 == freed
    assert [held["key"], locked["key"]] == [each["key"] for each in again]
    assert [3, 3] == [each["retries"] for each in again]
    assert [0, 0] == [zenbpm.job(client, each["key"])["attempts"] for each in again]


def test_what_was_handed_out_since_is_not_freed(client: Client, stage: Stage) -> None:
    priostack.start(client, one_task())
    (job,) = priostack.activate(client)
    held = holds.held(stage.ports, with_locks=True)
    priostack.fail(client, job, retries=2)
    priostack.activate(client)

    assert 0 == holds.release(stage.ports, held)
    assert ["active"] == [each["state"] for each in priostack.jobs(client)]


@pytest.mark.rule("X9")
def test_a_failure_here_waits_for_no_backoff_of_the_model(client: Client) -> None:
    priostack.start(client, one_task(definition=BACKOFF))
    (job,) = priostack.activate(client)
    priostack.fail(client, job, retries=4)

    assert [job["key"]] == [each["key"] for each in priostack.activate(client)]


def test_a_failure_here_ends_a_pause_and_a_lock_from_there(client: Client) -> None:
    priostack.start(client, one_task(definition=BACKOFF))
    (job,) = elsewhere(client)
    assert 204 == zenbpm.fail(client, job["key"], deliveryToken=1).status
    assert [] == priostack.activate(client)

    priostack.fail(client, job, retries=4)
    (again,) = elsewhere(client, lockDuration="PT1H")
    priostack.fail(client, job, retries=3)

    assert [(again["key"], 3)] == [
        (each["key"], each["retries"]) for each in priostack.activate(client)
    ]


def test_a_failure_from_there_ends_a_hold(client: Client, stage: Stage) -> None:
    priostack.start(client, one_task())
    (job,) = priostack.activate(client)

    assert 204 == zenbpm.fail(client, job["key"], retryBackoff="PT10S").status
    assert [] == priostack.activate(client)
    stage.wait(11)
    assert [job["key"]] == [each["key"] for each in priostack.activate(client)]


@pytest.mark.rule("X10")
def test_a_withdrawn_job_is_gone_here_and_over_there(client: Client, stage: Stage) -> None:
    priostack.start(client, late())
    (job,) = priostack.activate(client)
    stage.wait(31)

    assert GONE == priostack.complete(client, job)
    assert 409 == zenbpm.complete(client, job["key"]).status


@pytest.mark.rule("X11")
def test_scheduled_jobs_of_the_same_name_never_meet_these(client: Client, stage: Stage) -> None:
    call = {"name": "work", "type": "http", "url": "https://shop.example/drain"}
    scheduled = client.post("/scheduler/v1/jobs", call)
    assert 201 == scheduled.status, scheduled.text
    client.post(f"/scheduler/v1/jobs/{scheduled.json['id']}/trigger")

    assert [] == [*priostack.activate(client), *priostack.activate(client, "http")]
    assert [] == elsewhere(client)
    priostack.start(client, one_task())
    assert 1 == len(priostack.activate(client))
    assert 0 == client.get(f"/scheduler/v1/jobs/{scheduled.json['id']}/invocations").json["total"]


def test_dialects_that_are_kept_apart_do_not_meet(client: Client, stage: Stage) -> None:
    stage.ports = replace(stage.ports, settings=replace(stage.ports.settings, cross_dialect=False))
    priostack.start(client, one_task())
    zenbpm.create(client, one_task())

    here, there = priostack.activate(client), elsewhere(client)

    assert [1, 1] == [len(here), len(there)]
    assert here[0]["key"] != there[0]["key"]
    assert ([], []) == (priostack.activate(client), elsewhere(client))
    by_key = client.post(f"/v1/jobs/{here[0]['key']}/claim", {"clientId": "b"})
    assert 404 == by_key.status


def test_dialects_meet_unless_they_are_kept_apart(client: Client) -> None:
    zenbpm.create(client, one_task())

    (job,) = priostack.activate(client)

    assert 1 == job["retries"]
    assert (200, {}) == priostack.complete(client, job)
    assert ["COMPLETED"] == [
        each["state"] for each in client.get(f"{API}/process-instances").json["items"]
    ]
