"""What a worker may say about a job, and how it is told what became of it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Answer, Client
from tests.api.driver import activate, create, instance, job, model, one_task
from tests.fakes.clock import ManualClock

THREE = 'retries="3"'


def complete(client: Client, key: int, variables: Any = None) -> Answer:
    return client.post(f"/v1/jobs/{key}/complete", {"variables": variables})


def fail(client: Client, key: int, **body: Any) -> Answer:
    return client.post(f"/v1/jobs/{key}/fail", body)


@pytest.fixture
def key(client: Client) -> int:
    create(client, one_task(definition=THREE), {"a": 1})
    (work,) = activate(client)
    return int(work["key"])


# --- read --------------------------------------------------------------------------------------


@pytest.mark.rule("R85", "R56")
def test_a_job_shows_all_that_it_was_made_with(client: Client) -> None:
    xml = one_task(definition='retries="3" retryBackoff="PT10S,PT1M"').replace(
        b"/></extensionElements>",
        b'/><zeebe:taskHeaders><zeebe:header key="to" value="x"/></zeebe:taskHeaders>'
        b"</extensionElements>",
    )
    instance_key = create(client, xml, {"a": 1.50})
    (work,) = activate(client)

    shown = job(client, work["key"])

    assert {
        "key": work["key"],
        "elementId": "task",
        "elementType": "SERVICE_TASK",
        "type": "work",
        "processInstanceKey": instance_key,
        "elementInstanceKey": shown["elementInstanceKey"],
        "state": "active",
        "createdAt": "2026-03-02T09:00:00.000Z",
        "inputVariables": {"a": 1.50},
        "retries": 3,
        "attempts": 0,
        "retryBackoff": "PT10S,PT1M",
        "deliveryToken": 1,
        "taskHeaders": {"to": "x"},
    } == shown


@pytest.mark.rule("R13", "R18")
@pytest.mark.parametrize("key", ["0", "-1", "1000", str(2**63 - 1)])
def test_a_key_that_names_no_job_is_404_each_time(client: Client, key: str) -> None:
    for _ in range(2):
        for answer in (
            client.get(f"/v1/jobs/{key}"),
            client.post(f"/v1/jobs/{key}/complete", {}),
            client.post(f"/v1/jobs/{key}/fail", {}),
            client.post(f"/v1/jobs/{key}/claim", {"clientId": "c"}),
        ):
            assert (404, "NOT_FOUND") == (answer.status, answer.json["code"])
            assert "not found" in answer.json["message"]


def test_a_key_may_be_percent_encoded(client: Client, key: int) -> None:
    encoded = "".join(f"%{ord(digit):02X}" for digit in str(key))

    assert key == client.get(f"/v1/jobs/{encoded}").json["key"]


@pytest.mark.parametrize("key", ["%FF", "x", "1.0", "9223372036854775808", "1e3", "%20"])
def test_a_key_that_is_no_int64_is_400(client: Client, key: str) -> None:
    answer = client.get(f"/v1/jobs/{key}")

    assert (400, "BAD_REQUEST") == (answer.status, answer.json["code"])
    assert 'parameter "jobKey" in path has an error' in answer.json["message"]


# --- A. completion -----------------------------------------------------------------------------


@pytest.mark.rule("R1")
def test_completing_an_active_job_moves_its_instance_on(client: Client) -> None:
    instance_key = create(client, model("sequence"))
    (first,) = activate(client, "reserve")

    answer = complete(client, first["key"], {"done": True})

    assert (201, "") == (answer.status, answer.text)
    shown = job(client, first["key"])
    assert ("completed", {"done": True}) == (shown["state"], shown["outputVariables"])
    (element,) = instance(client, instance_key)["activeElementInstances"]
    assert first["elementId"] != element["elementId"]


@pytest.mark.rule("R2")
def test_completing_again_is_201_and_changes_nothing(client: Client) -> None:
    instance_key = create(client, model("sequence"))
    (first,) = activate(client, "reserve")
    complete(client, first["key"], {"done": 1})
    before = instance(client, instance_key)

    assert 201 == complete(client, first["key"], {"done": 2}).status

    assert {"done": 1} == job(client, first["key"])["outputVariables"]
    assert before == instance(client, instance_key)


@pytest.mark.rule("R4", "R91")
def test_completing_a_terminated_job_is_409(client: Client, key: int) -> None:
    client.post(f"/v1/process-instances/{job(client, key)['processInstanceKey']}/cancel")

    answer = complete(client, key)

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])
    assert "already terminated" in answer.json["message"]
    assert "terminated" == job(client, key)["state"]


@pytest.mark.rule("R5")
def test_completing_a_failed_job_is_409_and_it_stays_failed(client: Client, key: int) -> None:
    fail(client, key, retries=0)

    assert 409 == complete(client, key).status
    assert "failed" == job(client, key)["state"]


@pytest.mark.rule("R6")
def test_completing_an_unknown_key_of_a_known_instance_is_404(client: Client, key: int) -> None:
    assert 404 == complete(client, key + 1000).status


@pytest.mark.rule("R7")
def test_completing_is_not_tied_to_the_lock(client: Client, key: int) -> None:
    assert [] == activate(client, clientId="other")

    assert 201 == complete(client, key).status


@pytest.mark.rule("R8", "R21")
def test_completing_after_a_lapse_and_another_delivery_still_counts(
    client: Client, key: int, clock: ManualClock
) -> None:
    clock.move(31)
    (again,) = activate(client, clientId="other")
    assert (key, 2, 1) == (again["key"], again["deliveryToken"], again["attempt"])

    assert 201 == complete(client, key, {"by": "first"}).status
    assert 201 == complete(client, key, {"by": "second"}).status

    assert {"by": "first"} == job(client, key)["outputVariables"]


@pytest.mark.rule("R9", "R77")
def test_completing_a_job_in_its_backoff_counts(client: Client, key: int) -> None:
    fail(client, key, retryBackoff="PT1H")
    assert "2026-03-02T10:00:00.000Z" == job(client, key)["retryAt"]

    assert 201 == complete(client, key).status


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (None, "value is required but missing"),
        (b"null", "value must be an object"),
        ({"variables": [1]}, 'Error at "/variables": value must be an object'),
        ({"variables": "x"}, 'Error at "/variables": value must be an object'),
        (b'{"variables":{"a":1e9999}}', "exponent"),
    ],
)
def test_a_completion_that_is_no_completion_is_400(
    client: Client, key: int, body: Any, words: str
) -> None:
    answer = client.post(f"/v1/jobs/{key}/complete", body)

    assert 400 == answer.status
    assert words in answer.json["message"]
    assert "active" == job(client, key)["state"]


@pytest.mark.parametrize("body", [{}, {"variables": None}, {"variables": {}, "unknown": [1]}])
def test_a_completion_may_be_empty_and_say_more_than_we_know(
    client: Client, key: int, body: Any
) -> None:
    assert 201 == client.post(f"/v1/jobs/{key}/complete", body).status


def test_a_completion_that_no_longer_fits_is_413_and_changes_nothing(client: Client) -> None:
    instance_key = create(
        client,
        one_task().replace(
            b"/></extensionElements>",
            b'/><zeebe:ioMapping><zeebe:output source="=b" target="b"/></zeebe:ioMapping>'
            b"</extensionElements>",
        ),
        {"a": "x" * 200_000},
    )
    (work,) = activate(client)

    answer = complete(client, work["key"], {"b": "x" * 200_000})

    assert (413, "PAYLOAD_TOO_LARGE") == (answer.status, answer.json["code"])
    assert "active" == job(client, work["key"])["state"]
    assert ["a"] == list(instance(client, instance_key)["variables"])
    assert 201 == complete(client, work["key"], {"b": "small"}).status


# --- G. failure --------------------------------------------------------------------------------


@pytest.mark.rule("R67", "R75")
def test_a_failure_spends_a_retry(client: Client, key: int) -> None:
    before = instance(client, job(client, key)["processInstanceKey"])

    answer = fail(client, key, message="card declined")

    assert (204, "") == (answer.status, answer.text)
    shown = job(client, key)
    assert (2, 1, "active") == (shown["retries"], shown["attempts"], shown["state"])
    assert "card declined" == shown["lastFailureMessage"]
    assert before == instance(client, shown["processInstanceKey"])


@pytest.mark.rule("R75")
def test_a_failure_without_a_message_leaves_an_empty_one(client: Client, key: int) -> None:
    fail(client, key)

    assert "" == job(client, key)["lastFailureMessage"]


@pytest.mark.rule("R68", "R69")
@pytest.mark.parametrize(("asked", "left"), [(5, 5), (500, 100)])
def test_a_failure_may_top_up_to_the_cap(client: Client, key: int, asked: int, left: int) -> None:
    assert 204 == fail(client, key, retries=asked).status

    assert (left, 1) == (job(client, key)["retries"], job(client, key)["attempts"])


@pytest.mark.rule("R70")
def test_a_failure_with_no_retries_left_is_final(client: Client, key: int) -> None:
    assert 204 == fail(client, key, retries=0).status

    assert ("failed", 0) == (job(client, key)["state"], job(client, key)["retries"])


@pytest.mark.rule("R71", "R72", "R100")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"retries": -1}, 'Error at "/retries": number must be at least 0'),
        ({"retries": 2.5}, 'Error at "/retries": value must be an integer'),
        ({"retries": 2**31}, 'Error at "/retries": number must be at most 2147483647'),
        ({"retries": "3"}, 'Error at "/retries": value must be an integer'),
        ({"retryBackoff": "10 seconds"}, 'Error at "/retryBackoff"'),
        ({"retryBackoff": "10 seconds"}, "10 seconds"),
        ({"retryBackoff": "PT-1S"}, "ISO-8601"),
        ({"retryBackoff": "P1M"}, "ISO-8601"),
        ({"deliveryToken": 0}, 'Error at "/deliveryToken": number must be at least 1'),
        ({"deliveryToken": 2}, "2"),
        ({"errorCode": "x", "retries": -1}, "number must be at least 0"),
        ({"errorCode": 7}, 'Error at "/errorCode": value must be a string'),
        ({"message": None}, 'Error at "/message": Value is not nullable'),
    ],
)
def test_a_failure_that_makes_no_sense_is_400_and_spends_nothing(
    client: Client, key: int, body: Any, words: str
) -> None:
    before = job(client, key)

    answer = client.post(f"/v1/jobs/{key}/fail", body)

    assert (400, "BAD_REQUEST") == (answer.status, answer.json["code"])
    assert words in answer.json["message"]
    assert before == job(client, key)


@pytest.mark.rule("R80")
def test_a_late_failure_without_a_token_counts(
    client: Client, key: int, clock: ManualClock
) -> None:
    clock.move(31)

    assert 204 == fail(client, key).status
    assert 2 == job(client, key)["retries"]


@pytest.mark.rule("R81")
def test_a_failure_without_a_token_counts_each_time(client: Client, key: int) -> None:
    fail(client, key)
    fail(client, key)

    assert (1, 2) == (job(client, key)["retries"], job(client, key)["attempts"])


@pytest.mark.rule("R82")
@pytest.mark.parametrize("state", ["completed", "failed", "terminated"])
def test_a_failure_of_an_ended_job_is_409(client: Client, key: int, state: str) -> None:
    end = {
        "completed": lambda: complete(client, key),
        "failed": lambda: fail(client, key, retries=0),
        "terminated": lambda: client.post(
            f"/v1/process-instances/{job(client, key)['processInstanceKey']}/cancel"
        ),
    }
    end[state]()
    before = job(client, key)

    answer = fail(client, key, message="late")

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])
    assert f"already {state}" in answer.json["message"]
    assert before == job(client, key)


# --- H. locks and I. tokens --------------------------------------------------------------------


@pytest.mark.rule("R86", "R97")
def test_a_failure_of_the_latest_delivery_frees_the_job(client: Client, key: int) -> None:
    assert 204 == fail(client, key, deliveryToken=1).status

    (again,) = activate(client)
    assert (key, 2, 2) == (again["key"], again["deliveryToken"], again["attempt"])


@pytest.mark.rule("R88")
def test_a_failure_by_the_locks_client_frees_the_job(client: Client) -> None:
    create(client, one_task(definition=THREE))
    (work,) = activate(client, clientId="me")

    fail(client, work["key"], clientId="me")

    assert [work["key"]] == [again["key"] for again in activate(client)]


@pytest.mark.rule("R89", "R90")
@pytest.mark.parametrize("body", [{}, {"clientId": "other"}])
def test_a_failure_by_somebody_else_leaves_the_lock(
    client: Client, key: int, clock: ManualClock, body: Any
) -> None:
    assert 204 == fail(client, key, **body).status

    shown = job(client, key)
    assert (2, None) == (shown["retries"], shown.get("retryAt"))
    assert [] == activate(client)
    clock.move(30)
    assert [key] == [again["key"] for again in activate(client)]


@pytest.mark.rule("R98")
def test_a_repeat_of_a_recorded_failure_changes_nothing(client: Client, key: int) -> None:
    fail(client, key, deliveryToken=1)
    before = job(client, key)

    assert 204 == fail(client, key, deliveryToken=1, retries=0).status

    assert before == job(client, key)


@pytest.mark.rule("R99", "R87")
def test_a_failure_of_a_superseded_delivery_is_409(
    client: Client, key: int, clock: ManualClock
) -> None:
    clock.move(31)
    (again,) = activate(client)
    before = job(client, key)

    answer = fail(client, key, deliveryToken=again["deliveryToken"] - 1, retries=0)

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])
    assert "handed out again" in answer.json["message"]
    assert before == job(client, key)
