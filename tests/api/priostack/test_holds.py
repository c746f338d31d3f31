"""An activated job stays with its worker; its deadline is shown, and ends nothing."""

from __future__ import annotations

from threading import Thread
from typing import Any

import pytest

from chalicelib.operations import holds
from tests.api.client import Client
from tests.api.priostack.driver import (
    API,
    GONE,
    activate,
    cancel,
    complete,
    fail,
    incidents,
    jobs,
    one_task,
    start,
    state,
    unix_ms,
)
from tests.fakes.clock import ManualClock
from tests.operations.stage import Stage

TEN_MINUTES = 600.0


@pytest.mark.rule("P1", "P2")
def test_a_deadline_is_an_integer_five_minutes_after_the_activation(
    client: Client, clock: ManualClock
) -> None:
    start(client, one_task())
    clock.move(7)

    answer = client.get(f"{API}/jobs/activate?type=work")

    assert f'"deadline":{unix_ms(clock.now()) + 300_000},' in answer.text.replace(" ", "")


@pytest.mark.rule("P3")
def test_a_list_shows_no_deadline(client: Client) -> None:
    start(client, one_task())
    before = jobs(client)
    activate(client)

    assert [("pending", 0), ("active", 0)] == [
        (job["state"], job["deadline"]) for job in (*before, *jobs(client))
    ]


@pytest.mark.rule("P4", "P5", "P6")
def test_a_deadline_that_passes_changes_nothing(client: Client, stage: Stage) -> None:
    key = start(client, one_task())
    (job,) = activate(client)
    stage.wait(TEN_MINUTES)

    assert [] == activate(client)
    assert ("ACTIVE", []) == (state(client, key), incidents(client))
    assert (200, {}) == complete(client, job)
    assert "COMPLETED" == state(client, key)


@pytest.mark.rule("P7")
def test_a_failure_after_the_deadline_puts_the_job_back(client: Client, stage: Stage) -> None:
    start(client, one_task())
    (job,) = activate(client)
    stage.wait(TEN_MINUTES)

    assert (200, {}) == fail(client, job, retries=2)
    assert [(job["key"], 2)] == [(each["key"], each["retries"]) for each in activate(client)]


@pytest.mark.rule("P8", "P9")
def test_a_restart_lets_the_job_out_again(client: Client, stage: Stage) -> None:
    start(client, one_task())
    (job,) = activate(client)
    stage.clock.move(60)
    holds.release_holds(stage.ports)

    (again,) = activate(client)

    assert (job["key"], job["retries"]) == (again["key"], again["retries"])
    assert unix_ms(stage.clock.now()) + 300_000 == again["deadline"]


@pytest.mark.rule("P10")
def test_of_two_activations_at_once_one_gets_the_job(client: Client) -> None:
    start(client, one_task())
    got: list[Any] = []
    pollers = [Thread(target=lambda: got.extend(activate(client))) for _ in range(2)]
    for poller in pollers:
        poller.start()
    for poller in pollers:
        poller.join()

    assert 1 == len(got)


@pytest.mark.rule("P11", "P65")
def test_a_cancelled_instance_takes_its_job_along(client: Client) -> None:
    key = start(client, one_task())
    (job,) = activate(client)

    assert 200 == cancel(client, key)
    assert GONE == complete(client, job)
    assert "TERMINATED" == state(client, key)


@pytest.mark.rule("P12")
def test_a_timeout_that_is_asked_for_is_ignored(client: Client, clock: ManualClock) -> None:
    start(client, one_task())

    (job,) = activate(client, query="&timeout=1000")

    assert unix_ms(clock.now()) + 300_000 == job["deadline"]


@pytest.mark.rule("P29")
def test_a_job_stays_its_workers_until_it_is_failed(client: Client, stage: Stage) -> None:
    start(client, one_task())
    (job,) = activate(client)
    stage.wait(30)

    assert [] == activate(client)
    fail(client, job, retries=1)
    assert [job["key"]] == [each["key"] for each in activate(client)]


def test_an_answer_to_a_poll_is_never_stored(client: Client) -> None:
    answer = client.get(f"{API}/jobs/activate?type=nothing")

    assert "no-store" == answer.headers["Cache-Control"]


def test_a_poll_by_head_is_405(client: Client) -> None:
    answer = client.request("HEAD", f"{API}/jobs/activate?type=work")

    assert (405, "GET") == (answer.status, answer.headers["Allow"])


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", '"type" in query'),
        ("?type=", '"type" in query'),
        ("?type=a&maxJobs=0", "at least 1"),
        ("?type=a&maxJobs=101", "at most 100"),
        ("?type=a&requestTimeout=-1", "at least 0"),
        ("?type=a&requestTimeout=soon", "an invalid integer"),
    ],
)
def test_a_bad_poll_is_400(client: Client, query: str, words: str) -> None:
    answer = client.get(f"{API}/jobs/activate{query}")

    assert 400 == answer.status
    assert words in answer.json["error"]


def test_a_poll_waits_for_the_first_job_as_long_as_it_says(
    client: Client, clock: ManualClock
) -> None:
    began = clock.now()

    assert [] == activate(client, query="&requestTimeout=60000")
    assert 20 == (clock.now() - began).total_seconds()


def test_a_worker_sees_the_variables_it_asks_for(client: Client) -> None:
    start(client, one_task(), {"a": 1, "b": 2, "c": 3})

    (job,) = activate(client, query="&fetchVariables=a,c&worker=me")

    assert ({"a": 1, "c": 3}, "me") == (job["variables"], job["worker"])
