"""What most stories begin with, over HTTP."""

from __future__ import annotations

from typing import Any

from chalicelib.json_text import JsonObject
from tests.api.client import Answer, Client
from tests.play import DIAGRAMS

XML = {"content-type": "application/xml"}

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">'
)


def model(name: str) -> bytes:
    """Return a file of a model: a BPMN one unless its name says otherwise."""
    return (DIAGRAMS / (name if "." in name else f"{name}.bpmn")).read_bytes()


def one_task(
    process_id: str = "p", *, type_: str = "work", definition: str = "", name: str = ""
) -> bytes:
    """Return a process of one service task, as terse as the standard allows."""
    named = f' name="{name}"' if name else ""
    return (
        f'{HEAD}<process id="{process_id}" isExecutable="true"{named}>'
        '<startEvent id="start"/>'
        f'<serviceTask id="task"><extensionElements><zeebe:taskDefinition type="{type_}" '
        f"{definition}/></extensionElements></serviceTask>"
        '<endEvent id="end"/>'
        '<sequenceFlow id="a" sourceRef="start" targetRef="task"/>'
        '<sequenceFlow id="b" sourceRef="task" targetRef="end"/></process></definitions>'
    ).encode()


def deploy(client: Client, xml: bytes) -> int:
    answer = client.request("POST", "/v1/process-definitions", xml, XML)
    assert answer.status in (200, 201), answer.text
    return int(answer.json["processDefinitionKey"])


def create(client: Client, xml: bytes, variables: JsonObject | None = None) -> int:
    """Deploy a model and start an instance of it; return its key."""
    body: JsonObject = {"processDefinitionKey": deploy(client, xml), "variables": variables or {}}
    answer = client.post("/v1/process-instances", body)
    assert 201 == answer.status, answer.text
    return int(answer.json["key"])


def activate(client: Client, type_: str = "work", **more: Any) -> list[Any]:
    answer = client.post("/v1/jobs/activate", {"type": type_, "maxJobs": 10, **more})
    assert 200 == answer.status, answer.text
    return list(answer.json["jobs"])


def complete(client: Client, key: int, variables: Any = None, **more: Any) -> Answer:
    return client.post(f"/v1/jobs/{key}/complete", {"variables": variables, **more})


def fail(client: Client, key: int, **body: Any) -> Answer:
    return client.post(f"/v1/jobs/{key}/fail", body)


def cancel(client: Client, key: int) -> Answer:
    return client.post(f"/v1/process-instances/{key}/cancel")


def incidents(client: Client, key: int, query: str = "?state=unresolved") -> list[Any]:
    answer = client.get(f"/v1/process-instances/{key}/incidents{query}")
    assert 200 == answer.status, answer.text
    return list(answer.json["items"])


def resolve(client: Client, key: int, body: Any = None) -> Answer:
    return client.post(f"/v1/incidents/{key}/resolve", body)


def job(client: Client, key: int) -> Any:
    answer = client.get(f"/v1/jobs/{key}")
    assert 200 == answer.status, answer.text
    return answer.json


def instance(client: Client, key: int) -> Any:
    answer = client.get(f"/v1/process-instances/{key}")
    assert 200 == answer.status, answer.text
    return answer.json


def the_job(client: Client, key: int) -> Any:
    """Return the one job of an instance."""
    (found,) = client.get(f"/v1/process-instances/{key}/jobs").json["items"]
    return found


def created(client: Client, definition: str, variables: Any = None) -> Any:
    """Start an instance whose task has that definition; return its job."""
    return the_job(client, create(client, one_task(definition=definition), variables))
