"""Delivery tokens: which failure of which delivery counts, and which is a repeat."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Client
from tests.api.driver import (
    activate,
    cancel,
    complete,
    create,
    fail,
    incidents,
    instance,
    job,
    one_task,
    resolve,
)
from tests.fakes.clock import ManualClock

INSTANCES = "/v1/process-instances"


@pytest.fixture
def key(client: Client) -> int:
    """A job with three retries, as it was made."""
    instance_key = create(client, one_task(definition='retries="3"'))
    (found,) = client.get(f"{INSTANCES}/{instance_key}/jobs").json["items"]
    return int(found["key"])


def deliver(client: Client, **more: Any) -> Any:
    (delivered,) = activate(client, **more)
    return delivered


def home(client: Client, key: int) -> int:
    return int(job(client, key)["processInstanceKey"])


def snapshot(client: Client, key: int) -> Any:
    """Everything that a repeat must leave as it is."""
    owner = home(client, key)
    return (
        job(client, key),
        instance(client, owner),
        incidents(client, owner, ""),
        client.get(f"/v1/jobs/{key}/failures").json,
        client.get(f"{INSTANCES}/{owner}/history?size=1000").json,
    )


@pytest.mark.rule("R92", "R93", "R94", "R106", "R148")
def test_a_token_rises_with_every_delivery_and_is_never_reset(
    client: Client, key: int, clock: ManualClock
) -> None:
    seen = [job(client, key)["deliveryToken"]]
    for end in ("lapse", "failure", "claim", "exhaustion", "resolve"):
        if end == "resolve":
            (incident,) = incidents(client, home(client, key))
            assert 201 == resolve(client, incident["key"]).status
        if end == "claim":
            answer = client.post(f"/v1/jobs/{key}/claim", {"clientId": "lambda"})
            token = answer.json["deliveryToken"]
        else:
            token = deliver(client)["deliveryToken"]
        seen.append(token)
        assert token == job(client, key)["deliveryToken"]
        if end == "lapse":
            clock.move(31)
        else:
            fail(client, key, deliveryToken=token, retries=0 if end == "exhaustion" else 2)

    assert [0, 1, 2, 3, 4, 5] == seen


@pytest.mark.rule("R107", "R108")
def test_a_delivery_tells_attempt_and_retries(client: Client, key: int, clock: ManualClock) -> None:
    told = []
    for said in (None, {}, {"retries": 0}):
        delivered = deliver(client)
        told.append((delivered["attempt"], delivered["retries"], delivered["deliveryToken"]))
        if said is None:
            clock.move(31)
        else:
            fail(client, key, deliveryToken=delivered["deliveryToken"], **said)
    (incident,) = incidents(client, home(client, key))
    resolve(client, incident["key"])
    delivered = deliver(client)
    told.append((delivered["attempt"], delivered["retries"], delivered["deliveryToken"]))

    assert [(1, 3, 1), (1, 3, 2), (2, 2, 3), (1, 3, 4)] == told


@pytest.mark.rule("R97", "R98")
@pytest.mark.parametrize(
    "after", ["at once", "re-delivery", "exhaustion", "uncaught error", "cancel", "completion"]
)
def test_a_repeat_of_a_recorded_failure_is_204_and_changes_nothing(
    client: Client, key: int, after: str
) -> None:
    deliver(client)
    said: dict[str, Any] = {"deliveryToken": 1, "message": "no"}
    if after == "exhaustion":
        said["retries"] = 0
    if after == "uncaught error":
        said["errorCode"] = "E"
    assert 204 == fail(client, key, **said).status
    if after == "re-delivery":
        assert 2 == deliver(client)["deliveryToken"]
    if after == "cancel":
        cancel(client, home(client, key))
    if after == "completion":
        complete(client, key)
    before = snapshot(client, key)

    for repeat in (said, {**said, "retries": 0}, {"deliveryToken": 1}):
        assert 204 == fail(client, key, **repeat).status

    assert before == snapshot(client, key)


@pytest.mark.rule("R98")
def test_a_repeat_of_an_older_recorded_failure_is_204_too(client: Client, key: int) -> None:
    for token in (1, 2, 3):
        deliver(client)
        fail(client, key, deliveryToken=token, retries=5)
    deliver(client)
    before = snapshot(client, key)

    assert [204, 204, 204] == [fail(client, key, deliveryToken=t).status for t in (1, 2, 3)]

    assert before == snapshot(client, key)


@pytest.mark.rule("R87", "R99")
@pytest.mark.parametrize("body", [{}, {"retries": 0}, {"errorCode": "E"}, {"clientId": "me"}])
def test_a_late_failure_of_a_superseded_delivery_is_409_and_changes_nothing(
    client: Client, key: int, clock: ManualClock, body: Any
) -> None:
    deliver(client, clientId="me")
    clock.move(31)
    deliver(client, clientId="me")
    before = snapshot(client, key)

    answer = fail(client, key, deliveryToken=1, **body)

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])
    assert "handed out again" in answer.json["message"]
    assert before == snapshot(client, key)
    assert [] == activate(client)  # the current lock stands


@pytest.mark.rule("R100")
@pytest.mark.parametrize("token", [-1, 0, 2, 2**53])
@pytest.mark.parametrize("body", [{}, {"errorCode": "E"}])
def test_a_token_that_was_never_handed_out_is_400(
    client: Client, key: int, token: int, body: Any
) -> None:
    deliver(client)
    before = snapshot(client, key)

    answer = fail(client, key, deliveryToken=token, **body)

    assert (400, "BAD_REQUEST") == (answer.status, answer.json["code"])
    assert "deliveryToken" in answer.json["message"]
    assert before == snapshot(client, key)


@pytest.mark.rule("R101")
def test_a_repeated_error_is_superseded_once_a_later_failure_is_recorded(
    client: Client, key: int
) -> None:
    deliver(client)
    error = {"deliveryToken": 1, "errorCode": "E"}
    fail(client, key, **error)
    (incident,) = incidents(client, home(client, key))
    resolve(client, incident["key"])
    deliver(client)
    assert 204 == fail(client, key, **error).status

    fail(client, key, deliveryToken=2)

    answer = fail(client, key, **error)
    assert (409, "CONFLICT") == (answer.status, answer.json["code"])


@pytest.mark.rule("R102")
def test_the_latest_delivery_of_a_completed_job_cannot_fail(client: Client, key: int) -> None:
    deliver(client)
    complete(client, key)
    before = snapshot(client, key)

    answer = fail(client, key, deliveryToken=1)

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])
    assert "already completed" in answer.json["message"]
    assert before == snapshot(client, key)


@pytest.mark.rule("R103")
def test_a_failure_without_a_token_leaves_the_delivery_its_own(client: Client, key: int) -> None:
    deliver(client)
    fail(client, key)

    assert 204 == fail(client, key, deliveryToken=1).status

    assert (1, 2) == (job(client, key)["retries"], job(client, key)["attempts"])


@pytest.mark.rule("R104")
def test_a_completion_names_no_delivery(client: Client, key: int, clock: ManualClock) -> None:
    deliver(client)
    clock.move(31)
    deliver(client)

    assert 201 == complete(client, key, deliveryToken=1).status
    assert "completed" == job(client, key)["state"]


@pytest.mark.rule("R124")
def test_what_was_recorded_is_read_at_once(client: Client, key: int) -> None:
    for count in (1, 2):
        fail(client, key)
        assert count == client.get(f"/v1/jobs/{key}/failures").json["totalCount"]
        assert count == job(client, key)["attempts"]
