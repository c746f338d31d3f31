"""The composition root: which implementation is behind each port, made once and only when used.

Importing this makes no client and loads no SDK. A test replaces `ports` by fakes of its own.
"""

from __future__ import annotations

import os
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from chalicelib import settings
from chalicelib.access import Access
from chalicelib.delivery import horizon
from chalicelib.logs import Answered
from chalicelib.ports import HISTORY, LIVE, Alerts, Firings, Ports, Runner, Settings
from chalicelib.settings import BadSetting

if TYPE_CHECKING:
    from botocore.config import Config

    from chalicelib.delivery.scheduler import EventBridgeSchedules
    from chalicelib.runners.client import Client
    from chalicelib.runners.http import HttpRunner
    from chalicelib.runners.references import Secrets
    from chalicelib.runners.scripts import ScriptRunner
    from chalicelib.telemetry.journal import LinesAndMore

CONNECT_TIMEOUT_S = horizon.CONNECT_TIMEOUT.total_seconds()
READ_TIMEOUT_S = horizon.READ_TIMEOUT.total_seconds()
LONG_POLL_READ_TIMEOUT_S = 25  # SQS may hold a receive for 20 s (WaitTimeSeconds)
ATTEMPTS_MAX = 3  # of a call that nobody else repeats, the first one included
HANDLER = "_HANDLER"  # Lambda names the one that it will call
FUNCTION = "AWS_LAMBDA_FUNCTION_NAME"  # Lambda sets it; there standard output goes to CloudWatch
FIRINGS = "HEADRACE_FIRINGS"  # how scheduled jobs are fired
PLANNED, RECURRING = "planned", "recurring"  # planned where schedules know no zones, as locally
METRICS_DISABLED = "POWERTOOLS_METRICS_DISABLED"
TRUE = frozenset({"1", "true", "t", "yes", "y", "on"})  # as powertools reads its variables
CONNECTIONS_MAX = 64  # of one client; `headrace serve` calls from as many threads

_Port = TypeVar("_Port")
_making = threading.RLock()


class SystemClock:
    """The time of this machine; `stop` makes long waits answer at once."""

    _is_gone: ContextVar[Callable[[], bool]] = ContextVar("is_gone")

    def __init__(self) -> None:
        self._stopping = threading.Event()

    def now(self) -> datetime:
        """Return the time in UTC, in the milliseconds that items and answers keep."""
        now = datetime.now(UTC)
        return now.replace(microsecond=now.microsecond // 1_000 * 1_000)

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    def is_stopping(self) -> bool:
        """Whether this process was asked to end, or the caller of this thread is gone."""
        return self._stopping.is_set() or self._is_gone.get(lambda: False)()

    @contextmanager
    def asked_by(self, is_gone: Callable[[], bool]) -> Iterator[None]:
        """Serve a caller in this thread; long waits end when that says that it is gone."""
        token = self._is_gone.set(is_gone)
        try:
            yield
        finally:
            self._is_gone.reset(token)

    def stop(self) -> None:
        """Ask whoever waits to answer now."""
        self._stopping.set()


class SystemChance:
    """The randomness of this machine."""

    def id(self) -> str:
        """Return 128 random bits as hexadecimal text."""
        return secrets.token_hex(16)

    def share(self) -> float:
        """Return a number from 0 up to 1."""
        return random.random()


class Lazy:
    """What is made, and loaded, with its first use, so a function pays only for what it uses."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: Any = None

    def __getattr__(self, name: str) -> Any:
        if self._made is None:
            with _making:  # making a client is not safe in two threads at once
                self._made = self._made or self._make()
        return getattr(self._made, name)


def _lazily(make: Callable[[], _Port]) -> _Port:
    made: Any = Lazy(make)
    return cast("_Port", made)


clock = SystemClock()


def operator_settings() -> Settings:
    """Return what the operator set. Raises: BadSetting: then nothing may start.

    A function on AWS that is not told who may call lets nobody call without a key.
    """
    closed = {settings.ACCESS: Access.KEYS.value} if FUNCTION in os.environ else {}
    return settings.read({**closed, **os.environ})


def serves(handler: str) -> bool:
    """Say whether this process may be called by a handler; only Lambda says which one it is."""
    return os.environ.get(HANDLER, handler) == handler


def only_hands_out() -> bool:
    """Say whether of the routes this process gets those alone that hand jobs out."""
    return _is_on(settings.ONLY_HAND_OUT)


def ports() -> Ports:
    """Return the bundle of all ports on AWS, as the environment names its parts."""
    with _making:
        return _ports()


@cache
def _ports() -> Ports:
    from chalicelib.delivery.sqs import SqsQueues  # noqa: PLC0415
    from chalicelib.store.dynamodb import DynamoTable  # noqa: PLC0415

    horizon.check_horizon()
    chosen = operator_settings()
    queue_prefix = named("HEADRACE_QUEUE_PREFIX")
    schedules = _schedules(queue_prefix)
    return Ports(
        table=DynamoTable(
            client("dynamodb", attempts_max=horizon.ATTEMPTS_MAX),
            {LIVE: named("HEADRACE_TABLE"), HISTORY: named("HEADRACE_HISTORY_TABLE")},
        ),
        queues=SqsQueues(client("sqs", LONG_POLL_READ_TIMEOUT_S), queue_prefix),
        schedules=schedules,
        clock=clock,
        chance=SystemChance(),
        settings=chosen,
        journal=journal(),
        firings=_firings(schedules),
        runner=_lazily(partial(_runner, chosen)),
        alerts=_lazily(partial(_alerts, chosen)),
    )


def _schedules(prefix: str) -> EventBridgeSchedules:
    """Return what keeps until later what is too late for a queue. Raises: BadSetting."""
    group, role_arn = named("HEADRACE_SCHEDULE_GROUP"), named("HEADRACE_SCHEDULE_ROLE_ARN")

    def make() -> EventBridgeSchedules:
        from chalicelib.delivery.scheduler import EventBridgeSchedules  # noqa: PLC0415

        return EventBridgeSchedules(client("scheduler"), group, role_arn, prefix)

    return _lazily(make)


def _firings(schedules: EventBridgeSchedules) -> Firings:
    """Return what fires scheduled jobs. Raises: BadSetting."""
    how = os.environ.get(FIRINGS, RECURRING)
    if how not in {PLANNED, RECURRING}:
        expected = f"{RECURRING} or {PLANNED}"
        raise BadSetting(f"expected {FIRINGS} to be {expected}, found {how[:50]!r}")

    def make() -> Firings:
        from chalicelib.delivery import firings  # noqa: PLC0415

        if how == PLANNED:
            return firings.PlannedFirings(schedules, clock)
        return firings.EventBridgeFirings(schedules)

    return _lazily(make)


def _runner(chosen: Settings) -> Runner:
    """Return who runs scheduled jobs; what a type of job needs is loaded by the first of it."""
    from chalicelib.runners.runner import JobRunner  # noqa: PLC0415

    @cache
    def http() -> HttpRunner:
        from chalicelib.runners.http import HttpRunner  # noqa: PLC0415

        return HttpRunner(_http_client(chosen), _secrets())

    @cache
    def script() -> ScriptRunner:
        from chalicelib.runners.scripts import ScriptRunner  # noqa: PLC0415

        return ScriptRunner(chosen.scripts, os.environ, is_stopping=clock.is_stopping)

    return JobRunner(clock, http, script)


def _alerts(chosen: Settings) -> Alerts:
    """Return who is told of alarms."""
    from chalicelib.runners.sinks import AlarmSinks  # noqa: PLC0415

    make_http_client = partial(_http_client, chosen)
    return AlarmSinks(make_http_client, client("sesv2"), _secrets(), chosen.alarm_sender)


def _http_client(chosen: Settings) -> Client:
    """Return the HTTP client behind the guard that an operator chose."""
    from chalicelib.runners import addresses  # noqa: PLC0415
    from chalicelib.runners.client import Client  # noqa: PLC0415

    is_open = chosen.allow_private_addresses
    return Client(addresses.refuse_nothing if is_open else addresses.why_refused)


@cache
def _secrets() -> Secrets:
    from chalicelib.runners.secrets import AwsSecrets  # noqa: PLC0415

    return AwsSecrets(client("ssm"), client("secretsmanager"), clock)


def journal() -> LinesAndMore:
    """Return who is told what happened: on the laptop there are lines only, to standard error."""
    with _making:
        return _journal()


def after_invocation(answered: Answered | None) -> None:
    """Let the journal count the answer to a request, if it was one, and write what it counted."""
    journal().end(answered)


@cache
def _journal() -> LinesAndMore:
    from chalicelib.telemetry import metrics, xray  # noqa: PLC0415
    from chalicelib.telemetry.journal import LinesAndMore  # noqa: PLC0415

    chosen, daemon = operator_settings(), os.environ.get(xray.DAEMON, "")
    made = LinesAndMore()
    if FUNCTION in os.environ and not _is_on(METRICS_DISABLED):
        made.write = partial(metrics.write, service=named("HEADRACE_TABLE"))
    if chosen.tracing and daemon:
        send = xray.to_daemon(daemon)
        made.send = xray.XRay(chosen, partial(secrets.token_hex, 8), send)
    return made


def _is_on(variable: str) -> bool:
    return os.environ.get(variable, "").lower() in TRUE


def named(variable: str) -> str:
    """Return the name of one of the stage's parts. Raises: BadSetting if the stage has none."""
    name = os.environ.get(variable, "")
    if not name:
        raise BadSetting(f"expected the environment variable {variable}, which the template sets")
    return name


def client(
    service: str, read_timeout_s: float = READ_TIMEOUT_S, attempts_max: int = ATTEMPTS_MAX
) -> Any:
    """Return a client whose timeouts leave a function time to say what came of a call."""

    def make() -> Any:
        import boto3  # noqa: PLC0415  (160 ms of a cold start)

        return boto3.client(service, config=_config(read_timeout_s, attempts_max))

    return Lazy(make)


def _config(read_timeout_s: float, attempts_max: int) -> Config:
    from botocore.config import Config  # noqa: PLC0415

    return Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=read_timeout_s,
        retries={"mode": "standard", "total_max_attempts": attempts_max},
        max_pool_connections=CONNECTIONS_MAX,
    )
