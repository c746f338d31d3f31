"""Definitions are deployed in any media type, versioned by content, read and listed."""

from __future__ import annotations

import pytest

from chalicelib.ports import Ports
from tests.api.client import Client
from tests.api.driver import HEAD, XML, deploy, one_task


@pytest.mark.parametrize("media_type", ["application/octet-stream", "application/xml", "text/xml"])
def test_a_new_model_is_201_and_the_same_again_200(client: Client, media_type: str) -> None:
    headers = {"content-type": media_type}
    first = client.request("POST", "/v1/process-definitions", one_task(), headers)
    second = client.request("POST", "/v1/process-definitions", one_task(), headers)

    assert (201, 200) == (first.status, second.status)
    assert "application/json" == first.headers["Content-Type"]
    assert first.json == second.json
    assert ["processDefinitionKey"] == list(first.json)


def test_a_form_with_the_part_resource_deploys(client: Client) -> None:
    body = (
        b'--B\r\nContent-Disposition: form-data; name="resource"\r\n\r\n'
        + one_task()
        + b"\r\n--B--"
    )
    headers = {"content-type": "multipart/form-data; boundary=B"}

    assert 201 == client.request("POST", "/v1/process-definitions", body, headers).status


def test_layout_makes_no_new_version_but_content_does(client: Client) -> None:
    first = deploy(client, one_task())

    laid_out = one_task().replace(b"><", b">\n  <")
    assert first == deploy(client, laid_out)

    second = deploy(client, one_task(type_="other"))
    assert first != second
    assert 2 == client.get(f"/v1/process-definitions/{second}").json["version"]

    # An older text makes a new version too: only the latest is compared.
    assert 3 == client.get(f"/v1/process-definitions/{deploy(client, one_task())}").json["version"]


def test_every_process_of_a_file_deploys_and_the_first_is_named(client: Client) -> None:
    first, second = one_task("first").decode(), one_task("second").decode()
    start = first.index("</definitions>")
    both = first[:start] + second[second.index("<process") :].replace('"a"', '"c"').replace(
        '"b"', '"d"'
    )
    for id_ in ("start", "task", "end"):
        head, tail = both[:start], both[start:]
        both = head + tail.replace(f'"{id_}"', f'"{id_}2"')

    key = deploy(client, both.encode())

    listed = client.get("/v1/process-definitions?sortBy=key").json["items"]
    assert [("first", key), ("second", key + 1)] == [
        (item["bpmnProcessId"], item["key"]) for item in listed
    ]


def test_a_definition_shows_its_file(client: Client) -> None:
    xml = one_task("größe", name="Größe")
    key = deploy(client, xml)

    answer = client.get(f"/v1/process-definitions/{key}")

    assert 200 == answer.status
    assert {
        "key": key,
        "version": 1,
        "bpmnProcessId": "größe",
        "bpmnProcessName": "Größe",
        "bpmnData": xml.decode(),
    } == answer.json


@pytest.mark.parametrize(
    ("key", "status"), [("0", 400), ("-1", 400), ("99", 404), ("x", 400), ("9" * 30, 400)]
)
def test_a_key_that_names_no_definition_is_refused(client: Client, key: str, status: int) -> None:
    answer = client.get(f"/v1/process-definitions/{key}")

    assert status == answer.status
    if status == 400:
        assert answer.json["message"].startswith('parameter "processDefinitionKey" in path')


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "value is required"),
        (b"not xml", ""),
        (b"<html/>", "expected a BPMN model"),
        (f"{HEAD}</definitions>".encode(), "no process"),
        (one_task().replace(b'type="work"', b""), "task"),
        (b'<!DOCTYPE a [<!ENTITY b "c">]>' + one_task(), ""),
    ],
)
def test_a_file_that_cannot_run_is_400(client: Client, body: bytes, words: str) -> None:
    answer = client.request("POST", "/v1/process-definitions", body, XML)

    assert (400, "BAD_REQUEST") == (answer.status, answer.json["code"])
    assert words in answer.json["message"]


def test_a_model_over_the_body_limit_is_413(client: Client) -> None:
    body = one_task() + b" " * 20_000_000

    answer = client.request("POST", "/v1/process-definitions", body, XML)

    assert (413, "PAYLOAD_TOO_LARGE") == (answer.status, answer.json["code"])


@pytest.mark.parametrize("media_type", ["application/json", "text/plain"])
def test_another_media_type_is_415(client: Client, media_type: str) -> None:
    answer = client.request(
        "POST", "/v1/process-definitions", one_task(), {"content-type": media_type}
    )

    assert (415, "UNSUPPORTED_MEDIA_TYPE") == (answer.status, answer.json["code"])


def test_deploying_makes_the_queues_of_literal_types(client: Client, ports: Ports) -> None:
    deploy(client, one_task(type_="payment:charge"))
    deploy(client, one_task(type_="=type"))

    (name,) = ports.queues.names()
    assert name.startswith("j-payment-charge-")


@pytest.fixture
def listed(client: Client) -> Client:
    """Five definitions: two versions of `pay`, and `ship`, `Pack` and `stow`."""
    for xml in (
        one_task("pay", name="Zeta"),
        one_task("ship", name="Alpha"),
        one_task("Pack", name="Ship it"),
        one_task("stow"),
        one_task("pay", name="Beta"),
    ):
        deploy(client, xml)
    return client


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["pay2", "stow1", "Pack1", "ship1", "pay1"]),
        ("?sortOrder=asc", ["pay1", "ship1", "Pack1", "stow1", "pay2"]),
        ("?sortBy=bpmnProcessId", ["Pack1", "pay1", "pay2", "ship1", "stow1"]),
        ("?sortBy=bpmnProcessName&sortOrder=desc", ["pay1", "Pack1", "pay2", "ship1", "stow1"]),
        ("?sortBy=version&sortOrder=desc&size=1", ["pay2"]),
        ("?onlyLatest=true&sortBy=key", ["ship1", "Pack1", "stow1", "pay2"]),
        ("?bpmnProcessId=pay", ["pay2", "pay1"]),
        ("?bpmnProcessId=PAY", []),
        ("?search=SHIP", ["Pack1", "ship1"]),
        ("?search=&bpmnProcessId=", ["pay2", "stow1", "Pack1", "ship1", "pay1"]),
        ("?page=2&size=2", ["Pack1", "ship1"]),
        ("?page=4&size=2", []),
    ],
)
def test_definitions_are_listed_as_asked(listed: Client, query: str, expected: list[str]) -> None:
    answer = listed.get(f"/v1/process-definitions{query}")

    assert 200 == answer.status
    assert expected == [f"{i['bpmnProcessId']}{i['version']}" for i in answer.json["items"]]
    assert len(expected) == answer.json["count"]


def test_a_page_past_the_end_keeps_the_total(listed: Client) -> None:
    page = listed.get("/v1/process-definitions?page=9&size=2").json

    assert {"items": [], "page": 9, "size": 2, "count": 0, "totalCount": 5} == page


@pytest.mark.parametrize(
    "query", ["page=0", "size=0", "size=101", "sortBy=color", "sortOrder=up", "onlyLatest=maybe"]
)
def test_a_bad_question_is_400(client: Client, query: str) -> None:
    answer = client.get(f"/v1/process-definitions?{query}")

    assert 400 == answer.status
    assert (
        f'parameter "{query.split("=", maxsplit=1)[0]}" in query has an error'
        in answer.json["message"]
    )


def test_all_faults_of_a_model_are_in_one_answer(client: Client) -> None:
    wrong = (
        one_task()
        .replace(b'type="work"', b'retries="many"')
        .replace(b'targetRef="', b'targetRef="no-', 1)
    )

    answer = client.request("POST", "/v1/process-definitions", wrong, XML)

    assert (400, "BAD_REQUEST") == (answer.status, answer.json["code"])
    first, *told = answer.json["message"].splitlines()
    assert "3 faults:" == first
    assert ["job type", "retries of", "targetRef"] == [
        part for part in ("job type", "retries of", "targetRef") if any(part in t for t in told)
    ]
    assert all("(line 1)" in text for text in told)
