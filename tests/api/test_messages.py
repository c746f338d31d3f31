"""Messages over HTTP: published, correlated, starting instances, listed (zenbpm.md 1.4, 1.6)."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.store import names
from tests.api.client import Answer, Client
from tests.api.driver import create, deploy, instance
from tests.engine.event_models import message
from tests.engine.models import (
    boundary_message,
    end,
    event_sub,
    line,
    message_catch,
    message_event,
    process,
    service,
    start,
)

KEY = {"paid": "=order"}
CATCH = line(message_catch("c", "paid"), messages=KEY)
START = process(
    *(message_event("startEvent", "m", "ordered"), service("a"), end()),
    flows="m > a > end",
    messages={"ordered": None},
)


def publish(client: Client, name: str, key: str | None = None, **more: Any) -> Answer:
    named = {"messageName": name} | ({} if key is None else {"correlationKey": key})
    headers = more.pop("headers", {})
    return client.post("/v1/messages", {**named, **more}, **headers)


def subscriptions(client: Client, key: int, query: str = "") -> list[Any]:
    answer = client.get(f"/v1/process-instances/{key}/event-subscriptions/messages{query}")
    assert 200 == answer.status, answer.text
    return list(answer.json["items"])


def all_instances(client: Client) -> list[Any]:
    found = client.get("/v1/process-instances").json["partitions"]
    return [each for partition in found for each in partition["items"]]


def test_a_message_reaches_the_one_that_waits_for_its_key(client: Client) -> None:
    one = create(client, CATCH, {"order": "o-1"})
    two = create(client, CATCH, {"order": "o-2"})

    answer = publish(client, "paid", "o-2", variables={"amount": 7})

    assert (201, "") == (answer.status, answer.text)
    assert ("active", "completed") == (
        instance(client, one)["state"],
        instance(client, two)["state"],
    )
    assert {"order": "o-2", "amount": 7} == instance(client, two)["variables"]


@pytest.mark.parametrize("key", [None, "o-2"])
def test_a_message_that_nobody_waits_for_is_404_and_lost(client: Client, key: str | None) -> None:
    waits = create(client, CATCH, {"order": "o-1"})

    answer = publish(client, "paid", key)

    assert (404, "NOT_FOUND") == (answer.status, answer.json["code"])
    assert "nobody waits for message 'paid'" in answer.json["message"]
    assert "active" == instance(client, waits)["state"]


@pytest.mark.parametrize(
    "body", [{}, {"messageName": ""}, {"messageName": 7}, {"messageName": "a", "variables": []}]
)
def test_a_body_that_names_no_message_is_400(client: Client, body: Any) -> None:
    assert 400 == client.post("/v1/messages", body).status


@pytest.mark.parametrize("key", [None, "o-1"])
def test_without_a_subscription_a_message_starts_an_instance(
    client: Client, key: str | None
) -> None:
    deploy(client, START)

    assert 201 == publish(client, "ordered", key, variables={"order": "o-1"}).status

    (found,) = all_instances(client)
    assert ("active", {"order": "o-1"}) == (
        found["state"],
        instance(client, found["key"])["variables"],
    )
    assert "businessKey" not in found


def test_a_subscription_comes_before_a_start(client: Client) -> None:
    deploy(client, START)
    both = CATCH.replace(b'name="paid"', b'name="ordered"')
    waits = create(client, both, {"order": "o-1"})

    publish(client, "ordered", "o-1")

    assert [waits] == [each["key"] for each in all_instances(client)]


def test_a_message_starts_the_newest_version_only(client: Client) -> None:
    deploy(client, START)
    second = deploy(client, START.replace(b'id="a"', b'id="b"').replace(b'"a"', b'"b"'))

    publish(client, "ordered")

    (found,) = all_instances(client)
    assert second == found["processDefinitionKey"]


def test_a_version_that_waits_for_another_message_ends_the_old_one(client: Client) -> None:
    deploy(client, START)
    deploy(client, START.replace(b'"ordered"', b'"asked"'))

    assert (404, 201) == (publish(client, "ordered").status, publish(client, "asked").status)


def test_deploying_the_same_again_changes_nothing(client: Client) -> None:
    first = deploy(client, START)

    assert first == deploy(client, START)
    assert 201 == publish(client, "ordered").status
    assert [first] == [each["processDefinitionKey"] for each in all_instances(client)]


def test_a_process_that_only_messages_start_has_no_plain_start(client: Client) -> None:
    answer = client.post("/v1/process-instances", {"processDefinitionKey": deploy(client, START)})

    assert (400, True) == (answer.status, "has no start event" in answer.json["message"])


def test_a_second_subscription_to_a_message_is_an_incident(client: Client) -> None:
    one = create(client, CATCH, {"order": "o-1"})
    two = create(client, CATCH, {"order": "o-1"})

    (incident,) = client.get(f"/v1/process-instances/{two}/incidents").json["items"]
    assert "failed" == instance(client, two)["state"]
    assert "expected nobody to wait for message" in incident["message"]

    publish(client, "paid", "o-1")
    assert 201 == client.post(f"/v1/incidents/{incident['key']}/resolve").status
    assert 201 == publish(client, "paid", "o-1").status
    assert {"completed"} == {instance(client, key)["state"] for key in (one, two)}


def test_an_incident_of_an_event_subprocess_that_was_not_armed_has_no_token(client: Client) -> None:
    rescue = event_sub("e", message("paid"), service("c"), flows="e_start > c")
    key = create(client, process(*(start(), service("a"), rescue), flows="start > a", messages=KEY))
    catching = create(client, CATCH)

    (unarmed,) = client.get(f"/v1/process-instances/{key}/incidents").json["items"]
    (stopped,) = client.get(f"/v1/process-instances/{catching}/incidents").json["items"]

    assert ("e_start", 0) == (unarmed["elementId"], unarmed["executionToken"])
    assert stopped["elementInstanceKey"] == stopped["executionToken"]


def test_a_repeat_under_the_same_key_is_201_and_counts_once(client: Client) -> None:
    xml = process(
        *(start(), service("a"), boundary_message("b", "a", "paid", interrupting=False)),
        *(service("after"), end()),
        flows="start > a > end; b > after",
        messages=KEY,
    )
    key = create(client, xml, {"order": "o-1"})
    headers = {"Idempotency-Key": "payment-1"}

    answers = [publish(client, "paid", "o-1", headers=headers) for _ in range(3)]

    assert [201, 201, 201] == [each.status for each in answers]
    assert 2 == len(subscriptions(client, key))
    other = publish(client, "paid", "o-1", headers=headers, variables={"a": 1})
    assert (409, "CONFLICT") == (other.status, other.json["code"])


def test_a_repeated_start_by_message_starts_once(client: Client) -> None:
    deploy(client, START)
    headers = {"Idempotency-Key": "order-1"}

    for _ in range(2):
        assert 201 == publish(client, "ordered", headers=headers).status

    assert 1 == len(all_instances(client))


def test_subscriptions_are_listed_with_their_states(client: Client) -> None:
    xml = process(
        *(start(), service("a"), boundary_message("b", "a", "paid", interrupting=False), end()),
        *(boundary_message("x", "a", "stopped"), end("e2")),
        flows="start > a > end; b > e2; x > e2",
        messages={**KEY, "stopped": "=order"},
    )
    key = create(client, xml, {"order": "o-1"})
    publish(client, "paid", "o-1")
    publish(client, "stopped", "o-1")

    found = subscriptions(client, key)

    assert [("b", "terminated"), ("x", "completed"), ("b", "completed")] == [
        (each["elementId"], each["state"]) for each in found
    ]
    assert {"messageName": "paid", "correlationKey": "o-1", "processInstanceKey": key}.items() <= (
        found[0].items()
    )
    assert ["terminated"] == [e["state"] for e in subscriptions(client, key, "?state=terminated")]


def test_names_and_keys_are_kept_apart(client: Client) -> None:
    assert names.message_pk("a", "bc") != names.message_pk("ab", "c")
    create(client, CATCH, {"order": ""})

    assert (404, 201) == (publish(client, "paid").status, publish(client, "paid", "").status)
