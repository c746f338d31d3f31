"""Joins, event subprocesses, loops and compensation as clients of /v1 see them.

Source: contracts/zenbpm.md sections 1.2 to 1.4 and 4.3.
"""

from __future__ import annotations

from typing import Any

from tests.api.client import Client
from tests.api.driver import activate, complete, create, fail, incidents, instance, resolve
from tests.api.driver import job as read
from tests.api.test_scopes import children, work
from tests.engine.event_models import compensation_throw, error, timer, undone
from tests.engine.models import (
    end,
    event_sub,
    inclusive,
    looped,
    process,
    service,
    start,
    sub,
    task,
)


def history(client: Client, key: int) -> list[Any]:
    answer = client.get(f"/v1/process-instances/{key}/history?sortOrder=asc")
    assert 200 == answer.status, answer.text
    return list(answer.json["items"])


def test_an_inclusive_gateway_joins_what_it_split(client: Client) -> None:
    parts = (start(), inclusive("s"), service("a"), service("b"), inclusive("j"), end())
    flows = "start > s; s > a: x > 0; s > b: x > 1; a > j; b > j; j > end"
    key = create(client, process(*parts, flows=flows), {"x": 2})
    work(client, "a")
    assert "active" == instance(client, key)["state"]
    work(client, "b")

    assert "completed" == instance(client, key)["state"]
    types = [row["elementType"] for row in history(client, key) if row["elementId"] in "sj"]
    assert ["INCLUSIVE_GATEWAY"] * 2 == types


def test_what_waits_to_trigger_an_event_subprocess_is_a_timer_and_no_token(client: Client) -> None:
    handler = event_sub("h", timer(duration="PT10S"), service("m"), flows="h_start > m")
    inner = sub("s", start("si"), service("a"), handler, flows="si > a")
    key = create(client, process(start(), inner, flows="start > s"))
    (child,) = children(client, key)

    waiting = instance(client, child["key"])["activeElementInstances"]
    assert ["a"] == [each["elementId"] for each in waiting]
    answer = client.get(f"/v1/process-instances/{child['key']}/event-subscriptions/timers")
    assert ["h_start"] == [row["elementId"] for row in answer.json["items"]]
    work(client, "a")
    assert ["completed"] == [row["state"] for row in children(client, key)]


def test_an_event_subprocess_is_a_child_too(client: Client) -> None:
    handler = event_sub("h", error(), service("m"), flows="h_start > m")
    key = create(client, process(start(), service("a"), handler, flows="start > a"))
    (job,) = activate(client, "a")
    assert 204 == fail(client, job["key"], errorCode="E", variables={"why": "x"}).status

    (child,) = children(client, key)
    assert ("subprocess", {"why": "x"}) == (child["processType"], child["variables"])
    (job,) = activate(client, "m")
    assert child["key"] == read(client, job["key"])["processInstanceKey"]
    complete(client, job["key"])
    assert "completed" == instance(client, key)["state"]


def test_an_event_subprocess_that_cannot_be_armed_is_an_incident(client: Client) -> None:
    handler = event_sub("h", timer(duration="=d"), service("m"), flows="h_start > m")
    key = create(client, process(start(), service("a"), handler, flows="start > a"))
    (incident,) = incidents(client, key)
    assert ("h_start", "failed") == (incident["elementId"], instance(client, key)["state"])

    client.patch(f"/v1/process-instances/{key}/variables", {"variables": {"d": "PT5S"}})
    assert 201 == resolve(client, incident["key"]).status

    assert ("active", []) == (instance(client, key)["state"], incidents(client, key))


def test_the_rounds_of_a_loop_are_in_a_child(client: Client) -> None:
    key = create(
        client, process(start(), looped(service("a"), None, 2), end(), flows="start > a > end")
    )
    homes = set()
    while found := activate(client, "a"):
        homes.add(read(client, found[0]["key"])["processInstanceKey"])
        complete(client, found[0]["key"])

    (child,) = children(client, key)
    assert ({child["key"]}, "completed") == (homes, instance(client, key)["state"])
    assert ["a", "a"] == [row["elementId"] for row in history(client, child["key"])]
    assert [] == children(client, child["key"])


def test_handlers_run_in_a_child_of_what_asked_for_them(client: Client) -> None:
    part = undone(task("t"), service("undo"))
    parts = (start(), part, compensation_throw("c"), service("after"))
    key = create(client, process(*parts, flows="start > t > c > after"))
    (child,) = children(client, key)
    (job,) = activate(client, "undo")

    assert child["key"] == read(client, job["key"])["processInstanceKey"]
    complete(client, job["key"])
    assert ["completed"] == [row["state"] for row in children(client, key)]
    work(client, "after")
    assert "completed" == instance(client, key)["state"]
