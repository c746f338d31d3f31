"""The errors that an instance would catch, and those that it would have."""

from __future__ import annotations

from typing import Any

from tests.api.client import Client
from tests.api.driver import activate, complete, create, fail, instance
from tests.engine.event_models import error
from tests.engine.models import boundary_error, event_sub, line, many, process, service, start, sub

INSTANCES = "/v1/process-instances"
ERRORS = {"declined": "402", "broken": "500"}


def subscriptions(client: Client, key: int, query: str = "") -> list[Any]:
    answer = client.get(f"{INSTANCES}/{key}/event-subscriptions/errors{query}")
    assert 200 == answer.status, answer.text
    assert answer.json["totalCount"] == len(answer.json["items"])
    return list(answer.json["items"])


def states(client: Client, key: int) -> list[tuple[str, str]]:
    return [(row["elementId"], row["state"]) for row in subscriptions(client, key)]


def guarded() -> bytes:
    """A task with two error events, in a process that an error interrupts."""
    return process(
        start(),
        service("a"),
        boundary_error("on_declined", "a", "declined"),
        boundary_error("on_any", "a"),
        service("b"),
        event_sub("rescue", error("broken"), service("c"), flows="rescue_start > c"),
        flows="start > a > b; on_declined > b; on_any > b",
        errors=ERRORS,
    )


def test_error_events_wait_while_what_they_are_on_is_active(client: Client) -> None:
    key = create(client, guarded())
    (element,) = instance(client, key)["activeElementInstances"]

    found = subscriptions(client, key)

    same = {
        "processDefinitionKey": found[0]["processDefinitionKey"],
        "processInstanceKey": key,
        "state": "active",
        "createdAt": "2026-03-02T09:00:00.000Z",
    }
    on_task = {"elementInstanceKey": element["elementInstanceKey"], **same}
    assert [
        {"elementId": "on_any", **on_task},
        {"elementId": "on_declined", "errorCode": "402", **on_task},
        {"elementId": "rescue_start", "errorCode": "500", "elementInstanceKey": key, **same},
    ] == [{name: row[name] for name in row if name != "key"} for row in found]
    assert 3 == len({row["key"] for row in found})
    assert all(row["key"] < 2**53 for row in found)


def test_what_was_left_or_interrupted_is_withdrawn(client: Client) -> None:
    key = create(client, guarded())
    (a,) = activate(client, "a")
    fail(client, a["key"], errorCode="402")
    still = ("rescue_start", "active")
    assert [("on_any", "withdrawn"), ("on_declined", "withdrawn"), still] == states(client, key)
    assert ["rescue_start"] == [
        row["elementId"] for row in subscriptions(client, key, "?state=active")
    ]

    (b,) = activate(client, "b")
    fail(client, b["key"], errorCode="500")

    assert "active" == instance(client, key)["state"]
    assert [] == subscriptions(client, key, "?state=active")
    assert 3 == len(subscriptions(client, key, "?state=withdrawn"))


def test_those_of_a_subprocess_are_of_the_instance_it_is_shown_as(client: Client) -> None:
    inner = (
        start("s"),
        service("a"),
        event_sub("rescue", error(), service("c"), flows="rescue_start > c"),
    )
    key = create(client, line(sub("around", *inner, flows="s > a"), service("after")))
    (scope,) = instance(client, key)["activeElementInstances"]
    child = scope["elementInstanceKey"]

    (waiting,) = subscriptions(client, child)

    assert (child, child) == (waiting["processInstanceKey"], waiting["elementInstanceKey"])
    assert [waiting] == subscriptions(client, key)
    (a,) = activate(client, "a")
    complete(client, a["key"])
    assert [{**waiting, "state": "withdrawn"}] == subscriptions(client, key)


def test_one_on_an_activity_of_many_waits_once_and_one_inside_in_each_iteration(
    client: Client,
) -> None:
    inner = (start("s"), service("a"), boundary_error("in", "a"), service("c"))
    repeated = many(sub("around", *inner, flows="s > a; in > c"), items="=[1, 2]")
    key = create(client, process(
        *(start(), repeated, boundary_error("on", "around"), service("d")),
        flows="start > around; on > d",
    ))  # fmt: skip

    assert 3 == len(states(client, key))
    assert {("on", "active"), ("in", "active")} == set(states(client, key))
