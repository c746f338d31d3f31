"""The compiled process: what the parser makes of BPMN XML and the engine runs.

It is immutable and goes to JSON and back unchanged (`codec.py`), so a running instance never
needs the XML or the XML parser. Names are BPMN 2.0.2's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from chalicelib.json_text import JsonObject

# Characters of an id, and of a job type: at four bytes each they still fit into a sort key of
# DynamoDB (1,024 bytes).
NAME_MAX = 250
FILE_BYTES_MAX = 10_485_760  # httpServer.maxRequestBodyBytes (contracts/zenbpm.md section 5.1)
PRIORITY_MAX = 100  # of a user task, the most urgent
# When listeners are called: those of elements, multi-instance bodies and processes, then those of
# user tasks that people claim.
START, END, BEFORE_ALL, CANCEL = "start", "end", "beforeAll", "cancel"
CREATING, ASSIGNING, UPDATING = "creating", "assigning", "updating"
COMPLETING, CANCELING = "completing", "canceling"
_FURTHER = "#"  # between an element's id and the number of a further timer


class Kind(StrEnum):
    """What an element is: the local name of its BPMN tag."""

    START_EVENT = "startEvent"
    END_EVENT = "endEvent"
    INTERMEDIATE_CATCH_EVENT = "intermediateCatchEvent"
    INTERMEDIATE_THROW_EVENT = "intermediateThrowEvent"
    BOUNDARY_EVENT = "boundaryEvent"
    TASK = "task"
    MANUAL_TASK = "manualTask"
    SERVICE_TASK = "serviceTask"
    SEND_TASK = "sendTask"
    USER_TASK = "userTask"
    RECEIVE_TASK = "receiveTask"
    SCRIPT_TASK = "scriptTask"
    BUSINESS_RULE_TASK = "businessRuleTask"
    SUB_PROCESS = "subProcess"
    CALL_ACTIVITY = "callActivity"
    TRANSACTION = "transaction"
    AD_HOC_SUB_PROCESS = "adHocSubProcess"
    AD_HOC_ACTIVATION = "adHocSubProcessInnerInstance"  # made of no tag: see `AdHocDefinition`
    REOPENED = "subProcessReopened"  # made of no tag: see `reopened.py`
    EXCLUSIVE_GATEWAY = "exclusiveGateway"
    PARALLEL_GATEWAY = "parallelGateway"
    INCLUSIVE_GATEWAY = "inclusiveGateway"
    COMPLEX_GATEWAY = "complexGateway"
    EVENT_BASED_GATEWAY = "eventBasedGateway"
    PROCESS = "process"  # which is no element of itself, but has listeners


# What opens a scope of its own inside the instance.
SCOPES = frozenset(
    {
        *(Kind.SUB_PROCESS, Kind.TRANSACTION, Kind.AD_HOC_SUB_PROCESS),
        *(Kind.AD_HOC_ACTIVATION, Kind.REOPENED),
    }
)
REOPENED = "#compensation"  # behind the id of a subprocess that is opened again to be undone


class EventType(StrEnum):
    """What an event is about; NONE for a plain one and for everything that is no event, but for
    a receive task, which is about a message."""

    NONE = "none"
    TIMER = "timer"
    TERMINATE = "terminate"
    ERROR = "error"
    ESCALATION = "escalation"
    CONDITIONAL = "conditional"
    MULTIPLE = "multiple"  # several of these in one event
    COMPENSATION = "compensation"
    CANCEL = "cancel"
    LINK = "link"  # a jump within one scope, from a throw event to the catch event of its name
    MESSAGE = "message"  # thrown with a job: a worker sends it
    SIGNAL = "signal"


@dataclass(frozen=True, slots=True)
class Value:
    """An attribute that is static text, or FEEL when it was written with a leading `=`.

    Shapes: `text` is without the `=`.
    """

    text: str
    is_feel: bool = False


@dataclass(frozen=True, slots=True)
class IoMapping:
    """One input or output mapping: a source, None for null, and a dotted target path."""

    source: Value | None
    target: str


@dataclass(frozen=True, slots=True)
class FormReference:
    """`formDefinition`: which form a user task is worked on by.

    Shapes: one of `key`, `id` and `external` is there; `binding` in the model's own word.
    """

    key: str | None = None
    id: Value | None = None
    external: Value | None = None
    binding: str | None = None
    version_tag: str | None = None


@dataclass(frozen=True, slots=True)
class TaskDefinition:
    """What people are told of a user task that they claim."""

    candidate_users: Value | None = None
    due_date: Value | None = None
    follow_up_date: Value | None = None
    priority: Value | None = None
    form: FormReference | None = None


@dataclass(frozen=True, slots=True)
class JobDefinition:
    """`taskDefinition` and `taskHeaders`: what makes a job of an element.

    Shapes: one that is `managed` is a user task that no worker gets: people claim it.
    """

    type: Value
    retries: Value | None = None
    retry_backoff: Value | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    assignee: Value | None = None
    candidate_groups: Value | None = None
    managed: bool = False
    task: TaskDefinition | None = None
    priority: Value | None = None


@dataclass(frozen=True, slots=True)
class Listener:
    """`executionListener` or `taskListener`: a job that is done at an event in the life of an
    element, a process or a user task, which goes on afterwards.

    Shapes: `event` is one of the words above; `headers` are the element's and its own.
    """

    event: str
    type: Value
    retries: Value | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TimerDefinition:
    """Exactly one of `timeDate`, `timeDuration`, `timeCycle`."""

    kind: str  # "date", "duration" or "cycle"
    value: Value


@dataclass(frozen=True, slots=True)
class EventName:
    """The name of the message or signal that an event is about, and of a message the key that
    chooses among those who wait for it; None where there is none."""

    name: Value
    correlation_key: Value | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """A FEEL script that runs inline, and where its result goes."""

    expression: str
    result_variable: str


class Binding(StrEnum):
    """Which version of something that is called by its id is meant."""

    LATEST = "latest"  # when it is called
    DEPLOYMENT = "deployment"  # as it was when the process was deployed
    VERSION_TAG = "versionTag"  # the latest that has a tag


@dataclass(frozen=True, slots=True)
class DecisionCall:
    """`calledDecision`: the decision that a business rule task makes, and where its result goes.

    Shapes: `version_tag` where the binding is to one, else None.
    """

    decision_id: Value
    result_variable: str
    binding: Binding = Binding.LATEST
    version_tag: str | None = None


@dataclass(frozen=True, slots=True)
class ConditionDefinition:
    """What a conditional event waits for.

    Shapes: `names` are the variables whose change lets it be evaluated, None for those that it
        reads; `creates` and `updates` say which changes do.
    """

    value: Value
    names: tuple[str, ...] | None = None
    creates: bool = True
    updates: bool = True


@dataclass(frozen=True, slots=True)
class Loop:
    """The standard loop marker: while the condition holds, and at most so often."""

    condition: Value | None
    maximum: int | None
    test_before: bool = False


@dataclass(frozen=True, slots=True)
class ManyDefinition:
    """`multiInstanceLoopCharacteristics`: for what, and how, an activity is done several times.

    Shapes: either `input_collection` or `cardinality` is there; where both are, the collection
        counts.
    """

    is_sequential: bool = False
    input_collection: Value | None = None
    input_element: str | None = None
    output_collection: str | None = None
    output_element: Value | None = None
    cardinality: Value | None = None
    completion: Value | None = None


@dataclass(frozen=True, slots=True)
class AdHocDefinition:
    """What an ad-hoc subprocess activates, and when it is complete.

    Shapes: `activatable` are the elements inside that no flow leads to, each with `elementId` and
        what else is told of it, as the variable `adHocSubProcessElements` has it; `activation` is
        the id of the element that stands for one activation: a scope of its own in the ad-hoc
        subprocess, in which all other elements but event subprocesses are. One that
        `is_sequential` has one activation at a time.
    """

    active_elements: Value | None = None  # activeElementsCollection
    output_collection: str | None = None
    output_element: Value | None = None
    completion: Value | None = None
    cancels_remaining: bool = True
    is_sequential: bool = False
    activatable: tuple[JsonObject, ...] = ()
    activation: str = ""


@dataclass(frozen=True, slots=True)
class CalledElement:
    """`calledElement` and `in`: the process that a call activity starts, and what goes along.

    Shapes: without a `business_key` that of the caller is inherited.
    """

    process_id: Value
    binding: Binding = Binding.LATEST
    version_tag: Value | None = None
    hands_down_all: bool = True  # propagateAllParentVariables
    hands_up_all: bool = True  # propagateAllChildVariables
    business_key: Value | None = None


@dataclass(frozen=True, slots=True)
class Element:
    """One flow node.

    Shapes: `scope` is the id of the subprocess or process that holds it; `incoming` and
        `outgoing` are flow ids in the order of the model; `boundary_events` the ids of those
        attached to it; `start` the id of a subprocess's start event, which for one that is
        `triggered_by_event` says by what; `cancel_activity` what such a start event says too;
        `link` the name that a link event jumps to or is reached by; `activation` the condition of
        a complex gateway; `handler` the activity that a compensation boundary event leads to;
        an event of several definitions has `parts`, itself with one each, and `is_parallel` if it
        waits for them all; `activity_ref` is the activity that is to be compensated alone, and who
        asks for that `goes_ahead` if it does not wait until it is done; one
        that `instantiates` is a receive task or gateway without incoming flow at which instances
        start.
    """

    id: str
    kind: Kind
    scope: str
    name: str | None = None
    event_type: EventType = EventType.NONE
    incoming: tuple[str, ...] = ()
    outgoing: tuple[str, ...] = ()
    default: str | None = None
    inputs: tuple[IoMapping, ...] = ()
    outputs: tuple[IoMapping, ...] = ()
    job: JobDefinition | None = None
    script: Script | None = None
    decision: DecisionCall | None = None
    timer: TimerDefinition | None = None
    event_name: EventName | None = None
    error_code: str | None = None  # None or "" catches all; what is thrown may be FEEL, after "="
    attached_to: str | None = None
    cancel_activity: bool = True
    boundary_events: tuple[str, ...] = ()
    start: str | None = None
    escalation_code: str | None = None  # likewise
    triggered_by_event: bool = False
    condition: ConditionDefinition | None = None
    parts: tuple[Element, ...] = ()
    is_parallel: bool = False
    loop: Loop | None = None
    is_for_compensation: bool = False
    handler: str | None = None
    activity_ref: str | None = None
    goes_ahead: bool = False
    many: ManyDefinition | None = None
    called: CalledElement | None = None
    link: str | None = None
    activation: Value | None = None
    instantiates: bool = False
    waits_for_all: bool = False
    listeners: tuple[Listener, ...] = ()
    data: tuple[str, ...] = ()  # of a subprocess: its data objects, which are variables of its own
    ad_hoc: AdHocDefinition | None = None


@dataclass(frozen=True, slots=True)
class SequenceFlow:
    """A sequence flow, taken when its condition is true."""

    id: str
    source: str
    target: str
    condition: Value | None = None


@dataclass(frozen=True, slots=True)
class Process:
    """One executable process of a file.

    Shapes: `start` is the id of its none start event, if it has one; `listeners` are its own.
    """

    id: str
    name: str | None
    elements: Mapping[str, Element]
    flows: Mapping[str, SequenceFlow]
    start: str | None = None
    version_tag: str | None = None
    data: tuple[str, ...] = ()
    listeners: tuple[Listener, ...] = ()

    def starters(self, event_type: EventType) -> list[Element]:
        """Return what starts an instance by a type of event, of an event of several definitions
        itself about each one that is of it."""
        return [
            part
            for element in self.elements.values()
            if element.scope == self.id
            if element.kind is Kind.START_EVENT or element.instantiates
            for part in element.parts or (element,)
            if part.event_type is event_type
        ]

    def timer_starts(self) -> Mapping[str, Element]:
        """Return the timers that start an instance, by names of their own: the element's id, with
        a number behind it for a further timer of the same event."""
        found: dict[str, Element] = {}
        for element in self.starters(EventType.TIMER):
            others = sum(each.id == element.id for each in found.values())
            found[f"{element.id}{_FURTHER}{others}" if others else element.id] = element
        return found

    def started_at(self, timer: str) -> str:
        """Return the id of the element that a timer starts an instance at."""
        return timer if timer in self.elements else timer.rpartition(_FURTHER)[0]

    def started_by(self, event_type: EventType) -> Mapping[str, Sequence[str]]:
        """Return the messages or signals that start an instance, by name, and the elements that
        each starts one at."""
        found: dict[str, list[str]] = {}
        for element in self.starters(event_type):
            ids = found.setdefault(element.event_name.name.text, []) if element.event_name else []
            ids += [element.id] if element.id not in ids else []
        return found
