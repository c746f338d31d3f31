"""Instances, jobs, history and incidents are listed, filtered, sorted and cut into pages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Client
from tests.api.driver import activate, create, instance, model, one_task
from tests.fakes.clock import ManualClock

INSTANCES = "/v1/process-instances"


def items(page: Any) -> list[Any]:
    """Return the rows of a partitioned page, after a look at its envelope."""
    (partition,) = page["partitions"]
    assert ["partitions", "page", "size", "count", "totalCount"] == list(page)
    assert (1, page["totalCount"]) == (partition["partition"], partition["totalCount"])
    assert page["count"] == len(partition["items"])
    return list(partition["items"])


@pytest.fixture
def world(client: Client, clock: ManualClock) -> dict[str, int]:
    """One instance of each state, a second apart: waiting, done, stopped, stuck."""
    keys = {}
    for name in ("waiting", "done", "stopped"):
        keys[name] = create(client, one_task("p", type_=name), {"name": name})
        clock.move(1)
    keys["stuck"] = create(client, model("exclusive_choice"), {"amount": "no number"})
    (job,) = activate(client, "done")
    client.post(f"/v1/jobs/{job['key']}/complete", {"variables": {"by": "me"}})
    client.post(f"{INSTANCES}/{keys['stopped']}/cancel")
    return keys


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["stuck", "stopped", "done", "waiting"]),
        ("?sortOrder=asc", ["waiting", "done", "stopped", "stuck"]),
        ("?sortBy=key", ["waiting", "done", "stopped", "stuck"]),
        ("?state=active", ["waiting"]),
        ("?state=completed", ["done"]),
        ("?state=terminated", ["stopped"]),
        ("?state=failed", ["stuck"]),
        ("?bpmnProcessId=p", ["stopped", "done", "waiting"]),
        ("?bpmnProcessId=q", []),
        ("?activityId=task", ["waiting"]),
        ("?createdFrom=2026-03-02T09:00:01Z&createdTo=2026-03-02T09:00:02Z", ["stopped", "done"]),
        ("?page=2&size=3", ["waiting"]),
        ("?page=5&size=3", []),
        ("?businessKey=none", []),
    ],
)
def test_instances_are_listed_as_asked(
    client: Client, world: dict[str, int], query: str, expected: list[str]
) -> None:
    answer = client.get(f"{INSTANCES}{query}")

    assert 200 == answer.status
    names = {key: name for name, key in world.items()}
    assert expected == [names[item["key"]] for item in items(answer.json)]


def test_a_page_of_instances_past_the_end_keeps_the_total(
    client: Client, world: dict[str, int]
) -> None:
    page = client.get(f"{INSTANCES}?page=9").json

    assert (0, 4) == (page["count"], page["totalCount"])


def test_a_listed_instance_counts_its_incidents(client: Client, world: dict[str, int]) -> None:
    listed = {item["key"]: item for item in items(client.get(INSTANCES).json)}

    assert 1 == listed[world["stuck"]]["incidentCount"]
    assert 0 == listed[world["waiting"]]["incidentCount"]
    assert {"name": "waiting"} == listed[world["waiting"]]["variables"]
    assert "activeElementInstances" not in listed[world["waiting"]]


@pytest.mark.parametrize(
    "query",
    ["state=open", "createdFrom=yesterday", "processDefinitionKey=x", "size=101", "sortBy=version"],
)
def test_a_bad_question_about_instances_is_400(client: Client, query: str) -> None:
    answer = client.get(f"{INSTANCES}?{query}")

    assert 400 == answer.status
    assert f'parameter "{query.split("=", maxsplit=1)[0]}" in query' in answer.json["message"]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("includeChildProcesses=true", 1),
        ("includeChildProcesses=true&state=active&activityId=other", 0),
        ("includeChildProcesses=true&state=completed", 0),
        ("includeChildProcesses=true&sortBy=state&createdFrom=2026-03-02T09:00:00Z", 1),
        ("", 0),
    ],
)
def test_a_subprocess_is_listed_among_the_children_of_its_instance(
    client: Client, query: str, count: int
) -> None:
    key = create(client, model("subprocess"))
    (scope,) = instance(client, key)["activeElementInstances"]

    listed = items(client.get(f"{INSTANCES}?parentProcessInstanceKey={key}&{query}").json)

    found = [(child["key"], child["processType"]) for child in listed]
    assert [(scope["elementInstanceKey"], "subprocess")] * count == found


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["default", "subprocess"]),
        ("sortOrder=asc&sortBy=key", ["default", "subprocess"]),
        ("sortOrder=desc&sortBy=key", ["subprocess", "default"]),
        ("activityId={inner}", ["subprocess"]),
        ("state=active", ["default", "subprocess"]),
        ("state=completed", []),
        ("page=2&size=1&sortBy=key", ["subprocess"]),
        ("bpmnProcessId=subprocess", ["default", "subprocess"]),
        ("bpmnProcessId=other", []),
        ("createdFrom=2026-03-02T09:00:01Z", []),
        ("createdTo=2026-03-02T08:59:59Z", []),
    ],
)
def test_subprocesses_are_listed_beside_instances_where_children_are_asked_for(
    client: Client, query: str, expected: list[str]
) -> None:
    key = create(client, model("subprocess"))
    (scope,) = instance(client, key)["activeElementInstances"]
    (inner,) = instance(client, scope["elementInstanceKey"])["activeElementInstances"]
    asked = query.format(inner=inner["elementId"])

    listed = client.get(f"{INSTANCES}?includeChildProcesses=true&{asked}").json

    found = [each["processType"] for each in items(listed)]
    assert (expected if "sortBy" in query else sorted(expected)) == (
        found if "sortBy" in query else sorted(found)
    )


def test_a_subprocess_that_has_ended_is_listed_as_such(client: Client) -> None:
    key = create(client, model("subprocess"))
    (scope,) = instance(client, key)["activeElementInstances"]
    for _ in ("pack", "label"):
        (job,) = items(client.get("/v1/jobs?state=active").json)
        client.post(f"/v1/jobs/{job['key']}/complete", {"variables": {}})

    asked = "includeChildProcesses=true&state=completed"
    listed = items(client.get(f"{INSTANCES}?{asked}").json)

    assert [scope["elementInstanceKey"]] == [each["key"] for each in listed]


# --- jobs --------------------------------------------------------------------------------------


@pytest.mark.rule("R35", "R77")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["waiting", "done", "stopped"]),
        ("?sortOrder=desc", ["stopped", "done", "waiting"]),
        ("?sortBy=type", ["done", "stopped", "waiting"]),
        ("?state=active", ["waiting"]),
        ("?state=completed", ["done"]),
        ("?state=terminated", ["stopped"]),
        ("?state=failed", []),
        ("?jobType=stopped", ["stopped"]),
        ("?assignee=me", []),
        ("?page=2&size=2", ["stopped"]),
    ],
)
def test_jobs_are_listed_as_asked(
    client: Client, world: dict[str, int], query: str, expected: list[str]
) -> None:
    answer = client.get(f"/v1/jobs{query}")

    assert 200 == answer.status
    assert expected == [item["type"] for item in items(answer.json)]


def test_listing_hands_nothing_out(client: Client) -> None:
    create(client, one_task())

    (listed,) = items(client.get("/v1/jobs").json)

    assert 0 == listed["deliveryToken"]
    assert 1 == len(activate(client))


def test_the_jobs_of_an_instance_are_a_plain_page(client: Client, world: dict[str, int]) -> None:
    answer = client.get(f"{INSTANCES}/{world['waiting']}/jobs")

    assert 200 == answer.status
    assert ["items", "page", "size", "count", "totalCount"] == list(answer.json)
    assert ["waiting"] == [item["type"] for item in answer.json["items"]]
    listed = items(client.get(f"/v1/jobs?processInstanceKey={world['waiting']}").json)
    assert answer.json["items"] == listed


@pytest.mark.rule("R15")
@pytest.mark.parametrize("key", ["0", "-1", "1000", str(2**62)])
@pytest.mark.parametrize("list_", ["jobs", "history", "incidents"])
def test_a_key_that_names_nothing_has_an_empty_page(client: Client, key: str, list_: str) -> None:
    create(client, one_task())

    answer = client.get(f"{INSTANCES}/{key}/{list_}")

    assert (200, [], 0) == (answer.status, answer.json["items"], answer.json["totalCount"])


def test_a_job_in_a_subprocess_names_it_and_is_listed_with_the_whole(client: Client) -> None:
    key = create(client, model("subprocess"))
    (scope,) = instance(client, key)["activeElementInstances"]

    (job,) = client.get(f"{INSTANCES}/{key}/jobs").json["items"]

    assert scope["elementInstanceKey"] == job["processInstanceKey"]
    assert [job] == client.get(f"{INSTANCES}/{scope['elementInstanceKey']}/jobs").json["items"]
    assert [] == items(client.get(f"/v1/jobs?processInstanceKey={key}").json)


# --- history and incidents ---------------------------------------------------------------------


def test_history_shows_elements_and_flows_the_newest_first(
    client: Client, world: dict[str, int]
) -> None:
    answer = client.get(f"{INSTANCES}/{world['done']}/history")

    assert 200 == answer.status
    rows = answer.json["items"]
    assert [
        ("end", "END_EVENT"),
        ("b", "SEQUENCE_FLOW"),
        ("task", "SERVICE_TASK"),
        ("a", "SEQUENCE_FLOW"),
        ("start", "START_EVENT"),
    ] == [(row["elementId"], row["elementType"]) for row in rows]
    assert {
        "key": rows[2]["key"],
        "processInstanceKey": world["done"],
        "createdAt": "2026-03-02T09:00:01.000Z",
        "completedAt": "2026-03-02T09:00:03.000Z",
        "elementId": "task",
        "elementType": "SERVICE_TASK",
        "inputVariables": {"name": "done"},
    } == rows[2]


def test_history_may_be_read_forwards_and_in_long_pages(
    client: Client, world: dict[str, int]
) -> None:
    path = f"{INSTANCES}/{world['stopped']}/history"

    rows = client.get(f"{path}?sortOrder=asc&size=1000").json["items"]

    assert ["start", "a", "task"] == [row["elementId"] for row in rows]
    assert "completedAt" not in rows[-1]
    assert 400 == client.get(f"{path}?size=1001").status


@pytest.mark.rule("R76")
def test_an_exhausted_job_has_an_incident_that_names_it(client: Client) -> None:
    key = create(client, one_task())
    (job,) = activate(client)
    client.post(f"/v1/jobs/{job['key']}/fail", {"message": "card declined"})

    (incident,) = client.get(f"{INSTANCES}/{key}/incidents?state=unresolved").json["items"]

    assert {
        "key": incident["key"],
        "elementInstanceKey": incident["elementInstanceKey"],
        "elementId": "task",
        "processInstanceKey": key,
        "message": f"card declined (job {job['key']}: 1 attempt, retries exhausted)",
        "createdAt": "2026-03-02T09:00:00.000Z",
        "executionToken": incident["elementInstanceKey"],
        "jobKey": job["key"],
    } == incident
    assert [] == client.get(f"{INSTANCES}/{key}/incidents?state=resolved").json["items"]
