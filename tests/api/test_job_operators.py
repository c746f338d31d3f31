"""What operators see and say of a job: its failures, its retries, its assignee."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Answer, Client
from tests.api.driver import (
    activate,
    cancel,
    complete,
    created,
    fail,
    incidents,
    job,
    resolve,
)
from tests.fakes.clock import ManualClock


def failures(client: Client, key: int, query: str = "") -> Answer:
    return client.get(f"/v1/jobs/{key}/failures{query}")


def set_retries(client: Client, key: int, **body: Any) -> Answer:
    return client.post(f"/v1/jobs/{key}/retries", body)


# --- K. history --------------------------------------------------------------------------------


@pytest.mark.rule("R117", "R118", "R124")
def test_each_failure_without_a_code_is_one_row_the_newest_first(
    client: Client, clock: ManualClock
) -> None:
    work = created(client, 'retries="3"')
    key = work["key"]
    fail(client, key, message="first", retryBackoff="PT10S")
    clock.move(60)
    fail(client, key, message="second")
    clock.move(60)
    fail(client, key, message="third")

    answer = failures(client, key)

    assert 200 == answer.status
    assert ["items", "page", "size", "count", "totalCount"] == list(answer.json)
    (incident,) = incidents(client, work["processInstanceKey"])
    third, second, first = answer.json["items"]
    common = {"jobKey": key, "processInstanceKey": work["processInstanceKey"]}
    assert {
        "key": third["key"],
        **common,
        "attempt": 3,
        "failedAt": "2026-03-02T09:02:00.000Z",
        "message": "third",
        "incidentKey": incident["key"],
    } == third
    assert {
        "key": second["key"],
        **common,
        "attempt": 2,
        "failedAt": "2026-03-02T09:01:00.000Z",
        "message": "second",
    } == second
    assert ("first", "2026-03-02T09:00:10.000Z") == (first["message"], first["retryAt"])
    assert 3 == len({row["key"] for row in answer.json["items"]})


@pytest.mark.rule("R118", "R121")
def test_failures_come_in_pages(client: Client) -> None:
    work = created(client, 'retries="50"')
    for number in range(12):
        fail(client, work["key"], message=str(number))

    def page(query: str) -> tuple[list[str], int, int]:
        answer = failures(client, work["key"], query).json
        return [row["message"] for row in answer["items"]], answer["size"], answer["totalCount"]

    assert ([str(n) for n in range(11, 1, -1)], 10, 12) == page("")
    assert (["1", "0"], 10, 12) == page("?page=2")
    assert (["7", "6"], 2, 12) == page("?page=3&size=2")
    assert ([], 10, 12) == page("?page=3")
    assert ([], 1000, 12) == page("?page=2147483647&size=1000")


@pytest.mark.rule("R118")
@pytest.mark.parametrize(
    ("query", "name"), [("size=1001", "size"), ("size=0", "size"), ("page=0", "page")]
)
def test_a_page_of_failures_out_of_bounds_is_400(client: Client, query: str, name: str) -> None:
    work = created(client, "")

    answer = failures(client, work["key"], f"?{query}")

    assert (400, "BAD_REQUEST") == (answer.status, answer.json["code"])
    assert f'parameter "{name}" in query has an error' in answer.json["message"]


@pytest.mark.rule("R119", "R120")
def test_a_bpmn_error_is_no_failure_and_none_is_an_empty_page(client: Client) -> None:
    work = created(client, "")
    assert [] == failures(client, work["key"]).json["items"]

    fail(client, work["key"], errorCode="E")

    assert ([], 0) == (
        failures(client, work["key"]).json["items"],
        failures(client, work["key"]).json["totalCount"],
    )
    assert [404, 404] == [failures(client, key).status for key in (0, work["key"] + 500)]


@pytest.mark.rule("R122")
def test_failures_outlive_a_resolve_and_attempts_are_counted_anew(client: Client) -> None:
    work = created(client, "")
    fail(client, work["key"], message="a")
    (incident,) = incidents(client, work["processInstanceKey"])
    resolve(client, incident["key"])
    fail(client, work["key"], message="b")

    rows = failures(client, work["key"]).json["items"]

    assert [("b", 1), ("a", 1)] == [(row["message"], row["attempt"]) for row in rows]


def test_a_message_that_is_too_long_is_413_and_spends_nothing(client: Client) -> None:
    for definition in ('retries="3"', 'retries="1"'):
        work = created(client, definition)

        answer = fail(client, work["key"], message="x" * 400_000)

        assert (413, "PAYLOAD_TOO_LARGE") == (answer.status, answer.json["code"])
        assert work == job(client, work["key"])
        assert [] == incidents(client, work["processInstanceKey"])


# --- L. setting retries ------------------------------------------------------------------------


@pytest.mark.rule("R125", "R131")
def test_retries_that_are_set_cut_the_backoff_short(client: Client) -> None:
    work = created(client, 'retries="3" retryBackoff="PT1H"')
    fail(client, work["key"])
    assert [] == activate(client)

    answer = set_retries(client, work["key"], retries=4)

    assert (204, "") == (answer.status, answer.text)
    shown = job(client, work["key"])
    assert (4, 1, False) == (shown["retries"], shown["attempts"], "retryAt" in shown)
    assert [(work["key"], 2, 4)] == [
        (each["key"], each["attempt"], each["retries"]) for each in activate(client)
    ]


@pytest.mark.rule("R125")
def test_a_lock_stands_when_retries_are_set(client: Client, clock: ManualClock) -> None:
    created(client, 'retries="3"')
    (work,) = activate(client)

    set_retries(client, work["key"], retries=4)

    assert [] == activate(client)
    clock.move(30)
    assert 1 == len(activate(client))


@pytest.mark.rule("R126", "R127")
@pytest.mark.parametrize(
    ("retry_at", "kept"),
    [
        ("2026-03-02T09:10:00Z", "2026-03-02T09:10:00.000Z"),
        ("2026-03-03T10:00:00+01:00", "2026-03-03T09:00:00.000Z"),  # the cap, to the second
        ("2026-03-02T09:00:00Z", None),
        ("2001-01-01T00:00:00Z", None),
    ],
)
def test_a_retry_time_that_is_ahead_holds_the_job_back(
    client: Client, clock: ManualClock, retry_at: str, kept: str | None
) -> None:
    work = created(client, "")

    assert 204 == set_retries(client, work["key"], retries=2, retryAt=retry_at).status

    assert kept == job(client, work["key"]).get("retryAt")
    assert (kept is None) == bool(activate(client))


@pytest.mark.rule("R126")
def test_a_job_that_was_held_back_is_out_at_its_time(client: Client, clock: ManualClock) -> None:
    work = created(client, "")
    set_retries(client, work["key"], retries=2, retryAt="2026-03-02T09:10:00Z")

    clock.move(599)

    assert [work["key"]] == [each["key"] for each in activate(client)]


@pytest.mark.rule("R128")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"retries": 0}, 'Error at "/retries": number must be at least 1'),
        ({"retries": -3}, 'Error at "/retries"'),
        ({"retries": 101}, "must be between 1 and 100 (jobs.maxRetries), got 101"),
        ({}, 'Error at "/retries": property "retries" is missing'),
        (
            {"retries": 1, "retryAt": "2026-03-03T09:00:01Z"},
            "later than 24h0m0s from now (jobs.max",
        ),
        ({"retries": 1, "retryAt": "tomorrow"}, 'Error at "/retryAt"'),
    ],
)
def test_retries_out_of_bounds_are_refused_and_not_lowered(
    client: Client, body: Any, words: str
) -> None:
    work = created(client, "")

    answer = set_retries(client, work["key"], **body)

    assert (400, "BAD_REQUEST") == (answer.status, answer.json["code"])
    assert words in answer.json["message"]
    assert work == job(client, work["key"])


@pytest.mark.rule("R129", "R136")
def test_a_failed_job_stays_failed_until_its_incident_is_resolved(client: Client) -> None:
    work = created(client, "")
    fail(client, work["key"])
    (incident,) = incidents(client, work["processInstanceKey"])

    assert 204 == set_retries(client, work["key"], retries=7).status

    shown = job(client, work["key"])
    assert ("failed", 7, 1) == (shown["state"], shown["retries"], shown["attempts"])
    assert [incident] == incidents(client, work["processInstanceKey"])
    assert [] == activate(client)
    resolve(client, incident["key"])
    assert [7] == [each["retries"] for each in activate(client)]


@pytest.mark.rule("R130")
@pytest.mark.parametrize("state", ["completed", "terminated"])
def test_retries_of_an_ended_job_are_409(client: Client, state: str) -> None:
    work = created(client, "")
    if state == "completed":
        complete(client, work["key"])
    else:
        cancel(client, work["processInstanceKey"])

    answer = set_retries(client, work["key"], retries=3)

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])
    assert (
        f"cannot update the retries of job {work['key']} in state "
        f"ActivityState{state.capitalize()}" == answer.json["message"]
    )


@pytest.mark.rule("R130", "R13")
def test_retries_of_a_job_that_is_not_there_are_404(client: Client) -> None:
    work = created(client, "")

    for key in (0, -1, 1000, work["key"] + 500):
        for answer in (
            set_retries(client, key, retries=3),
            failures(client, key),
            client.post(f"/v1/jobs/{key}/assign", {"assignee": "ann"}),
            client.post(f"/v1/jobs/{key}/extend-lock", {"clientId": "c"}),
        ):
            assert (404, "NOT_FOUND") == (answer.status, answer.json["code"])
            assert "not found" in answer.json["message"]


@pytest.mark.rule("R132")
def test_retries_set_on_an_active_job_are_forgotten_with_its_series(client: Client) -> None:
    work = created(client, 'retries="2"')
    set_retries(client, work["key"], retries=5)
    fail(client, work["key"], retries=0)
    (incident,) = incidents(client, work["processInstanceKey"])

    resolve(client, incident["key"])

    assert 2 == job(client, work["key"])["retries"]


# --- assign ------------------------------------------------------------------------------------


def test_a_job_is_assigned_and_cleared_and_nothing_else_changes(client: Client) -> None:
    work = created(client, 'retries="3"')
    path = f"/v1/jobs/{work['key']}/assign"

    answer = client.post(path, {"assignee": "ann"})

    assert (204, "") == (answer.status, answer.text)
    assert {**work, "assignee": "ann"} == job(client, work["key"])
    listed = client.get("/v1/jobs?assignee=ann").json["partitions"][0]["items"]
    assert [work["key"]] == [each["key"] for each in listed]
    assert 204 == client.post(path, {"assignee": ""}).status
    assert work == job(client, work["key"])


@pytest.mark.parametrize("body", [{}, {"assignee": None}, {"assignee": 7}, None, []])
def test_an_assignment_without_a_name_is_400(client: Client, body: Any) -> None:
    work = created(client, "")

    assert 400 == client.post(f"/v1/jobs/{work['key']}/assign", body).status


def test_a_job_that_waits_for_nobody_is_not_assigned(client: Client) -> None:
    work = created(client, "")
    complete(client, work["key"])

    answer = client.post(f"/v1/jobs/{work['key']}/assign", {"assignee": "ann"})

    assert (409, "CONFLICT") == (answer.status, answer.json["code"])
    assert "assignee" not in job(client, work["key"])
