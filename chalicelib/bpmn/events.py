"""Events: what each is about, and the timers, errors, messages and signals that they name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from chalicelib.bpmn.attributes import boolean
from chalicelib.bpmn.conditions import condition_of
from chalicelib.bpmn.durations import InvalidTime, parse_duration
from chalicelib.bpmn.expressions import expression, value_of
from chalicelib.bpmn.extensions import extensions_of
from chalicelib.bpmn.model import ConditionDefinition, EventName, EventType, Kind, TimerDefinition
from chalicelib.bpmn.names import Definitions, check_static, message_of, signal_of
from chalicelib.bpmn.refusals import each, refusal, unsupported
from chalicelib.bpmn.timers import parse_cycle, parse_date
from chalicelib.xml_tree import Node, shown

# What an event of each kind may be about. What is missing here is refused at deployment.
EVENT_TYPES: Mapping[Kind, frozenset[EventType]] = {
    Kind.START_EVENT: frozenset(
        {
            *(EventType.NONE, EventType.TIMER, EventType.MESSAGE, EventType.SIGNAL),
            EventType.CONDITIONAL,
        }
    ),
    Kind.END_EVENT: frozenset(
        {
            *(EventType.NONE, EventType.TERMINATE, EventType.ERROR, EventType.ESCALATION),
            *(EventType.MESSAGE, EventType.SIGNAL, EventType.COMPENSATION, EventType.CANCEL),
        }
    ),
    Kind.INTERMEDIATE_CATCH_EVENT: frozenset(
        {
            *(EventType.TIMER, EventType.MESSAGE, EventType.SIGNAL, EventType.LINK),
            EventType.CONDITIONAL,
        }
    ),
    Kind.INTERMEDIATE_THROW_EVENT: frozenset(
        {
            *(EventType.NONE, EventType.LINK, EventType.ESCALATION),
            *(EventType.MESSAGE, EventType.SIGNAL, EventType.COMPENSATION),
        }
    ),
    Kind.BOUNDARY_EVENT: frozenset(
        {
            *(EventType.TIMER, EventType.ERROR, EventType.ESCALATION, EventType.CONDITIONAL),
            *(EventType.MESSAGE, EventType.SIGNAL, EventType.COMPENSATION, EventType.CANCEL),
        }
    ),
}

# What may trigger an event subprocess.
TRIGGERS = frozenset(
    {
        *(EventType.ERROR, EventType.ESCALATION, EventType.COMPENSATION),
        EventType.CONDITIONAL,
        *(EventType.TIMER, EventType.MESSAGE, EventType.SIGNAL),
    }
)

DEFINITIONS: Mapping[str, EventType] = {
    "timerEventDefinition": EventType.TIMER,
    "terminateEventDefinition": EventType.TERMINATE,
    "errorEventDefinition": EventType.ERROR,
    "messageEventDefinition": EventType.MESSAGE,
    "conditionalEventDefinition": EventType.CONDITIONAL,
    "compensateEventDefinition": EventType.COMPENSATION,
    "cancelEventDefinition": EventType.CANCEL,
    "linkEventDefinition": EventType.LINK,
    "escalationEventDefinition": EventType.ESCALATION,
    "signalEventDefinition": EventType.SIGNAL,
}
REFERENCES: Mapping[EventType, str] = {
    EventType.MESSAGE: "messageRef",
    EventType.SIGNAL: "signalRef",
}
# What may stand together in one event.
_WAITED = frozenset({EventType.TIMER, EventType.MESSAGE, EventType.SIGNAL, EventType.CONDITIONAL})
_CAUGHT = frozenset({*_WAITED, EventType.ERROR, EventType.ESCALATION})
_THROWN = frozenset({EventType.MESSAGE, EventType.SIGNAL, EventType.ESCALATION})
MULTIPLE: Mapping[Kind, frozenset[EventType]] = {
    Kind.INTERMEDIATE_CATCH_EVENT: _WAITED,
    Kind.BOUNDARY_EVENT: _CAUGHT,
    Kind.START_EVENT: _CAUGHT,  # of an event subprocess; of a process what waits
    Kind.INTERMEDIATE_THROW_EVENT: _THROWN,
    Kind.END_EVENT: _THROWN,
}
THROWING = frozenset({Kind.INTERMEDIATE_THROW_EVENT, Kind.END_EVENT})

# The child of a timer, its kind in the compiled model, and what reads its literal.
TIMER_KINDS: Mapping[str, tuple[str, Callable[[str], object]]] = {
    "timeDate": ("date", parse_date),
    "timeDuration": ("duration", parse_duration),
    "timeCycle": ("cycle", parse_cycle),
}


class Event(NamedTuple):
    """What an event is about; a plain one, and everything that is no event, has only NONE."""

    type: EventType = EventType.NONE
    timer: TimerDefinition | None = None
    error_code: str | None = None
    escalation_code: str | None = None
    link: str | None = None
    activity_ref: str | None = None
    goes_ahead: bool = False
    condition: ConditionDefinition | None = None
    name: EventName | None = None
    parts: tuple[Event, ...] = ()


def unsupported_event(node: Node, kind: Kind, *, has_job: bool) -> str | None:
    """Return what of an event is not supported, in the words of the model; None if all is.

    Shapes: `has_job` says that the event names a job, which is how a message is thrown.
    """
    definitions = _definitions(node)
    if kind not in EVENT_TYPES or not definitions:
        return None
    if len(definitions) > 1:
        return None if is_multiple(node, kind) else _together(node)
    type_ = DEFINITIONS.get(definitions[0].name)
    if type_ not in types_of(node, kind):
        return f"{definitions[0].name} in {node.name}"
    reference = REFERENCES.get(type_ or EventType.NONE)
    if reference is None or definitions[0].get(reference) is not None:
        return None
    if type_ is EventType.MESSAGE and kind in THROWING:
        if has_job:
            return None
        reference = f"{reference} or a taskDefinition"
    return f"{definitions[0].name} in {node.name} without a {reference}"


def is_multiple(node: Node, kind: Kind) -> bool:
    """Say whether an event has several definitions that can be waited for, or thrown, together."""
    definitions = _definitions(node)
    may_be = MULTIPLE.get(kind, frozenset())
    starts_process = kind is Kind.START_EVENT and not is_trigger(node)
    if starts_process or (may_be == _CAUGHT and boolean(node, "parallelMultiple")):
        may_be = _WAITED
    types = [DEFINITIONS.get(definition.name) for definition in definitions]
    named = all(
        definition.get(reference) is not None
        for definition, type_ in zip(definitions, types, strict=True)
        if type_ is not None and (reference := REFERENCES.get(type_)) is not None
    )
    return len(definitions) > 1 and named and all(type_ in may_be for type_ in types)


def _together(node: Node) -> str:
    how = "parallelMultiple " if boolean(node, "parallelMultiple") else ""
    return f"{how}{' and '.join(d.name for d in _definitions(node))} in one {node.name}"


def is_plain(node: Node) -> bool:
    """Say whether an event is about nothing."""
    return not _definitions(node)


def types_of(node: Node, kind: Kind) -> frozenset[EventType]:
    """Return what an event may be about where it stands."""
    return TRIGGERS if kind is Kind.START_EVENT and is_trigger(node) else EVENT_TYPES[kind]


def is_trigger(node: Node) -> bool:
    """Say whether an event is in an event subprocess, which its start event triggers."""
    parent = node.parent
    return (
        parent is not None
        and parent.name == Kind.SUB_PROCESS
        and boolean(parent, "triggeredByEvent") is True
    )


def event_of(node: Node, kind: Kind, known: Definitions) -> Event:
    """Read what a supported event is about. Raises: Rejected."""
    if kind not in EVENT_TYPES:
        return Event()
    definitions = _definitions(node)
    if not definitions:
        if EventType.NONE not in EVENT_TYPES[kind]:
            expected = sorted(name for name, t in DEFINITIONS.items() if t in EVENT_TYPES[kind])
            raise refusal(node, f"expected an event definition ({', '.join(expected)}), found none")
        return Event()
    if len(definitions) > 1:
        _check_together(node, kind, definitions)
        parts = each(lambda definition: _about(node, kind, definition, known), definitions)
        return Event(EventType.MULTIPLE, parts=tuple(parts))
    return _about(node, kind, definitions[0], known)


def _check_together(node: Node, kind: Kind, definitions: Sequence[Node]) -> None:
    """Refuse what could never be matched, or never happen. Raises: Rejected.

    Of a start event that needs all of its definitions the first one to come starts the instance,
    which then waits for the others: only a message has a key that says which instance it is for.
    """
    if kind is not Kind.START_EVENT or is_trigger(node) or not boolean(node, "parallelMultiple"):
        return
    for definition in definitions:
        if DEFINITIONS[definition.name] is not EventType.MESSAGE:
            raise refusal(
                node,
                "expected nothing but messages where all of several definitions start an "
                f"instance, found {definition.name}: it has no key that says to which of the "
                "instances begun it belongs",
            )


def _about(node: Node, kind: Kind, definition: Node, known: Definitions) -> Event:
    """Read the one definition of an event. Raises: Rejected."""
    type_ = DEFINITIONS[definition.name]
    match type_:
        case EventType.TIMER:
            event = Event(type_, timer=_timer(node, definition))
        case EventType.ERROR:
            event = Event(type_, error_code=_code(node, kind, definition, known.errors))
        case EventType.ESCALATION:
            event = Event(type_, escalation_code=_code(node, kind, definition, known.errors))
        case EventType.CONDITIONAL:
            event = Event(type_, condition=condition_of(node, definition))
        case EventType.COMPENSATION:
            goes_ahead = boolean(definition, "waitForCompletion", node) is False
            event = Event(type_, activity_ref=_activity_ref(definition), goes_ahead=goes_ahead)
        case EventType.LINK:
            event = Event(type_, link=_link(node, definition))
        case EventType.MESSAGE | EventType.SIGNAL:
            event = Event(type_, name=_event_name(node, kind, definition, known))
        case _:
            event = Event(type_)
    return event


def _activity_ref(definition: Node) -> str | None:
    reference = definition.get("activityRef")
    return None if reference is None else reference.rpartition(":")[2]


def _link(node: Node, definition: Node) -> str:
    """Return the name of a link; it is looked for in the scope of the event (links.py)."""
    name = definition.get("name")
    if name is None:
        raise refusal(node, "linkEventDefinition: expected an attribute name, found none")
    return name


def _event_name(node: Node, kind: Kind, definition: Node, known: Definitions) -> EventName | None:
    """Return the message or signal of an event; None if a worker sends it."""
    type_ = DEFINITIONS[definition.name]
    reference = definition.get(REFERENCES[type_])
    is_sent = kind in THROWING and "taskDefinition" in extensions_of(node)
    if reference is None or (is_sent and type_ is EventType.MESSAGE):
        return None
    if type_ is EventType.SIGNAL:
        name = signal_of(node, reference, known)
    else:
        name = message_of(node, reference, known)
    if kind is Kind.START_EVENT and not is_trigger(node):
        check_static(node, name)
    return name


def _definitions(node: Node) -> list[Node]:
    """Return an event's definitions, those it refers to as well: these are not supported."""
    return [
        child
        for child in node.children
        if child.namespace == node.namespace
        and child.name.endswith(("EventDefinition", "eventDefinitionRef"))
    ]


def _timer(node: Node, definition: Node) -> TimerDefinition:
    times = [
        child
        for child in definition.children
        if child.name in TIMER_KINDS and child.namespace == node.namespace
    ]
    if len(times) != 1:
        found = " and ".join(child.name for child in times) or "none"
        raise refusal(
            node, f"timerEventDefinition: expected one of {', '.join(TIMER_KINDS)}, found {found}"
        )
    name, text = times[0].name, times[0].text.strip()
    if not text:
        raise refusal(node, f"{name} of timerEventDefinition: expected a value, found nothing")
    value = value_of(text, node, f"{name} of timerEventDefinition")
    kind, parse = TIMER_KINDS[name]
    if kind == "duration" and node.name == Kind.START_EVENT and not is_trigger(node):
        raise refusal(
            node,
            "expected timeDate or timeCycle where a timer starts the process, found timeDuration: "
            "there is nothing that it could count from",
        )
    if not value.is_feel:
        try:
            parse(value.text)
        except InvalidTime as error:
            raise refusal(node, f"{name} of timerEventDefinition: {error}") from error
    return TimerDefinition(kind, value)


def _code(node: Node, kind: Kind, definition: Node, named: Mapping[str, Node]) -> str | None:
    """Return the code of the error or escalation that an event throws or catches: what is thrown
    may be FEEL, and None catches all. Raises: Rejected."""
    what = definition.name.removesuffix("EventDefinition")
    reference = definition.get(f"{what}Ref")
    if reference is None:
        code = None
    else:
        found = named.get(reference) or named.get(reference.rpartition(":")[2])
        if found is None or found.name != what:
            raise refusal(node, f"{what}Ref {shown(reference)} names no {what} of the file")
        code = found.get(f"{what}Code")
    if code is not None and code.startswith("="):
        if kind not in THROWING:
            raise unsupported(node, f"{what}Code {shown(code)} as FEEL")
        expression(code, node, f"{what}Code")
    if code is None and kind in THROWING:
        raise refusal(
            node, f"expected an {what}Ref that names an {what} with an {what}Code, found none"
        )
    return code
