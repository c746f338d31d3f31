"""One element: what of it can be run, and what it is when it does."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

from chalicelib.bpmn.ad_hoc import ad_hoc_of
from chalicelib.bpmn.attributes import boolean, id_of, resolve
from chalicelib.bpmn.called import called_of
from chalicelib.bpmn.events import THROWING, Event, event_of, is_trigger, unsupported_event
from chalicelib.bpmn.execution_listeners import listeners_of
from chalicelib.bpmn.expressions import expression
from chalicelib.bpmn.extensions import (
    Extensions,
    decision_of,
    extensions_of,
    job_of,
    mappings_of,
    script_of,
)
from chalicelib.bpmn.loops import loop_of
from chalicelib.bpmn.many import many_of
from chalicelib.bpmn.model import (
    SCOPES,
    AdHocDefinition,
    DecisionCall,
    Element,
    EventName,
    EventType,
    JobDefinition,
    Kind,
    Script,
    TaskDefinition,
    Value,
)
from chalicelib.bpmn.names import Definitions, check_static, message_of
from chalicelib.bpmn.reading import Reading
from chalicelib.bpmn.refusals import Faults, refusal
from chalicelib.bpmn.user_tasks import is_managed, task_of
from chalicelib.xml_tree import Node, shown

NO_TAGS = frozenset((Kind.PROCESS, Kind.AD_HOC_ACTIVATION, Kind.REOPENED))  # of flow nodes
KINDS: Mapping[str, Kind] = {kind.value: kind for kind in Kind if kind not in NO_TAGS}
JOB_TASKS = frozenset({Kind.SERVICE_TASK, Kind.SEND_TASK, Kind.BUSINESS_RULE_TASK})
ACTIVITIES = JOB_TASKS | {
    Kind.TASK,
    Kind.MANUAL_TASK,
    Kind.USER_TASK,
    Kind.RECEIVE_TASK,
    Kind.SCRIPT_TASK,
    Kind.CALL_ACTIVITY,
    *SCOPES,
}
CHOOSING = frozenset({Kind.EXCLUSIVE_GATEWAY, Kind.INCLUSIVE_GATEWAY, Kind.COMPLEX_GATEWAY})
GATEWAYS = CHOOSING | {Kind.PARALLEL_GATEWAY, Kind.EVENT_BASED_GATEWAY}
INSTANTIATING = frozenset({Kind.RECEIVE_TASK, Kind.EVENT_BASED_GATEWAY})
USER_TASK = "user-task"  # the type of those that people claim; no worker asks for it
WITH_DEFAULT = ACTIVITIES | CHOOSING


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an element needs to know of the rest of its process and file.

    Shapes: `inherited` are the extension elements of the process that count for each element
        which has none of the name.
    """

    reading: Reading
    known: Definitions
    faults: Faults
    refused_flows: Container[str]
    starts: Mapping[str, str]
    boundary_events: Mapping[str, tuple[str, ...]]
    attached_to: Mapping[str, str]
    handlers: Mapping[str, str]
    data: Mapping[str, Sequence[str]]
    inherited: Extensions


@dataclass(frozen=True, slots=True)
class Links:
    """An element's flows, by id."""

    incoming: tuple[str, ...]
    outgoing: tuple[str, ...]


def unsupported_part(node: Node, kind: Kind, reading: Reading) -> str | None:
    """Return what of an element cannot be run, in the words of the model; None if all can."""
    if kind is Kind.RECEIVE_TASK and node.get("messageRef") is None:
        return "receiveTask without a messageRef"
    return unsupported_event(node, kind, has_job="taskDefinition" in extensions_of(node))


def compile_element(
    node: Node, kind: Kind, scope: str, links: Links, around: Surroundings
) -> Element:
    """Compile a supported element; what is wrong with it is noted, and stands as if left away."""
    id_ = id_of(node)
    extensions = {**around.inherited, **extensions_of(node)}
    tried, reading = around.faults.tried, around.reading
    event = tried(Event(), _event, node, kind, extensions, around.known)
    is_sent = event.type is EventType.MESSAGE and kind in THROWING
    nothing = (None, None, None)
    job, script, decision = tried(nothing, _work, node, kind, extensions, reading, is_sent)
    instantiates = tried(False, _instantiates, node, kind, links)
    heard = (node, kind, event.type, extensions, reading)
    is_mapped, is_activity = kind not in GATEWAYS, kind in ACTIVITIES
    is_ad_hoc = kind is Kind.AD_HOC_SUB_PROCESS
    element = Element(
        id=id_,
        kind=kind,
        scope=scope,
        name=node.get("name"),
        event_type=event.type,
        incoming=links.incoming,
        outgoing=links.outgoing,
        default=tried(None, _default, node, kind, links.outgoing, around.refused_flows),
        inputs=tried((), mappings_of, node, extensions, "input", reading) if is_mapped else (),
        outputs=tried((), mappings_of, node, extensions, "output", reading) if is_mapped else (),
        job=job,
        script=script,
        decision=decision,
        timer=event.timer,
        event_name=event.name,
        error_code=event.error_code,
        attached_to=around.attached_to.get(id_),
        escalation_code=event.escalation_code,
        cancel_activity=tried(True, _cancels, node, kind, event),
        triggered_by_event=kind in SCOPES and tried(False, _says, node, "triggeredByEvent"),
        boundary_events=around.boundary_events.get(id_, ()),
        start=around.starts.get(id_),
        is_for_compensation=is_activity and tried(False, _says, node, "isForCompensation"),
        handler=around.handlers.get(id_),
        activity_ref=event.activity_ref,
        goes_ahead=event.goes_ahead and kind is Kind.INTERMEDIATE_THROW_EVENT,
        condition=event.condition,
        loop=tried(None, loop_of, node) if is_activity else None,
        many=tried(None, many_of, node) if is_activity else None,
        called=tried(None, called_of, node, extensions) if kind is Kind.CALL_ACTIVITY else None,
        link=event.link,
        activation=tried(None, _activation, node) if kind is Kind.COMPLEX_GATEWAY else None,
        instantiates=instantiates,
        waits_for_all=instantiates and node.get("eventGatewayType") == "Parallel",
        listeners=tried((), listeners_of, *heard),
        data=tuple(around.data.get(id_, ())),
        ad_hoc=tried(AdHocDefinition(), ad_hoc_of, node, extensions) if is_ad_hoc else None,
    )
    return _with_parts(element, node, event) if event.parts else element


def _with_parts(element: Element, node: Node, event: Event) -> Element:
    """Return an event of several definitions, with itself about each one of them."""
    parts = tuple(
        Element(
            id=element.id,
            kind=element.kind,
            scope=element.scope,
            event_type=part.type,
            timer=part.timer,
            event_name=part.name,
            error_code=part.error_code,
            escalation_code=part.escalation_code,
            condition=part.condition,
            cancel_activity=element.cancel_activity,
        )
        for part in event.parts
    )
    waits = element.kind not in THROWING
    is_parallel = waits and boolean(node, "parallelMultiple") is True
    return replace(element, parts=parts, is_parallel=is_parallel)


def _received(node: Node, known: Definitions, instantiates: bool) -> EventName:
    """Return the message that a receive task waits for, or is started by."""
    reference = node.get("messageRef") or ""
    name = message_of(node, reference, known)
    if instantiates:
        check_static(node, name)
    return name


def _says(node: Node, attribute: str) -> bool:
    return boolean(node, attribute) is True


def _instantiates(node: Node, kind: Kind, links: Links) -> bool:
    """Say whether instances start at an element. Raises: Rejected if a flow leads to one."""
    if kind not in INSTANTIATING or not _says(node, "instantiate"):
        return False
    if links.incoming:
        raise refusal(node, 'expected no incoming flow with instantiate="true", found one')
    return True


def _event(node: Node, kind: Kind, extensions: Extensions, known: Definitions) -> Event:
    """Return what an element is about, also a task that sends or receives. Raises: Rejected."""
    if kind is Kind.RECEIVE_TASK:
        name = _received(node, known, _says(node, "instantiate"))
        return Event(EventType.MESSAGE, name=name)
    if kind is Kind.SEND_TASK and _throws(node, extensions):
        name = message_of(node, node.get("messageRef") or "", known)
        return Event(EventType.MESSAGE, name=name)
    return event_of(node, kind, known)


def _throws(node: Node, extensions: Extensions) -> bool:
    """Say whether a send task throws its message itself: no worker is named to send it."""
    return "taskDefinition" not in extensions and node.get("messageRef") is not None


def _decision(node: Node, kind: Kind, extensions: Extensions) -> DecisionCall | None:
    """Return the decision that a business rule task calls; None if it is a job, or another kind."""
    called = extensions.get("calledDecision") if kind is Kind.BUSINESS_RULE_TASK else None
    if called is None:
        return None
    if "taskDefinition" in extensions:
        raise refusal(
            node, "expected a calledDecision (DMN) or a taskDefinition (a job), found both"
        )
    return decision_of(node, called)


def _work(
    node: Node, kind: Kind, extensions: Extensions, reading: Reading, is_sent: bool
) -> tuple[JobDefinition | None, Script | None, DecisionCall | None]:
    """Return what an element does: a job for a worker, a script, a decision, or nothing.

    Shapes: `is_sent` says that it is an event which throws a message.
    """
    if (decision := _decision(node, kind, extensions)) is not None:
        return None, None, decision
    is_job = kind in JOB_TASKS and not (kind is Kind.SEND_TASK and _throws(node, extensions))
    may_be_job = is_sent or kind is Kind.AD_HOC_SUB_PROCESS
    if is_job or (may_be_job and "taskDefinition" in extensions):
        return job_of(node, extensions, reading), None, None
    if kind is Kind.USER_TASK:
        return _user_task(node, extensions, reading), None, None
    if kind is not Kind.SCRIPT_TASK:
        return None, None, None
    has_job, script = "taskDefinition" in extensions, extensions.get("script")
    if has_job == (script is not None):
        found = "both" if has_job else "neither"
        raise refusal(node, f"expected a script (FEEL) or a taskDefinition (a job), found {found}")
    if script is not None:
        return None, script_of(node, script), None
    return job_of(node, extensions, reading), None, None


def _user_task(node: Node, extensions: Extensions, reading: Reading) -> JobDefinition:
    """Return the job that a user task is, or what people claim where it is none."""
    if not is_managed(extensions, reading):
        return job_of(node, extensions, reading, reading.user_task_type)
    faults = Faults()
    job = faults.tried(None, job_of, node, extensions, reading, USER_TASK)
    task = faults.tried(None, task_of, node, extensions)
    faults.check()
    assert job is not None
    return replace(job, managed=True, task=None if task == TaskDefinition() else task)


def _activation(node: Node) -> Value | None:
    """Return when a complex gateway lets the tokens go on that came; None: when all came."""
    condition = node.first("activationCondition")
    if condition is None:
        return None
    return expression(condition.text, node, "activationCondition")


def _default(
    node: Node, kind: Kind, outgoing: tuple[str, ...], refused: Container[str]
) -> str | None:
    reference = node.get("default") if kind in WITH_DEFAULT else None
    if reference is None or resolve(reference, refused) is not None:
        return None
    flow = resolve(reference, outgoing)
    if flow is None:
        raise refusal(
            node, f"attribute default: expected a flow that leaves it, found {shown(reference)}"
        )
    return flow


def _cancels(node: Node, kind: Kind, event: Event) -> bool:
    """Say whether a boundary event ends its activity, or a start event what is around it."""
    if kind is Kind.BOUNDARY_EVENT:
        attribute = "cancelActivity"
    elif kind is Kind.START_EVENT and is_trigger(node):
        attribute = "isInterrupting"
    else:
        return True
    cancels = boolean(node, attribute) is not False
    types = {part.type for part in event.parts or (event,)}
    if not cancels and EventType.ERROR in types:
        raise refusal(node, f'expected an error to interrupt, found {attribute}="false"')
    return cancels
