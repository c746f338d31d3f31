"""What a scheduled job is: its definition as it was given, and what is wrong with it.

The numbers of loop and retry are kept as they were given, even where they are unusable; what
reads them puts the documented default in their place. What can only be judged by running it (URL,
auth type, interpreter, type of job) is kept too, and warned of. Schedule, loop, retry, overlap and
alarm are each defined beside the functions that read them, and are named here once more.

Units: every `_ms` is in milliseconds. Source: contracts/scheduled-jobs.md.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

from chalicelib.scheduler import loop, retry, urls
from chalicelib.scheduler.alarms import THRESHOLD_MAX, Alarm, Sink, SinkType, Watch
from chalicelib.scheduler.gjson.limits import PATH_MAX
from chalicelib.scheduler.loop import Loop
from chalicelib.scheduler.overlap import STALE_AFTER, Overlap
from chalicelib.scheduler.retry import Retry
from chalicelib.scheduler.schedules import Cron, Every, Once, Problem, Schedule, translate

__all__ = [
    "AUTH_TYPES",
    "COUNT_MAX",
    "DELAY_MAX_MS",
    "HTTP",
    "NAME_MAX",
    "PATH_MAX",
    "POOL_MAX",
    "SCRIPT",
    "THRESHOLD_MAX",
    "TIMEOUT_DEFAULT_MS",
    "TIMEOUT_MAX_MS",
    "WINDOW_MAX_MS",
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
    "is_reference",
    "problems",
    "warnings",
]

HTTP, SCRIPT = "http", "script"  # the supported types of job
AUTH_TYPES = ("none", "basic", "bearer", "header")
TIMEOUT_DEFAULT_MS = 30_000
TIMEOUT_MAX_MS = 840_000  # a minute below the longest run of a Lambda function
POOL_MAX = 20
NAME_MAX = 200  # characters
DELAY_MAX_MS = 366 * 24 * 3600 * 1000
COUNT_MAX = 1_000_000  # of iterations, and of attempts
WINDOW_MAX_MS = 30 * 24 * 3600 * 1000

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110 section 5.6.2
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+")
_REFERENCE = re.compile(r"(ssm|secretsmanager):.+", re.DOTALL)


class Missed(StrEnum):
    """What becomes of a firing that comes much too late."""

    RUN_ONCE = "run_once"  # it runs if it is younger than one interval
    SKIP = "skip"  # it is dropped


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
    loop: Loop = field(default_factory=Loop)
    retry: Retry = field(default_factory=Retry)
    pool_count: int = 1
    overlap: Overlap = Overlap.SKIP
    alarm: Alarm | None = None
    missed: Missed = Missed.RUN_ONCE
    created_at: datetime
    revision: int = 1
    is_done: bool = False

    @property
    def is_locking(self) -> bool:
        """Whether its runs take locks at all (Z81, Z92)."""
        return self.overlap is Overlap.SKIP


def is_reference(text: str) -> bool:
    """Say whether a secret is given by its name: `ssm:NAME` or `secretsmanager:NAME`."""
    return _REFERENCE.fullmatch(text) is not None


# --- what is refused -------------------------------------------------------------------------


def problems(job: ScheduledJob) -> list[Problem]:
    """Say what create and update refuse in a definition (400); none if it may be stored.

    Shapes: a field is named as the API spells it, such as `loop_delay_ms` or `alarm.threshold`.
    """
    return [
        *_problems_of_numbers(job),
        *_problems_of_texts(job),
        *_problems_of_schedule(job),
        *_problems_of_alarm(job.alarm),
    ]


def _problems_of_numbers(job: ScheduledJob) -> Iterator[Problem]:
    yield from _outside("timeout_ms", job.timeout_ms, TIMEOUT_MAX_MS)
    yield from _outside("pool_count", job.pool_count, POOL_MAX)
    for name, value, most in (
        ("loop_delay_ms", job.loop.delay_ms, DELAY_MAX_MS),
        ("loop_jitter_ms", job.loop.jitter_ms, DELAY_MAX_MS),
        ("loop_max_iterations", job.loop.max_iterations, COUNT_MAX),
        ("retry_base_delay_ms", job.retry.base_delay_ms, DELAY_MAX_MS),
        ("retry_max_delay_ms", job.retry.max_delay_ms, DELAY_MAX_MS),
        ("retry_max_attempts", job.retry.max_attempts, COUNT_MAX),
    ):
        if value > most:  # what is too small counts as unset
            yield Problem(name, f"expected at most {most}, found {value}")
    if not job.retry.multiplier.is_finite():
        yield Problem("retry_multiplier", f"expected a number, found {job.retry.multiplier}")


def _problems_of_texts(job: ScheduledJob) -> Iterator[Problem]:
    if not job.name.strip() or len(job.name) > NAME_MAX:
        found = f"{len(job.name)} characters" if job.name.strip() else "nothing but blanks"
        yield Problem("name", f"expected a text of 1 to {NAME_MAX} characters, found {found}")
    if len(job.loop.response_path) > PATH_MAX:
        found = str(len(job.loop.response_path))
        yield Problem(
            "loop_response_path", f"expected at most {PATH_MAX} characters, found {found}"
        )
    if not _TOKEN.fullmatch(job.http.method):
        yield Problem("method", f'expected an HTTP method, found "{job.http.method}"')
    for name, value in job.http.headers:
        if not _TOKEN.fullmatch(name):
            yield Problem("headers", f'expected the name of a header, found "{name}"')
        if _CONTROL.search(value):
            yield Problem("headers", f"expected no control character in the value of {name}")
    yield from _problems_of_auth(job.http.auth)
    for name, value in job.script.env:
        if not name or "=" in name or "\0" in name + value:
            yield Problem("env", f'expected a name without "=" and no NUL, found "{name}"')
    if any("\0" in argument for argument in job.script.args):
        yield Problem("args", "expected no NUL in an argument")


def _problems_of_auth(auth: Auth) -> Iterator[Problem]:
    """Check the fields; an unknown type is only warned of, and a secret is never repeated."""
    if auth.type == "header" and not _TOKEN.fullmatch(auth.header):
        yield Problem("auth.header", f'expected the name of a header, found "{auth.header}"')
    for name in ("username", "password", "token", "value"):
        if _CONTROL.search(getattr(auth, name)):
            yield Problem(f"auth.{name}", "expected no control character")


def _problems_of_schedule(job: ScheduledJob) -> Iterator[Problem]:
    if job.schedule is None:
        return
    translated = translate(job.schedule)
    if isinstance(translated, Problem):
        yield translated
    if isinstance(job.schedule, Once) and job.pool_count > 1:
        message = f"expected 1 for a job that runs once, found {job.pool_count}"
        yield Problem("pool_count", message)


def _problems_of_alarm(alarm: Alarm | None) -> Iterator[Problem]:
    if alarm is None:
        return
    yield from _outside("alarm.threshold", alarm.threshold, THRESHOLD_MAX)
    yield from _outside("alarm.window_ms", alarm.window_ms, WINDOW_MAX_MS)
    if not alarm.sinks:
        yield Problem("alarm.sinks", "expected at least one of log, webhook and email, found none")
    for sink in alarm.sinks:
        is_judged = sink.type is SinkType.WEBHOOK and not is_reference(sink.target)
        if is_judged and (reason := urls.flaw(sink.target)):
            yield Problem("alarm.sinks", f"expected the URL of a webhook: {reason}")
        if sink.type is SinkType.EMAIL and not _ADDRESS.fullmatch(sink.target):
            yield Problem("alarm.sinks", f'expected an email address, found "{sink.target}"')


def _outside(name: str, value: int, most: int) -> Iterator[Problem]:
    if not 1 <= value <= most:
        yield Problem(name, f"expected from 1 to {most}, found {value}")


# --- what is warned of -----------------------------------------------------------------------


def warnings(job: ScheduledJob) -> list[str]:
    """Say what will go wrong when a definition runs; it is stored all the same.

    Source: Z63 to Z66 (its runs are cancelled) and Z94 (its lock goes stale meanwhile).
    """
    return [*_warnings_of_call(job), *_warnings_of_lock(job), *_warnings_of_schedule(job)]


def _warnings_of_call(job: ScheduledJob) -> Iterator[str]:
    if job.type == HTTP:
        if reason := urls.flaw(job.http.url):
            yield f"url cannot be called: {reason}; every run will be cancelled"
        if job.http.auth.type not in AUTH_TYPES:
            yield (
                f'auth.type is "{job.http.auth.type}", not one of {", ".join(AUTH_TYPES)}; '
                "every run will be cancelled"
            )
    elif job.type == SCRIPT:
        if not job.script.interpreter:
            yield "interpreter is missing; every run will be cancelled"
        elif "/" in job.script.interpreter and not job.script.interpreter.startswith("/"):
            yield (
                f'interpreter is "{job.script.interpreter}", neither a name nor an absolute path; '
                "every run will be cancelled"
            )
    else:
        yield f'type is "{job.type}", not {HTTP} or {SCRIPT}; every run will be cancelled'


def _warnings_of_lock(job: ScheduledJob) -> Iterator[str]:
    if not job.is_locking:
        return
    waits = (
        ("loop_delay_ms and loop_jitter_ms", loop.longest_delay(job.loop), job.loop.enabled),
        ("the longest retry delay", retry.longest_delay(job.retry), job.retry.enabled),
    )
    for name, wait, is_used in waits:
        if is_used and wait > STALE_AFTER:
            yield (
                f"{name} can reach {_minutes(wait)} minutes: the lock goes stale after "
                f"{_minutes(STALE_AFTER)} without an attempt, and a firing may then run beside"
            )


def _warnings_of_schedule(job: ScheduledJob) -> Iterator[str]:
    is_judged = not isinstance(job.schedule and translate(job.schedule), Problem)
    if is_judged and isinstance(job.schedule, Once) and job.schedule.at <= job.created_at:
        yield "schedule.run_at is before the job was created; it will run only when triggered"


def _minutes(span: timedelta) -> int:
    """Return a span as whole minutes, rounded up."""
    return -(-span // timedelta(minutes=1))
