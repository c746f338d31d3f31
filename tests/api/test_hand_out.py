"""Jobs are handed out over HTTP: by type, or one by its key."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.json_text import JsonObject
from chalicelib.ports import Ports
from tests.api.client import Client
from tests.api.driver import activate, create, job, one_task
from tests.fakes.clock import ManualClock


@pytest.mark.rule("R19", "R22", "R107")
def test_an_activated_job_carries_all_that_a_worker_needs(client: Client) -> None:
    key = create(client, one_task(), {"a": 1})

    answer = client.post("/v1/jobs/activate", {"type": "work", "clientId": "me"})

    assert (200, "application/json") == (answer.status, answer.headers["Content-Type"])
    assert "me" == answer.json["clientId"]
    (work,) = answer.json["jobs"]
    assert {
        "key": work["key"],
        "instanceKey": key,
        "type": "work",
        "elementId": "task",
        "elementType": "SERVICE_TASK",
        "variables": {"a": 1},
        "headers": {},
        "retries": 1,
        "attempt": 1,
        "deliveryToken": 1,
        "lockUntil": "2026-03-02T09:00:30.000Z",
        "createdAt": "2026-03-02T09:00:00.000Z",
    } == work


def test_a_client_without_a_name_is_given_one_and_waits_a_moment(client: Client) -> None:
    answer = client.post("/v1/jobs/activate", {"type": "nobody has it"})

    assert (200, []) == (answer.status, answer.json["jobs"])
    assert answer.json["clientId"]


def test_one_job_is_handed_out_unless_more_are_asked_for(client: Client) -> None:
    for _ in range(3):
        create(client, one_task())

    assert 1 == len(client.post("/v1/jobs/activate", {"type": "work"}).json["jobs"])
    assert 2 == len(client.post("/v1/jobs/activate", {"type": "work", "maxJobs": 100}).json["jobs"])


@pytest.mark.rule("R22", "R23")
@pytest.mark.parametrize(
    ("asked", "until"),
    [
        ("PT0S", "2026-03-02T09:00:30.000Z"),
        ("PT5M", "2026-03-02T09:05:00.000Z"),
        ("P7D", "2026-03-03T09:00:00.000Z"),
    ],
)
def test_a_lock_is_as_long_as_asked_up_to_the_cap(client: Client, asked: str, until: str) -> None:
    create(client, one_task())

    (work,) = activate(client, lockDuration=asked)

    assert until == work["lockUntil"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, 'property "type" is missing'),
        ({"type": ""}, "minimum string length is 1"),
        ({"type": 7}, "value must be a string"),
        ({"type": "work", "maxJobs": 0}, "number must be at least 1"),
        ({"type": "work", "maxJobs": 101}, "number must be at most 100"),
        ({"type": "work", "lockDuration": "5 minutes"}, "ISO-8601"),
        ({"type": "work", "waitFor": "PT21S"}, "duration must be at most PT20S"),
        ({"type": "work", "clientId": ""}, "minimum string length is 1"),
        ({"type": "work", "clientId": "a", "maxActiveJobs": -1}, "number must be at least 0"),
        ({"type": "work", "maxActiveJobs": 3}, 'property "clientId" is missing'),
        ({"type": "work", "requestId": ""}, "minimum string length is 1"),
        ({"type": "work", "jobType": "x"}, 'property "jobType" is unsupported'),
    ],
)
def test_a_bad_activation_is_400(client: Client, body: Any, words: str) -> None:
    answer = client.post("/v1/jobs/activate", body)

    assert 400 == answer.status
    assert words in answer.json["message"]


def test_activation_ends_at_once_when_asked_to_stop(client: Client, clock: ManualClock) -> None:
    clock.stop()

    answer = client.post("/v1/jobs/activate", {"type": "work", "waitFor": "PT20S"})

    assert (200, [], []) == (answer.status, answer.json["jobs"], clock.slept)


def test_no_more_is_handed_out_than_can_be_answered(client: Client) -> None:
    for _ in range(30):
        create(client, one_task(), {"a": "x" * 300_000})

    handed_out = [len(activate(client, maxJobs=100)) for _ in range(3)]

    assert [10, 10, 10] == handed_out


@pytest.mark.rule("R24", "R25")
def test_a_client_that_names_a_cap_holds_no_more_jobs_of_a_type(client: Client) -> None:
    for _ in range(12):
        create(client, one_task())

    handed_out = [
        len(activate(client, clientId=name, maxActiveJobs=most))
        for name, most in [("a", 2), ("a", 2), ("b", 0), ("b", 0)]
    ]

    assert [2, 0, 10, 0] == handed_out


def test_a_repeated_activation_answers_the_same_jobs_for_the_same_client(client: Client) -> None:
    for _ in range(3):
        create(client, one_task())
    body: JsonObject = {"type": "work", "maxJobs": 2, "requestId": "r1"}

    first, again = [client.post("/v1/jobs/activate", body).json for _ in range(2)]

    assert 2 == len(first["jobs"])
    assert first == again


# --- by key ------------------------------------------------------------------------------------


def bell_of(ports: Ports) -> str:
    """Take the one bell that is visible, as a mapping of the queue would."""
    (queue,) = ports.queues.names()
    (received,) = ports.queues.receive(queue, 10, 30, 0)
    return received.body


def test_a_job_is_claimed_by_its_bell(client: Client, ports: Ports) -> None:
    create(client, one_task(), {"a": 1})
    bell = bell_of(ports)
    key = int(bell.split('"job":')[1].split(",")[0])

    answer = client.post(f"/v1/jobs/{key}/claim", {"clientId": "me", "bell": bell})

    assert 200 == answer.status
    assert (key, {"a": 1}, 1) == tuple(
        answer.json[name] for name in ("key", "variables", "deliveryToken")
    )


def test_a_repeated_claim_is_200_again_with_the_same_delivery(client: Client, ports: Ports) -> None:
    create(client, one_task(), {"a": 1})
    bell = bell_of(ports)
    key = int(bell.split('"job":')[1].split(",")[0])
    body: JsonObject = {"clientId": "me", "bell": bell, "requestId": "r1"}

    first, again = [client.post(f"/v1/jobs/{key}/claim", body) for _ in range(2)]

    assert (200, first.json) == (again.status, again.json)


def test_a_held_job_is_409_and_says_until_when_and_for_whom(client: Client) -> None:
    create(client, one_task())
    (work,) = activate(client, clientId="first")

    answer = client.post(f"/v1/jobs/{work['key']}/claim", {"clientId": "second"})

    assert 409 == answer.status
    assert {
        "code": "CONFLICT",
        "message": answer.json["message"],
        "reason": "held",
        "clientId": "first",
        "until": "2026-03-02T09:00:30.000Z",
    } == answer.json


def test_a_waiting_job_is_409_and_says_until_when(client: Client) -> None:
    create(client, one_task(definition='retries="3"'))
    (work,) = activate(client)
    client.post(f"/v1/jobs/{work['key']}/fail", {"deliveryToken": 1, "retryBackoff": "PT1H"})

    answer = client.post(f"/v1/jobs/{work['key']}/claim", {"clientId": "me"})

    assert 409 == answer.status
    assert ("waiting", "2026-03-02T10:00:00.000Z") == (answer.json["reason"], answer.json["until"])
    assert "clientId" not in answer.json


def test_an_ended_job_is_409(client: Client) -> None:
    create(client, one_task())
    (work,) = activate(client)
    client.post(f"/v1/jobs/{work['key']}/complete", {})

    answer = client.post(f"/v1/jobs/{work['key']}/claim", {"clientId": "me"})

    assert (409, "ended") == (answer.status, answer.json["reason"])


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, 'property "clientId" is missing'),
        ({"clientId": "me", "bell": 7}, "value must be a string"),
        ({"clientId": "me", "bell": "no bell"}, ""),
        ({"clientId": "me", "lockDuration": "soon"}, "ISO-8601"),
        ({"clientId": "me", "more": 1}, 'property "more" is unsupported'),
    ],
)
def test_a_bad_claim_is_400_and_takes_nothing(client: Client, body: Any, words: str) -> None:
    create(client, one_task())
    (work,) = activate(client)

    answer = client.post(f"/v1/jobs/{work['key']}/claim", body)

    assert 400 == answer.status
    assert words in answer.json["message"]
    assert 1 == job(client, work["key"])["deliveryToken"]


def test_a_bell_of_another_job_is_400(client: Client, ports: Ports) -> None:
    create(client, one_task())
    bell = bell_of(ports)

    answer = client.post("/v1/jobs/77/claim", {"clientId": "me", "bell": bell})

    assert 400 == answer.status
