"""Models are deployed: as they are, in forms and in JSON; each time as a new version."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Client
from tests.api.driver import XML
from tests.api.priostack.driver import (
    API,
    activate,
    complete,
    deploy,
    instance,
    model,
    one_task,
    process,
    refused,
    start,
    state,
)

# As a reader pastes it: default namespace, a prefix that nobody declared, flows without ids.
SAMPLE = b"""<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
             targetNamespace="http://example.com/orders">
  <process id="order-process" name="Order" isExecutable="true">
    <startEvent id="start"/>
    <serviceTask id="validate" name="Validate order">
      <extensionElements>
        <zeebe:taskDefinition type="validate-order"/>
      </extensionElements>
    </serviceTask>
    <endEvent id="end"/>
    <sequenceFlow sourceRef="start" targetRef="validate"/>
    <sequenceFlow sourceRef="validate" targetRef="end"/>
  </process>
</definitions>
"""
BARE = SAMPLE.replace(b"zeebe:", b"")
PREFIXED = b"""<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="http://example.com/orders">
  <bpmn:process id="order-process" name="Order" isExecutable="true">
    <bpmn:startEvent id="start"/>
    <bpmn:serviceTask id="validate" name="Validate order">
      <bpmn:extensionElements><zeebe:taskDefinition type="validate-order"/></bpmn:extensionElements>
    </bpmn:serviceTask>
    <bpmn:endEvent id="end"/>
    <bpmn:sequenceFlow id="a" sourceRef="start" targetRef="validate"/>
    <bpmn:sequenceFlow id="b" sourceRef="validate" targetRef="end"/>
  </bpmn:process>
</bpmn:definitions>
"""
NO_MODEL = b"<order><item/></order>"
NO_START = process('<endEvent id="e"/>', flows="")
TWO = (
    one_task("first").replace(b"</definitions>", b"")
    + one_task("second").partition(b'zeebe/1.0">')[2]
)


@pytest.mark.rule("P58", "P59", "P60")
@pytest.mark.parametrize("xml", [SAMPLE, BARE, PREFIXED], ids=["sample", "bare", "prefixed"])
def test_the_documented_sample_runs_to_its_job_and_on(client: Client, xml: bytes) -> None:
    order: Any = {"orderId": "A-1", "amount": 99.5, "customer": {"name": "Ada"}}
    key = start(client, xml, order)

    (job,) = activate(client, "validate-order")

    assert ("validate", order, 3) == (job["elementId"], job["variables"], job["retries"])
    assert (200, {}) == complete(client, job)
    assert "COMPLETED" == state(client, key)


@pytest.mark.rule("P55")
def test_every_deployment_is_a_version_of_its_own(client: Client) -> None:
    first, second = deploy(client, SAMPLE), deploy(client, SAMPLE)

    assert [1, 2] == [first["version"], second["version"]]
    assert first["key"] != second["key"]
    assert {
        "key": first["key"],
        "bpmnProcessId": "order-process",
        "version": 1,
        "name": "Order",
        "deployedAt": "2026-03-02T09:00:00.000Z",
    } == first


@pytest.mark.rule("P56", "P57")
def test_an_instance_stays_on_its_version_and_the_newest_is_started(client: Client) -> None:
    old = start(client, one_task())
    new = start(client, one_task())

    assert [1, 2] == [instance(client, key)["version"] for key in (old, new)]


@pytest.mark.parametrize(("version", "expected"), [(None, 3), (-1, 3), (1, 1), (2, 2)])
def test_a_version_may_be_named(client: Client, version: int | None, expected: int) -> None:
    for _ in range(3):
        deploy(client, one_task())

    answer = client.post(f"{API}/process-instances", {"bpmnProcessId": "p", "version": version})

    assert (201, expected) == (answer.status, answer.json["version"])


@pytest.mark.parametrize("named", [{"version": 4}, {"version": 0}, {"processDefinitionKey": 7}])
def test_a_version_that_is_not_there_is_404(client: Client, named: Any) -> None:
    deploy(client, one_task())

    answer = client.post(f"{API}/process-instances", {"bpmnProcessId": "p", **named})

    assert (404, {"error": "process definition not found"}) == (answer.status, answer.json)


@pytest.mark.rule("P61", "P62")
@pytest.mark.parametrize(
    ("xml", "status", "words"),
    [
        (b"<definitions><process></definitions>", 400, "process"),
        (b"no XML at all", 400, "expected XML"),
        (NO_MODEL, 422, "order"),
        (NO_START, 422, "start event"),
        (one_task(definition='retries="0"'), 422, "serviceTask"),
    ],
)
def test_a_refused_file_deploys_nothing(
    client: Client, xml: bytes, status: int, words: str
) -> None:
    answer = refused(client, xml)

    assert status == answer.status
    assert words in answer.json["error"]
    assert 0 == client.get(f"{API}/process-definitions").json["total"]
    assert 1 == deploy(client, one_task())["version"]


def form(*parts: tuple[str, bytes]) -> bytes:
    """Return the body of a form, each part with the rest of its disposition."""
    pieces = [
        b"--cut\r\nContent-Disposition: form-data; " + head.encode() + b"\r\n\r\n" + content
        for head, content in parts
    ]
    return b"\r\n".join([*pieces, b"--cut--\r\n"])


@pytest.mark.parametrize(
    ("media_type", "body"),
    [
        ("text/xml", SAMPLE),
        ("application/xml; charset=utf-8", SAMPLE),
        ("multipart/form-data; boundary=cut", form(('name="file"; filename="a.bpmn"', SAMPLE))),
        (
            "multipart/form-data; boundary=cut",
            form(('name="note"', b"hello"), ('name="x"; filename="a.bpmn"', SAMPLE)),
        ),
        ("multipart/form-data; boundary=cut", form(('name="xml"', SAMPLE))),
    ],
)
def test_a_file_comes_as_it_is_or_in_a_form(client: Client, media_type: str, body: bytes) -> None:
    headers = {"content-type": media_type}
    answer = client.request("POST", f"{API}/process-definitions", body, headers)

    assert (201, "order-process") == (answer.status, answer.json["bpmnProcessId"])


@pytest.mark.parametrize("declared", [b"UTF-8", b"ISO-8859-1"])
def test_a_file_comes_in_json(client: Client, declared: bytes) -> None:
    xml = SAMPLE.replace(b"UTF-8", declared).decode().replace('"Order"', '"Bestellung für Ähm"')

    answer = client.post(f"{API}/process-definitions", {"xml": xml, "name": "order.bpmn"})

    assert (201, "Bestellung für Ähm") == (answer.status, answer.json["name"])


@pytest.mark.parametrize(
    ("media_type", "body", "status"),
    [
        ("application/xml", b" ", 400),
        ("application/json", b"{}", 400),
        ("application/json", b'{"xml": 7}', 400),
        ("multipart/form-data; boundary=cut", form(), 400),
        ("multipart/form-data", form(('name="xml"', SAMPLE)), 400),
        ("text/plain", SAMPLE, 415),
    ],
)
def test_what_brings_no_file_is_refused(
    client: Client, media_type: str, body: bytes, status: int
) -> None:
    headers = {"content-type": media_type}
    answer = client.request("POST", f"{API}/process-definitions", body, headers)

    assert status == answer.status
    assert answer.json["error"]


def test_a_form_of_two_files_is_refused_and_deploys_neither(client: Client) -> None:
    two = form(('name="a"; filename="a.bpmn"', SAMPLE), ('name="b"; filename="b.bpmn"', SAMPLE))
    headers = {"content-type": "multipart/form-data; boundary=cut"}
    answer = client.request("POST", f"{API}/process-definitions", two, headers)

    assert 400 == answer.status
    assert answer.json["error"].endswith("expected one file in the form, found a.bpmn, b.bpmn")
    assert 0 == client.get(f"{API}/process-definitions").json["total"]


def test_a_file_of_several_processes_names_them_all(client: Client) -> None:
    deployed = deploy(client, TWO)

    assert "first" == deployed["bpmnProcessId"]
    assert ["first", "second"] == [each["bpmnProcessId"] for each in deployed["definitions"]]


def test_definitions_are_listed_and_read(client: Client) -> None:
    for id_ in ("p", "p", "q"):
        deploy(client, one_task(id_))
    deployed_elsewhere = client.request("POST", "/v1/process-definitions", one_task("c"), XML)

    def versions(query: str) -> list[Any]:
        page = client.get(f"{API}/process-definitions{query}").json
        assert page["total"] >= len(page["items"])
        return [(each["bpmnProcessId"], each["version"]) for each in page["items"]]

    assert 201 == deployed_elsewhere.status
    assert [("q", 1), ("p", 2), ("p", 1)] == versions("")
    assert [("q", 1), ("p", 2)] == versions("?latest=true")
    assert [("p", 2), ("p", 1)] == versions("?bpmnProcessId=p")
    assert [("p", 2)] == versions("?limit=1&offset=1")


def test_a_definition_is_shown_with_its_file(client: Client) -> None:
    deployed = deploy(client, SAMPLE)
    path = f"{API}/process-definitions/{deployed['key']}"

    shown, file = client.get(path), client.get(f"{path}/xml")

    assert (200, deployed) == (shown.status, shown.json)
    assert (200, SAMPLE.decode()) == (file.status, file.text)
    assert file.headers["Content-Type"].startswith("application/xml")


@pytest.mark.parametrize("rest", ["", "/xml"])
@pytest.mark.parametrize("key", ["1", "seven", "-1", "9" * 30])
def test_a_definition_that_is_not_there_is_404(client: Client, key: str, rest: str) -> None:
    answer = client.get(f"{API}/process-definitions/{key}{rest}")

    assert (404, {"error": "process definition not found"}) == (answer.status, answer.json)


def test_what_was_deployed_elsewhere_is_started_by_its_key_alone(client: Client) -> None:
    answer = client.request("POST", "/v1/process-definitions", model("one_task"), XML)
    key = answer.json["processDefinitionKey"]

    by_key = client.post(f"{API}/process-instances", {"processDefinitionKey": key})
    by_id = client.post(f"{API}/process-instances", {"bpmnProcessId": "one_task"})

    assert (201, 404) == (by_key.status, by_id.status)
    assert "one_task" == by_key.json["bpmnProcessId"]
