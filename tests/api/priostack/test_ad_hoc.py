"""A worker of Priostack's protocol steers an ad-hoc subprocess by the results of its jobs."""

from __future__ import annotations

from typing import Any

from tests.api.client import Client
from tests.api.priostack.driver import API, GONE, activate, complete, start, state
from tests.engine.models import ad_hoc, line, service

AGENT = line(ad_hoc("h", service("a"), service("b"), job="agent"))


def order(client: Client, job: Any, *ids: str, **more: Any) -> tuple[int, Any]:
    elements = [{"elementId": id_} for id_ in ids]
    result: Any = {"type": "adHocSubProcess", "activateElements": elements, **more}
    answer = client.post(f"{API}/jobs/{job['key']}/complete", {"result": result})
    return answer.status, answer.json


def test_a_worker_orders_and_is_asked_again(client: Client) -> None:
    key = start(client, AGENT)
    (first,) = activate(client, "agent")
    assert 200 == order(client, first, "a", "b")[0]
    (one,), (other,) = activate(client, "a"), activate(client, "b")
    complete(client, one)
    (second,) = activate(client, "agent")
    complete(client, other)

    assert GONE == order(client, second, isCompletionConditionFulfilled=True)
    (third,) = activate(client, "agent")
    assert 200 == order(client, third, isCompletionConditionFulfilled=True)[0]
    assert "COMPLETED" == state(client, key)


def test_an_order_that_makes_no_sense_is_refused_and_the_job_stays(client: Client) -> None:
    start(client, AGENT)
    (job,) = activate(client, "agent")

    assert 400 == order(client, job, "x")[0]
    assert 400 == order(client, job, "a", isCompletionConditionFulfilled=True)[0]
    assert 200 == order(client, job, "a")[0]
