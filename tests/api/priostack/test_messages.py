"""A message reaches the one who waits for its key."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Answer, Client
from tests.api.priostack.driver import (
    API,
    HEAD,
    deploy,
    incidents,
    instance,
    process,
    started,
    state,
)
from tests.operations.stage import Stage

MESSAGE = (
    '<message id="m" name="paid"><extensionElements><zeebe:subscription '
    'correlationKey="=order"/></extensionElements></message>'
)
WAITING = process(
    '<startEvent id="s"/><intermediateCatchEvent id="wait">'
    '<messageEventDefinition messageRef="m"/></intermediateCatchEvent><endEvent id="e"/>',
    flows="s>wait wait>e",
).replace(HEAD.encode(), f"{HEAD}{MESSAGE}".encode())


def correlate(client: Client, **body: Any) -> Answer:
    return client.post(f"{API}/messages/correlation", body)


@pytest.mark.rule("P77")
def test_a_message_reaches_who_waits_for_its_key_and_nobody_else(client: Client) -> None:
    deploy(client, WAITING)
    first, other = (started(client, "p", {"order": key}) for key in ("A", "B"))

    answer = correlate(client, name="paid", correlationKey="A", variables={"amount": 5})

    assert (200, {"processInstanceKey": first}) == (answer.status, answer.json)
    assert ["COMPLETED", "ACTIVE"] == [state(client, key) for key in (first, other)]
    assert {"order": "A", "amount": 5} == instance(client, first)["variables"]


def test_a_message_that_nobody_waits_for_is_404(client: Client) -> None:
    deploy(client, WAITING)
    started(client, "p", {"order": "A"})

    assert 404 == correlate(client, name="paid", correlationKey="C").status
    assert 404 == correlate(client, name="sent", correlationKey="A").status


@pytest.mark.parametrize("body", [{}, {"name": ""}, {"name": "paid", "correlationKey": 7}])
def test_a_bad_message_is_400(client: Client, body: Any) -> None:
    assert 400 == correlate(client, **body).status


@pytest.mark.rule("P42")
def test_a_correlation_key_that_is_missing_is_an_incident(client: Client) -> None:
    deploy(client, WAITING)
    key = started(client, "p")

    assert "INCIDENT" == state(client, key)
    assert ["VARIABLE_MISSING"] == [each["error_code"] for each in incidents(client)]


def publish(client: Client, **body: Any) -> Answer:
    return client.post(f"{API}/messages/publish", body)


def test_a_published_message_waits_for_who_comes_later(client: Client, stage: Stage) -> None:
    deploy(client, WAITING)
    kept = publish(client, name="paid", correlationKey="A", timeToLive=60_000, variables={"n": 1})
    lost = publish(client, name="paid", correlationKey="B")
    stage.wait(30)

    keys = [started(client, "p", {"order": key}) for key in ("A", "B")]
    stage.wait(1)

    assert [(200, {})] * 2 == [(each.status, each.json) for each in (kept, lost)]
    assert ["COMPLETED", "ACTIVE"] == [state(client, key) for key in keys]


def test_an_id_that_waits_already_is_409(client: Client) -> None:
    body = {"name": "paid", "correlationKey": "A", "timeToLive": 60_000, "messageId": "m-1"}

    assert [200, 409] == [publish(client, **body).status for _ in range(2)]
