"""A definition: what is refused, what is only warned of, and what is kept as it was given."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from chalicelib import json_text
from chalicelib.scheduler import codec
from chalicelib.scheduler.definition import (
    COUNT_MAX,
    DELAY_MAX_MS,
    NAME_MAX,
    TIMEOUT_MAX_MS,
    Alarm,
    Auth,
    Cron,
    Every,
    HttpCall,
    Loop,
    Missed,
    Once,
    Overlap,
    Retry,
    ScriptCall,
    Sink,
    SinkType,
    Watch,
    problems,
    warnings,
)
from chalicelib.scheduler.urls import flaw
from tests.scheduler.play import NOW, job

URL = "https://example.com/drain"
AHEAD = timezone(timedelta(hours=14))


def refused(**changes: Any) -> list[str]:
    return [problem.field for problem in problems(job(**changes))]


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.rule("Z70")
@pytest.mark.parametrize(("count", "fields"), [(21, 1), (0, 1), (-1, 1), (1, 0), (20, 0)])
def test_a_pool_has_from_one_to_twenty_members(count: int, fields: int) -> None:
    assert ["pool_count"] * fields == refused(pool_count=count)


@pytest.mark.rule("Z77")
def test_a_one_off_has_no_pool() -> None:
    assert ["pool_count"] == refused(schedule=Once(NOW), pool_count=2)
    assert [] == refused(schedule=Once(NOW), pool_count=1)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "x" * 201}, "name"),
        ({"timeout_ms": 0}, "timeout_ms"),
        ({"timeout_ms": 840_001}, "timeout_ms"),
        ({"schedule": Cron("0 9 1 * 1")}, "schedule.cron"),
        ({"schedule": Cron("0 9 * * *", "Mars/Olympus")}, "schedule.timezone"),
        ({"schedule": Every(30_000)}, "schedule.every_ms"),
        ({"schedule": Once(NOW.replace(tzinfo=None))}, "schedule.run_at"),
        ({"schedule": Once(datetime.max.replace(tzinfo=UTC))}, "schedule.run_at"),
        ({"schedule": Once(datetime.min.replace(tzinfo=AHEAD))}, "schedule.run_at"),
        ({"name": " \t"}, "name"),
        ({"loop": Loop(delay_ms=10**12)}, "loop_delay_ms"),
        ({"loop": Loop(jitter_ms=10**12)}, "loop_jitter_ms"),
        ({"loop": Loop(max_iterations=10**9)}, "loop_max_iterations"),
        ({"loop": Loop(response_path="a" * 1_025)}, "loop_response_path"),
        ({"retry": Retry(base_delay_ms=10**12)}, "retry_base_delay_ms"),
        ({"retry": Retry(max_delay_ms=10**12)}, "retry_max_delay_ms"),
        ({"retry": Retry(max_attempts=10**9)}, "retry_max_attempts"),
        ({"retry": Retry(multiplier=Decimal("NaN"))}, "retry_multiplier"),
        ({"http": HttpCall(URL, method="GET /")}, "method"),
        ({"http": HttpCall(URL, headers=(("a b", "c"),))}, "headers"),
        ({"http": HttpCall(URL, headers=(("a", "b\r\nc: d"),))}, "headers"),
        ({"http": HttpCall(URL, auth=Auth("header"))}, "auth.header"),
        ({"http": HttpCall(URL, auth=Auth("bearer", token="a\nb"))}, "auth.token"),
        ({"script": ScriptCall(env=(("A=B", "c"),))}, "env"),
        ({"script": ScriptCall(args=("a\0",))}, "args"),
        ({"alarm": Alarm(Watch.ALL, 0, 60_000)}, "alarm.threshold"),
        ({"alarm": Alarm(Watch.ALL, 10_001, 60_000)}, "alarm.threshold"),
        ({"alarm": Alarm(Watch.ALL, 1, 0)}, "alarm.window_ms"),
        ({"alarm": Alarm(Watch.ALL, 1, 60_000, ())}, "alarm.sinks"),
        ({"alarm": Alarm(Watch.ALL, 1, 1, (Sink(SinkType.WEBHOOK, "x"),))}, "alarm.sinks"),
        ({"alarm": Alarm(Watch.ALL, 1, 1, (Sink(SinkType.WEBHOOK, "ssm:"),))}, "alarm.sinks"),
        ({"alarm": Alarm(Watch.ALL, 1, 1, (Sink(SinkType.EMAIL, "ssm:a"),))}, "alarm.sinks"),
        ({"alarm": Alarm(Watch.ALL, 1, 1, (Sink(SinkType.EMAIL, "x"),))}, "alarm.sinks"),
    ],
)
def test_what_can_be_judged_at_once_is_refused_with_its_field(
    changes: dict[str, Any], field: str
) -> None:
    assert [field] == refused(**changes)


@pytest.mark.parametrize("target", ["https://hooks.example/T0/x", "ssm:/a", "secretsmanager:a"])
def test_a_webhook_may_be_given_by_reference(target: str) -> None:
    assert [] == refused(alarm=Alarm(Watch.ALL, 1, 1, (Sink(SinkType.WEBHOOK, target),)))


def test_numbers_that_count_as_unset_are_not_refused() -> None:
    unset = Loop(True, "", -1, -1, 0), Retry(True, 0, Decimal(1), -1, -3)
    assert [] == refused(loop=unset[0], retry=unset[1])


def test_numbers_at_their_limit_are_not_refused() -> None:
    delay, count = DELAY_MAX_MS, COUNT_MAX
    loop, retry = Loop(True, "a", delay, delay, count), Retry(True, delay, Decimal(2), delay, count)
    assert [] == refused(loop=loop, retry=retry, timeout_ms=TIMEOUT_MAX_MS, name="x" * NAME_MAX)


# --- what is warned of -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        pytest.param({"http": HttpCall("http://[::1")}, "url", marks=pytest.mark.rule("Z63")),
        pytest.param(
            {"http": HttpCall(URL, auth=Auth("kerberos"))},
            "auth.type",
            marks=pytest.mark.rule("Z64"),
        ),
        pytest.param({"type": "script"}, "interpreter", marks=pytest.mark.rule("Z65")),
        pytest.param(
            {"type": "script", "script": ScriptCall("bin/sh")},
            "interpreter",
            marks=pytest.mark.rule("Z65"),
        ),
        pytest.param({"type": "ftp"}, "type", marks=pytest.mark.rule("Z66")),
    ],
)
def test_what_can_never_succeed_is_stored_with_a_warning(
    changes: dict[str, Any], word: str
) -> None:
    (warning,) = warnings(job(**changes))
    assert warning.startswith(word) and "cancelled" in warning
    assert [] == refused(**changes)


@pytest.mark.rule("Z94")
@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({"loop": Loop(True, delay_ms=3_600_000)}, 0),
        ({"loop": Loop(True, delay_ms=3_600_001)}, 1),
        ({"loop": Loop(True, delay_ms=3_600_000, jitter_ms=1)}, 1),
        ({"loop": Loop(False, delay_ms=3_600_001)}, 0),
        ({"loop": Loop(True, delay_ms=3_600_001), "overlap": Overlap.ALLOW}, 0),
        ({"retry": Retry(True, 3_600_001, max_delay_ms=9_000_000)}, 1),
        ({"retry": Retry(True, 900_000, max_delay_ms=9_000_000, max_attempts=4)}, 0),
        ({"retry": Retry(True, 900_000, max_delay_ms=9_000_000, max_attempts=5)}, 1),
        ({"retry": Retry(False, 3_600_001, max_delay_ms=9_000_000)}, 0),
        ({"retry": Retry(True, 3_600_001, max_delay_ms=9_000_000, max_attempts=1)}, 0),
    ],
)
def test_a_wait_of_more_than_an_hour_is_warned_of(changes: dict[str, Any], count: int) -> None:
    found = warnings(job(**changes))
    assert [True] * count == ["goes stale" in warning for warning in found]


def test_warnings_are_told_of_a_definition_that_is_refused_too() -> None:
    assert [] == warnings(job(schedule=Once(NOW.replace(tzinfo=None))))


def test_a_wait_is_told_in_whole_minutes_that_it_does_not_pass() -> None:
    (warning,) = warnings(job(loop=Loop(enabled=True, delay_ms=3_600_001)))

    assert "can reach 61 minutes" in warning


def test_a_one_off_that_is_past_when_it_is_made_is_warned_of() -> None:
    past = job(schedule=Once(job().created_at))
    assert ["schedule.run_at"] == [warning.split()[0] for warning in warnings(past)]
    assert [] == warnings(job(schedule=Once(job().created_at + timedelta(seconds=1))))


def test_a_sound_definition_has_no_warning() -> None:
    script = ScriptCall("/bin/sh", "echo 1")
    assert [] == warnings(job()) + warnings(job(type="script", script=script))


# --- URLs ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com",
        "HTTPS://user:secret@example.com:8443/a%20b?q=%zz&x={y}#f",
        "http://[2001:db8::1]:80/",
        "http://127.0.0.1:9/path",
        "http://münchen.example/ä",
        "http://example.com:",
    ],
)
def test_a_url_that_may_be_called_has_no_flaw(url: str) -> None:
    assert None is flaw(url)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "example.com/x",
        "://example.com",
        "http://",
        "http:///path",
        "http://:80/",
        "http://[::1",
        "http://[nonsense]/",
        "http://[]/",
        "http://a]b/",
        "http://example.com:99999/",
        "http://example.com:0/",
        "http://example.com:http/",
        "http://example.com/%zz",
        "http://exa mple.com/",
        "http://example.com/\n",
        "ftp://example.com/",
        "file:///etc/passwd",
    ],
)
@pytest.mark.rule("Z63")
def test_a_url_that_can_never_be_called_has_one(url: str) -> None:
    assert flaw(url)


# --- the codec -------------------------------------------------------------------------------

FULL = job(
    type="script",
    enabled=False,
    schedule=Cron("0 9 * * 1-5", "Europe/Paris"),
    timeout_ms=5,
    http=HttpCall(URL, "POST", (("A", "1"), ("A", "2")), "body", Auth("basic", "u", "ssm:/p")),
    script=ScriptCall("python3", "print(1)", ("-v", ""), (("A", "b"),)),
    loop=Loop(True, "left", -1, 7, 0),
    retry=Retry(True, 500, Decimal("1.50"), 0, -3),
    pool_count=3,
    overlap=Overlap.ALLOW,
    alarm=Alarm(Watch.FAILURES, 3, 60_000, (Sink(SinkType.LOG), Sink(SinkType.EMAIL, "a@b.c"))),
    missed=Missed.SKIP,
    revision=9,
    is_done=True,
)


@pytest.mark.parametrize(
    "given",
    [job(), FULL, replace(FULL, schedule=Every(60_000)), replace(FULL, schedule=Once(NOW))],
)
def test_a_definition_comes_back_from_the_store_as_it_was_given(given: Any) -> None:
    text = json_text.dumps(codec.to_json(given))
    data = json_text.loads(text)
    assert isinstance(data, dict)

    again = codec.from_json(data)
    assert given == again
    assert str(given.retry.multiplier) == str(again.retry.multiplier)


def test_a_definition_of_another_format_is_told() -> None:
    with pytest.raises(codec.UnknownFormat, match="expected a scheduled job in format 1, found 2"):
        codec.from_json(codec.to_json(job()) | {"format": 2})
