"""What is wrong with a definition is refused and named; what only its run can show is warned of."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib import json_text
from chalicelib.api.scheduler import errors
from chalicelib.errors import Conflict, Reason, Rejected, TooLarge
from tests.api.client import Client
from tests.api.scheduler.driver import (
    CALL,
    JOBS,
    allow_scripts,
    create,
    get,
    patch,
    post,
    put,
)
from tests.operations.scheduling import Scheduling

ALARM = {"watch": "all", "threshold": 1, "window_ms": 1}
WRONG: list[tuple[Any, str]] = [
    ({"name": ""}, "name"),
    ({"name": "x" * 201}, "name"),
    ({"name": 5}, "name"),
    ({"name": None}, "name"),
    ({"type": None}, "type"),
    ({"enabled": "yes"}, "enabled"),
    ({"timeout_ms": 0}, "timeout_ms"),
    ({"timeout_ms": 840_001}, "timeout_ms"),
    ({"timeout_ms": 1.5}, "timeout_ms"),
    ({"timeout_ms": "30000"}, "timeout_ms"),
    ({"url": 1}, "url"),
    ({"method": "GET x"}, "method"),
    ({"method": ""}, "method"),
    ({"headers": []}, "headers"),
    ({"headers": {"a": 1}}, "headers.a"),
    ({"headers": {"a b": "1"}}, "headers"),
    ({"headers": {"a": "1\r\nX: 2"}}, "headers"),
    ({"body": {}}, "body"),
    ({"auth": "basic"}, "auth"),
    ({"auth": {}}, "auth.type"),
    ({"auth": {"type": "bearer", "token": 1}}, "auth.token"),
    ({"auth": {"type": "bearer", "tokn": "x"}}, "auth.tokn"),
    ({"auth": {"type": "bearer", "token": "a\nb"}}, "auth.token"),
    ({"auth": {"type": "header", "header": "a b", "value": "x"}}, "auth.header"),
    ({"args": "a"}, "args"),
    ({"args": ["a", 1]}, "args.1"),
    ({"args": ["a\u0000"]}, "args"),
    ({"env": {"A=B": "1"}}, "env"),
    ({"env": {"A": None}}, "env.A"),
    ({"loop_enabled": 1}, "loop_enabled"),
    ({"loop_response_path": "x" * 1_025}, "loop_response_path"),
    ({"loop_delay_ms": 366 * 86_400_000 + 1}, "loop_delay_ms"),
    ({"loop_jitter_ms": "1"}, "loop_jitter_ms"),
    ({"loop_max_iterations": 1_000_001}, "loop_max_iterations"),
    ({"loop_max_iterations": 2.5}, "loop_max_iterations"),
    ({"retry_enabled": None}, "retry_enabled"),
    ({"retry_base_delay_ms": 1e30}, "retry_base_delay_ms"),
    ({"retry_multiplier": "2"}, "retry_multiplier"),
    ({"retry_multiplier": 1_000_000.5}, "retry_multiplier"),
    ({"retry_max_delay_ms": True}, "retry_max_delay_ms"),
    ({"retry_max_attempts": 1_000_001}, "retry_max_attempts"),
    ({"overlap_policy": "queue"}, "overlap_policy"),
    ({"missed": "run_all"}, "missed"),
    ({"alarm": {}}, "alarm.watch"),
    ({"alarm": {**ALARM, "watch": "some"}}, "alarm.watch"),
    ({"alarm": {**ALARM, "threshold": 0}}, "alarm.threshold"),
    ({"alarm": {**ALARM, "threshold": 10_001}}, "alarm.threshold"),
    ({"alarm": {**ALARM, "window_ms": 30 * 86_400_000 + 1}}, "alarm.window_ms"),
    ({"alarm": {**ALARM, "sinks": []}}, "alarm.sinks"),
    ({"alarm": {**ALARM, "sinks": [{"type": "sms"}]}}, "alarm.sinks.0.type"),
    ({"alarm": {**ALARM, "sinks": [{"type": "webhook", "target": "x"}]}}, "alarm.sinks"),
    ({"alarm": {**ALARM, "sinks": [{"type": "email", "target": "x"}]}}, "alarm.sinks"),
    ({"schedule": "* * * * *"}, "schedule"),
    ({"schedule": {}}, "schedule"),
    ({"schedule": {"timezone": "UTC"}}, "schedule"),
    ({"schedule": {"cron": "* * * * *", "every_ms": 60_000}}, "schedule"),
    ({"schedule": {"every_ms": 60_000, "timezone": "UTC"}}, "schedule.timezone"),
    ({"schedule": {"cron": "* * * *"}}, "schedule.cron"),
    ({"schedule": {"cron": "60 * * * *"}}, "schedule.cron"),
    ({"schedule": {"cron": "0 0 13 * 5"}}, "schedule.cron"),
    ({"schedule": {"cron": "0 0 30 2 *"}}, "schedule.cron"),
    ({"schedule": {"cron": "* * * * *", "timezone": "Mars/Olympus"}}, "schedule.timezone"),
    ({"schedule": {"cron": "* * * * *", "timezone": "../etc/passwd"}}, "schedule.timezone"),
    ({"schedule": {"cron": "* * * * *", "timezone": None}}, "schedule.timezone"),
    ({"schedule": {"every_ms": 59_999}}, "schedule.every_ms"),
    ({"schedule": {"every_ms": 90_000}}, "schedule.every_ms"),
    ({"schedule": {"every_ms": 367 * 86_400_000}}, "schedule.every_ms"),
    ({"schedule": {"run_at": "tomorrow"}}, "schedule.run_at"),
    ({"schedule": {"run_at": "2030-01-01T00:00:00"}}, "schedule.run_at"),
    ({"schedule": {"run_at": "2030-02-30T00:00:00Z"}}, "schedule.run_at"),
    ({"looop_enabled": True}, "looop_enabled"),
    ({"a/b~c": 1}, "a/b~c"),
    ({"id": "mine"}, "id"),
]


@pytest.mark.parametrize(("members", "field"), WRONG, ids=str)
def test_a_wrong_member_is_refused_and_named(client: Client, members: Any, field: str) -> None:
    answer = client.post(JOBS, {**CALL, **members})

    assert (400, field) == (answer.status, answer.json.get("field")), answer.text
    assert {"error", "field"} == answer.json.keys()
    assert 0 == client.get(JOBS).json["total"]


def test_what_is_wrong_on_create_is_wrong_on_update_and_changes_nothing(client: Client) -> None:
    job = create(client)
    for members, field in WRONG:
        answers = [patch(client, job, **members)]
        if field != "id":  # a job as it is shown may be put back
            answers.append(put(client, job, {**CALL, **members}))
        for answer in answers:
            assert (400, field) == (answer.status, answer.json.get("field")), answer.text
    assert job == get(client, job)


@pytest.mark.parametrize("missing", ["name", "type"])
def test_a_job_needs_a_name_and_a_type(client: Client, missing: str) -> None:
    body = {name: value for name, value in CALL.items() if name != missing}

    for answer in (client.post(JOBS, body), put(client, create(client), body)):
        assert (400, missing) == (answer.status, answer.json["field"])


@pytest.mark.rule("Z70")
@pytest.mark.parametrize("pool_count", [21, 0, -1])
def test_a_pool_beyond_1_to_20_is_refused(client: Client, pool_count: int) -> None:
    job = create(client)

    for answer in (
        client.post(JOBS, {**CALL, "pool_count": pool_count}),
        put(client, job, {**CALL, "pool_count": pool_count}),
        patch(client, job, pool_count=pool_count),
    ):
        assert (400, "pool_count") == (answer.status, answer.json["field"])


@pytest.mark.rule("Z70")
def test_a_pool_of_20_is_taken(client: Client) -> None:
    job = create(client, pool_count=20)

    assert 20 == job["pool_count"]
    assert 200 == patch(client, job, pool_count=20).status


@pytest.mark.rule("Z77")
def test_a_one_off_with_a_pool_is_refused(client: Client) -> None:
    once = {"run_at": "2030-01-01T00:00:00Z"}
    pooled, single = create(client, pool_count=2), create(client, schedule=once)

    for answer in (
        client.post(JOBS, {**CALL, "schedule": once, "pool_count": 2}),
        put(client, pooled, {**CALL, "schedule": once, "pool_count": 2}),
        patch(client, pooled, schedule=once),
        patch(client, single, pool_count=2),
    ):
        assert (400, "pool_count") == (answer.status, answer.json["field"])
    assert 200 == patch(client, pooled, schedule=once, pool_count=1).status


# --- scripts -----------------------------------------------------------------------------------

SCRIPT = {"name": "s", "type": "script", "interpreter": "bash", "script": "echo 1"}


def test_a_script_is_refused_while_scripts_are_off_and_the_setting_named(client: Client) -> None:
    job = create(client)

    for answer in (
        client.post(JOBS, SCRIPT),
        put(client, job, SCRIPT),
        patch(client, job, **SCRIPT),
    ):
        assert (400, "type") == (answer.status, answer.json["field"])
        assert "scheduler.scripts (SCHEDULER_SCRIPTS=true)" in answer.json["error"]


def test_a_script_that_is_there_can_be_stopped_but_not_changed_while_scripts_are_off(
    client: Client, stage: Scheduling
) -> None:
    off = stage.ports
    allow_scripts(stage)
    job = create(client, **SCRIPT)
    stage.ports = off

    assert 200 == patch(client, job, enabled=False).status
    assert 200 == post(client, job, "pause").status
    assert 200 == put(client, job, get(client, job)).status
    assert 400 == patch(client, job, script="echo 2").status
    assert 400 == patch(client, job, env={"A": "b"}).status


# --- what is only warned of --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("members", "words"),
    [
        pytest.param(
            {"url": "http://[::1"},
            "url cannot be called: ",
            marks=pytest.mark.rule("Z63"),
        ),
        pytest.param(
            {"auth": {"type": "digest"}},
            'auth.type is "digest", not one of none, basic, bearer, header',
            marks=pytest.mark.rule("Z64"),
        ),
        pytest.param({"type": "script"}, "interpreter is missing", marks=pytest.mark.rule("Z65")),
        pytest.param(
            {"type": "grpc"}, 'type is "grpc", not http or script', marks=pytest.mark.rule("Z66")
        ),
        (
            {"schedule": {"run_at": "2026-03-02T08:59:59Z"}},
            "schedule.run_at is before the job was created",
        ),
        pytest.param(
            {"loop_enabled": True, "loop_delay_ms": 3_600_001},
            "loop_delay_ms and loop_jitter_ms can reach 61 minutes: the lock goes stale",
            marks=pytest.mark.rule("Z94"),
        ),
        pytest.param(
            {
                "retry_enabled": True,
                "retry_base_delay_ms": 7_200_000,
                "retry_max_delay_ms": 7_200_000,
            },
            "the longest retry delay can reach 120 minutes: the lock goes stale",
            marks=pytest.mark.rule("Z94"),
        ),
    ],
)
def test_what_will_go_wrong_is_stored_with_a_warning(
    client: Client, stage: Scheduling, members: Any, words: str
) -> None:
    allow_scripts(stage)

    job = create(client, **members)

    (warning,) = job["warnings"]
    assert words in warning
    assert job == get(client, job)
    assert [warning] == put(client, job, {**CALL, **members}).json["warnings"]
    assert [warning] == patch(client, job, name="other").json["warnings"]
    assert [] == put(client, job, CALL).json["warnings"]


# --- bodies of every kind ----------------------------------------------------------------------


def with_name(name: bytes) -> bytes:
    return b'{"type":"http","url":"https://a.example","name":"' + name + b'"}'


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"[]", 400),
        (b"null", 400),
        (b'"x"', 400),
        (b"{}", 400),
        (b"\xff\xfe", 400),
        (with_name(b"\\ud800"), 400),
        (with_name(b"\xed\xa0\x80"), 400),
        (with_name(b"\xf0\x9f\x98\x80"), 201),
        (with_name(b"\\u0000\\u202e\\u2028"), 201),
        (with_name(b"gr\xc3\xb6\xc3\x9fe"), 201),
        (b'{"a":' * 2_000 + b"1" + b"}" * 2_000, 400),
        (b'{"name":' + b"[" * 100_000, 400),
        (b'{"name":"a","type":"http","retry_multiplier":NaN}', 400),
        (b'{"name":"a","type":"http","retry_multiplier":1e99999}', 400),
        (b'{"name":"a","type":"http","retry_multiplier":1e6000}', 400),
        (b'{"name":"a","type":"http","retry_multiplier":1.0000000000000000000001}', 201),
        (b'{"name":"a","type":"http","loop_delay_ms":-1e6000}', 400),
        (b'{"name":"a","type":"http","body":"' + b"x" * 300_000 + b'"}', 201),
        (b'{"name":"a","type":"http","body":"' + b"x" * 400_000 + b'"}', 413),
        (b" " * 10_485_759 + b"{}", 413),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_body_is_taken_exactly_or_refused(client: Client, body: bytes, status: int) -> None:
    answer = client.post(JOBS, body)

    assert status == answer.status, answer.text[:500]
    if status == 201:
        sent: Any = json_text.loads(body)
        assert sent == {name: answer.json[name] for name in sent}
        assert answer.json == get(client, answer.json)
    else:
        assert {"error"} <= answer.json.keys() <= {"error", "field"}
        assert 0 == client.get(JOBS).json["total"]


def test_a_body_that_is_no_json_is_415(client: Client) -> None:
    answer = client.request("POST", JOBS, b"<a/>", {"content-type": "application/xml"})

    assert (415, {"error"}) == (answer.status, set(answer.json))


@pytest.mark.parametrize(
    ("problem", "status"),
    [
        (Rejected(Reason.NOT_FOUND, "no"), 404),
        (Rejected(Reason.INVALID_STATE, "no"), 409),
        (TooLarge("no"), 413),
        (Conflict("no"), 503),
    ],
)
def test_what_is_refused_is_worded_by_this_dialect(problem: Exception, status: int) -> None:
    answer = errors.error(problem)

    assert (status, '{"error":"no"}') == (answer.status_code, answer.body)
    assert ("Retry-After" in answer.headers) == (status == 503)


def test_a_fault_is_told_without_details(client: Client, stage: Scheduling) -> None:
    stage.ports = None  # type: ignore[assignment]

    answer = client.get(JOBS)

    assert 500 == answer.status
    assert {"error": "the request failed inside; its log says why"} == answer.json
