"""Starting elsewhere and moving tokens, over `/v1/modify` (contracts/zenbpm.md section 1.4)."""

from __future__ import annotations

import pytest

from tests.api.client import Answer, Client
from tests.api.driver import activate, create, deploy, instance
from tests.engine.models import line, many, service, start, sub

KEY = {"Idempotency-Key": "move-7"}
TWO = line(service("a", "a"), service("b", "b"))
NESTED = line(
    sub("s", start("si"), service("a", "a"), service("b", "b"), flows="si > a > b"),
    service("c", "c"),
)


def start_at(client: Client, definition: int, *elements: str, **headers: str) -> Answer:
    body = {"processDefinitionKey": definition, "startingElementIds": list(elements)}
    return client.post("/v1/modify/start-process-instance", body, **headers)


def move(client: Client, key: int, start: str, end: int, **headers: str) -> Answer:
    body = {
        "processInstanceKey": key,
        "variables": {"moved": True},
        "elementInstancesToStart": [{"elementId": start}],
        "elementInstancesToTerminate": [{"elementInstanceKey": end}],
    }
    return client.post("/v1/modify/process-instance", body, **headers)


def waiting(client: Client, key: int) -> list[tuple[str, int]]:
    found = instance(client, key)["activeElementInstances"]
    return [(each["elementId"], each["elementInstanceKey"]) for each in found]


def test_an_instance_starts_at_the_named_elements(client: Client) -> None:
    answer = start_at(client, deploy(client, TWO), "b")

    assert 201 == answer.status
    assert ["b"] == [each["elementId"] for each in answer.json["activeElementInstances"]]
    assert "b" == activate(client, "b")[0]["elementId"]


def test_a_token_is_moved_and_its_job_is_terminated(client: Client) -> None:
    key = create(client, TWO)
    (job,) = activate(client, "a")
    ((_, element),) = waiting(client, key)

    answer = move(client, key, "b", element)

    assert 201 == answer.status
    assert ["b"] == [each["elementId"] for each in answer.json["activeElementInstances"]]
    assert answer.json["processInstance"] == instance(client, key)
    assert {"moved": True} == answer.json["processInstance"]["variables"]
    assert 409 == client.post(f"/v1/jobs/{job['key']}/complete", {}).status
    assert "b" == activate(client, "b")[0]["elementId"]


def test_a_repeat_under_the_same_key_moves_nothing_again(client: Client) -> None:
    key = create(client, TWO)
    ((_, element),) = waiting(client, key)

    answers = [move(client, key, "b", element, **KEY) for _ in "ab"]

    assert [201, 201] == [answer.status for answer in answers]
    assert answers[0].json == answers[1].json
    assert 1 == len(waiting(client, key))


def test_another_body_under_the_same_key_is_409(client: Client) -> None:
    key = create(client, TWO)
    ((_, element),) = waiting(client, key)
    move(client, key, "b", element, **KEY)

    answer = move(client, key, "a", element, **KEY)

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])
    assert ["b"] == [element_id for element_id, _ in waiting(client, key)]


def test_a_repeated_start_elsewhere_starts_once(client: Client) -> None:
    definition = deploy(client, TWO)

    first, again = (start_at(client, definition, "b", **KEY) for _ in "ab")

    assert first.json == again.json
    assert 1 == len(activate(client, "b"))


def test_a_subprocess_is_modified_by_its_own_key(client: Client) -> None:
    key = create(client, NESTED)
    ((_, scope),) = waiting(client, key)
    ((_, element),) = waiting(client, scope)

    answer = move(client, scope, "b", element)

    assert 201 == answer.status
    assert scope == answer.json["processInstance"]["key"]
    assert ["b"] == [each["elementId"] for each in answer.json["activeElementInstances"]]


def test_variables_are_those_of_the_subprocess_whose_key_is_named(client: Client) -> None:
    key = create(client, NESTED)
    ((_, scope),) = waiting(client, key)

    answer = client.post(
        "/v1/modify/process-instance", {"processInstanceKey": scope, "variables": {"x": 1}}
    )

    assert {"x": 1} == answer.json["processInstance"]["variables"]
    assert {} == client.get(f"/v1/process-instances/{key}").json["variables"]


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({}, 400, "processInstanceKey"),
        ({"processInstanceKey": 1}, 404, "process instance 1 was not found"),
        ({"processInstanceKey": "x"}, 400, "processInstanceKey"),
    ],
)
def test_a_body_that_names_no_instance_is_refused(
    client: Client, body: dict[str, object], status: int, message: str
) -> None:
    answer = client.post("/v1/modify/process-instance", body)

    assert status == answer.status
    assert message in answer.json["message"]


def test_what_names_nothing_is_404_and_changes_nothing(client: Client) -> None:
    definition = deploy(client, TWO)
    key = create(client, TWO)
    ((_, element),) = waiting(client, key)

    assert 404 == move(client, key, "x", element).status
    assert 404 == move(client, key, "b", 7).status
    assert 404 == start_at(client, definition, "x").status
    unknown = start_at(client, 7, "a")
    assert 404 == unknown.status
    assert (
        "no process definition with key 7 was found (prior loaded into the engine)"
        in unknown.json["message"]
    )
    assert 400 == start_at(client, definition).status
    assert ["a"] == [element_id for element_id, _ in waiting(client, key)]
    assert {} == instance(client, key)["variables"]


def test_an_instance_that_ended_is_409(client: Client) -> None:
    key = create(client, TWO)
    client.post(f"/v1/process-instances/{key}/cancel")

    answer = client.post(
        "/v1/modify/process-instance",
        {"processInstanceKey": key, "elementInstancesToStart": [{"elementId": "b"}]},
    )

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])


def test_an_element_starts_in_the_iteration_whose_key_is_named(client: Client) -> None:
    inner = sub("s", start("si"), service("a", "a"), service("b", "b"), flows="si > a > b")
    key = create(client, line(many(inner, items="=items", item="n")), {"items": [1, 2]})
    ((_, body),) = waiting(client, key)
    _, (_, second) = waiting(client, body)

    refused = client.post(
        "/v1/modify/process-instance",
        {"processInstanceKey": key, "elementInstancesToStart": [{"elementId": "b"}]},
    )
    answer = client.post(
        "/v1/modify/process-instance",
        {"processInstanceKey": second, "elementInstancesToStart": [{"elementId": "b"}]},
    )

    assert (400, True) == (refused.status, "expected one live s" in refused.json["message"])
    assert 201 == answer.status
    assert 2 == activate(client, "b")[0]["variables"]["n"]
