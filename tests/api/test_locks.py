"""Locks: who has a job and until when, and how a worker asks for longer."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.ports import Settings
from tests.api.client import Answer, Client
from tests.api.driver import activate, cancel, complete, create, fail, instance, job, one_task
from tests.fakes.clock import ManualClock

ME = {"clientId": "me"}
THREE = 'retries="3"'


def extend(client: Client, key: int, **body: Any) -> Answer:
    return client.post(f"/v1/jobs/{key}/extend-lock", {**ME, **body})


def until(answer: Answer) -> str:
    assert 200 == answer.status, answer.text
    assert ["lockUntil"] == list(answer.json)
    return str(answer.json["lockUntil"])


@pytest.fixture
def work(client: Client) -> Any:
    """A job delivered to `me` at nine o'clock, locked for 20 seconds."""
    create(client, one_task(definition=THREE))
    (delivered,) = activate(client, **ME, lockDuration="PT20S")
    return delivered


# --- C. delivery -------------------------------------------------------------------------------


@pytest.mark.rule("R20")
def test_a_locked_job_goes_to_nobody_not_even_to_its_client_again(
    client: Client, work: Any, clock: ManualClock
) -> None:
    clock.move(17)

    assert [] == activate(client, clientId="other")
    assert [] == activate(client, **ME)


@pytest.mark.rule("R21", "R93", "R107", "R108")
def test_a_lapse_delivers_again_with_the_same_attempt_and_a_higher_token(
    client: Client, work: Any, clock: ManualClock
) -> None:
    clock.move(20)

    (again,) = activate(client, clientId="other")

    assert (1, 3, 1) == (work["attempt"], work["retries"], work["deliveryToken"])
    assert (1, 3, 2) == (again["attempt"], again["retries"], again["deliveryToken"])


@pytest.mark.rule("R32")
def test_a_lock_ends_by_the_servers_clock_and_not_before_it_says(
    client: Client, work: Any, clock: ManualClock
) -> None:
    assert "2026-03-02T09:00:20.000Z" == work["lockUntil"]
    clock.move(18.9)

    assert [] == activate(client)  # looks for a second, up to a tenth before the lock's end
    clock.move(1)
    assert 1 == len(activate(client))


@pytest.mark.rule("R22", "R23")
@pytest.mark.parametrize(
    ("asked", "until_"),
    [
        ({}, "2026-03-02T09:00:30.000Z"),
        ({"lockDuration": "PT0S"}, "2026-03-02T09:00:30.000Z"),
        ({"lockDuration": "PT1M"}, "2026-03-02T09:01:00.000Z"),
        ({"lockDuration": "P1DT1S"}, "2026-03-03T09:00:00.000Z"),
    ],
)
def test_a_lock_lasts_as_asked_with_a_default_and_a_cap(
    client: Client, asked: Any, until_: str
) -> None:
    create(client, one_task())

    (delivered,) = activate(client, **asked)

    assert until_ == delivered["lockUntil"]


@pytest.mark.rule("R34")
def test_a_lock_is_stored_so_it_outlives_every_process(client: Client, work: Any) -> None:
    """Nothing of a lock is kept in memory: a client that was just made finds it."""
    other = Client(client._app)

    assert [] == activate(other, clientId="other")
    assert 200 == extend(other, work["key"]).status


@pytest.mark.rule("R35")
def test_a_job_that_was_only_read_is_nobodys_to_extend(client: Client) -> None:
    create(client, one_task())
    (listed,) = client.get("/v1/jobs").json["partitions"][0]["items"]

    answer = extend(client, listed["key"])

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])
    assert "not held" in answer.json["message"]


@pytest.mark.rule("R36")
def test_an_assignee_does_not_stop_delivery(client: Client) -> None:
    create(client, one_task())
    (listed,) = client.get("/v1/jobs").json["partitions"][0]["items"]
    assert 204 == client.post(f"/v1/jobs/{listed['key']}/assign", {"assignee": "ann"}).status

    assert [listed["key"]] == [each["key"] for each in activate(client, clientId="bob")]


@pytest.mark.rule("R19", "R92", "R94")
def test_a_delivery_is_stored_by_the_time_it_is_answered(client: Client) -> None:
    create(client, one_task())
    (listed,) = client.get("/v1/jobs").json["partitions"][0]["items"]
    assert 0 == listed["deliveryToken"]

    (delivered,) = activate(client)

    assert delivered["deliveryToken"] == job(client, listed["key"])["deliveryToken"] == 1


@pytest.mark.rule("R29")
def test_one_round_hands_out_no_more_than_was_asked_for(client: Client) -> None:
    for _ in range(3):
        create(client, one_task())

    assert [2, 1] == [len(activate(client, maxJobs=2)), len(activate(client, maxJobs=2))]
    answer = client.post("/v1/jobs/activate", {"type": "work", "maxJobs": 101})
    assert (400, True) == (answer.status, "at most 100" in answer.json["message"])


# --- D. extension ------------------------------------------------------------------------------


@pytest.mark.rule("R37")
def test_an_extension_counts_from_now(client: Client, work: Any, clock: ManualClock) -> None:
    clock.move(5)

    assert "2026-03-02T09:01:05.000Z" == until(extend(client, work["key"], lockDuration="PT1M"))

    clock.move(58)
    assert [] == activate(client)
    clock.move(2)
    assert [work["key"]] == [again["key"] for again in activate(client)]


@pytest.mark.rule("R38")
@pytest.mark.parametrize("body", [{}, {"lockDuration": "PT0S"}])
def test_without_a_length_it_is_that_of_the_delivery(
    client: Client, work: Any, clock: ManualClock, body: Any
) -> None:
    clock.move(5)
    extend(client, work["key"], lockDuration="PT1M")

    assert "2026-03-02T09:00:25.000Z" == until(extend(client, work["key"], **body))


@pytest.mark.rule("R39")
def test_an_extension_is_capped_and_not_refused(client: Client, work: Any) -> None:
    answer = extend(client, work["key"], lockDuration="P40D")

    assert "2026-03-03T09:00:00.000Z" == until(answer)


@pytest.mark.rule("R40")
def test_a_shorter_lock_ends_earlier_and_the_job_is_out_then(
    client: Client, work: Any, clock: ManualClock
) -> None:
    assert "2026-03-02T09:00:04.000Z" == until(extend(client, work["key"], lockDuration="PT4S"))

    clock.move(2)
    assert [] == activate(client)
    clock.move(1)
    (again,) = activate(client)
    assert (work["key"], 2) == (again["key"], again["deliveryToken"])


@pytest.mark.rule("R41", "R43", "R91")
@pytest.mark.parametrize("over", ["lapsed", "completed", "failed", "terminated", "retried"])
def test_a_lock_that_is_over_is_not_extended(
    client: Client, work: Any, clock: ManualClock, over: str
) -> None:
    key = work["key"]
    end: dict[str, Any] = {
        "lapsed": lambda: clock.move(20),
        "completed": lambda: complete(client, key),
        "failed": lambda: fail(client, key, retries=0),
        "terminated": lambda: cancel(client, job(client, key)["processInstanceKey"]),
        "retried": lambda: fail(client, key, deliveryToken=1),
    }
    end[over]()
    before = job(client, key)

    answer = extend(client, key)

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])
    assert "not held" in answer.json["message"]
    assert before == job(client, key)


@pytest.mark.rule("R91", "R82")
@pytest.mark.parametrize("say", [complete, fail])
def test_a_refused_word_about_an_ended_job_leaves_no_lock(
    client: Client, work: Any, say: Any
) -> None:
    cancel(client, instance(client, job(client, work["key"])["processInstanceKey"])["key"])

    assert 409 == say(client, work["key"]).status
    assert "not held" in extend(client, work["key"]).json["message"]


@pytest.mark.rule("R41")
def test_an_unknown_job_is_404(client: Client, work: Any) -> None:
    assert [404, 404, 404] == [extend(client, key).status for key in (0, work["key"] + 1000, 2**60)]


@pytest.mark.rule("R42", "R43")
def test_another_clients_lock_is_not_extended(
    client: Client, work: Any, clock: ManualClock
) -> None:
    answer = extend(client, work["key"], clientId="other", lockDuration="PT1H")

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])
    assert "another client" in answer.json["message"]
    assert "me" not in answer.json["message"].split()  # who has it is not told
    clock.move(20)
    assert [work["key"]] == [again["key"] for again in activate(client)]


@pytest.mark.rule("R44")
def test_the_current_delivery_may_be_named(client: Client, work: Any) -> None:
    assert 200 == extend(client, work["key"], deliveryToken=1).status


@pytest.mark.rule("R45", "R46", "R43")
def test_an_older_delivery_to_the_same_client_is_not_extended(
    client: Client, work: Any, clock: ManualClock
) -> None:
    clock.move(20)
    (again,) = activate(client, **ME, lockDuration="PT20S")

    older = extend(client, work["key"], deliveryToken=1, lockDuration="PT1H")
    unborn = extend(client, work["key"], deliveryToken=3)

    assert [409, 409] == [older.status, unborn.status]
    assert "handed out again" in older.json["message"]
    assert "not held" in older.json["message"]
    assert "2026-03-02T09:00:40.000Z" == again["lockUntil"]
    assert "2026-03-02T09:00:50.000Z" == until(extend(client, again["key"], lockDuration="PT30S"))


@pytest.mark.rule("R49", "R43")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, 'Error at "/clientId"'),
        ({"clientId": ""}, 'Error at "/clientId"'),
        ({**ME, "deliveryToken": 0}, 'Error at "/deliveryToken": number must be at least 1'),
        ({**ME, "deliveryToken": "1"}, 'Error at "/deliveryToken"'),
        ({**ME, "lockDuration": "5 minutes"}, "ISO-8601"),
        ({**ME, "lockDuration": "PT-5S"}, "ISO-8601"),
        (None, "value is required but missing"),
    ],
)
def test_an_extension_that_makes_no_sense_is_400(
    client: Client, work: Any, clock: ManualClock, body: Any, words: str
) -> None:
    answer = client.post(f"/v1/jobs/{work['key']}/extend-lock", body)

    assert (400, "BAD_REQUEST") == (answer.status, answer.json["code"])
    assert words in answer.json["message"]
    clock.move(20)
    assert 1 == len(activate(client))


@pytest.mark.parametrize("settings", [Settings(max_lock_ms=60_000)])
def test_a_cap_that_was_lowered_bounds_the_length_of_the_delivery_too(
    client: Client, work: Any
) -> None:
    assert "2026-03-02T09:01:00.000Z" == until(extend(client, work["key"], lockDuration="PT2M"))
