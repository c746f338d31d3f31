"""Instances are started, shown in four states, changed and cancelled; jobs carry variables."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Client
from tests.api.priostack.driver import (
    API,
    GONE,
    activate,
    cancel,
    complete,
    deploy,
    fail,
    instance,
    jobs,
    one_task,
    process,
    start,
    started,
    state,
    task,
)
from tests.api.priostack.test_retries import FORK
from tests.fakes.clock import ManualClock

CHAIN = process(
    '<startEvent id="s"/>', task("a"), task("b"), '<endEvent id="e"/>', flows="s>a a>b b>e"
)
LOOP = process(
    '<startEvent id="s"/><exclusiveGateway id="m"/>',
    task("a"),
    '<exclusiveGateway id="g" default="out"/><endEvent id="e"/>'
    '<sequenceFlow id="back" sourceRef="g" targetRef="m"><conditionExpression>=again'
    '</conditionExpression></sequenceFlow><sequenceFlow id="out" sourceRef="g" targetRef="e"/>',
    flows="s>m m>a a>g",
)
STATES = ("ACTIVE", "INCIDENT", "COMPLETED", "TERMINATED")


@pytest.mark.rule("P63", "P64")
def test_an_instance_is_completed_when_its_last_token_has_ended(client: Client) -> None:
    key = start(client, FORK)
    seen = [state(client, key)]
    for type_ in ("a", "b"):
        (job,) = activate(client, type_)
        complete(client, job)
        seen.append(state(client, key))

    assert ["ACTIVE", "ACTIVE", "COMPLETED"] == seen


@pytest.mark.rule("P66")
def test_four_states_are_shown_and_asked_for(client: Client, clock: ManualClock) -> None:
    deploy(client, one_task())
    keys = {}
    for name in STATES:
        keys[name] = started(client, "p")
        clock.move(1)
    (_, stuck, done, ended) = jobs(client)
    fail(client, stuck)
    complete(client, done)
    cancel(client, ended["processInstanceKey"])

    def listed(query: str = "") -> list[Any]:
        page = client.get(f"{API}/process-instances{query}").json
        return [(each["key"], each["state"]) for each in page["items"]]

    assert [(keys[name], name) for name in reversed(STATES)] == listed()
    for name, key in keys.items():
        assert [(key, name)] == listed(f"?state={name}")
    assert 400 == client.get(f"{API}/process-instances?state=active").status
    assert [] == listed("?bpmnProcessId=q")
    assert listed()[1:3] == listed("?limit=2&offset=1")


@pytest.mark.rule("P67")
def test_variables_come_back_as_they_were_given(client: Client) -> None:
    given: Any = {
        "text": "a",
        "number": 1.5,
        "whole": 9007199254740993,
        "yes": True,
        "nothing": None,
        "object": {"a": {"b": [1, "x"]}},
        "array": [1, "2", False],
        "order.id": 7,
    }
    key = start(client, one_task(), given)

    assert given == instance(client, key)["variables"]
    assert given == client.get(f"{API}/process-instances/{key}/variables").json["variables"]


@pytest.mark.rule("P68", "P69")
def test_what_a_worker_says_is_seen_by_the_next_one(client: Client) -> None:
    key = start(client, CHAIN, {"a": 1, "b": 2})
    (job,) = activate(client, "a")
    assert {"a": 1, "b": 2} == job["variables"]

    complete(client, job, {"b": 3, "c": {"d": 4}})

    expected = {"a": 1, "b": 3, "c": {"d": 4}}
    assert expected == instance(client, key)["variables"]
    assert [expected] == [each["variables"] for each in activate(client, "b")]


@pytest.mark.rule("P70")
def test_a_task_reached_twice_makes_two_jobs(client: Client) -> None:
    key = start(client, LOOP, {"again": True})
    (first,) = activate(client, "a")
    complete(client, first)
    (second,) = activate(client, "a")
    complete(client, second, {"again": False})

    assert first["key"] != second["key"]
    assert "COMPLETED" == state(client, key)


@pytest.mark.rule("P71")
def test_jobs_of_the_type_come_oldest_first_and_no_more_than_asked(
    client: Client, clock: ManualClock
) -> None:
    deploy(client, one_task("other", type_="other"))
    deploy(client, one_task())
    keys = []
    for _ in range(4):
        keys.append(started(client, "p"))
        started(client, "other")
        clock.move(1)

    got = [activate(client, query=query) for query in ("", "&maxJobs=2", "&maxJobsToActivate=9")]

    assert [1, 2, 1] == [len(each) for each in got]
    assert keys == [job["processInstanceKey"] for each in got for job in each]
    assert {"work"} == {job["type"] for each in got for job in each}


@pytest.mark.rule("P72")
def test_nothing_that_waits_is_an_empty_list(client: Client) -> None:
    answer = client.get(f"{API}/jobs/activate?type=nothing")

    assert (200, {"jobs": []}) == (answer.status, answer.json)


@pytest.mark.rule("P73")
def test_a_process_that_nobody_deployed_is_404(client: Client) -> None:
    answer = client.post(f"{API}/process-instances", {"bpmnProcessId": "p"})

    assert (404, {"error": "process definition not found"}) == (answer.status, answer.json)


@pytest.mark.rule("P74")
def test_what_has_ended_cannot_be_cancelled(client: Client) -> None:
    deploy(client, one_task())
    done, ended = started(client, "p"), started(client, "p")
    complete(client, jobs(client, f"?processInstanceKey={done}")[0])

    assert [409, 200, 409] == [cancel(client, key) for key in (done, ended, ended)]


@pytest.mark.rule("P75")
def test_a_job_is_completed_once(client: Client) -> None:
    start(client, one_task())
    (job,) = activate(client)

    assert (200, {}) == complete(client, job)
    assert GONE == complete(client, job)
    assert GONE == fail(client, job, retries=1)


@pytest.mark.parametrize("key", ["1", "seven", "-1", "9" * 30, "0x10"])
def test_a_key_that_names_nothing_is_404(client: Client, key: str) -> None:
    missing = (404, {"error": "process instance not found"})
    path = f"{API}/process-instances/{key}"
    answers = [
        client.get(path),
        client.get(f"{path}/variables"),
        client.patch(f"{path}/variables", {"variables": {}}),
        client.post(f"{path}/cancel"),
        client.delete(path),
    ]

    assert {missing[0]} == {answer.status for answer in answers}
    assert all(missing[1] == answer.json for answer in answers)
    assert GONE == complete(client, {"key": key})
    assert GONE == fail(client, {"key": key})


def test_variables_are_merged_until_the_end(client: Client) -> None:
    key = start(client, one_task(), {"a": 1})
    path = f"{API}/process-instances/{key}/variables"

    merged = client.patch(path, {"variables": {"b": [2]}})
    cancel(client, key)
    late = client.patch(path, {"variables": {"b": 3}})

    assert (200, {"variables": {"a": 1, "b": [2]}}) == (merged.status, merged.json)
    assert 409 == late.status
    assert late.json["error"][0].islower()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "failed to decode"),
        ({}, "bpmnProcessId"),
        ({"bpmnProcessId": ""}, "minimum string length"),
        ({"bpmnProcessId": "p", "variables": [1]}, "must be an object"),
        ({"bpmnProcessId": "p", "version": "1"}, "must be an integer"),
        ({"bpmnProcessId": "p", "version": -2}, "at least -1"),
    ],
)
def test_a_bad_start_is_400(client: Client, body: Any, words: str) -> None:
    answer = client.post(f"{API}/process-instances", body)

    assert 400 == answer.status
    assert words in answer.json["error"]


def test_a_start_is_repeated_safely_under_a_key_of_the_caller(client: Client) -> None:
    deploy(client, one_task())
    body: Any = {"bpmnProcessId": "p", "variables": {"a": 1}}
    headers = {"Idempotency-Key": "order-1"}

    first, again = [client.post(f"{API}/process-instances", body, **headers) for _ in range(2)]

    assert (201, first.json) == (again.status, again.json)
    assert 1 == client.get(f"{API}/process-instances").json["total"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("PUT", "/jobs", 405), ("GET", "/nowhere", 404), ("POST", "/incidents", 405)],
)
def test_what_is_not_served_is_told_in_the_one_shape(
    client: Client, method: str, path: str, status: int
) -> None:
    answer = client.request(method, f"{API}{path}", {})

    assert status == answer.status
    assert ["error"] == list(answer.json)
