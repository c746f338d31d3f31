"""The outside as the operations see it: a table, queues, schedules, a clock, chance, a journal.

Each is small, says nothing of processes or jobs, and has two implementations that pass one contract
suite: in memory (`tests/fakes`) and on AWS (`store`, `delivery`). What is above is written once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

from chalicelib.access import ANY_ORIGIN, Access
from chalicelib.engine.limits import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from chalicelib.engine.facts import Fact
    from chalicelib.scheduler.definition import ScheduledJob, Sink
    from chalicelib.scheduler.rows import Attempt, Row

# What an item's attributes may be; numbers are integers, everything else is text or JSON text.
Attribute = None | bool | int | str | bytes | list["Attribute"] | dict[str, "Attribute"]
Item = dict[str, Attribute]


# --- the table ---------------------------------------------------------------------------------


class ItemKey(NamedTuple):
    """Where an item is: `table` is LIVE or HISTORY, then partition and sort key."""

    table: str
    pk: str
    sk: str


LIVE = "live"
HISTORY = "history"


class Equals(NamedTuple):
    """The attribute is there and has this value."""

    name: str
    value: Attribute


class Absent(NamedTuple):
    """The item has no such attribute, or there is no item. `Absent("pk")`: there is no item."""

    name: str


class AtMost(NamedTuple):
    """The attribute is there and is not above this number."""

    name: str
    value: int


class Above(NamedTuple):
    """The attribute is there and is above this number."""

    name: str
    value: int


class AnyOf(NamedTuple):
    """At least one of these holds."""

    tests: tuple[Test, ...]


Test = Equals | Absent | AtMost | Above | AnyOf
Condition = tuple[Test, ...]  # all of them hold; () always does


@dataclass(frozen=True, slots=True)
class Put:
    """Make the item, or replace it whole."""

    key: ItemKey
    item: Item
    condition: Condition = ()


@dataclass(frozen=True, slots=True)
class Update:
    """Change the named attributes of an item, which is made if it does not exist."""

    key: ItemKey
    set: Mapping[str, Attribute] = field(default_factory=dict)
    remove: tuple[str, ...] = ()
    add: Mapping[str, int] = field(default_factory=dict)
    condition: Condition = ()


@dataclass(frozen=True, slots=True)
class Delete:
    """Remove the item; one that is not there is removed already."""

    key: ItemKey
    condition: Condition = ()


@dataclass(frozen=True, slots=True)
class Check:
    """In a transaction only: write nothing, but demand the condition."""

    key: ItemKey
    condition: Condition


Write = Put | Update | Delete | Check


@dataclass(frozen=True, slots=True)
class Written:
    """The write was done; `item` is what is there now (None after a Delete)."""

    item: Item | None


@dataclass(frozen=True, slots=True)
class Refused:
    """A condition failed and nothing was written."""

    item: Item | None  # what was there instead
    index: int = 0  # of a transaction: of the first write whose condition failed


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a query or scan; `cursor` continues it, None at the end."""

    items: Sequence[Item]
    cursor: Mapping[str, Attribute] | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """Items of one partition in the order of the sort key, `first` and `last` included.

    Shapes: `index` None reads the base table, consistently; an index lags, and holds keys only.
    """

    table: str
    pk: str
    index: str | None = None
    first: str | None = None
    last: str | None = None
    ascending: bool = True
    limit: int | None = None
    cursor: Mapping[str, Attribute] | None = None


class Table(Protocol):
    """Two tables, `live` and `history`, with transactions that span both.

    What is throttled, conflicts or gets no answer is repeated inside until a deadline.
    Raises: Busy, Conflict if nothing was done; a fault if that is unknown.
    """

    def get(self, key: ItemKey) -> Item | None:
        """Read one item, consistently."""

    def get_many(self, keys: Sequence[ItemKey]) -> dict[ItemKey, Item]:
        """Read many items, each consistently, but together they are no snapshot."""

    def write(self, write: Put | Update | Delete) -> Written | Refused:
        """Write one item under its condition."""

    def transact(self, writes: Sequence[Write], token: str) -> Written | Refused:
        """Write all or nothing: at most 100 different items and 4 MB (DynamoDB quotas).

        Shapes: the same `token` again is the same write, done once.
        """

    def query(self, query: Query) -> Page:
        """Read one page of a partition."""

    def scan(
        self, segment: int, segments: int, cursor: Mapping[str, Attribute] | None = None
    ) -> Page:
        """Read one page of a segment of the live table, consistently."""


# --- queues ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Message:
    """What is sent to a queue; it becomes visible after `delay_s` (0 to 900) seconds."""

    body: str
    delay_s: int = 0


@dataclass(frozen=True, slots=True)
class Received:
    """A message in our hands until its visibility ends."""

    body: str
    receipt: str


class QueueMissing(Exception):
    """There is no queue of that name (any more)."""


class Queues(Protocol):
    """Standard queues: at least once, in about the order sent, invisible while received."""

    def send(self, queue: str, messages: Sequence[Message]) -> None:
        """Send all of them. Raises: QueueMissing; a fault, if any may not have been sent."""

    def receive(self, queue: str, limit: int, visibility_s: int, wait_s: int) -> list[Received]:
        """Take up to 10 messages, waiting up to `wait_s` (0 to 20) seconds for the first."""

    def delete(self, queue: str, receipts: Sequence[str]) -> None:
        """Be done with received messages."""

    def show_again(self, queue: str, receipt: str, after_s: int) -> None:
        """Make a received message visible again after some seconds; gone ones are ignored."""

    def ensure(self, queue: str) -> str:
        """Make the queue unless it is there; return its ARN."""

    def names(self) -> list[str]:
        """Return the names of all job queues of this stage."""

    def count(self, queue: str) -> int:
        """Return about how many messages it holds, hidden and delayed ones too; 0 if missing."""


class Schedules(Protocol):
    """One-time schedules that put a message into a queue."""

    def create(self, name: str, at: datetime, queue: str, body: str) -> None:
        """Plan it; a name that exists is success. The schedule is gone after it fired."""


class Firings(Protocol):
    """What fires the scheduled jobs: one schedule of each, which sends firing messages."""

    def put(self, job: ScheduledJob, now: datetime) -> None:
        """Let a job fire by its schedule from now on, in place of what it fired by before."""

    def remove(self, job_id: str) -> None:
        """Let a job fire no more; one that does not is left as it is."""

    def goes_on(self, job: ScheduledJob, due: datetime) -> None:
        """Plan the firing after the one that was due; nothing to do where schedules recur."""


class NoFirings:
    """A stage without a scheduler: its jobs run when they are triggered by hand."""

    def put(self, job: ScheduledJob, now: datetime) -> None:
        """Plan nothing."""

    def remove(self, job_id: str) -> None:
        """Remove nothing."""

    def goes_on(self, job: ScheduledJob, due: datetime) -> None:
        """Plan nothing."""


# --- time and chance ---------------------------------------------------------------------------


class Clock(Protocol):
    """Time, which a test moves by hand."""

    def now(self) -> datetime:
        """Return the time, aware, in UTC."""

    def sleep(self, seconds: float) -> None:
        """Wait."""

    def is_stopping(self) -> bool:
        """Whether long waits are to answer at once: this process ends, or nobody waits any more."""


class Chance(Protocol):
    """Randomness, which a simulation seeds."""

    def id(self) -> str:
        """Return an id that nobody else has: 32 hexadecimal characters."""

    def share(self) -> float:
        """Return a number from 0 up to 1."""


class LogMode(StrEnum):
    """Which HTTP requests leave a line in the log; triggers and faults always do."""

    ALL = "all"
    ERRORS = "errors"  # those answered by a status of 400 or more
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Settings:
    """What an operator may set, by the names of contracts/zenbpm.md section 5.1."""

    limits: Limits = DEFAULT_LIMITS
    default_lock_ms: int = 30_000  # jobManager.defaultLockDurationMs
    max_lock_ms: int = 86_400_000  # jobManager.maxLockDurationMs
    default_max_active: int = 10  # jobManager.defaultMaxActiveJobs
    max_active_cap: int = 1_000  # jobManager.maxActiveJobsCap
    max_body_bytes: int = 10_485_760  # httpServer.maxRequestBodyBytes
    cross_dialect: bool = True  # jobs.crossDialect
    log_mode: LogMode = LogMode.ALL  # httpServer.logMode
    log_body: bool = False  # httpServer.logBody
    history_time_to_live_s: int = 0  # persistence.instanceHistoryTTL; 0: for ever
    tracing: bool = False  # tracing.enabled
    tracing_name: str = "Headrace"  # tracing.name
    tracing_share: Decimal = Decimal(1)  # tracing.samplerRatio
    allow_private_addresses: bool = False  # scheduler.allowPrivateAddresses
    scripts: bool = False  # scheduler.scripts
    alarm_sender: str = ""  # scheduler.alarmSender
    start_quota: int = 0  # priostack.startQuota; 0: none
    api_keys: tuple[str, ...] = ()  # priostack.apiKeys; without any nobody is asked for one
    access: Access = Access.OPEN  # httpServer.access
    operator_key: str = ""  # httpServer.operatorKey; with access by keys
    origins: tuple[str, ...] = (ANY_ORIGIN,)  # httpServer.origins, whose pages may call


# --- scheduled jobs ----------------------------------------------------------------------------


class Runner(Protocol):
    """Makes the attempts of scheduled jobs."""

    def run(self, job: ScheduledJob, row: Row, timeout: timedelta) -> Attempt:
        """Make one attempt within the time; it never raises for what the job did or said.

        That is one that failed, or was cancelled if no other could succeed (Z63 to Z66).
        """


class NoRunner:
    """A stage that can make no attempts."""

    def run(self, job: ScheduledJob, row: Row, timeout: timedelta) -> Attempt:
        """Raise RuntimeError: the stage is wrong, not the job."""
        raise RuntimeError(f"expected a runner for the scheduled job {job.id}, found none")


class Alerts(Protocol):
    """Who is told that an alarm fired."""

    def send(self, sink: Sink, text: str) -> None:
        """Tell one sink; what cannot be sent is logged and harms nobody."""


class NoAlerts:
    """A stage in which nobody is told."""

    def send(self, sink: Sink, text: str) -> None:
        """Tell nobody."""


# --- what is told ------------------------------------------------------------------------------


class Journal(Protocol):
    """Who is told what happened, once it is committed: it counts, logs and traces."""

    def tell(self, facts: Sequence[Fact]) -> None:
        """Take note. What it raises harms nobody, for all that is told stands."""


class Silence:
    """A journal that keeps nothing."""

    def tell(self, facts: Sequence[Fact]) -> None:
        """Take no note."""


@dataclass(frozen=True, slots=True)
class Ports:
    """All of the outside, bundled; made by `wiring.py`, or by a test from fakes."""

    table: Table
    queues: Queues
    schedules: Schedules
    clock: Clock
    chance: Chance
    settings: Settings = field(default_factory=Settings)
    journal: Journal = field(default_factory=Silence)
    firings: Firings = field(default_factory=NoFirings)
    runner: Runner = field(default_factory=NoRunner)
    alerts: Alerts = field(default_factory=NoAlerts)
