"""Settings come out of the environment, and nonsense stops the start."""

from __future__ import annotations

import tomllib
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from chalicelib import settings
from chalicelib.ports import LogMode, Settings
from chalicelib.settings import BadSetting, Row

ROOT = Path(__file__).parent.parent


def test_without_variables_the_defaults_hold() -> None:
    assert Settings() == settings.read({})


def test_a_blank_variable_is_as_good_as_none() -> None:
    assert Settings() == settings.read({"JOBS_MAX_RETRIES": "  "})


def test_every_variable_is_read() -> None:
    read = settings.read(
        {
            "JOB_MANAGER_DEFAULT_LOCK_DURATION_MS": "1000",
            "JOB_MANAGER_MAX_LOCK_DURATION_MS": "2000",
            "REST_API_MAX_REQUEST_BODY_BYTES": "1024",
            "JOBS_CROSS_DIALECT": "false",
            "PERSISTENCE_INSTANCE_HISTORY_TTL": "1d8h",
            "JOBS_DEFAULT_RETRIES": "3",
            "JOBS_MAX_RETRIES": "7",
            "JOBS_DEFAULT_RETRY_BACKOFF": "PT1S,PT3S",
            "JOBS_MAX_RETRY_BACKOFF": "PT1H",
            "CLUSTER_ENGINE_MAX_ELEMENT_EXECUTION_COUNT": "0",
            "JOB_MANAGER_DEFAULT_MAX_ACTIVE_JOBS": "2",
            "JOB_MANAGER_MAX_ACTIVE_JOBS_CAP": "5",
            "REST_API_LOG_MODE": "Errors",
            "REST_API_LOG_BODY": "TRUE",
            "TRACING_ENABLED": "true",
            "TRACING_APP_NAME": "orders",
            "TRACING_SAMPLER_RATIO": "0.25",
            "SCHEDULER_ALLOW_PRIVATE_ADDRESSES": "true",
            "SCHEDULER_SCRIPTS": "true",
            "SCHEDULER_ALARM_SENDER": "alarms@example.com",
            "HTTP_SERVER_ORIGINS": "https://ops.example, http://[::1]:8080",
        }
    )

    assert (1000, 2000, 1024) == (read.default_lock_ms, read.max_lock_ms, read.max_body_bytes)
    assert (False, 32 * 3600) == (read.cross_dialect, read.history_time_to_live_s)
    assert (2, 5) == (read.default_max_active, read.max_active_cap)
    assert (LogMode.ERRORS, True) == (read.log_mode, read.log_body)
    assert (True, "orders", Decimal("0.25")) == (
        read.tracing,
        read.tracing_name,
        read.tracing_share,
    )
    assert (True, True) == (read.allow_private_addresses, read.scripts)
    assert "alarms@example.com" == read.alarm_sender
    assert ("https://ops.example", "http://[::1]:8080") == read.origins
    limits = read.limits
    assert (3, 7, 0) == (limits.default_retries, limits.max_retries, limits.max_elements)
    assert (timedelta(seconds=1), timedelta(seconds=3)) == limits.default_backoffs
    assert timedelta(hours=1) == limits.max_backoff


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("JOB_MANAGER_MAX_LOCK_DURATION_MS", "0", "jobManager.maxLockDurationMs"),
        ("JOB_MANAGER_DEFAULT_LOCK_DURATION_MS", "-1", "expected a number above 0, found -1"),
        ("JOB_MANAGER_DEFAULT_LOCK_DURATION_MS", "86400001", "above jobManager.maxLockDurationMs"),
        ("REST_API_MAX_REQUEST_BODY_BYTES", "10 MB", "expected a whole number"),
        ("JOBS_DEFAULT_RETRIES", "101", r"jobs.defaultRetries \(JOBS_DEFAULT_RETRIES\) is 101"),
        ("JOBS_DEFAULT_RETRY_BACKOFF", "soon", "jobs.defaultRetryBackoff"),
        ("JOBS_DEFAULT_RETRY_BACKOFF", "PT25H", "above jobs.maxRetryBackoff"),
        ("JOB_MANAGER_DEFAULT_MAX_ACTIVE_JOBS", "0", "jobManager.defaultMaxActiveJobs"),
        ("JOB_MANAGER_DEFAULT_MAX_ACTIVE_JOBS", "1001", "above jobManager.maxActiveJobsCap"),
        ("JOB_MANAGER_MAX_ACTIVE_JOBS_CAP", "5001", "at most 5000, found 5001"),
        ("REST_API_LOG_MODE", "some", "httpServer.logMode .* expected all, errors, off"),
        ("REST_API_LOG_BODY", "1", "expected true or false"),
        ("TRACING_SAMPLER_RATIO", "1.5", "expected a number from 0 to 1"),
        ("TRACING_SAMPLER_RATIO", "-1", "expected a number from 0 to 1"),
        ("TRACING_APP_NAME", "x" * 101, "expected at most 100 characters"),
        ("SCHEDULER_SCRIPTS", "on", "scheduler.scripts .* expected true or false"),
        ("SCHEDULER_ALLOW_PRIVATE_ADDRESSES", "no", "scheduler.allowPrivateAddresses"),
        ("SCHEDULER_ALARM_SENDER", "operators", "expected an email address, found"),
        ("HTTP_SERVER_ORIGINS", "https://ops.example/", "httpServer.origins .* found 'https://ops"),
        ("HTTP_SERVER_ORIGINS", "https://a.example,,https://b.example", "found ''"),
        ("HTTP_SERVER_ORIGINS", "*,https://ops.example", "alone, found it among 2 origins"),
        ("HTTP_SERVER_ORIGINS", "null", "expected \\*, or origins such as"),
        ("JOBS_MAX_RETRY_BACKOFF", "PT0S", "expected a duration above zero"),
        ("JOBS_CROSS_DIALECT", "maybe", "expected true or false"),
        ("PERSISTENCE_INSTANCE_HISTORY_TTL", "1 day", "expected a time to live such as 1d8h"),
    ],
)
def test_nonsense_is_refused_with_the_key_and_the_variable(
    variable: str, value: str, words: str
) -> None:
    with pytest.raises(BadSetting, match=words) as refused:
        settings.read({variable: value})

    assert variable in str(refused.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", timedelta(0)),
        ("90s", timedelta(seconds=90)),
        ("1d8h", timedelta(hours=32)),
        ("1M", timedelta(days=30)),
        ("1Y1w1m", timedelta(days=372, minutes=1)),
        ("1500us500000ns", timedelta(milliseconds=2)),
        ("1ns", timedelta(milliseconds=1)),
        ("0s", timedelta(0)),
    ],
)
def test_a_time_to_live_is_a_sum_of_units(text: str, expected: timedelta) -> None:
    assert expected == settings.time_to_live(text)


@pytest.mark.parametrize(
    "text", ["", "1", "d", "-1d", "1.5h", "1d 8h", "1y", "1d8", "1001Y", "9" * 30 + "d"]
)
def test_what_is_no_time_to_live_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="time to live"):
        settings.time_to_live(text)


@pytest.mark.parametrize("row", [*settings.ROWS, *settings.LIMITS], ids=lambda row: row.key)
def test_every_setting_is_on_the_page_with_its_variable_and_its_default(row: Row) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    (line,) = [line for line in page.splitlines() if line.startswith(f"| {row.key} |")]
    _, _, variable, default, *_ = (cell.strip() for cell in line.split("|"))

    assert f"`{row.variable}`" == variable
    assert Settings() == settings.read({row.variable: default})


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())

    assert project["project"]["version"] == settings.VERSION
