"""Definitions are made, shown as they were given, changed, listed and removed."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.scheduler.definition import Cron, Every
from tests.api.client import Client
from tests.api.scheduler.driver import CALL, JOBS, allow_scripts, create, get, patch, post, put
from tests.operations.scheduling import Scheduling

DEFAULTS: dict[str, Any] = {
    "enabled": True,
    "timeout_ms": 30_000,
    "method": "GET",
    "headers": {},
    "auth": {"type": "none"},
    "loop_enabled": False,
    "loop_response_path": "result.remaining",
    "loop_delay_ms": 0,
    "loop_jitter_ms": 0,
    "loop_max_iterations": 50,
    "retry_enabled": False,
    "retry_base_delay_ms": 1_000,
    "retry_multiplier": 2,
    "retry_max_delay_ms": 300_000,
    "retry_max_attempts": 5,
    "pool_count": 1,
    "overlap_policy": "skip",
    "missed": "run_once",
}
WHOLE: dict[str, Any] = {
    **CALL,
    "enabled": False,
    "schedule": {"cron": "*/5 8-18 * * 1-5", "timezone": "Europe/Paris"},
    "timeout_ms": 840_000,
    "method": "POST",
    "headers": {"X-First": "1", "A": "größe"},
    "body": '{"a":1}',
    "auth": {"type": "basic", "username": "me", "password": "ssm:/shop/password"},
    "loop_enabled": True,
    "loop_response_path": "data.items.#",
    "loop_delay_ms": 1_500,
    "loop_jitter_ms": -1,
    "loop_max_iterations": 0,
    "retry_enabled": True,
    "retry_base_delay_ms": 500,
    "retry_multiplier": 1.5,
    "retry_max_delay_ms": 2_000,
    "retry_max_attempts": -3,
    "pool_count": 20,
    "overlap_policy": "allow",
    "alarm": {
        "watch": "failures",
        "threshold": 3,
        "window_ms": 600_000,
        "sinks": [{"type": "log"}, {"type": "email", "target": "me@example.org"}],
    },
    "missed": "skip",
}


def test_a_new_job_is_shown_with_its_defaults(client: Client) -> None:
    job = create(client)

    ours = {
        "created_at": "2026-03-02T09:00:00.000Z",
        "revision": 1,
        "done": False,
        "running_since_by_pool": {},
        "warnings": [],
    }
    assert {**CALL, **DEFAULTS, **ours, "id": job["id"]} == job
    assert job == get(client, job)


def test_what_is_given_is_shown_as_it_was(client: Client) -> None:
    job = create(client, **WHOLE)

    assert WHOLE == {name: value for name, value in job.items() if name in WHOLE}


@pytest.mark.parametrize(
    ("schedule", "shown"),
    [
        ({"cron": "0 9 * * *"}, {"cron": "0 9 * * *", "timezone": "UTC"}),
        ({"every_ms": 60_000}, {"every_ms": 60_000}),
        ({"run_at": "2030-01-01T10:00:00+01:00"}, {"run_at": "2030-01-01T09:00:00.000Z"}),
    ],
)
def test_a_schedule_is_of_one_of_three_kinds(client: Client, schedule: Any, shown: Any) -> None:
    assert shown == create(client, schedule=schedule)["schedule"]


def test_a_job_without_a_schedule_has_none(client: Client) -> None:
    assert "schedule" not in create(client, schedule=None, alarm=None, body=None)


def test_a_job_shows_what_its_type_has_a_use_for(client: Client, stage: Scheduling) -> None:
    allow_scripts(stage)
    script = {"interpreter": "bash", "script": "echo 1", "args": ["-x"], "env": {"A": "b"}}

    shown = create(client, name="s", type="script", url="", **script)

    assert script == {name: shown[name] for name in script}
    assert not {"url", "method", "headers", "auth", "body"} & shown.keys()
    assert not script.keys() & create(client).keys()


def test_what_another_type_was_given_is_kept_and_shown(client: Client, stage: Scheduling) -> None:
    allow_scripts(stage)
    job = create(client, interpreter="bash", script="echo 1")

    assert ("bash", "https://shop.example/drain") == (job["interpreter"], job["url"])


def test_a_put_gives_defaults_to_what_it_does_not_say(client: Client) -> None:
    job = create(client, **WHOLE)

    answer = put(client, job, CALL)

    ours = {"id": job["id"], "created_at": job["created_at"], "revision": 2}
    rest = {"done": False, "running_since_by_pool": {}, "warnings": []}
    assert (200, {**CALL, **DEFAULTS, **ours, **rest}) == (answer.status, answer.json)


def test_a_job_as_it_is_shown_can_be_put_back(client: Client) -> None:
    job = create(client, **WHOLE)

    answer = put(client, job, get(client, job))

    assert (200, {**job, "revision": 2}) == (answer.status, answer.json)


def test_a_put_cannot_say_what_is_ours(client: Client) -> None:
    job = create(client)

    answer = put(client, job, {**job, "id": "other", "revision": 77, "done": True})

    assert (200, {**job, "revision": 2}) == (answer.status, answer.json)


def test_a_patch_changes_what_it_names_alone(client: Client, stage: Scheduling) -> None:
    job = create(client, **WHOLE)

    answer = patch(client, job, enabled=True, schedule={"every_ms": 3_600_000})

    changed = {"enabled": True, "schedule": {"every_ms": 3_600_000}, "revision": 2}
    assert (200, {**job, **changed}) == (answer.status, answer.json)
    assert Every(3_600_000) == stage.firings.planned[job["id"]].job.schedule


def test_null_in_a_patch_takes_a_member_away(client: Client, stage: Scheduling) -> None:
    job = create(client, **{**WHOLE, "enabled": True})
    assert Cron("*/5 8-18 * * 1-5", "Europe/Paris") == stage.firings.planned[job["id"]].job.schedule

    answer = patch(client, job, schedule=None, alarm=None, body=None)

    assert 200 == answer.status
    assert not {"schedule", "alarm", "body"} & answer.json.keys()
    assert {} == stage.firings.planned


def test_an_empty_patch_changes_nothing(client: Client) -> None:
    job = create(client, **WHOLE)

    assert {**job, "revision": 2} == patch(client, job).json


@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_pausing_and_resuming_say_how_the_job_is_then(
    client: Client, stage: Scheduling, verb: str
) -> None:
    job = create(client, enabled=verb == "resume", schedule={"every_ms": 3_600_000})

    answer = post(client, job, verb)

    assert (200, verb == "resume") == (answer.status, answer.json["enabled"])
    assert (verb == "resume") == (job["id"] in stage.firings.planned)


def test_a_removed_job_is_there_no_more(client: Client, stage: Scheduling) -> None:
    job = create(client, schedule={"every_ms": 3_600_000})

    answer = client.delete(f"{JOBS}/{job['id']}")

    assert (204, "") == (answer.status, answer.text)
    assert {} == stage.firings.planned
    assert 404 == client.get(f"{JOBS}/{job['id']}").status
    assert {"items": [], "total": 0} == client.get(JOBS).json


# --- lists -------------------------------------------------------------------------------------


def test_jobs_are_listed_the_oldest_first_page_by_page(client: Client, stage: Scheduling) -> None:
    allow_scripts(stage)
    for number in range(60):
        stage.clock.move(1)
        kind = "script" if number % 3 == 0 else "http"
        create(client, name=f"job {number}", type=kind, enabled=number % 2 == 0)

    def listed(asked: str = "") -> tuple[list[str], int]:
        page = client.get(f"{JOBS}?{asked}").json
        return [job["name"].removeprefix("job ") for job in page["items"]], int(page["total"])

    everything = [str(number) for number in range(60)]
    assert (everything[:50], 60) == listed()
    assert (everything[50:], 60) == listed("offset=50")
    assert (["10", "11"], 60) == listed("limit=2&offset=10")
    assert ([], 60) == listed("offset=60")
    assert (everything, 60) == listed("limit=500")
    assert (everything[::3], 20) == listed("type=script")
    assert (everything[1::2], 30) == listed("enabled=false")
    assert (everything[::6], 10) == listed("enabled=true&type=script")
    assert ([], 0) == listed("type=other")


def test_jobs_on_a_list_say_all_but_what_is_running(client: Client) -> None:
    job = create(client, **WHOLE)

    (listed,) = client.get(JOBS).json["items"]

    assert {name: job[name] for name in job if name != "running_since_by_pool"} == listed


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=x", "limit"),
        ("offset=-1", "offset"),
        ("offset=99999999999999999999", "offset"),
        ("enabled=maybe", "enabled"),
    ],
)
def test_a_bad_question_is_refused_and_its_parameter_named(
    client: Client, asked: str, field: str
) -> None:
    answer = client.get(f"{JOBS}?{asked}")

    assert (400, field) == (answer.status, answer.json["field"])
    assert {"error", "field"} == answer.json.keys()


def test_a_list_that_cannot_be_sent_is_413_and_asks_for_a_smaller_page(client: Client) -> None:
    for _ in range(20):
        create(client, body="x" * 320_000)

    answer = client.get(JOBS)

    assert (413, True) == (answer.status, "ask for fewer at a time" in answer.json["error"])
    assert 200 == client.get(f"{JOBS}?limit=10").status


# --- what is not there -------------------------------------------------------------------------


@pytest.mark.parametrize("job_id", ["none", "x" * 5_000, "%00", "a%2Fb", "%F0%9F%98%80", "D", "#"])
@pytest.mark.parametrize(
    ("method", "rest"),
    [
        ("GET", ""),
        ("PUT", ""),
        ("PATCH", ""),
        ("DELETE", ""),
        ("POST", "/pause"),
        ("POST", "/resume"),
        ("POST", "/trigger"),
        ("POST", "/unlock?pool_idx=0"),
        ("GET", "/firings"),
        ("GET", "/invocations"),
        ("GET", "/invocations/count"),
    ],
)
def test_an_unknown_id_is_404(client: Client, method: str, rest: str, job_id: str) -> None:
    body = {"PUT": CALL, "PATCH": {}}.get(method)

    answer = client.request(method, f"{JOBS}/{job_id.replace('#', '%23')}{rest}", body)

    assert (404, {"error"}) == (answer.status, set(answer.json))
    assert "no scheduled job with id" in answer.json["error"]


def test_an_id_that_is_no_utf_8_is_400(client: Client) -> None:
    answer = client.get(f"{JOBS}/%FF")

    assert (400, "job_id") == (answer.status, answer.json["field"])


@pytest.mark.parametrize("path", ["", "/", "/nothing", "/jobs/a/b/c/d", "/jobs/1/nothing"])
def test_an_unknown_path_is_404_in_this_dialects_shape(client: Client, path: str) -> None:
    answer = client.get(f"/scheduler/v1{path}")

    assert (404, {"error": "no matching operation was found"}) == (answer.status, answer.json)
    assert "application/json" == answer.headers["Content-Type"]


@pytest.mark.parametrize("path", ["/scheduler", "/scheduler/v2/jobs", "/scheduler/v1x", "/v1/x"])
def test_a_path_beside_the_base_is_not_this_dialects(client: Client, path: str) -> None:
    assert "NOT_FOUND" == client.get(path).json["code"]


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("DELETE", "/jobs", "GET, POST"),
        ("POST", "/jobs/1", "GET, PUT, PATCH, DELETE"),
        ("GET", "/jobs/1/trigger", "POST"),
        ("PUT", "/openapi.json", "GET"),
    ],
)
def test_a_wrong_method_is_405_and_names_the_right_ones(
    client: Client, method: str, path: str, allow: str
) -> None:
    answer = client.request(method, f"/scheduler/v1{path}")

    assert (405, {"error": "method not allowed"}) == (answer.status, answer.json)
    assert allow == answer.headers["Allow"]


def test_a_preflight_is_answered_here_too(client: Client) -> None:
    answer = client.request("OPTIONS", f"{JOBS}/1")

    assert (204, "") == (answer.status, answer.text)
    assert "PUT" in answer.headers["Access-Control-Allow-Methods"]
