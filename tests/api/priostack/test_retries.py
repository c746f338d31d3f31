"""`retries` is what is left, as it was sent; without any the job is over."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Client
from tests.api.priostack.driver import (
    API,
    GONE,
    activate,
    complete,
    deploy,
    fail,
    incidents,
    instance,
    jobs,
    one_task,
    patch,
    process,
    refused,
    start,
    started,
    state,
    task,
)
from tests.fakes.clock import ManualClock

FORK = process(
    '<startEvent id="s"/><parallelGateway id="fork"/>',
    task("a"),
    task("b"),
    '<parallelGateway id="join"/><endEvent id="e"/>',
    flows="s>fork fork>a fork>b a>join b>join join>e",
)


@pytest.mark.rule("P13", "P18")
def test_a_job_has_three_retries_unless_the_model_says(client: Client) -> None:
    start(client, one_task())

    assert [3] == [job["retries"] for job in activate(client)]


@pytest.mark.rule("P14", "P18")
def test_a_job_has_the_retries_of_the_model(client: Client) -> None:
    start(client, one_task(definition='retries="7"'))

    assert [7] == [job["retries"] for job in activate(client)]


@pytest.mark.rule("P15", "P16", "P17", "P62")
@pytest.mark.parametrize("retries", ["0", "-1", "abc", "1.5", "", "=x"])
def test_retries_that_make_no_sense_refuse_the_model(client: Client, retries: str) -> None:
    answer = refused(client, one_task(definition=f'retries="{retries}"'))

    assert 422 == answer.status
    assert 'serviceTask "task"' in answer.json["error"]
    assert 0 == client.get(f"{API}/process-definitions").json["total"]
    assert 1 == deploy(client, one_task())["version"]


@pytest.mark.rule("P19", "P20", "P21", "P26", "P28")
@pytest.mark.parametrize("left", [2, 3, 9])
def test_the_retries_of_a_failure_are_kept_as_sent(
    client: Client, clock: ManualClock, left: int
) -> None:
    key = start(client, one_task())
    (job,) = activate(client)
    at = clock.now()

    assert (200, {}) == fail(client, job, retries=left, errorMessage="it broke")
    (again,) = activate(client)

    assert (job["key"], left, at) == (again["key"], again["retries"], clock.now())
    assert ("ACTIVE", []) == (state(client, key), incidents(client))


@pytest.mark.rule("P22", "P23", "P24", "P25", "P33")
@pytest.mark.parametrize("body", [{}, {"retries": 0}, {"retries": -4}, {"retries": None}])
def test_no_retries_and_none_sent_are_the_same(client: Client, body: Any) -> None:
    key = start(client, one_task())
    (job,) = activate(client)

    assert (200, {}) == fail(client, job, **body)
    assert ("INCIDENT", []) == (state(client, key), activate(client))
    assert [("JOB_FAILED", "")] == [
        (each["error_code"], each["error_message"]) for each in incidents(client)
    ]


@pytest.mark.rule("P22")
def test_a_failure_without_a_body_leaves_no_retries(client: Client) -> None:
    key = start(client, one_task())
    (job,) = activate(client)

    assert 200 == client.post(f"{API}/jobs/{job['key']}/fail").status
    assert "INCIDENT" == state(client, key)


@pytest.mark.rule("P24")
@pytest.mark.parametrize("retries", ["2", True, [1], {}, 1.5])
def test_retries_of_another_type_are_400(client: Client, retries: Any) -> None:
    key = start(client, one_task())
    (job,) = activate(client)

    status, error = fail(client, job, retries=retries)

    assert (400, "ACTIVE") == (status, state(client, key))
    assert "retries" in error["error"]
    assert [3] == [each["retries"] for each in jobs(client)]


@pytest.mark.rule("P27")
def test_a_backoff_that_is_asked_for_delays_nothing(client: Client) -> None:
    start(client, one_task())
    (job,) = activate(client)

    fail(client, job, retries=1, retryBackoff=60_000, errorCode="E", more={"a": 1})

    assert [job["key"]] == [each["key"] for each in activate(client)]


@pytest.mark.rule("P30")
def test_a_job_that_nobody_has_may_be_failed_and_completed(client: Client) -> None:
    key = start(client, one_task())
    (job,) = jobs(client)

    assert (200, {}) == fail(client, job, retries=5)
    assert [5] == [each["retries"] for each in jobs(client)]
    assert (200, {}) == complete(client, job)
    assert "COMPLETED" == state(client, key)


# --- exhausted ---------------------------------------------------------------------------------


def stuck(client: Client, message: str = "card declined") -> tuple[int, Any]:
    """Start an instance whose one job has failed for good; return both."""
    key = start(client, one_task())
    (job,) = activate(client)
    assert (200, {}) == fail(client, job, retries=0, errorMessage=message)
    return key, job


@pytest.mark.rule("P31", "P32")
def test_a_job_without_retries_is_gone(client: Client) -> None:
    _, job = stuck(client)

    assert ([], []) == (jobs(client), activate(client))
    assert GONE == complete(client, job)
    assert GONE == fail(client, job, retries=3)


@pytest.mark.rule("P34", "P35")
def test_an_incident_says_what_failed_and_where(client: Client) -> None:
    key, job = stuck(client)

    (incident,) = incidents(client)

    assert {
        "id": incident["id"],
        "process_instance_key": key,
        "job_key": job["key"],
        "element_id": "task",
        "error_code": "JOB_FAILED",
        "error_message": "card declined",
        "severity": "critical",
        "status": "open",
        "created_at": "2026-03-02T09:00:00.000Z",
    } == incident


@pytest.mark.rule("P36", "P37", "P39")
def test_a_mark_calls_an_incident_resolved_and_nothing_goes_on(
    client: Client, clock: ManualClock
) -> None:
    key, _ = stuck(client)
    (incident,) = incidents(client, "?status=open")
    clock.move(5)

    first = patch(client, incident["id"])
    clock.move(5)
    again = patch(client, incident["id"])

    expected = {**incident, "status": "resolved", "resolved_at": "2026-03-02T09:00:05.000Z"}
    assert (200, expected) == first == again
    assert ("INCIDENT", []) == (state(client, key), jobs(client))
    assert [] == incidents(client, "?status=open")
    assert [expected] == incidents(client, "?status=resolved") == incidents(client)
    assert [expected] == incidents(client, f"?process_instance_key={key}")


@pytest.mark.rule("P39")
@pytest.mark.parametrize("incident", ["1", "99999999999", "seven", "-1", "9" * 30])
def test_an_incident_that_is_not_there_is_404(client: Client, incident: str) -> None:
    assert (404, {"error": "incident not found"}) == patch(client, incident)


@pytest.mark.rule("P38")
def test_no_call_lets_an_instance_go_on_that_has_an_incident(client: Client) -> None:
    key, job = stuck(client)
    (incident,) = incidents(client)

    patch(client, incident["id"])
    complete(client, job)
    fail(client, job, retries=3)
    client.patch(f"{API}/process-instances/{key}/variables", {"variables": {"a": 1}})
    client.post(f"{API}/incidents/{incident['id']}/resolve", {})
    deploy(client, one_task())

    assert ("INCIDENT", {"a": 1}) == (state(client, key), instance(client, key)["variables"])
    assert [] == activate(client)


@pytest.mark.rule("P40")
def test_an_instance_with_an_incident_can_be_cancelled(client: Client) -> None:
    key, _ = stuck(client)

    assert 200 == client.delete(f"{API}/process-instances/{key}").status
    assert "TERMINATED" == state(client, key)
    assert ["resolved"] == [each["status"] for each in incidents(client)]


@pytest.mark.rule("P43")
def test_other_branches_go_on_beside_an_incident(client: Client) -> None:
    key = start(client, FORK)
    (first,), (other,) = activate(client, "a"), activate(client, "b")
    fail(client, first, retries=0)

    assert (200, {}) == complete(client, other)
    assert "INCIDENT" == state(client, key)


@pytest.mark.rule("P41")
def test_an_expression_that_cannot_be_evaluated_is_an_incident(client: Client) -> None:
    xml = process(
        '<startEvent id="s"/>',
        task(
            "a",
            more='<zeebe:ioMapping><zeebe:input source="=assert(x, x &gt; 5)" '
            'target="y"/></zeebe:ioMapping>',
        ),
        '<endEvent id="e"/>',
        flows="s>a a>e",
    )
    key = start(client, xml, {"x": 1})

    assert "INCIDENT" == state(client, key)
    assert ["EXPRESSION_FAILED"] == [each["error_code"] for each in incidents(client)]


def test_a_gateway_that_no_flow_leaves_is_an_incident(client: Client) -> None:
    xml = process(
        '<startEvent id="s"/><exclusiveGateway id="g"/><endEvent id="e"/><endEvent id="d"/>'
        '<sequenceFlow id="x" sourceRef="g" targetRef="e"><conditionExpression>=n &gt; 5'
        "</conditionExpression></sequenceFlow>"
        '<sequenceFlow id="y" sourceRef="g" targetRef="d"><conditionExpression>=n &gt; 6'
        "</conditionExpression></sequenceFlow>",
        flows="s>g",
    )
    key = start(client, xml, {"n": 1})

    (incident,) = incidents(client)
    assert ("INCIDENT", "NO_MATCHING_FLOW") == (state(client, key), incident["error_code"])


def test_incidents_of_all_instances_are_listed_newest_first(
    client: Client, clock: ManualClock
) -> None:
    deploy(client, one_task())
    keys = []
    for _ in range(3):
        keys.append(started(client, "p"))
        (job,) = activate(client)
        fail(client, job)
        clock.move(1)

    listed = client.get(f"{API}/incidents?limit=2&offset=1").json

    assert 3 == listed["total"]
    assert keys[1::-1] == [each["process_instance_key"] for each in listed["items"]]


CONDITION = process(
    '<startEvent id="s"/><exclusiveGateway id="g" default="d"/><endEvent id="e"/>'
    '<endEvent id="f"/><sequenceFlow id="d" sourceRef="g" targetRef="e"/>'
    '<sequenceFlow id="c" sourceRef="g" targetRef="f"><conditionExpression>amount &gt; 5'
    "</conditionExpression></sequenceFlow>",
    flows="s>g",
)
TIMER = process(
    '<startEvent id="s"/><intermediateCatchEvent id="t"><timerEventDefinition><timeDuration>'
    '=amount</timeDuration></timerEventDefinition></intermediateCatchEvent><endEvent id="e"/>',
    flows="s>t t>e",
)
COLLECTION = process(
    '<startEvent id="s"/>',
    task("a").replace(
        "</serviceTask>",
        "<multiInstanceLoopCharacteristics><extensionElements><zeebe:loopCharacteristics "
        'inputCollection="=amount" inputElement="each"/></extensionElements>'
        "</multiInstanceLoopCharacteristics></serviceTask>",
    ),
    '<endEvent id="e"/>',
    flows="s>a a>e",
)


@pytest.mark.rule("P42")
@pytest.mark.parametrize("xml", [CONDITION, TIMER, COLLECTION], ids=["if", "timer", "list"])
def test_a_variable_that_is_read_and_not_there_is_an_incident(client: Client, xml: bytes) -> None:
    missing = start(client, xml)

    (incident,) = incidents(client)
    assert ("INCIDENT", "VARIABLE_MISSING") == (state(client, missing), incident["error_code"])
    assert "amount" in incident["error_message"]


@pytest.mark.rule("P42")
def test_a_mapping_of_a_variable_that_is_not_there_gives_null(client: Client) -> None:
    more = '<zeebe:ioMapping><zeebe:input source="=amount" target="x"/></zeebe:ioMapping>'
    xml = process('<startEvent id="s"/>', task("a", more=more), flows="s>a")
    start(client, xml)

    assert [{"x": None}] == [job["variables"] for job in activate(client, "a")]


@pytest.mark.parametrize("amount", ["5", None, [1]])
def test_a_variable_that_is_there_and_unfit_is_another_incident(
    client: Client, amount: Any
) -> None:
    start(client, CONDITION, {"amount": amount})

    assert ["EXPRESSION_FAILED"] == [each["error_code"] for each in incidents(client)]
