"""Instances are started, read, changed and cancelled by their own key."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.ports import Ports
from tests.api.client import Client
from tests.api.driver import HEAD, activate, create, deploy, instance, job, model, one_task

CREATE = "/v1/process-instances"


def test_an_instance_is_answered_as_far_as_it_ran(client: Client) -> None:
    definition = deploy(client, one_task())

    answer = client.post(
        CREATE,
        {"processDefinitionKey": definition, "variables": {"a": 1}, "businessKey": "order 7"},
    )

    assert (201, "application/json") == (answer.status, answer.headers["Content-Type"])
    (element,) = answer.json["activeElementInstances"]
    assert {
        "elementInstanceKey": element["elementInstanceKey"],
        "createdAt": "2026-03-02T09:00:00.000Z",
        "state": "TokenStateWaiting",
        "elementId": "task",
    } == element
    assert {
        "key": answer.json["key"],
        "processDefinitionKey": definition,
        "bpmnProcessId": "p",
        "version": 1,
        "businessKey": "order 7",
        "createdAt": "2026-03-02T09:00:00.000Z",
        "state": "active",
        "processType": "default",
        "variables": {"a": 1},
        "activeElementInstances": [element],
    } == answer.json
    assert answer.json == instance(client, answer.json["key"])


def test_a_process_id_starts_its_latest_version(client: Client) -> None:
    deploy(client, one_task())
    latest = deploy(client, one_task(type_="other"))

    started = client.post(CREATE, {"bpmnProcessId": "p"}).json

    assert (latest, 2) == (started["processDefinitionKey"], started["version"])


def test_a_key_wins_over_a_process_id(client: Client) -> None:
    key = deploy(client, one_task("p"))
    deploy(client, one_task("q"))

    body = {"processDefinitionKey": key, "bpmnProcessId": "q", "variables": None}

    assert "p" == client.post(CREATE, body).json["bpmnProcessId"]


def test_variables_keep_every_digit_and_character(client: Client) -> None:
    text = (
        '{"a":0.10,"b":12345678901234567890.123456789,"c":1E+400,"größe 😀":"\\u0000\\n","":[{}]}'
    )
    definition = deploy(client, one_task())
    body = f'{{"processDefinitionKey":{definition},"variables":{text}}}'.encode()

    answer = client.post(CREATE, body)

    assert 201 == answer.status
    for read in (answer, client.get(f"{CREATE}/{answer.json['key']}")):
        assert f'"variables":{text}' in read.text.replace("\\u0000\\n", "\\u0000\\n")


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, 400, "expected a process definition key or a BPMN process id"),
        ({"bpmnProcessId": ""}, 400, "expected a process definition key or a BPMN process id"),
        ({"bpmnProcessId": "nobody"}, 404, "no process definition with key -1 was found"),
        ({"processDefinitionKey": 99}, 404, "no process definition with key 99 was found"),
        ({"processDefinitionKey": -1}, 404, "no process definition with key -1 was found"),
        ({"processDefinitionKey": "1"}, 400, 'Error at "/processDefinitionKey"'),
        ({"processDefinitionKey": 1, "variables": []}, 400, 'Error at "/variables"'),
        ({"processDefinitionKey": 1, "historyTimeToLive": "soon"}, 400, "/historyTimeToLive"),
        ({"processDefinitionKey": 1, "businessKey": 7}, 400, 'Error at "/businessKey"'),
        (None, 400, "value is required but missing"),
        ([], 400, "value must be an object"),
    ],
)
def test_a_start_that_names_nothing_is_refused(
    client: Client, body: Any, status: int, words: str
) -> None:
    answer = client.post(CREATE, body)

    assert status == answer.status
    assert words in answer.json["message"]


def test_a_process_without_a_plain_start_is_400(client: Client) -> None:
    xml = f'{HEAD}<process id="p" isExecutable="true"><task id="a"/></process></definitions>'
    answer = client.request(
        "POST", "/v1/process-definitions", xml.encode(), {"content-type": "application/xml"}
    )

    assert 400 == answer.status


def test_a_time_to_live_is_taken(client: Client) -> None:
    body = {"processDefinitionKey": deploy(client, one_task()), "historyTimeToLive": "1d8h"}

    assert 201 == client.post(CREATE, body).status


@pytest.mark.parametrize("key", ["0", "-5", "99", str(2**62)])
def test_a_key_that_names_no_instance_is_404(client: Client, key: str) -> None:
    create(client, one_task())

    for answer in (
        client.get(f"{CREATE}/{key}"),
        client.post(f"{CREATE}/{key}/cancel"),
        client.patch(f"{CREATE}/{key}/variables", {"variables": {}}),
        client.delete(f"{CREATE}/{key}/variables/a"),
    ):
        assert (404, "NOT_FOUND") == (answer.status, answer.json["code"])


def test_the_key_of_something_in_an_instance_is_not_the_instances(client: Client) -> None:
    key = create(client, one_task())
    (work,) = activate(client)

    for inside in (
        work["key"],
        instance(client, key)["activeElementInstances"][0]["elementInstanceKey"],
    ):
        assert 404 == client.get(f"{CREATE}/{inside}").status
        assert 404 == client.post(f"{CREATE}/{work['key']}/cancel").status

    assert "active" == instance(client, key)["state"]


def test_an_instance_is_completed_when_its_last_job_is(client: Client) -> None:
    key = create(client, one_task())
    (work,) = activate(client)

    assert 201 == client.post(f"/v1/jobs/{work['key']}/complete", {}).status

    ended = instance(client, key)
    assert ("completed", []) == (ended["state"], ended["activeElementInstances"])


def test_an_incident_of_the_model_makes_an_instance_failed(client: Client) -> None:
    key = create(client, model("exclusive_choice"), {"amount": "no number"})

    shown = instance(client, key)

    assert "failed" == shown["state"]
    assert ["TokenStateFailed"] == [e["state"] for e in shown["activeElementInstances"]]


@pytest.mark.rule("R76")
def test_an_incident_of_a_job_leaves_its_instance_active(client: Client) -> None:
    key = create(client, one_task())
    (work,) = activate(client)
    client.post(f"/v1/jobs/{work['key']}/fail", {"message": "no"})

    shown = instance(client, key)

    assert "active" == shown["state"]
    assert ["TokenStateWaiting"] == [e["state"] for e in shown["activeElementInstances"]]


# --- cancel ------------------------------------------------------------------------------------


def test_cancelling_ends_an_instance_and_its_jobs(client: Client) -> None:
    key = create(client, one_task())
    (work,) = activate(client)

    answer = client.post(f"{CREATE}/{key}/cancel")

    assert (204, "") == (answer.status, answer.text)
    assert "terminated" == instance(client, key)["state"]
    assert "terminated" == job(client, work["key"])["state"]


def test_cancelling_what_has_ended_is_409_with_upstreams_words(client: Client) -> None:
    key = create(client, one_task())
    client.post(f"/v1/jobs/{activate(client)[0]['key']}/complete", {})

    answer = client.post(f"{CREATE}/{key}/cancel")

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])
    assert (
        "it is not in correct state, expected=ActivityStateActive, actual=ActivityStateCompleted"
    ) in answer.json["message"]


# --- variables ---------------------------------------------------------------------------------


def test_variables_are_merged_and_deleted(client: Client) -> None:
    key = create(client, one_task(), {"a": 1, "b": {"c": 2}})

    merged = client.patch(f"{CREATE}/{key}/variables", {"variables": {"b": 3, "d": None}})
    assert (204, "") == (merged.status, merged.text)
    assert {"a": 1, "b": 3, "d": None} == instance(client, key)["variables"]

    deleted = client.delete(f"{CREATE}/{key}/variables/a")
    assert (204, "") == (deleted.status, deleted.text)
    assert {"b": 3, "d": None} == instance(client, key)["variables"]


@pytest.mark.parametrize("path", ["gr%C3%B6%C3%9Fe%20%F0%9F%98%80", "größe 😀"])
def test_a_variable_of_any_name_is_deleted(client: Client, path: str) -> None:
    key = create(client, one_task(), {"größe 😀": 1})

    assert 204 == client.delete(f"{CREATE}/{key}/variables/{path}").status
    assert {} == instance(client, key)["variables"]


def test_a_variable_that_is_not_there_is_404_even_when_all_is_over(client: Client) -> None:
    key = create(client, one_task(), {"a": 1})
    client.post(f"{CREATE}/{key}/cancel")

    assert 404 == client.delete(f"{CREATE}/{key}/variables/b").status
    answer = client.delete(f"{CREATE}/{key}/variables/a")

    assert 409 == answer.status
    assert answer.json["message"].startswith(
        "can delete variables only for process instances in active"
    )


def test_variables_of_an_ended_instance_stay_as_they_are(client: Client) -> None:
    key = create(client, one_task(), {"a": 1})
    client.post(f"{CREATE}/{key}/cancel")

    answer = client.patch(f"{CREATE}/{key}/variables", {"variables": {"a": 2}})

    assert 409 == answer.status
    assert (
        "Can update variables only for process instances in active or failed state"
        == (answer.json["message"])
    )
    assert {"a": 1} == instance(client, key)["variables"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, 'property "variables" is missing'),
        ({"variables": None}, "Value is not nullable"),
        ({"variables": 1}, "value must be an object"),
        (None, "value is required but missing"),
    ],
)
def test_a_merge_without_variables_is_400(client: Client, body: Any, words: str) -> None:
    answer = client.patch(f"{CREATE}/{create(client, one_task())}/variables", body)

    assert 400 == answer.status
    assert words in answer.json["message"]


# --- subprocesses are shown as children ------------------------------------------------------


def test_a_subprocess_is_shown_as_a_child_under_its_own_key(client: Client) -> None:
    key = create(client, model("subprocess"), {"a": 1})

    (scope,) = instance(client, key)["activeElementInstances"]
    child = instance(client, scope["elementInstanceKey"])

    assert (scope["elementInstanceKey"], "subprocess", key) == (
        child["key"],
        child["processType"],
        child["parentProcessInstanceKey"],
    )
    assert 1 == len(child["activeElementInstances"])
    assert 409 == client.post(f"{CREATE}/{child['key']}/cancel").status


# --- sizes -------------------------------------------------------------------------------------


def test_variables_that_fit_no_item_are_413_and_nothing_starts(
    client: Client, ports: Ports
) -> None:
    definition = deploy(client, one_task())

    answer = client.post(
        CREATE, {"processDefinitionKey": definition, "variables": {"a": "x" * 500_000}}
    )

    assert (413, "PAYLOAD_TOO_LARGE") == (answer.status, answer.json["code"])
    assert [] == activate(client)


def test_a_merge_that_no_longer_fits_is_413_and_changes_nothing(client: Client) -> None:
    key = create(client, one_task(), {"a": "x" * 200_000})

    answer = client.patch(f"{CREATE}/{key}/variables", {"variables": {"b": "x" * 200_000}})

    assert 413 == answer.status
    assert f"in the variables of scope {key}, found" in answer.json["message"]
    assert ["a"] == list(instance(client, key)["variables"])
