"""What an operator may set, out of the environment, under ZenBPM's names.

Names, defaults and meanings: docs/configuration.md; where ZenBPM names no variable, ours is the
key in capitals. A value that makes no sense stops the start, naming key and variable.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any, NamedTuple

from chalicelib.access import ANY_ORIGIN, Access
from chalicelib.bpmn import durations
from chalicelib.engine.limits import DEFAULT_LIMITS
from chalicelib.ports import LogMode, Settings

VERSION = "0.1.0"  # of Headrace, as in pyproject.toml

ORIGINS = "HTTP_SERVER_ORIGINS"
ONLY_HAND_OUT = "HEADRACE_ONLY_HAND_OUT"  # the template sets it for the function that does
ACCESS, OPERATOR_KEY = "HEADRACE_ACCESS", "HEADRACE_API_KEY"
NAME_MAX = 100  # characters of the name under which traces are shown
API_KEY_LENGTH_MIN = 16  # characters that nobody guesses
CLIENT_CAP_MAX = 5_000  # jobs of one client and type: what one item of 400 kB lists easily

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
_ORIGIN = re.compile(
    r"https?://[a-z0-9.-]{1,253}(?::[0-9]{1,5})?|https?://\[[0-9a-f:]+\](?::[0-9]{1,5})?"
)
_PART = re.compile(r"([0-9]{1,15})(ns|us|ms|[smhdwMY])")
TIME_TO_LIVE_MAX = timedelta(days=365 * 1_000)  # far beyond any retention, within `datetime`


class BadSetting(ValueError):
    """A setting makes no sense, so nothing may start."""


class Row(NamedTuple):
    """One setting: its key and its variable, the field that it sets, and how it is read."""

    key: str
    variable: str
    field: str
    parse: Callable[[str], object]


def read(environment: Mapping[str, str]) -> Settings:
    """Return the settings. Raises: BadSetting, naming the key and the variable."""
    limits = replace(DEFAULT_LIMITS, **_fields(LIMITS, environment))
    settings = replace(Settings(limits=limits), **_fields(ROWS, environment))
    for key, cap_key in CAPS:
        value, cap = (_value(settings, _ALL[name].field) for name in (key, cap_key))
        if value > cap:
            raise BadSetting(
                f"{key} ({_ALL[key].variable}) is {value}, which is above "
                f"{cap_key} ({_ALL[cap_key].variable}), {cap}"
            )
    return settings


def _fields(rows: Iterable[Row], environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that are set; a blank variable sets nothing."""
    fields: dict[str, Any] = {}
    for key, variable, field, parse in rows:
        text = environment.get(variable, "").strip()
        if text:
            try:
                fields[field] = parse(text)
            except ValueError as error:
                raise BadSetting(f"{key} ({variable}): {error}") from error
    return fields


def _value(settings: Settings, field: str) -> Any:
    value = getattr(settings, field) if field in _FIELDS else getattr(settings.limits, field)
    return max(value) if isinstance(value, tuple) else value


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


def _not_negative(text: str) -> int:
    number = whole(text)
    if number < 0:
        raise ValueError(f"expected a number from 0, found {number}")
    return number


def _api_keys(text: str) -> tuple[str, ...]:
    keys = tuple(key.strip() for key in text.split(","))
    if not all(len(key) >= API_KEY_LENGTH_MIN for key in keys):
        raise ValueError(
            f"expected keys of at least {API_KEY_LENGTH_MIN} characters, joined by commas"
        )
    return keys


def _origins(text: str) -> tuple[str, ...]:
    """Return origins as browsers write them: scheme, host and port, without a path."""
    origins = tuple(origin.strip() for origin in text.split(","))
    for origin in origins:
        if origin != ANY_ORIGIN and not _ORIGIN.fullmatch(origin):
            raise ValueError(
                f"expected {ANY_ORIGIN}, or origins such as https://ops.example joined by commas, "
                f"found {origin[:100]!r}"
            )
    if ANY_ORIGIN in origins and len(origins) > 1:
        raise ValueError(f"expected {ANY_ORIGIN} alone, found it among {len(origins)} origins")
    return origins


def _client_cap(text: str) -> int:
    number = positive(text)
    if number > CLIENT_CAP_MAX:
        raise ValueError(f"expected a number of at most {CLIENT_CAP_MAX}, found {number}")
    return number


def flag(text: str) -> bool:
    """Return a boolean written as a word. Raises: ValueError."""
    if text.lower() not in ("true", "false"):
        raise ValueError(f"expected true or false, found {text[:50]!r}")
    return text.lower() == "true"


def time_to_live(text: str) -> timedelta:
    """Return a retention such as `1d8h`; 0 means none, and what is more is a millisecond at least.

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
    return timedelta(milliseconds=-(-nanoseconds // 1_000_000))


def _seconds_to_live(text: str) -> int:
    return -(-time_to_live(text) // timedelta(seconds=1))


def _positive_duration(text: str) -> timedelta:
    period = durations.parse_fixed_duration(text)
    if period <= timedelta(0):
        raise ValueError(f"expected a duration above zero, found {text[:50]!r}")
    return period


def _log_mode(text: str) -> LogMode:
    if text.lower() not in set(LogMode):
        raise ValueError(f"expected {', '.join(LogMode)}, found {text[:50]!r}")
    return LogMode(text.lower())


def _access(text: str) -> Access:
    if text.lower() not in set(Access):
        raise ValueError(f"expected {', '.join(Access)}, found {text[:50]!r}")
    return Access(text.lower())


def _name(text: str) -> str:
    if len(text) > NAME_MAX:
        raise ValueError(f"expected at most {NAME_MAX} characters, found {len(text)}")
    return text


def _email_address(text: str) -> str:
    if not re.fullmatch(r"[^@\s]{1,64}@[^@\s]{1,255}", text):
        raise ValueError(f"expected an email address, found {text[:50]!r}")
    return text


def _share(text: str) -> Decimal:
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text) or Decimal(text) > 1:
        raise ValueError(f"expected a number from 0 to 1, found {text[:50]!r}")
    return Decimal(text)


LIMITS = (
    Row("jobs.defaultRetries", "JOBS_DEFAULT_RETRIES", "default_retries", positive),
    Row("jobs.maxRetries", "JOBS_MAX_RETRIES", "max_retries", positive),
    Row(
        "jobs.defaultRetryBackoff",
        "JOBS_DEFAULT_RETRY_BACKOFF",
        "default_backoffs",
        durations.parse_retry_policy,
    ),
    Row("jobs.maxRetryBackoff", "JOBS_MAX_RETRY_BACKOFF", "max_backoff", _positive_duration),
    Row(
        "cluster.engine.maxElementExecutionCount",
        "CLUSTER_ENGINE_MAX_ELEMENT_EXECUTION_COUNT",
        "max_elements",
        whole,
    ),
    Row(
        "cluster.engine.maxProcessInstanceNestingDepth",
        "CLUSTER_ENGINE_MAX_PROCESS_INSTANCE_NESTING_DEPTH",
        "max_depth",
        whole,
    ),
)
ROWS = (
    Row(
        "jobManager.defaultLockDurationMs",
        "JOB_MANAGER_DEFAULT_LOCK_DURATION_MS",
        "default_lock_ms",
        positive,
    ),
    Row(
        "jobManager.maxLockDurationMs",
        "JOB_MANAGER_MAX_LOCK_DURATION_MS",
        "max_lock_ms",
        positive,
    ),
    Row(
        "jobManager.defaultMaxActiveJobs",
        "JOB_MANAGER_DEFAULT_MAX_ACTIVE_JOBS",
        "default_max_active",
        positive,
    ),
    Row(
        "jobManager.maxActiveJobsCap",
        "JOB_MANAGER_MAX_ACTIVE_JOBS_CAP",
        "max_active_cap",
        _client_cap,
    ),
    Row(
        "httpServer.maxRequestBodyBytes",
        "REST_API_MAX_REQUEST_BODY_BYTES",
        "max_body_bytes",
        positive,
    ),
    Row("httpServer.logMode", "REST_API_LOG_MODE", "log_mode", _log_mode),
    Row("httpServer.logBody", "REST_API_LOG_BODY", "log_body", flag),
    Row("jobs.crossDialect", "JOBS_CROSS_DIALECT", "cross_dialect", flag),
    Row(
        "persistence.instanceHistoryTTL",
        "PERSISTENCE_INSTANCE_HISTORY_TTL",
        "history_time_to_live_s",
        _seconds_to_live,
    ),
    Row("tracing.enabled", "TRACING_ENABLED", "tracing", flag),
    Row("tracing.name", "TRACING_APP_NAME", "tracing_name", _name),
    Row("tracing.samplerRatio", "TRACING_SAMPLER_RATIO", "tracing_share", _share),
    Row(
        "scheduler.allowPrivateAddresses",
        "SCHEDULER_ALLOW_PRIVATE_ADDRESSES",
        "allow_private_addresses",
        flag,
    ),
    Row("scheduler.scripts", "SCHEDULER_SCRIPTS", "scripts", flag),
    Row("scheduler.alarmSender", "SCHEDULER_ALARM_SENDER", "alarm_sender", _email_address),
    Row("httpServer.access", ACCESS, "access", _access),
    Row("httpServer.origins", ORIGINS, "origins", _origins),
    Row("httpServer.operatorKey", OPERATOR_KEY, "operator_key", str),
    Row("priostack.startQuota", "PRIOSTACK_START_QUOTA", "start_quota", _not_negative),
    Row("priostack.apiKeys", "PRIOSTACK_API_KEYS", "api_keys", _api_keys),
)
# No default may be above its cap.
CAPS = (
    ("jobManager.defaultLockDurationMs", "jobManager.maxLockDurationMs"),
    ("jobManager.defaultMaxActiveJobs", "jobManager.maxActiveJobsCap"),
    ("jobs.defaultRetries", "jobs.maxRetries"),
    ("jobs.defaultRetryBackoff", "jobs.maxRetryBackoff"),
)
_ALL = {row.key: row for row in (*ROWS, *LIMITS)}
_FIELDS = {row.field for row in ROWS}
