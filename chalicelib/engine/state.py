"""What a process instance is made of: records, each one item of its collection.

All times are aware `datetime`s in UTC; all keys are integers below 2^53. An instance's key is
the first of its block, and whatever belongs to it has a key of one of its blocks (`keys.py`).

The root holds the *compact* execution state: which element instances wait (`live`), the counts
at joins (`joins`), and the moves a bounded turn left over (`agenda`). Records beside it are jobs,
timers, incidents, failures and the variables of one scope each. Design section 3.

What every turn makes is a named tuple: a frozen dataclass sets each of its fields by a call, which
takes five times as long for a root or a job.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from chalicelib.bpmn.model import Binding, EventType
from chalicelib.engine.compact import Completed as Completed  # noqa: PLC0414
from chalicelib.engine.compact import ElementInstance as ElementInstance  # noqa: PLC0414
from chalicelib.engine.compact import Join as Join  # noqa: PLC0414
from chalicelib.engine.compact import Move as Move  # noqa: PLC0414
from chalicelib.engine.compact import Parent as Parent  # noqa: PLC0414
from chalicelib.engine.compact import Part as Part  # noqa: PLC0414
from chalicelib.engine.compact import Progress as Progress  # noqa: PLC0414
from chalicelib.engine.compact import Purge as Purge  # noqa: PLC0414
from chalicelib.engine.decided import Called, Decidable
from chalicelib.engine.job_record import BPMN as BPMN  # noqa: PLC0414
from chalicelib.engine.job_record import USER_TASK as USER_TASK  # noqa: PLC0414
from chalicelib.engine.job_record import Job as Job  # noqa: PLC0414
from chalicelib.engine.job_record import JobState as JobState  # noqa: PLC0414
from chalicelib.engine.job_record import RetryPolicy as RetryPolicy  # noqa: PLC0414
from chalicelib.json_text import JsonObject, JsonValue
from chalicelib.profile import Profile as Profile  # noqa: PLC0414 (the engine's rooms find it here)


class InstanceState(StrEnum):
    """Where a process instance is in its life; an incident is not a state (it is counted)."""

    ACTIVE = "active"
    COMPLETED = "completed"  # every token reached an end
    TERMINATING = "terminating"  # cancelled, not all is ended yet; shown as terminated
    TERMINATED = "terminated"  # cancelled


class Stage(StrEnum):
    """How far an element was when an incident stopped it: where resolving takes it up again."""

    ENTERING = "entering"  # nothing was made of it yet: mappings, job, timer, condition
    ARMING = "arming"  # its boundary events; it waits meanwhile
    WORKING = "working"  # its job failed
    COMPLETING = "completing"  # its outputs could not be mapped
    LEAVING = "leaving"  # no outgoing flow could be chosen
    HEARING = "hearing"  # a listener of its cancellation, or of a user task, could not be made


class StartLock(NamedTuple):
    """What an instance that a message started runs for alone, until it ends.

    Shapes: `place` names it for the store; `name` and `key` are the message's.
    """

    place: str
    name: str
    key: str


class Root(NamedTuple):
    """The instance itself. `version` rises with every turn and is what turns race for."""

    key: int
    definition_key: int
    bpmn_process_id: str
    definition_version: int
    profile: Profile
    created_at: datetime
    version: int = 0
    state: InstanceState = InstanceState.ACTIVE
    business_key: str | None = None
    ended_at: datetime | None = None
    time_to_live: timedelta | None = None  # how long history stays after the end; None: for ever
    tokens: int = 0  # what is live at the top, moves and tokens at joins included
    element_count: int = 0  # elements executed so far, against maxElementExecutionCount
    incident_count: int = 0  # open incidents
    blocks: tuple[int, ...] = ()  # key blocks it took, the last one in use
    next_offset: int = 1
    live: Mapping[int, ElementInstance] = {}
    joins: Mapping[tuple[int, str], Join] = {}  # by scope and gateway id
    bodies: Mapping[int, Progress] = {}  # of multi-instance activities
    agenda: tuple[Move, ...] = ()  # a stack: the last one is made first
    completed: Mapping[Completed, int] = {}  # how often
    purges: tuple[Purge, ...] = ()  # before anything else
    parent: Parent | None = None
    start_lock: StartLock | None = None
    turn_id: str = ""  # of the turn that wrote this version

    def inside(self, key: int) -> Iterator[ElementInstance]:
        """Yield what is live directly in a scope, as clients are shown it: of a multi-instance
        body what its iterations hold."""
        for each in self.live.values():
            is_ours = bool(each.loop and not each.is_stuck) or self._is_part(each.key)
            if not is_ours and self.shown_scope(each.scope) == key:
                yield each

    def shown_scope(self, key: int) -> int:
        """Return the scope that clients are told: for an iteration, which is ours, its body."""
        element = self.live.get(key)
        if element is None or not element.loop:
            return key
        return self.key if self._is_part(element.scope) else element.scope

    def _is_part(self, key: int) -> bool:
        """Say whether a live element is the part of a body that the instance is for."""
        return self.is_part and key in self.bodies and self.live[key].scope == self.key

    @property
    def is_part(self) -> bool:
        """Whether it does a part of a body of the instance above it."""
        return self.parent is not None and self.parent.first > 0

    @property
    def retires_at_end(self) -> bool:
        """Whether its retention counts from its end; that of a part does from the whole's."""
        return self.time_to_live is not None and not self.is_part

    @property
    def is_stuck(self) -> bool:
        """Whether a token at the top cannot go on before an operator mends something."""
        if self.is_part:
            return any(each.is_stuck for each in self.inside(self.key))
        return any(each.is_stuck for each in self.live.values() if each.scope == self.key)


class Variables(NamedTuple):
    """The variables of one scope, by the key of the element instance that owns them."""

    scope: int
    values: JsonObject


@dataclass(frozen=True, slots=True)
class Timer:
    """A timer that waits for its due second, with what is left of its cycle.

    Shapes: `element_id` is the catch or boundary event, `element_key` the element instance it
        is open on; `remaining` firings after this one (None: endless, 0: none), `interval` the
        ISO 8601 text of the cycle, `anchor` the moment its grid counts from; of an event of
        several definitions it is for the `part`-th, None for the first.
    """

    key: int
    instance_key: int
    element_id: str
    element_key: int
    due: datetime
    created_at: datetime
    remaining: int | None = 0
    interval: str | None = None
    anchor: datetime | None = None
    part: int | None = None


@dataclass(frozen=True, slots=True)
class Subscription:
    """An event that waits for a message or a signal of a name.

    Shapes: `element_id` is the event or receive task, `element_key` the element instance it is
        open on; a message has a `correlation_key`, a signal none; of those that are `is_unique`
        only one may wait for a name and key; the broadcasts in `after` are over for it; `part` is
        as of a `Timer`.
    """

    key: int
    instance_key: int
    element_id: str
    element_key: int
    kind: EventType
    name: str
    created_at: datetime
    correlation_key: str | None = None
    is_unique: bool = False
    after: str | None = None
    part: int | None = None


class Waited(NamedTuple):
    """A message that somebody may wait for: its name and correlation key."""

    name: str
    key: str


@dataclass(frozen=True, slots=True)
class Incident:
    """An instance waits for an operator here.

    Shapes: `error_type` is a Zeebe word, such as `IO_MAPPING_ERROR`; `scope` is that of the
        element; `is_unarmed` says that its boundary events could not be armed before this came;
        `acknowledged_at` is when an operator called it resolved, though nothing went on. One whose
        element `is_listening` stops no token, only an event subprocess from being triggered.
    """

    key: int
    instance_key: int
    element_id: str
    element_key: int
    error_type: str
    message: str
    created_at: datetime
    job_key: int | None = None
    resolved_at: datetime | None = None
    stage: Stage = Stage.ENTERING
    scope: int = 0
    is_unarmed: bool = False
    acknowledged_at: datetime | None = None
    is_listening: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure without an error code, by running number within its job (R117)."""

    key: int
    job_key: int
    instance_key: int
    number: int
    attempt: int
    failed_at: datetime
    message: str
    retry_at: datetime | None = None
    incident_key: int | None = None
    delivery_token: int | None = None


@dataclass(frozen=True, slots=True)
class LoopItems:
    """What a multi-instance activity is done for, as evaluated on entry; `key` is the body's."""

    key: int
    instance_key: int
    items: Sequence[JsonValue]


@dataclass(frozen=True, slots=True)
class LoopResults:
    """What a part of its iterations gave, by their numbers from 1; `key` is a `results_key`."""

    key: int
    instance_key: int
    values: Mapping[int, JsonValue]


@dataclass(frozen=True, slots=True)
class ChildWait:
    """An element waits for one child instance, whose key this is.

    Shapes: `process_id`, `binding` and `version_tag` say what is called, `variables` and
        `business_key` what it starts with; `scope`, `depth`, `errors` and `escalations` are as a
        `Parent` has them; `heard` counts the escalations that came from it. A part of a body is
        `count` iterations from the `first` on, for `items`; bit n of `reported` says that the
        n-th of them, from 0, was. What the element's listeners gave is `local` to it.
    """

    key: int
    instance_key: int
    element_id: str
    element_key: int
    created_at: datetime
    process_id: str
    binding: Binding
    scope: int
    depth: int
    version_tag: str | None = None
    business_key: str | None = None
    errors: Sequence[str] = ()
    escalations: Sequence[str] = ()
    heard: int = 0
    first: int = 0
    count: int = 0
    items: Sequence[JsonValue] | None = None
    reported: int = 0
    variables: JsonObject = field(default_factory=dict)
    local: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Thrown:
    """The error that ended an instance, for whoever waits for it; `key` is the instance's."""

    key: int
    instance_key: int
    code: str
    variables: JsonObject


Record = (
    Variables
    | Job
    | Timer
    | Subscription
    | Incident
    | Failure
    | LoopItems
    | LoopResults
    | ChildWait
    | Thrown
)


class RecordKey(NamedTuple):
    """Where a record lives in its instance's collection: its type and a key of its own.

    Shapes: for `Variables` the scope; for `Failure` the failure's own key.
    """

    type: type[Record]
    key: int


def key_of(record: Record) -> RecordKey:
    """Return the key a record is stored under."""
    key = record.scope if isinstance(record, Variables) else record.key
    return RecordKey(type(record), key)


class Instance(NamedTuple):
    """A process instance as read: its root and those of its records that were asked for.

    Shapes: `absent` names records that were looked for and do not exist, so that the engine
        can tell "not there" from "not read yet" (`Missing`); `holders` says so of the messages
        that were asked for which subscription waits for them alone, 0 for none, and
        `decisions` of those that are called what they are, None for none.
    """

    root: Root
    records: Mapping[RecordKey, Record] = {}
    absent: frozenset[RecordKey] = frozenset()
    holders: Mapping[Waited, int] = {}
    decisions: Mapping[Called, Decidable | None] = {}

    @property
    def key(self) -> int:
        """The key of the process instance."""
        return self.root.key
