"""What a scheduled job is: its definition as it was given, and what is wrong with it.

The numbers of loop and retry are kept as they were given, even where they are unusable;
`loop.py` and `retry.py` read them and put the documented default in their place. What can only
be judged by running it (URL, auth type, interpreter, type of job) is kept too, and warned of.

Units: every `_ms` is in milliseconds. Source: contracts/scheduled-jobs.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from chalicelib.scheduler.schedules import Cron, Every, Once, Problem, Schedule

__all__ = [
    "Alarm",
    "Auth",
    "Cron",
    "Every",
    "HttpCall",
    "Loop",
    "Missed",
    "Once",
    "Overlap",
    "Problem",
    "Retry",
    "Schedule",
    "ScheduledJob",
    "ScriptCall",
    "Sink",
    "SinkType",
    "Watch",
    "problems",
    "warnings",
]

HTTP, SCRIPT = "http", "script"  # the supported types of job
TIMEOUT_DEFAULT_MS = 30_000
TIMEOUT_MAX_MS = 840_000  # a minute below the longest run of a Lambda function
POOL_MAX = 20


class Overlap(StrEnum):
    """What a firing does while an earlier run of its pool index goes on."""

    SKIP = "skip"  # it is dropped for that index
    ALLOW = "allow"  # it runs beside


class Missed(StrEnum):
    """What becomes of a firing that comes much too late."""

    RUN_ONCE = "run_once"  # it runs if it is younger than one interval
    SKIP = "skip"  # it is dropped


class Watch(StrEnum):
    """Which attempts an alarm counts."""

    ALL = "all"
    FAILURES = "failures"


class SinkType(StrEnum):
    """Where the text of an alarm goes."""

    LOG = "log"
    WEBHOOK = "webhook"  # a POST in Slack's form
    EMAIL = "email"


@dataclass(frozen=True, slots=True)
class Sink:
    """One receiver of an alarm.

    Shapes: `target` is the URL of a webhook or the address of an email, empty for the log.
    """

    type: SinkType
    target: str = ""


@dataclass(frozen=True, slots=True)
class Alarm:
    """Tell the sinks, once per window, when that many attempts fell into the window."""

    watch: Watch
    threshold: int
    window_ms: int
    sinks: tuple[Sink, ...] = (Sink(SinkType.LOG),)


@dataclass(frozen=True, slots=True)
class Auth:
    """How an HTTP call names itself.

    Shapes: `type` is "none", "basic" (username, password), "bearer" (token) or "header" (header,
        value), or whatever else was given (Z64); `password`, `token` and `value` are secrets: a
        plain text or a reference, `ssm:NAME` or `secretsmanager:NAME`.
    """

    type: str = "none"
    username: str = ""
    password: str = ""
    token: str = ""
    header: str = ""
    value: str = ""


@dataclass(frozen=True, slots=True)
class HttpCall:
    """The request of a job of type "http"; `url` is kept as it was given (Z63)."""

    url: str = ""
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    body: str | None = None
    auth: Auth = Auth()


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """The child process of a job of type "script"; a missing interpreter is empty (Z65)."""

    interpreter: str = ""
    script: str = ""
    args: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Loop:
    """Whether and when a successful attempt is followed by another iteration."""

    enabled: bool = False
    response_path: str = "result.remaining"
    delay_ms: int = 0
    jitter_ms: int = 0
    max_iterations: int = 50


@dataclass(frozen=True, slots=True)
class Retry:
    """Whether and when a failed attempt is made again."""

    enabled: bool = False
    base_delay_ms: int = 1_000
    multiplier: Decimal = Decimal(2)
    max_delay_ms: int = 300_000
    max_attempts: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledJob:
    """One definition.

    Shapes: without a `schedule` it runs only when it is triggered by hand; `type` is kept as it
        was given (Z66); `revision` rises with every change, so a firing that was planned for an
        older one is told; `is_done` is a one-off's whose run has ended.
    """

    id: str
    name: str
    type: str
    enabled: bool = True
    schedule: Schedule | None = None
    timeout_ms: int = TIMEOUT_DEFAULT_MS
    http: HttpCall = HttpCall()
    script: ScriptCall = ScriptCall()
    loop: Loop = Loop()
    retry: Retry = Retry()
    pool_count: int = 1
    overlap: Overlap = Overlap.SKIP
    alarm: Alarm | None = None
    missed: Missed = Missed.RUN_ONCE
    created_at: datetime
    revision: int = 1
    is_done: bool = False


def problems(job: ScheduledJob) -> list[Problem]:
    """Say what create and update refuse in a definition; none if it may be stored."""
    return []


def warnings(job: ScheduledJob) -> list[str]:
    """Say what will go wrong when a definition runs, but is stored all the same (Z63-Z66, Z94)."""
    return []
