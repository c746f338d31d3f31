"""What most stories of a Priostack client begin with, over HTTP."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from chalicelib.delivery import routing
from chalicelib.json_text import JsonObject
from chalicelib.ports import Ports
from chalicelib.triggers.routing import on_routing
from tests.api.client import Answer, Client
from tests.api.driver import XML, model, one_task

API = "/api/v1"
GONE = (404, {"error": "job not found"})
HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">'
)


def process(*elements: str, flows: str, id_: str = "p") -> bytes:
    """Return a process of elements, its flows written as `start>task task>end`."""
    drawn = "".join(
        f'<sequenceFlow id="f{number}" sourceRef="{source}" targetRef="{target}"/>'
        for number, (source, _, target) in enumerate(flow.partition(">") for flow in flows.split())
    )
    body = "".join(elements)
    whole = f'<process id="{id_}" isExecutable="true">{body}{drawn}</process>'
    return f"{HEAD}{whole}</definitions>".encode()


def task(id_: str, type_: str = "", more: str = "") -> str:
    """Return a service task."""
    return (
        f'<serviceTask id="{id_}"><extensionElements><zeebe:taskDefinition '
        f'type="{type_ or id_}"/>{more}</extensionElements></serviceTask>'
    )


def refused(client: Client, xml: bytes) -> Answer:
    return client.request("POST", f"{API}/process-definitions", xml, XML)


def deploy(client: Client, xml: bytes) -> Any:
    answer = client.request("POST", f"{API}/process-definitions", xml, XML)
    assert 201 == answer.status, answer.text
    return answer.json


def start(client: Client, xml: bytes, variables: JsonObject | None = None) -> int:
    """Deploy a model and start an instance of it; return its key."""
    return started(client, str(deploy(client, xml)["bpmnProcessId"]), variables)


def started(client: Client, process_id: str, variables: JsonObject | None = None) -> int:
    body: JsonObject = {"bpmnProcessId": process_id, "variables": variables or {}}
    answer = client.post(f"{API}/process-instances", body)
    assert 201 == answer.status, answer.text
    return int(answer.json["key"])


def activate(client: Client, type_: str = "work", query: str = "&maxJobs=10") -> list[Any]:
    answer = client.get(f"{API}/jobs/activate?type={type_}{query}")
    assert 200 == answer.status, answer.text
    return list(answer.json["jobs"])


def complete(client: Client, job: Any, variables: Any = None) -> tuple[int, Any]:
    body = {} if variables is None else {"variables": variables}
    answer = client.post(f"{API}/jobs/{job['key']}/complete", body)
    return answer.status, answer.json


def fail(client: Client, job: Any, **body: Any) -> tuple[int, Any]:
    answer = client.post(f"{API}/jobs/{job['key']}/fail", body)
    return answer.status, answer.json


def jobs(client: Client, query: str = "") -> list[Any]:
    answer = client.get(f"{API}/jobs{query}")
    assert 200 == answer.status, answer.text
    return list(answer.json["items"])


def instance(client: Client, key: int) -> Any:
    answer = client.get(f"{API}/process-instances/{key}")
    assert 200 == answer.status, answer.text
    return answer.json


def state(client: Client, key: int) -> str:
    return str(instance(client, key)["state"])


def cancel(client: Client, key: int) -> int:
    return client.post(f"{API}/process-instances/{key}/cancel").status


def incidents(client: Client, query: str = "") -> list[Any]:
    answer = client.get(f"{API}/incidents{query}")
    assert 200 == answer.status, answer.text
    return list(answer.json["items"])


def patch(client: Client, incident: int | Any) -> tuple[int, Any]:
    answer = client.patch(f"{API}/incidents/{incident}", {"status": "resolved"})
    return answer.status, answer.json


def unix_ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


__all__ = ["GONE", "model", "one_task", "timedelta"]


def serve_routing(ports: Ports) -> None:
    """Serve the queue of what is routed until it is empty."""
    while received := ports.queues.receive(routing.QUEUE, 10, 90, 0):
        assert [] == on_routing(ports, [(each.receipt, each.body) for each in received])
        ports.queues.delete(routing.QUEUE, [each.receipt for each in received])
