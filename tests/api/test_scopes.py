"""Subprocesses are instances under their own key: found, listed, read and mended, also ended."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Client
from tests.api.driver import activate, cancel, complete, create, incidents, instance, resolve
from tests.engine.models import boundary, io, line, process, service, start, sub
from tests.fakes.clock import ManualClock

INSTANCES = "/v1/process-instances"
INNER = "in_start > a > b"


def nested() -> bytes:
    """A subprocess of two tasks, then a task; a sees and hands on what the subprocess has."""
    inner = (start("in_start"), service("a", extensions=io(outputs={"x": "=x"})), service("b"))
    return line(sub("outer", *inner, flows=INNER), service("after"))


def children(client: Client, key: int, query: str = "") -> list[Any]:
    answer = client.get(f"{INSTANCES}/{key}/child-processes{query}")
    assert 200 == answer.status, answer.text
    (partition,) = answer.json["partitions"]
    assert (1, answer.json["totalCount"]) == (partition["partition"], partition["totalCount"])
    assert answer.json["count"] == len(partition["items"])
    return list(partition["items"])


def work(client: Client, type_: str, variables: Any = None) -> None:
    (job,) = activate(client, type_)
    assert 201 == complete(client, job["key"], variables).status


def test_a_live_subprocess_is_a_child(client: Client, clock: ManualClock) -> None:
    key = create(client, nested(), {"n": 1})
    (scope,) = instance(client, key)["activeElementInstances"]

    (child,) = children(client, key)

    assert {
        "key": scope["elementInstanceKey"],
        "processDefinitionKey": child["processDefinitionKey"],
        "bpmnProcessId": "p",
        "version": 1,
        "createdAt": "2026-03-02T09:00:00.000Z",
        "state": "active",
        "parentProcessInstanceKey": key,
        "processType": "subprocess",
        "variables": {"n": 1},
        "incidentCount": 0,
    } == child
    assert [] == children(client, child["key"])


def test_an_ended_subprocess_is_still_a_child_with_its_last_variables(client: Client) -> None:
    key = create(client, nested(), {"n": 1})
    (live,) = children(client, key)
    work(client, "a", {"x": 2})
    work(client, "b")

    (child,) = children(client, key)

    assert {**live, "state": "completed", "variables": {"n": 1, "x": 2}} == child
    shown = instance(client, child["key"])
    assert ("completed", []) == (shown["state"], shown["activeElementInstances"])
    assert "active" == instance(client, key)["state"]


def test_a_cancelled_subprocess_is_terminated(client: Client) -> None:
    key = create(client, nested())
    (live,) = children(client, key)
    cancel(client, key)

    (child,) = children(client, key)

    assert (live["key"], "terminated") == (child["key"], child["state"])
    assert "terminated" == instance(client, live["key"])["state"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["completed", "active"]),
        ("?sortOrder=desc", ["active", "completed"]),
        ("?sortBy=state", ["active", "completed"]),
        ("?sortBy=state&sortOrder=desc", ["completed", "active"]),
        ("?state=active", ["active"]),
        ("?state=completed", ["completed"]),
        ("?state=failed", []),
        ("?page=2&size=1", ["active"]),
        ("?page=3&size=1", []),
    ],
)
def test_children_are_listed_as_asked(
    client: Client, query: str, expected: list[str], clock: ManualClock
) -> None:
    first = sub("first", start("s1"), service("a"), flows="s1 > a")
    second = sub("second", start("s2"), service("b"), flows="s2 > b")
    key = create(client, line(first, second))
    work(client, "a")

    assert expected == [child["state"] for child in children(client, key, query)]
    if not expected:
        total = client.get(f"{INSTANCES}/{key}/child-processes{query}").json["totalCount"]
        assert total == (2 if "page" in query else 0)


@pytest.mark.parametrize("query", ["state=ready", "sortBy=createdAt", "size=101", "page=0"])
def test_a_bad_question_about_children_is_400(client: Client, query: str) -> None:
    key = create(client, nested())

    assert 400 == client.get(f"{INSTANCES}/{key}/child-processes?{query}").status


def test_a_task_is_no_child(client: Client) -> None:
    key = create(client, line(service("a")))
    (element,) = instance(client, key)["activeElementInstances"]

    assert [] == children(client, key)
    assert [] == children(client, element["elementInstanceKey"])
    assert 404 == client.get(f"{INSTANCES}/{element['elementInstanceKey']}").status


# --- what is in it -----------------------------------------------------------------------------


def test_variables_of_a_subprocess_are_its_own(client: Client) -> None:
    key = create(client, nested(), {"n": 1})
    (child,) = children(client, key)
    path = f"{INSTANCES}/{child['key']}/variables"

    assert 204 == client.patch(path, {"variables": {"m": 2}}).status

    assert {"n": 1, "m": 2} == instance(client, child["key"])["variables"]
    assert {"n": 1} == instance(client, key)["variables"]
    assert 204 == client.delete(f"{path}/n").status
    assert 404 == client.delete(f"{path}/n").status
    assert {"m": 2} == instance(client, child["key"])["variables"]


def test_variables_of_a_subprocess_that_ended_stay_as_they_are(client: Client) -> None:
    key = create(client, nested(), {"n": 1})
    (child,) = children(client, key)
    work(client, "a")
    work(client, "b")
    path = f"{INSTANCES}/{child['key']}/variables"

    merge, deletion = client.patch(path, {"variables": {"n": 2}}), client.delete(f"{path}/n")

    words = "variables only for process instances in active"
    assert [409, 409] == [merge.status, deletion.status]
    assert f"Can update {words} or failed state" == merge.json["message"]
    assert deletion.json["message"].startswith(f"can delete {words}")


def test_the_history_of_a_subprocess_is_what_happened_in_it(client: Client) -> None:
    key = create(client, nested())
    (child,) = children(client, key)
    work(client, "a")

    own = client.get(f"{INSTANCES}/{child['key']}/history?sortOrder=asc").json
    whole = client.get(f"{INSTANCES}/{key}/history?size=100&sortOrder=asc").json

    assert (["in_start", "in_start-a", "a", "a-b", "b"], 5) == (
        [row["elementId"] for row in own["items"]],
        own["totalCount"],
    )
    assert {child["key"]} == {row["processInstanceKey"] for row in own["items"]}
    assert 8 == whole["totalCount"]
    assert own["items"] == [
        row for row in whole["items"] if row["processInstanceKey"] == child["key"]
    ]


def test_an_incident_in_a_subprocess_is_its_own_and_is_mended_there(client: Client) -> None:
    inner = sub("outer", start("in_start"), service("a", retries="=n"), flows="in_start > a")
    key = create(client, line(inner), {"n": "many"})
    (child,) = children(client, key)

    (incident,) = incidents(client, child["key"])

    assert (child["key"], "a") == (incident["processInstanceKey"], incident["elementId"])
    assert [incident] == incidents(client, key)
    assert ("failed", 1) == (child["state"], child["incidentCount"])
    (listed,) = client.get(INSTANCES).json["partitions"][0]["items"]
    assert (key, 0, "active") == (listed["key"], listed["incidentCount"], listed["state"])

    client.patch(f"{INSTANCES}/{child['key']}/variables", {"variables": {"n": 3}})
    assert 201 == resolve(client, incident["key"]).status

    assert [3] == [job["retries"] for job in activate(client, "a")]
    assert [] == incidents(client, child["key"])
    (closed,) = incidents(client, child["key"], "?state=resolved")
    assert incident["key"] == closed["key"]


# --- timers ------------------------------------------------------------------------------------


def timers(client: Client, key: int, query: str = "") -> Any:
    answer = client.get(f"{INSTANCES}/{key}/event-subscriptions/timers{query}")
    assert 200 == answer.status, answer.text
    return answer.json


def two_timers() -> bytes:
    return process(
        start(),
        service("a"),
        boundary("late", "a", duration="PT1H"),
        service("b"),
        boundary("never", "b", duration="PT2H"),
        flows="start > a > b",
    )


def test_timers_of_an_instance_are_listed_with_what_became_of_them(
    client: Client, clock: ManualClock
) -> None:
    key = create(client, two_timers())
    (element,) = instance(client, key)["activeElementInstances"]

    page = timers(client, key)

    assert ["items", "page", "size", "count", "totalCount"] == list(page)
    (waiting,) = page["items"]
    assert {
        "key": waiting["key"],
        "elementInstanceKey": element["elementInstanceKey"],
        "elementId": "late",
        "processDefinitionKey": waiting["processDefinitionKey"],
        "processInstanceKey": key,
        "state": "active",
        "createdAt": "2026-03-02T09:00:00.000Z",
        "dueDate": "2026-03-02T10:00:00.000Z",
    } == waiting
    work(client, "a")
    assert ["never", "late"] == [row["elementId"] for row in timers(client, key)["items"]]
    assert [{**waiting, "state": "withdrawn"}] == timers(client, key, "?state=withdrawn")["items"]
    assert 0 == timers(client, key, "?state=completed")["totalCount"]
    assert ([], 2) == (timers(client, key, "?page=3")["items"], timers(client, key)["totalCount"])


@pytest.mark.parametrize(
    ("kind", "state", "status"),
    [
        *(("timers", state, 200) for state in ("active", "completed", "withdrawn")),
        *(("timers", state, 400) for state in ("terminated", "ready", "failed")),
        *(("messages", state, 200) for state in ("active", "completed", "terminated")),
        *(("messages", state, 400) for state in ("withdrawn", "completing")),
        *(("errors", state, 200) for state in ("active", "withdrawn")),
        *(("errors", state, 400) for state in ("completed", "terminated", "nonsense")),
    ],
)
def test_each_kind_of_subscription_has_states_of_its_own(
    client: Client, kind: str, state: str, status: int
) -> None:
    key = create(client, nested())

    answer = client.get(f"{INSTANCES}/{key}/event-subscriptions/{kind}?state={state}")

    assert status == answer.status
    if status == 400:
        assert 'parameter "state" in query has an error' in answer.json["message"]
    else:
        assert ([], 0) == (answer.json["items"], answer.json["totalCount"])
