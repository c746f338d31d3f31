"""Ad-hoc subprocesses over HTTP: elements activated by a caller, or ordered by a worker."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Answer, Client
from tests.api.driver import activate, complete, create, instance, model
from tests.engine.models import ad_hoc, line, service

AGENT = line(ad_hoc("h", service("a"), service("b"), job="agent"))
KEY = {"Idempotency-Key": "once"}


def ask(client: Client, key: int, *ids: str, **more: Any) -> Answer:
    body: Any = {"elements": [{"elementId": id_} for id_ in ids], **more}
    return client.post(f"/v1/modify/ad-hoc-activities/{key}/activation", body)


def order(client: Client, key: int, *ids: str, **more: Any) -> Answer:
    elements = [{"elementId": id_, "variables": {"n": n}} for n, id_ in enumerate(ids)]
    result: Any = {"type": "adHocSubProcess", "activateElements": elements, **more}
    return client.post(f"/v1/jobs/{key}/complete", {"result": result})


def scope_of(client: Client, key: int) -> int:
    ((found),) = instance(client, key)["activeElementInstances"]
    return int(found["elementInstanceKey"])


def test_a_caller_activates_elements_until_the_condition_holds(client: Client) -> None:
    key = create(client, model("ad_hoc"), {"steps": ["inspect"]})
    (inspection,) = activate(client, "inspect")
    complete(client, inspection["key"], {"finding": "dry"})

    assert 204 == ask(client, scope_of(client, key), "ask", "ask").status
    first, second = activate(client, "ask")
    complete(client, second["key"], {"finding": "loud"})

    found = instance(client, key)
    assert ("completed", ["dry", "loud"]) == (found["state"], found["variables"]["findings"])
    assert 409 == complete(client, first["key"], {}).status


def test_a_repeat_under_the_same_key_activates_once(client: Client) -> None:
    key = scope_of(client, create(client, model("ad_hoc"), {"steps": []}))
    body: Any = {"elements": [{"elementId": "ask"}]}

    for _ in "ab":
        url = f"/v1/modify/ad-hoc-activities/{key}/activation"
        assert 204 == client.post(url, body, **KEY).status

    assert 1 == len(activate(client, "ask"))


def test_what_is_active_ends_first_if_the_caller_says_so(client: Client) -> None:
    key = create(client, model("ad_hoc"), {"steps": ["inspect", "ask"]})

    assert 204 == ask(client, scope_of(client, key), "ask", cancelRemainingInstances=True).status

    assert ([], 1) == (activate(client, "inspect"), len(activate(client, "ask")))


@pytest.mark.parametrize(
    ("key", "body", "status", "message"),
    [
        ("1", {"elements": [{"elementId": "a"}]}, 404, "process instance 1 was not found"),
        ("x", {"elements": [{"elementId": "a"}]}, 400, "adHocSubProcessInstanceKey"),
        ("{h}", {}, 400, "elements"),
        ("{h}", {"elements": []}, 400, "expected elements to activate, found none"),
        ("{h}", {"elements": [{"elementId": "x"}]}, 400, "that can be activated"),
        ("{p}", {"elements": [{"elementId": "a"}]}, 404, "ad-hoc subprocess"),
    ],
)
def test_what_cannot_be_activated_is_refused(
    client: Client, key: str, body: Any, status: int, message: str
) -> None:
    instance_key = create(client, AGENT)
    path = key.format(h=scope_of(client, instance_key), p=instance_key)

    answer = client.post(f"/v1/modify/ad-hoc-activities/{path}/activation", body)

    assert (status, True) == (answer.status, message in answer.text), answer.text


def test_a_worker_orders_what_is_activated_and_when_it_is_complete(client: Client) -> None:
    key = create(client, AGENT)
    (job,) = activate(client, "agent")
    assert "AD_HOC_SUB_PROCESS" == job["elementType"]
    assert [{"elementId": "a"}, {"elementId": "b"}] == job["variables"]["adHocSubProcessElements"]

    assert 201 == order(client, job["key"], "a", "a").status
    first, second = activate(client, "a")
    assert [0, 1] == [first["variables"]["n"], second["variables"]["n"]]
    complete(client, first["key"])

    (job,) = activate(client, "agent")
    done = order(client, job["key"], isCompletionConditionFulfilled=True)
    assert (201, "active") == (done.status, instance(client, key)["state"])
    complete(client, second["key"])
    assert "completed" == instance(client, key)["state"]


def test_an_order_that_makes_no_sense_is_refused_and_the_job_stays(client: Client) -> None:
    create(client, AGENT)
    (job,) = activate(client, "agent")

    assert 400 == order(client, job["key"], "a", isCompletionConditionFulfilled=True).status
    assert 400 == order(client, job["key"], "x").status
    assert 201 == order(client, job["key"], "a").status
    assert 201 == order(client, job["key"], "b").status, "a repeat, which changes nothing"
    assert ([], 1) == (activate(client, "b"), len(activate(client, "a")))


def test_an_activation_is_shown_as_a_subprocess_with_its_variables(client: Client) -> None:
    key = create(client, AGENT)
    (job,) = activate(client, "agent")
    order(client, job["key"], "a")

    history = client.get(f"/v1/process-instances/{key}/history?size=50").json["items"]
    types = {row["elementId"]: row["elementType"] for row in history if "elementId" in row}
    assert "AD_HOC_SUB_PROCESS" == types["h"]
    assert "AD_HOC_SUB_PROCESS_INNER_INSTANCE" == types["h#innerInstance"]
    scope = scope_of(client, scope_of(client, key))
    assert {"n": 0} == instance(client, scope)["variables"]
    assert ["a"] == [
        each["elementId"] for each in instance(client, scope)["activeElementInstances"]
    ]
