"""An operator may set a quota of starts, and keys that every request must carry."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.api.client import Client
from tests.api.priostack.driver import API, activate, complete, deploy, fail, one_task, started
from tests.operations.stage import Stage

KEY = "sesame-0123456789"


def setting(stage: Stage, **fields: Any) -> None:
    stage.ports = replace(stage.ports, settings=replace(stage.ports.settings, **fields))


@pytest.mark.rule("P76")
def test_a_quota_that_is_used_up_stops_starts_and_nothing_else(
    client: Client, stage: Stage
) -> None:
    deploy(client, one_task())
    for _ in range(2):
        started(client, "p")
    setting(stage, start_quota=2)

    def start() -> int:
        return client.post(f"{API}/process-instances", {"bpmnProcessId": "p"}).status

    assert [201, 201, 402, 402] == [start() for _ in range(4)]
    jobs = activate(client)
    assert 4 == len(jobs)
    assert 200 == fail(client, jobs[0], retries=2)[0] == complete(client, jobs[1])[0]
    setting(stage, start_quota=3)
    assert [201, 402] == [start() for _ in range(2)]


def test_a_refused_start_uses_no_quota_and_a_repeat_none_either(
    client: Client, stage: Stage
) -> None:
    setting(stage, start_quota=1)
    deploy(client, one_task())
    unknown = client.post(f"{API}/process-instances", {"bpmnProcessId": "q"})
    body, headers = {"bpmnProcessId": "p"}, {"Idempotency-Key": "a"}

    answers = [client.post(f"{API}/process-instances", dict(body), **headers) for _ in range(2)]

    assert (404, [201, 201]) == (unknown.status, [answer.status for answer in answers])
    assert answers[0].json["key"] == answers[1].json["key"]
    assert 402 == client.post(f"{API}/process-instances", {"bpmnProcessId": "p"}).status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"authorization": "Bearer another-0123456789"}, 401),
        ({"authorization": f"Basic {KEY}"}, 401),
        ({"x-api-key": ""}, 401),
        ({"authorization": f"Bearer {KEY}"}, 200),
        ({"authorization": f"bearer {KEY}"}, 200),
        ({"x-api-key": KEY}, 200),
        ({"x-api-key": "second-0123456789"}, 200),
    ],
)
def test_a_key_is_asked_for_where_keys_are_set(
    client: Client, stage: Stage, headers: dict[str, str], status: int
) -> None:
    setting(stage, api_keys=(KEY, "second-0123456789"))

    answer = client.request("GET", f"{API}/jobs", headers=headers)

    assert status == answer.status
    if status == 401:
        assert ["error"] == list(answer.json)


def test_other_dialects_and_preflights_are_asked_for_no_key_of_this_one(
    client: Client, stage: Stage
) -> None:
    setting(stage, api_keys=(KEY,))

    assert [200, 204] == [
        client.get("/v1/jobs").status,
        client.request("OPTIONS", f"{API}/jobs").status,
    ]
