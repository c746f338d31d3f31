"""Jobs are set going by hand or by their schedule, and an index that is held can be freed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.client import Client
from tests.api.scheduler.driver import create, get, patch, post, put
from tests.operations.scheduling import Scheduling

BEGIN = "2026-03-02T09:00:00.000Z"


def test_a_trigger_fires_every_index_that_is_free(client: Client, stage: Scheduling) -> None:
    job = create(client, pool_count=3)

    answer = post(client, job, "trigger")

    assert (202, {"fired": [0, 1, 2], "skipped": []}) == (answer.status, answer.json)
    stage.pump()
    assert [0, 1, 2] == sorted(made.pool_idx for made in stage.runner.made)


@pytest.mark.rule("Z81")
def test_without_a_policy_a_job_skips(client: Client) -> None:
    job = create(client)

    assert "skip" == job["overlap_policy"]
    post(client, job, "trigger")
    assert 409 == post(client, job, "trigger").status


@pytest.mark.rule("Z79")
def test_a_trigger_with_one_index_held_succeeds(client: Client) -> None:
    job = create(client, pool_count=3)
    post(client, job, "trigger")
    for pool_idx in (0, 2):
        assert 204 == post(client, job, f"unlock?pool_idx={pool_idx}").status

    answer = post(client, job, "trigger")

    assert (202, {"fired": [0, 2], "skipped": [1]}) == (answer.status, answer.json)


@pytest.mark.rule("Z80")
def test_a_trigger_with_every_index_held_is_409_and_inserts_nothing(
    client: Client, stage: Scheduling
) -> None:
    job = create(client, pool_count=3)
    post(client, job, "trigger")
    running = get(client, job)["running_since_by_pool"]

    answer = post(client, job, "trigger")

    assert (409, {"error": "run in progress"}) == (answer.status, answer.json)
    stage.wait(300)
    assert (3, running.keys()) == (len(stage.runner.made), {"0", "1", "2"})


def test_a_job_says_since_when_each_index_runs(client: Client, stage: Scheduling) -> None:
    job = create(client, pool_count=3)
    assert {} == job["running_since_by_pool"]

    post(client, job, "trigger")
    stage.clock.move(60)
    post(client, job, "unlock?pool_idx=1")
    post(client, job, "trigger")

    running = {"0": BEGIN, "1": "2026-03-02T09:01:00.000Z", "2": BEGIN}
    assert running == get(client, job)["running_since_by_pool"]
    stage.pump()
    assert {} == get(client, job)["running_since_by_pool"]


def test_a_paused_job_can_be_triggered(client: Client) -> None:
    assert 202 == post(client, create(client, enabled=False), "trigger").status


def test_unlocking_what_is_free_is_no_mistake(client: Client) -> None:
    job = create(client)

    assert [204, 204] == [post(client, job, f"unlock?pool_idx={n}").status for n in (0, 19)]


@pytest.mark.parametrize("asked", ["", "?pool_idx=", "?pool_idx=-1", "?pool_idx=20", "?pool_idx=x"])
def test_unlock_needs_an_index_that_a_job_can_have(client: Client, asked: str) -> None:
    answer = post(client, create(client), f"unlock{asked}")

    assert (400, "pool_idx") == (answer.status, answer.json["field"])


# --- the next firings --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schedule", "moments"),
    [
        (
            {"cron": "0 9 * * 1", "timezone": "Europe/Paris"},
            [
                "2026-03-09T08:00:00.000Z",
                "2026-03-16T08:00:00.000Z",
                "2026-03-23T08:00:00.000Z",
                "2026-03-30T07:00:00.000Z",
                "2026-04-06T07:00:00.000Z",
            ],
        ),
        (
            {"every_ms": 86_400_000},
            [f"2026-03-0{day}T09:00:00.000Z" for day in range(3, 8)],
        ),
        ({"run_at": "2030-01-01T00:00:00Z"}, ["2030-01-01T00:00:00.000Z"]),
        ({"run_at": "2020-01-01T00:00:00Z"}, []),
        (None, []),
    ],
)
def test_the_next_five_firings_are_told(client: Client, schedule: Any, moments: list[str]) -> None:
    job = create(client, schedule=schedule)

    assert {"items": moments} == get(client, job, "/firings")


def test_firings_are_counted_from_now_on(client: Client, stage: Scheduling) -> None:
    job = create(client, schedule={"every_ms": 3_600_000})
    stage.clock.move(5_400)

    assert "2026-03-02T11:00:00.000Z" == get(client, job, "/firings")["items"][0]


def test_a_paused_job_has_no_firings_ahead(client: Client) -> None:
    job = create(client, schedule={"every_ms": 3_600_000})

    patch(client, job, enabled=False)
    assert [] == get(client, job, "/firings")["items"]
    post(client, job, "resume")
    assert 5 == len(get(client, job, "/firings")["items"])


def test_a_one_off_that_has_run_is_done(client: Client, stage: Scheduling) -> None:
    job = create(client, schedule={"run_at": "2026-03-02T09:00:59.123456789Z"})
    stage.wait(120)

    shown = get(client, job)

    assert (True, 1) == (shown["done"], get(client, job, "/invocations")["total"])
    assert [] == get(client, job, "/firings")["items"]
    assert {**shown, "revision": shown["revision"] + 1} == put(client, job, shown).json
    assert not patch(client, job, schedule={"run_at": "2030-01-01T00:00:00Z"}).json["done"]
