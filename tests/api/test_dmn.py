"""DMN files and decisions under `/v1` (contracts/zenbpm.md section 1.3)."""

from __future__ import annotations

import pytest

from tests.api.client import Client
from tests.api.driver import XML, activate, complete, create, model

DISCOUNT = model("dmn/discount.dmn")
DEFINITIONS = "/v1/dmn-resource-definitions"
EVALUATE = "/v1/decision-definitions/{}/evaluate"


def named(id_: str, name: str) -> bytes:
    text = DISCOUNT.replace(b'id="discounts"', f'id="{id_}"'.encode())
    return text.replace(b'name="Discounts"', f'name="{name}"'.encode())


def deploy(client: Client, xml: bytes = DISCOUNT, status: int = 201) -> int:
    answer = client.request("POST", DEFINITIONS, xml, XML)
    assert status == answer.status, answer.text
    return int(answer.json["dmnResourceDefinitionKey"])


@pytest.mark.parametrize("media_type", ["application/octet-stream", "application/xml", "text/xml"])
def test_a_new_file_is_201_and_the_same_again_200(client: Client, media_type: str) -> None:
    headers = {"content-type": media_type}
    first = client.request("POST", DEFINITIONS, DISCOUNT, headers)
    second = client.request("POST", DEFINITIONS, DISCOUNT, headers)

    assert (201, 200) == (first.status, second.status)
    assert first.json == second.json
    assert ["dmnResourceDefinitionKey"] == list(first.json)


def test_a_form_with_the_part_resource_deploys(client: Client) -> None:
    form = b'--B\r\nContent-Disposition: form-data; name="resource"\r\n\r\n'
    headers = {"content-type": "multipart/form-data; boundary=B"}
    body = form + DISCOUNT + b"\r\n--B--"

    assert 201 == client.request("POST", DEFINITIONS, body, headers).status


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "value is required"),
        (b"not xml", ""),
        (b"<html/>", "expected a DMN model"),
        (model("one_task"), "expected a DMN model"),
        (DISCOUNT[: DISCOUNT.index(b"<decision")] + b"</definitions>", "expected a decision"),
        (DISCOUNT.replace(b"floor(amount / 100)", b"floor(amount /"), "points_text: "),
        (DISCOUNT.replace(b"floor(amount / 100)", b"floor(amount /"), "line 1, column"),
        (DISCOUNT.replace(b"#points", b"#discount"), "expected no circle of requirements"),
        (DISCOUNT.replace(b"#points", b"#nothing"), "discount: expected an element"),
        (DISCOUNT.replace(b'id="discount"', b'id="' + b"d" * 251 + b'"'), "at most 250"),
        (
            b'<!DOCTYPE a [<!ENTITY b "c">]>' + DISCOUNT[DISCOUNT.index(b"<definitions") :],
            "",
        ),
        (b"<a>" * 100_000, ""),
    ],
)
def test_a_file_that_cannot_decide_is_400_and_says_why(
    client: Client, body: bytes, words: str
) -> None:
    answer = client.request("POST", DEFINITIONS, body, XML)

    assert (400, "BAD_REQUEST") == (answer.status, answer.json["code"])
    assert words in answer.json["message"]
    assert len(answer.json["message"]) < 2_000


def test_of_many_faults_some_are_told(client: Client) -> None:
    text = "<literalExpression><text>1 +</text></literalExpression>"
    decision = f'<decision id="d{{}}">{text}</decision>'
    start = DISCOUNT[: DISCOUNT.index(b"<decision")]
    body = start + "".join(map(decision.format, range(9))).encode() + b"</definitions>"

    message = client.request("POST", DEFINITIONS, body, XML).json["message"]
    assert message.startswith("d0: ") and message.endswith("; and 4 more")


def test_a_file_over_the_body_limit_is_413(client: Client) -> None:
    answer = client.request("POST", DEFINITIONS, DISCOUNT + b" " * 20_000_000, XML)

    assert (413, "PAYLOAD_TOO_LARGE") == (answer.status, answer.json["code"])


@pytest.mark.parametrize("media_type", ["application/json", "text/plain"])
def test_another_media_type_is_415(client: Client, media_type: str) -> None:
    answer = client.request("POST", DEFINITIONS, DISCOUNT, {"content-type": media_type})

    assert (415, "UNSUPPORTED_MEDIA_TYPE") == (answer.status, answer.json["code"])


@pytest.mark.parametrize(("key", "status"), [("0", 400), ("-1", 400), ("99", 404), ("x", 400)])
def test_a_key_that_names_no_definition_is_refused(client: Client, key: str, status: int) -> None:
    assert status == client.get(f"{DEFINITIONS}/{key}").status


@pytest.fixture
def listed(client: Client) -> Client:
    """Four definitions: two versions of `b`, and `a` and `C`."""
    for id_, name in (("b", "Zeta"), ("a", "Alpha"), ("C", "ab"), ("b", "Beta")):
        deploy(client, named(id_, name))
    return client


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["b2", "C1", "a1", "b1"]),
        ("?sortOrder=asc", ["b1", "a1", "C1", "b2"]),
        ("?sortBy=dmnResourceDefinitionId", ["b2", "b1", "a1", "C1"]),
        ("?sortBy=dmnDefinitionName&sortOrder=asc", ["a1", "b2", "b1", "C1"]),
        ("?sortBy=version&size=1", ["b2"]),
        ("?onlyLatest=true&sortBy=key", ["b2", "C1", "a1"]),
        ("?dmnResourceDefinitionId=b", ["b2", "b1"]),
        ("?dmnResourceDefinitionId=B", []),
        ("?dmnDefinitionName=ET", ["b2", "b1"]),
        ("?search=A", ["b2", "C1", "a1", "b1"]),
        ("?search=c", ["C1"]),
        ("?page=2&size=3", ["b1"]),
    ],
)
def test_definitions_are_listed_as_asked(listed: Client, query: str, expected: list[str]) -> None:
    page = listed.get(f"{DEFINITIONS}{query}").json

    found = [f"{item['dmnResourceDefinitionId']}{item['version']}" for item in page["items"]]
    assert expected == found


def test_the_decision_of_a_percent_encoded_id_is_found(client: Client) -> None:
    deploy(client, DISCOUNT.replace(b'id="discount"', 'id="Rabatt für alle"'.encode()))

    answer = client.post(
        EVALUATE.format("Rabatt%20f%C3%BCr%20alle"),
        {"bindingType": "latest", "variables": {"amount": 550}},
    )
    assert (200, {"percent": 5, "reason": "a few points"}) == (
        answer.status,
        answer.json["decisionOutput"],
    )


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"bindingType": "newest"}, 400),
        ({"bindingType": "deployment"}, 400),
        ({"bindingType": "versionTag"}, 400),
        ({"bindingType": "latest", "variables": []}, 400),
        ({"bindingType": "latest", "variables": None}, 200),
        ({"bindingType": "latest", "versionTag": "none"}, 200),
        ({"bindingType": "versionTag", "versionTag": "v1"}, 200),
        ({"bindingType": "versionTag", "versionTag": "v2"}, 404),
        ({"bindingType": "latest", "dmnResourceDefinitionId": "x"}, 404),
    ],
)
def test_what_is_evaluated_is_said_by_the_binding(
    client: Client, body: dict[str, object], status: int
) -> None:
    deploy(client)

    assert status == client.post(EVALUATE.format("discount"), body).status


def test_an_instance_and_its_decisions_name_each_other(client: Client) -> None:
    definition = deploy(client)
    key = create(client, model("dmn/rule_task.bpmn"))
    (job,) = activate(client, "before")
    complete(client, int(job["key"]), {"amount": 550})

    page = client.get(f"/v1/decision-instances?processInstanceKey={key}").json
    ((item,),) = ([*each["items"]] for each in page["partitions"])
    assert (definition, key) == (item["dmnResourceDefinitionKey"], item["processInstanceKey"])
    rows = client.get(f"/v1/process-instances/{key}/history").json["items"]
    (row,) = [row for row in rows if row["elementId"] == "decide"]
    assert "BUSINESS_RULE_TASK" == row["elementType"]
    assert item["flowElementInstanceKey"] == row["key"]


@pytest.mark.parametrize("query", ["page=0", "size=101", "sortBy=x", "evaluatedTo=now"])
def test_a_bad_question_is_400(client: Client, query: str) -> None:
    assert 400 == client.get(f"/v1/decision-instances?{query}").status


def test_a_page_past_the_end_keeps_the_total(client: Client) -> None:
    deploy(client)
    for _ in range(3):
        client.post(EVALUATE.format("discount"), {"bindingType": "latest"})

    page = client.get("/v1/decision-instances?page=9&size=2").json
    assert (0, 3, [{"partition": 1, "items": [], "totalCount": 3}]) == (
        page["count"],
        page["totalCount"],
        page["partitions"],
    )
