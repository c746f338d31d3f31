"""Every attempt is one invocation, in the list and in the count."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from chalicelib.store import invocations
from chalicelib.store.invocations import LIST_MAX
from tests.api.client import Client
from tests.api.scheduler.driver import JOBS, create, get, post
from tests.fakes.runner import CANCELLED, FAILED, Said, remaining
from tests.operations.scheduling import Scheduling

FLOOR = "Headrace-Total-Count-Is-Floor"
BUSY = {"loop_enabled": True, "retry_enabled": True}
STORY = (remaining(2), FAILED, remaining(1), remaining(0))


def run(client: Client, stage: Scheduling, **members: Any) -> Any:
    """Trigger a job whose three iterations need one retry, and let it end."""
    job = create(client, **{**BUSY, **members})
    assert 202 == post(client, job, "trigger").status
    stage.wait(60)
    assert {} == get(client, job)["running_since_by_pool"]
    return job


def count(client: Client, job: Any, asked: str = "") -> int:
    return int(get(client, job, f"/invocations/count{asked}")["count"])


@pytest.mark.rule("Z98")
def test_three_iterations_with_one_retry_are_four_invocations(
    client: Client, stage: Scheduling
) -> None:
    stage.runner.said = list(STORY)

    job = run(client, stage)

    page = get(client, job, "/invocations")
    told = [(each["iteration"], each["attempt"], each["outcome"]) for each in page["items"]]
    assert [(2, 1), (1, 2), (1, 1), (0, 1)] == [each[:2] for each in told]
    assert ["succeeded", "succeeded", "failed", "succeeded"] == [each[2] for each in told]
    assert (4, 4) == (page["total"], count(client, job))


@pytest.mark.rule("Z99")
def test_a_pool_of_three_counts_twelve(client: Client, stage: Scheduling) -> None:
    stage.runner.said = [each for each in STORY for _ in range(3)]

    job = run(client, stage, pool_count=3)

    assert (12, 3) == (count(client, job), count(client, job, "?failures_only=true"))
    shown = get(client, job, "/invocations")["items"]
    assert [4, 4, 4] == [sum(each["pool_idx"] == n for each in shown) for n in range(3)]


@pytest.mark.rule("Z100")
def test_what_was_skipped_counts_nothing(client: Client) -> None:
    job = create(client)
    post(client, job, "trigger")

    assert 409 == post(client, job, "trigger").status

    assert 0 == count(client, job)


@pytest.mark.rule("Z102")
def test_a_cancelled_attempt_is_one_failed_invocation(client: Client, stage: Scheduling) -> None:
    stage.runner.said = [CANCELLED]

    job = run(client, stage)

    assert (1, 1) == (count(client, job), count(client, job, "?failures_only=true"))
    (shown,) = get(client, job, "/invocations")["items"]
    assert ("cancelled", CANCELLED.error) == (shown["outcome"], shown["error"])


def test_an_invocation_says_what_came_of_it(client: Client, stage: Scheduling) -> None:
    stage.runner.said = [FAILED, remaining(0)]

    job = run(client, stage)

    succeeded, failed = get(client, job, "/invocations")["items"]
    same = {"job_id": job["id"], "run_id": failed["run_id"], "pool_idx": 0, "iteration": 0}
    assert {
        **same,
        "attempt": 1,
        "started_at": "2026-03-02T09:00:00.000Z",
        "finished_at": "2026-03-02T09:00:00.000Z",
        "outcome": "failed",
        "status_code": 500,
        "error": "expected a status from 200 to 299, found 500",
    } == failed
    assert {
        **same,
        "attempt": 2,
        "started_at": "2026-03-02T09:00:01.000Z",
        "finished_at": "2026-03-02T09:00:01.000Z",
        "outcome": "succeeded",
        "status_code": 200,
        "output": '{"result":{"remaining":0}}',
    } == succeeded


@pytest.mark.parametrize(
    ("echoed", "shown"),
    [
        (b"Bearer s3cret-s3", "Bearer ********"),
        (b"s3cret-s3 and s3 twice: s3", "******** and ******** twice: ********"),
        (b"x" * 1_998 + b"s3cret-s3", "x" * 1_998 + "**"),
    ],
)
def test_an_invocation_does_not_show_a_secret_that_was_echoed(
    client: Client, stage: Scheduling, echoed: bytes, shown: str
) -> None:
    stage.runner.said = [Said(output=echoed, secrets=("s3", "s3cret-s3", ""))]

    job = run(client, stage)

    (invocation,) = get(client, job, "/invocations")["items"]
    assert shown == invocation["output"]


def test_invocations_are_listed_page_by_page(client: Client, stage: Scheduling) -> None:
    stage.runner.said = [remaining(1)]

    job = run(client, stage, loop_max_iterations=60)

    def listed(asked: str) -> list[int]:
        page = get(client, job, f"/invocations{asked}")
        assert 60 == page["total"]
        return [int(each["iteration"]) for each in page["items"]]

    newest = list(range(59, -1, -1))
    assert newest[:50] == listed("")
    assert newest[50:] == listed("?offset=50")
    assert newest[7:9] == listed("?limit=2&offset=7")
    assert newest == listed("?limit=500")


def test_a_header_tells_a_total_and_a_count_that_stopped_at_their_bound(
    client: Client, stage: Scheduling
) -> None:
    job = run(client, stage)
    (one,) = invocations.newest(stage.table, job["id"])
    asked = [f"{JOBS}/{job['id']}/invocations{more}" for more in ("?limit=1", "/count")]
    assert [None, None] == [client.get(each).headers.get(FLOOR) for each in asked]

    for number in range(2, LIST_MAX + 1):
        stage.table.write(invocations.write(replace(one, attempt=number)))
    listed, counted = map(client.get, asked)

    assert ("true", LIST_MAX) == (listed.headers[FLOOR], listed.json["total"])
    assert ("true", LIST_MAX) == (counted.headers[FLOOR], counted.json["count"])


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        ("2026-03-02T09:00:00Z", 2),
        ("2026-03-02T09:00:00.001Z", 1),
        ("2026-03-02T10:00:01%2B01:00", 1),
        ("2026-03-02T09:00:01.001Z", 0),
        ("0001-01-01T00:00:00Z", 2),
        ("9999-12-31T23:59:59Z", 0),
    ],
)
def test_a_count_begins_at_the_moment_that_is_named(
    client: Client, stage: Scheduling, since: str, expected: int
) -> None:
    stage.runner.said = [FAILED, remaining(0)]
    job = run(client, stage)

    assert expected == count(client, job, f"?since={since}")


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ("?limit=501", "limit"),
        ("?offset=x", "offset"),
        ("/count?since=yesterday", "since"),
        ("/count?failures_only=2", "failures_only"),
    ],
)
def test_a_bad_question_is_refused_and_its_parameter_named(
    client: Client, asked: str, field: str
) -> None:
    answer = client.get(f"{JOBS}/{create(client)['id']}/invocations{asked}")

    assert (400, field) == (answer.status, answer.json["field"])
