"""Call activities under /v1: the child is an instance of its own, of type callActivity.

Source: contracts/zenbpm.md sections 1.2, 1.4 and 9.
"""

from __future__ import annotations

from tests.api.client import Client
from tests.api.driver import cancel, create, deploy, incidents, instance, resolve
from tests.api.test_scopes import children
from tests.engine.models import call, line, many, service, start, sub

CHILD = line(service("work")).replace(b'<process id="p"', b'<process id="child"')
INSTANCES = "/v1/process-instances"


def test_a_called_instance_is_a_child_of_its_own_type(client: Client) -> None:
    deploy(client, CHILD)
    key = create(client, line(call("c", "child")), {"order": 7})

    (child,) = children(client, key)

    assert ("callActivity", key, "child", "active", {"order": 7}) == (
        child["processType"],
        child["parentProcessInstanceKey"],
        child["bpmnProcessId"],
        child["state"],
        child["variables"],
    )
    shown = instance(client, child["key"])
    assert key == shown["parentProcessInstanceKey"]
    assert ["work"] == [each["elementId"] for each in shown["activeElementInstances"]]


def test_a_list_by_parent_has_what_was_called_without_asking_for_children(client: Client) -> None:
    deploy(client, CHILD)
    inner = sub("s", start("si"), call("d", "child"), flows="si > d")
    key = create(client, line(call("c", "child"), inner).replace(b"c-s", b"start-s", 1))
    by_parent = f"{INSTANCES}?parentProcessInstanceKey={key}"

    (listed,) = client.get(by_parent).json["partitions"]

    assert ["callActivity"] == [each["processType"] for each in listed["items"]]
    (every,) = client.get(INSTANCES).json["partitions"]
    assert {"default", "callActivity"} == {each["processType"] for each in every["items"]}


def test_a_child_of_a_scope_is_the_scopes(client: Client) -> None:
    deploy(client, CHILD)
    key = create(client, line(many(call("c", "child"), cardinality="=2")))

    (body,) = children(client, key)

    assert ["callActivity"] * 2 == [each["processType"] for each in children(client, body["key"])]


def test_what_could_not_be_called_is_no_child_and_what_is_called_instead_is(client: Client) -> None:
    key = create(client, line(call("c", "child")))
    assert [] == children(client, key)

    deploy(client, CHILD)
    (incident,) = incidents(client, key)
    assert 201 == resolve(client, incident["key"]).status

    assert ["child"] == [each["bpmnProcessId"] for each in children(client, key)]


def test_a_child_is_not_cancelled_alone(client: Client) -> None:
    deploy(client, CHILD)
    key = create(client, line(call("c", "child")))
    (child,) = children(client, key)

    answer = cancel(client, child["key"])

    assert 409 == answer.status
    assert f"is a child of {key}" in answer.text
    assert 204 == cancel(client, key).status
    assert ["terminated"] == [each["state"] for each in children(client, key)]
