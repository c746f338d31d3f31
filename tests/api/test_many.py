"""Multi-instance activities under /v1: the body is a child, its jobs and history are the child's.

Source: contracts/zenbpm.md sections 1.2 and 9.
"""

from __future__ import annotations

import pytest

from tests.api.client import Client
from tests.api.driver import activate, complete, create, instance
from tests.api.driver import job as read
from tests.api.test_scopes import children
from tests.engine.models import io, line, many, service, start, sub

EACH = {"items": "=items", "item": "item"}


def loop(*, sequential: bool = False) -> bytes:
    task = service("a", extensions=io(outputs={"x": "=x"}))
    return line(many(task, sequential=sequential, each=EACH, results="xs", result="=x"))


@pytest.mark.parametrize("sequential", [False, True])
def test_a_body_is_a_child_of_its_own_type(client: Client, sequential: bool) -> None:
    key = create(client, loop(sequential=sequential), {"items": [1, 2]})

    (child,) = children(client, key)

    assert ("multiInstance", key, "active") == (
        child["processType"],
        child["parentProcessInstanceKey"],
        child["state"],
    )
    waiting = instance(client, child["key"])["activeElementInstances"]
    assert ["a"] * (1 if sequential else 2) == [each["elementId"] for each in waiting]
    assert [child["key"]] == [
        each["elementInstanceKey"] for each in instance(client, key)["activeElementInstances"]
    ]
    assert [] == children(client, child["key"])


def test_variables_of_a_body_are_set_and_deleted_by_its_key(client: Client) -> None:
    key = create(client, loop(sequential=True), {"items": [1, 2]})
    (child,) = children(client, key)
    path = f"/v1/process-instances/{child['key']}/variables"

    assert 204 == client.patch(path, {"variables": {"y": 1, "z": 2}}).status
    assert 204 == client.delete(f"{path}/z").status

    assert {"y": 1} == instance(client, child["key"])["variables"]
    assert "y" not in instance(client, key)["variables"]
    complete(client, activate(client, "a")[0]["key"])
    assert 1 == activate(client, "a")[0]["variables"]["y"]


@pytest.mark.parametrize("sequential", [False, True])
def test_jobs_and_history_are_the_bodys(client: Client, sequential: bool) -> None:
    key = create(client, loop(sequential=sequential), {"items": [1, 2]})
    (child,) = children(client, key)
    homes = set()
    while found := activate(client, "a"):
        for handed_out in found:
            job = read(client, handed_out["key"])
            homes.add(job["processInstanceKey"])
            complete(client, job["key"], {"x": job["inputVariables"]["item"]})

    assert {child["key"]} == homes
    assert [1, 2] == instance(client, key)["variables"]["xs"]
    history = client.get(f"/v1/process-instances/{child['key']}/history?sortOrder=asc")
    rows = history.json["items"]
    assert ["a", "a"] == [row["elementId"] for row in rows]
    assert [1, 2] == [row["inputVariables"]["item"] for row in rows]
    assert all("completedAt" in row for row in rows)
    (child,) = children(client, key)
    assert "completed" == child["state"]


def test_subprocesses_are_children_of_the_body(client: Client) -> None:
    inner = sub("s", start("si"), service("a"), flows="si > a")
    key = create(client, line(many(inner, each=EACH)), {"items": [1, 2]})

    (body,) = children(client, key)
    assert "multiInstance" == body["processType"]
    scopes = children(client, body["key"])
    assert ["subprocess"] * 2 == [each["processType"] for each in scopes]
    assert [1, 2] == [each["variables"]["item"] for each in scopes]
    assert {body["key"]} == {each["parentProcessInstanceKey"] for each in scopes}
    complete(client, activate(client, "a")[0]["key"])
    assert ["active", "completed"] == sorted(e["state"] for e in children(client, body["key"]))


def test_parts_of_a_large_body_are_its_children_and_in_no_other_list(client: Client) -> None:
    key = create(client, loop(), {"items": list(range(65))})

    (body,) = children(client, key)
    parts = children(client, body["key"])

    assert [("multiInstance", body["key"])] * 2 == [
        (part["processType"], part["parentProcessInstanceKey"]) for part in parts
    ]
    (listed,) = client.get("/v1/process-instances").json["partitions"]
    assert [key] == [each["key"] for each in listed["items"]]
    (job,) = activate(client, "a", maxJobs=1)
    home = read(client, job["key"])["processInstanceKey"]
    assert home in [part["key"] for part in parts]
    assert "a" == instance(client, home)["activeElementInstances"][0]["elementId"]


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("", 2),
        ("&state=active", 2),
        ("&state=completed", 0),
        ("&activityId=a", 2),
        ("&sortBy=key", 2),
        ("&bpmnProcessId=p", 2),
        ("&bpmnProcessId=other", 0),
        ("&processDefinitionKey={definition}", 2),
    ],
)
def test_parts_are_listed_with_children_that_no_parent_is_named_for(
    client: Client, query: str, count: int
) -> None:
    key = create(client, loop(), {"items": list(range(65))})
    definition = instance(client, key)["processDefinitionKey"]
    (body,) = children(client, key)

    asked = f"includeChildProcesses=true{query.format(definition=definition)}"
    (listed,) = client.get(f"/v1/process-instances?{asked}").json["partitions"]

    parents = [each.get("parentProcessInstanceKey") for each in listed["items"]]
    assert count == parents.count(body["key"])
    assert listed["totalCount"] == len(listed["items"])
