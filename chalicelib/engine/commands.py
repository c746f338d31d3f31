"""What may be asked of a process instance; every command changes one instance in one turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from chalicelib.engine.decided import Called, Decidable
from chalicelib.engine.job_results import Activation, JobResult
from chalicelib.engine.state import BPMN, InstanceState, Parent, Part, Profile, StartLock, Waited
from chalicelib.json_text import JsonObject


class CreateInstance(NamedTuple):
    """Start an instance at the process's none start event, or at the elements that are named.

    Shapes: with `caught_at` a message, by name, or a signal starts it at that element:
        `variables` are then what came, and the element's to hand on, and of a signal `broadcast`
        names the broadcast. `holders` and `decisions` as an `Instance` has them.
    """

    definition_key: int
    definition_version: int
    profile: Profile
    variables: JsonObject = {}  # noqa: RUF012 (what goes into a turn is never changed)
    business_key: str | None = None
    time_to_live: timedelta | None = None
    starting_elements: tuple[str, ...] = ()
    caught_at: str | None = None
    message: str | None = None
    broadcast: str | None = None
    start_lock: StartLock | None = None
    holders: Mapping[Waited, int] = {}
    decisions: Mapping[Called, Decidable | None] = {}
    parent: Parent | None = None
    part: Part | None = None


@dataclass(frozen=True, slots=True)
class CompleteJob:
    """A worker did the job; nothing but the job's state decides whether it still counts (R7).

    Shapes: with `is_once` a job that is completed already refuses to be completed again; a job
        of another `kind` is not there. A user task may have to be somebody's; an `action` is told
        to its listeners. A `result` is refused with a job of which it says nothing.
    """

    job_key: int
    variables: JsonObject = field(default_factory=dict)
    is_once: bool = False
    kind: str = BPMN
    result: JobResult | None = None
    action: str = ""


@dataclass(frozen=True, slots=True)
class ChangeTask:
    """Somebody assigns a user task, or changes what people are told of it.

    Shapes: `changes` as `task_attributes.py` has them; an `action` is told to its listeners. One
        that `is_claim` does not take a task away from somebody else.
    """

    task_key: int
    changes: JsonObject
    action: str = ""
    is_claim: bool = False


@dataclass(frozen=True, slots=True)
class FailJob:
    """A worker could not do the job.

    Shapes: `retries` and `backoff` are the request's own words, None where it is silent;
        a non-empty `error_code` makes it a BPMN error; `token` names the delivery (R97 to R103);
        `frees` lets the job out at once, whoever has it.
    """

    job_key: int
    message: str = ""
    error_code: str = ""
    variables: JsonObject = field(default_factory=dict)
    retries: int | None = None
    backoff: timedelta | None = None
    token: int | None = None
    client_id: str | None = None
    frees: bool = False


@dataclass(frozen=True, slots=True)
class CancelInstance:
    """End the instance and all that is open in it."""


@dataclass(frozen=True, slots=True)
class FireTimer:
    """A timer's due second has come. It happens once: the turn ends or replaces the timer."""

    timer_key: int
    due: datetime


@dataclass(frozen=True, slots=True)
class Correlate:
    """What a subscription waits for came: a message of its name and key, or a signal.

    It happens once: the turn ends the subscription. Shapes: `broadcast` names the broadcast that
    a signal came by, None for a message.
    """

    subscription_key: int
    name: str
    variables: JsonObject = field(default_factory=dict)
    broadcast: str | None = None


@dataclass(frozen=True, slots=True)
class Continue:
    """Make the moves that an earlier, bounded turn left on the agenda."""


@dataclass(frozen=True, slots=True)
class PublishMessage:
    """A message that an instance threw: it is to find who waits for it.

    Shapes: `id` makes it happen once; without a `correlation_key` it can only start instances.
    """

    id: str
    name: str
    correlation_key: str | None
    profile: Profile
    variables: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class OfferMessage:
    """A message is put to wait, or about to be: it is to look who waits for it already.

    Shapes: `id` is the publication's; it is not put any more long after `published_at`.
    """

    id: str
    name: str
    correlation_key: str
    profile: Profile
    published_at: datetime


@dataclass(frozen=True, slots=True)
class SeekMessage:
    """A subscription is there: it is to look whether its message was published before it.

    Shapes: what stands `after` a message's place is left to look at.
    """

    subscription_key: int
    name: str
    correlation_key: str
    bpmn_process_id: str
    after: str = ""


@dataclass(frozen=True, slots=True)
class SeekStart:
    """An instance that ran alone for a key has ended: is there a message for the next?

    Shapes: `name` is that of the message which started it; what stands `after` a place is left to
        look at of that name alone.
    """

    name: str
    correlation_key: str
    bpmn_process_id: str
    profile: Profile
    after: str = ""


@dataclass(frozen=True, slots=True)
class BroadcastSignal:
    """A signal is to reach all who waited for it `at` a moment, page by page.

    Shapes: `id` tells one broadcast from another; without a `shard` none was looked at yet; of
        one, what stands `after` a subscription's key is left, up to that of `until` if not 0.
    """

    id: str
    name: str
    at: datetime
    variables: JsonObject = field(default_factory=dict)
    shard: int | None = None
    after: int = 0
    until: int = 0


@dataclass(frozen=True, slots=True)
class StartChild:
    """The instance that an element of another one waits for is to start, under its own key.

    It happens once: the child's root must not exist.
    """

    parent: int


@dataclass(frozen=True, slots=True)
class CancelChild:
    """An instance is to end because what waits for it was interrupted. One that is not there yet
    is put as one that has ended, so that it cannot start any more."""

    parent: int


@dataclass(frozen=True, slots=True)
class HearEnd:
    """A child has ended, in whatever way: its parent shall read how, and go on."""

    child: int


@dataclass(frozen=True, slots=True)
class HearEscalation:
    """A child threw an escalation, its `number`-th, that is caught above."""

    child: int
    number: int
    code: str


@dataclass(frozen=True, slots=True)
class HearIteration:
    """An iteration, by its number within a part of a body, is over: the completion condition is to
    be judged, which may ask for `variables` of it; not after one that an operator ended."""

    child: int
    number: int
    variables: JsonObject = field(default_factory=dict)
    is_withdrawn: bool = False


@dataclass(frozen=True, slots=True)
class EndChild:
    """How the child ended that an element waits for; the turn ends the child wait.

    Shapes: `variables` are those of its top scope, or what went along with an error, whose code
        is `error`, None if there was none; `escalated` counts the escalations that came before.
    """

    child: int
    state: InstanceState
    variables: JsonObject = field(default_factory=dict)
    error: str | None = None
    escalated: int = 0


@dataclass(frozen=True, slots=True)
class FailChild:
    """The child that an element waits for cannot start, and why: an incident."""

    child: int
    message: str


@dataclass(frozen=True, slots=True)
class Retire:
    """Give all that is kept of an ended instance its time to live. It changes no state, so it is
    no turn: doing it again finds it done."""


@dataclass(frozen=True, slots=True)
class SetVariables:
    """Merge variables into a scope: the instance's own, or that of a live subprocess."""

    variables: JsonObject
    scope: int | None = None


@dataclass(frozen=True, slots=True)
class DeleteVariable:
    """Remove one variable of a scope: the instance's own, or that of a live subprocess."""

    name: str
    scope: int | None = None


@dataclass(frozen=True, slots=True)
class ModifyInstance:
    """An operator moves tokens: starts elements by their ids, ends element instances by key.

    Shapes: `scope` is the subprocess, by key, that the variables are set in, and that elements are
        started in where several are live.
    """

    start: tuple[str, ...] = ()
    terminate: tuple[int, ...] = ()
    variables: JsonObject = field(default_factory=dict)
    scope: int | None = None


@dataclass(frozen=True, slots=True)
class ActivateElements:
    """A caller activates elements of a live ad-hoc subprocess, whose key this is.

    Shapes: `cancels_remaining` ends first what is active in it.
    """

    key: int
    elements: tuple[Activation, ...]
    cancels_remaining: bool = False


@dataclass(frozen=True, slots=True)
class ResolveIncident:
    """An operator mended the cause: let the job, or the element, try again (R134 to R148).

    Shapes: `retries` of the job that waits, None for what its definition says now; `retry_at`
        only together with `retries`; `variables` are set before, where the element sees them.
    """

    incident_key: int
    retries: int | None = None
    retry_at: datetime | None = None
    variables: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MarkIncident:
    """An operator has seen an incident and calls it resolved; nothing goes on."""

    incident_key: int


Command = (
    CreateInstance
    | CompleteJob
    | ChangeTask
    | FailJob
    | CancelInstance
    | FireTimer
    | Correlate
    | Continue
    | SetVariables
    | DeleteVariable
    | ModifyInstance
    | ActivateElements
    | ResolveIncident
    | MarkIncident
    | EndChild
    | FailChild
    | HearEscalation
    | HearIteration
)

# What a turn may owe to its own instance, or to others that only who does it will find.
Owed = (
    Continue
    | Retire
    | PublishMessage
    | OfferMessage
    | SeekMessage
    | SeekStart
    | BroadcastSignal
    | StartChild
    | CancelChild
    | HearEnd
    | HearEscalation
    | HearIteration
)
