"""Listeners of a process over HTTP: jobs like others, of what is no element of it."""

from __future__ import annotations

import pytest

from chalicelib.delivery.bells import BPMN, queue_of
from chalicelib.ports import Ports
from tests.api.client import Client
from tests.api.driver import (
    activate,
    complete,
    create,
    fail,
    incidents,
    instance,
    one_task,
    resolve,
)
from tests.engine.test_execution_listeners import listeners


def model(*written: str) -> bytes:
    extensions = f"<extensionElements>{listeners(*written)}</extensionElements>".encode()
    return one_task().replace(b'<startEvent id="start"/>', extensions + b'<startEvent id="start"/>')


def test_they_have_queues_before_their_first_job(client: Client, ports: Ports) -> None:
    create(client, model("end:farewell"))

    assert queue_of(BPMN, "farewell", None) in ports.queues.names()


def test_they_are_jobs_like_others(client: Client) -> None:
    key = create(client, model("start:x", "end:y"))
    assert [] == activate(client)
    (job,) = activate(client, "x")
    assert ("PROCESS", "p", key) == (job["elementType"], job["elementId"], job["instanceKey"])
    assert 201 == complete(client, job["key"], {"token": 1}).status

    (work,) = activate(client)
    assert {"token": 1} == work["variables"]
    complete(client, work["key"])
    (job,) = activate(client, "y")
    (shown,) = instance(client, key)["activeElementInstances"]
    assert ("active", "p") == (instance(client, key)["state"], shown["elementId"])
    complete(client, job["key"])

    assert "completed" == instance(client, key)["state"]
    history = client.get(f"/v1/process-instances/{key}/history?sortOrder=asc").json["items"]
    assert "p" not in [row["elementId"] for row in history]
    listed = client.get(f"/v1/process-instances/{key}/jobs").json["items"]
    assert ["x", "work", "y"] == [each["type"] for each in listed]


def test_a_process_is_counted_as_no_element_but_for_its_incident(client: Client) -> None:
    key = create(client, model("start:x"))
    definition = instance(client, key)["processDefinitionKey"]
    path = f"/v1/process-definitions/{definition}/statistics"

    assert {} == client.get(path).json["partitions"][0]["items"]
    (job,) = activate(client, "x")
    fail(client, job["key"], retries=0)

    assert {"p": {"activeCount": 0, "incidentCount": 1}} == client.get(path).json["partitions"][0][
        "items"
    ]
    (incident,) = incidents(client, key)
    assert (201, "p") == (resolve(client, incident["key"]).status, incident["elementId"])


@pytest.mark.parametrize("cancels", ["x", "work"])
def test_a_cancel_is_told_to_the_listeners_before_an_instance_has_ended(
    client: Client, cancels: str
) -> None:
    key = create(client, model("start:x", "cancel:z"))
    (job,) = activate(client, "x")
    if cancels == "work":
        complete(client, job["key"])

    answer = client.post(f"/v1/process-instances/{key}/cancel")
    assert (204, "terminated") == (answer.status, instance(client, key)["state"])
    (job,) = activate(client, "z")
    assert 409 == client.post(f"/v1/process-instances/{key}/cancel").status
    assert 201 == complete(client, job["key"]).status
    assert [] == instance(client, key)["activeElementInstances"]
