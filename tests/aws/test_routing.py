"""Message routing on the deployed stage, with the rights of its function and of the API's."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.local.client import Client
from infra import names
from tests.api.driver import model
from tests.aws.conftest import STAGE, Deployed
from tests.aws.test_story import eventually, is_drained, messages_in

pytestmark = pytest.mark.aws

API = "/api/v1"
INSIDE = "http://127.0.0.1:9/"  # an address that the guard refuses


@pytest.fixture
def client(deployed: Deployed) -> Client:
    return Client(deployed.url, deployed.key)


def lead(client: Client, source: str, *steps: dict[str, Any], to: tuple[str, ...] = ()) -> None:
    """Declare a channel, the route out of it and the channels that it leads to."""
    for name in (source, *to):
        client.put(f"{API}/channels/{name}", {})
    client.put(f"{API}/routes/{source}", {"from": source, "steps": list(steps)})


def put(client: Client, channel: str, id_: str, **members: Any) -> None:
    client.post(f"{API}/channels/{channel}/messages", {"id": id_, **members})


def message(client: Client, channel: str, id_: str) -> Any:
    return client.get(f"{API}/channels/{channel}/messages/{id_}")


def test_a_message_starts_an_instance_and_a_group_ends_at_its_time(
    deployed: Deployed, client: Client
) -> None:
    client.post(f"{API}/process-definitions", {"xml": model("one_task.bpmn").decode()})
    lead(client, "begin", {"endpoint": {"start": {"bpmnProcessId": "one_task"}}})
    client.put(f"{API}/channels/out", {})
    client.put(f"{API}/aggregators/all", {"to": "out", "count": 3, "timeout": 2_000})
    lead(client, "collect", {"filter": {"repeatsOf": "=body"}}, {"aggregator": "all"})

    put(client, "begin", "b-1", body={"x": 1})
    for number in range(2):
        put(client, "collect", f"c-{number}", body=number, correlationKey="k")

    assert eventually(lambda: message(client, "begin", "b-1")["state"] == "delivered")
    assert eventually(lambda: message(client, "collect", "c-1")["state"] == "aggregated")
    (out,) = client.get(f"{API}/channels/out/messages")["items"]
    assert [0, 1] == sorted(out["body"])
    assert is_drained(deployed, names.ROUTING_QUEUE)
    assert 0 == messages_in(deployed, names.ROUTING_QUEUE + names.DEAD)


def test_a_call_may_read_a_secret_only_if_it_is_the_stages(
    deployed: Deployed, client: Client
) -> None:
    ssm = deployed.session.client("ssm")
    secrets = {"ours": f"/headrace/{STAGE}/routed", "others": "/payroll/routed"}
    for channel, name in secrets.items():
        ssm.put_parameter(Name=name, Value="secret", Type="SecureString")
        auth = {"type": "bearer", "secret": f"ssm:{name}"}
        lead(client, channel, {"endpoint": {"call": {"url": INSIDE, "auth": auth}}})
        put(client, channel, "1")

    for channel in secrets:
        assert eventually(lambda at=channel: "reason" in message(client, at, "1"))  # type: ignore[misc]
    reasons = {channel: message(client, channel, "1")["reason"] for channel in secrets}
    assert "SCHEDULER_ALLOW_PRIVATE_ADDRESSES" in reasons["ours"]
    assert "AccessDenied" in reasons["others"]
