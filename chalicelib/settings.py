"""What an operator may set, out of the environment, under ZenBPM's names.

Names, defaults and meanings: contracts/zenbpm.md section 5.1; where that names no variable, ours
is the key in capitals. A value that makes no sense stops the start, naming key and variable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TypeVar

from chalicelib.bpmn import durations
from chalicelib.engine.limits import DEFAULT_LIMITS, Limits
from chalicelib.ports import Settings

VERSION = "0.1.0"  # of Headrace, as in pyproject.toml

Value = TypeVar("Value")

_UNITS_NS = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "m": 60 * 1_000_000_000,
    "h": 3_600 * 1_000_000_000,
    "d": 86_400 * 1_000_000_000,
    "w": 7 * 86_400 * 1_000_000_000,
    "M": 30 * 86_400 * 1_000_000_000,
    "Y": 365 * 86_400 * 1_000_000_000,
}
_TIME_TO_LIVE = re.compile(r"(?:([0-9]{1,15})(ns|us|ms|[smhdwMY]))+")
_PART = re.compile(r"([0-9]{1,15})(ns|us|ms|[smhdwMY])")
TIME_TO_LIVE_MAX = timedelta(days=365 * 1_000)  # far beyond any retention, within `datetime`


class BadSetting(ValueError):
    """A setting makes no sense, so nothing may start."""


def read(environment: Mapping[str, str]) -> Settings:
    """Return the settings. Raises: BadSetting, naming the key and the variable."""
    setting = _Reader(environment)
    defaults = Settings()
    limits = _limits(setting)
    settings = Settings(
        limits=limits,
        default_lock_ms=setting(
            "jobManager.defaultLockDurationMs",
            "JOB_MANAGER_DEFAULT_LOCK_DURATION_MS",
            positive,
            defaults.default_lock_ms,
        ),
        max_lock_ms=setting(
            "jobManager.maxLockDurationMs",
            "JOB_MANAGER_MAX_LOCK_DURATION_MS",
            positive,
            defaults.max_lock_ms,
        ),
        max_body_bytes=setting(
            "httpServer.maxRequestBodyBytes",
            "REST_API_MAX_REQUEST_BODY_BYTES",
            positive,
            defaults.max_body_bytes,
        ),
        cross_dialect=setting(
            "jobs.crossDialect", "JOBS_CROSS_DIALECT", flag, defaults.cross_dialect
        ),
        history_time_to_live_s=setting(
            "persistence.instanceHistoryTTL",
            "PERSISTENCE_INSTANCE_HISTORY_TTL",
            _seconds_to_live,
            defaults.history_time_to_live_s,
        ),
    )
    setting.at_most(
        "jobManager.defaultLockDurationMs",
        settings.default_lock_ms,
        "jobManager.maxLockDurationMs",
        settings.max_lock_ms,
    )
    return settings


def _limits(setting: _Reader) -> Limits:
    limits = Limits(
        default_retries=setting(
            "jobs.defaultRetries", "JOBS_DEFAULT_RETRIES", positive, DEFAULT_LIMITS.default_retries
        ),
        max_retries=setting(
            "jobs.maxRetries", "JOBS_MAX_RETRIES", positive, DEFAULT_LIMITS.max_retries
        ),
        default_backoffs=setting(
            "jobs.defaultRetryBackoff",
            "JOBS_DEFAULT_RETRY_BACKOFF",
            durations.parse_retry_policy,
            DEFAULT_LIMITS.default_backoffs,
        ),
        max_backoff=setting(
            "jobs.maxRetryBackoff",
            "JOBS_MAX_RETRY_BACKOFF",
            _positive_duration,
            DEFAULT_LIMITS.max_backoff,
        ),
        max_elements=setting(
            "cluster.engine.maxElementExecutionCount",
            "CLUSTER_ENGINE_MAX_ELEMENT_EXECUTION_COUNT",
            whole,
            DEFAULT_LIMITS.max_elements,
        ),
    )
    setting.at_most(
        "jobs.defaultRetries", limits.default_retries, "jobs.maxRetries", limits.max_retries
    )
    setting.at_most(
        "jobs.defaultRetryBackoff",
        max(limits.default_backoffs),
        "jobs.maxRetryBackoff",
        limits.max_backoff,
    )
    return limits


class _Reader:
    """Reads one setting after the other and remembers which variable each key has."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._variables: dict[str, str] = {}

    def __call__(
        self, key: str, variable: str, parse: Callable[[str], Value], default: Value
    ) -> Value:
        self._variables[key] = variable
        text = self._environment.get(variable, "").strip()
        if not text:
            return default
        try:
            return parse(text)
        except ValueError as error:
            raise BadSetting(f"{key} ({variable}): {error}") from error

    def at_most(self, key: str, value: object, cap_key: str, cap: object) -> None:
        if value > cap:  # type: ignore[operator]  # two integers or two periods
            raise BadSetting(
                f"{key} ({self._variables[key]}) is {value}, which is above "
                f"{cap_key} ({self._variables[cap_key]}), {cap}"
            )


def whole(text: str) -> int:
    """Return a whole number. Raises: ValueError."""
    if not re.fullmatch(r"-?[0-9]{1,18}", text):
        raise ValueError(f"expected a whole number, found {text[:50]!r}")
    return int(text)


def positive(text: str) -> int:
    """Return a whole number above 0. Raises: ValueError."""
    number = whole(text)
    if number <= 0:
        raise ValueError(f"expected a number above 0, found {number}")
    return number


def flag(text: str) -> bool:
    """Return a boolean written as a word. Raises: ValueError."""
    if text.lower() not in ("true", "false"):
        raise ValueError(f"expected true or false, found {text[:50]!r}")
    return text.lower() == "true"


def time_to_live(text: str) -> timedelta:
    """Return a retention such as `1d8h`; a bare 0 means none.

    Units: ns us ms s m h d w, M of 30 days, Y of 365 days (contracts/zenbpm.md section 1.4).
    Raises: ValueError.
    """
    if text == "0":
        return timedelta(0)
    if not _TIME_TO_LIVE.fullmatch(text):
        raise ValueError(f"expected a time to live such as 1d8h, found {text[:50]!r}")
    nanoseconds = sum(int(number) * _UNITS_NS[unit] for number, unit in _PART.findall(text))
    if nanoseconds > TIME_TO_LIVE_MAX / timedelta(microseconds=1) * 1_000:
        raise ValueError(f"expected a time to live of at most 1000 years, found {text[:50]!r}")
    return timedelta(microseconds=nanoseconds // 1_000)


def _seconds_to_live(text: str) -> int:
    return -(-time_to_live(text) // timedelta(seconds=1))


def _positive_duration(text: str) -> timedelta:
    period = durations.parse_fixed_duration(text)
    if period <= timedelta(0):
        raise ValueError(f"expected a duration above zero, found {text[:50]!r}")
    return period
