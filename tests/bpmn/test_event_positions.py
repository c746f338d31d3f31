"""Which event may stand where: the standard's table of event positions, place by place.

Source: BPMN 2.0.2 section 10.5.6, the table of event types and their markers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from tests.bpmn.models import END, START, flow, model, parsed, refusal_of

AROUND = (
    '<message id="M" name="paid"><extensionElements><zeebe:subscription correlationKey="=1"/>'
    '</extensionElements></message><signal id="S" name="alarm"/>'
    '<error id="X" errorCode="E"/><escalation id="Y" escalationCode="E"/>'
)
MESSAGE = '<messageEventDefinition messageRef="M"/>'
SIGNAL = '<signalEventDefinition signalRef="S"/>'
TIMER = "<timerEventDefinition><timeDate>2030-01-01T00:00:00Z</timeDate></timerEventDefinition>"
CONDITION = "<conditionalEventDefinition><condition>=x</condition></conditionalEventDefinition>"
ERROR = '<errorEventDefinition errorRef="X"/>'
ESCALATION = '<escalationEventDefinition escalationRef="Y"/>'
DEFINITIONS = {
    "none": "",
    "message": MESSAGE,
    "timer": TIMER,
    "error": ERROR,
    "escalation": ESCALATION,
    "cancel": "<cancelEventDefinition/>",
    "compensation": "<compensateEventDefinition/>",
    "conditional": CONDITION,
    "link": '<linkEventDefinition name="L"/>',
    "signal": SIGNAL,
    "terminate": "<terminateEventDefinition/>",
    "multiple": MESSAGE + SIGNAL,
    "parallel multiple": MESSAGE + MESSAGE,
}
POSITIONS = (
    *("start", "subprocess start", "start beside", "catch", "boundary", "boundary beside"),
    *("throw", "end"),
)
ALLOWED = {
    "none": {"start", "throw", "end"},
    "message": set(POSITIONS),
    "timer": set(POSITIONS) - {"throw", "end"},
    "error": {"subprocess start", "boundary", "end"},
    "escalation": set(POSITIONS) - {"start", "catch"},
    "cancel": {"boundary", "end"},
    "compensation": {"subprocess start", "boundary", "throw", "end"},
    "conditional": set(POSITIONS) - {"throw", "end"},
    "link": {"catch", "throw"},
    "signal": set(POSITIONS),
    "terminate": {"end"},
    "multiple": set(POSITIONS),
    "parallel multiple": set(POSITIONS) - {"throw", "end"},
}
# What cannot be beside anything, and yet says that it does not interrupt, is read as if it did.
READ_ANYWAY = {
    ("cancel", "boundary beside"),
    ("compensation", "start beside"),
    ("compensation", "boundary beside"),
    ("parallel multiple", "throw"),  # several to throw, whatever the attribute says
    ("parallel multiple", "end"),
}


def written(kind: str, position: str) -> bytes:
    """Return a file with an event `e` of a kind in a position."""
    marks = 'parallelMultiple="true" ' if kind == "parallel multiple" else ""
    if position.endswith("beside"):
        attribute = "isInterrupting" if position == "start beside" else "cancelActivity"
        marks += f'{attribute}="false"'
    place = PLACES[position.removesuffix(" beside")]
    if position == "start beside":
        place = in_event_subprocess
    return model(place(kind, f'id="e" {marks}', DEFINITIONS[kind]), around=AROUND)


def at_the_start(kind: str, attributes: str, about: str) -> str:
    return f"<startEvent {attributes}>{about}</startEvent>{END}{flow('e', 'end')}"


def in_event_subprocess(kind: str, attributes: str, about: str) -> str:
    inner = f"<startEvent {attributes}>{about}</startEvent>"
    sub = f'<subProcess id="s" triggeredByEvent="true">{inner}</subProcess>'
    if kind == "compensation":  # it undoes the subprocess that it stands in
        sub = f'<subProcess id="o"><startEvent id="os"/>{sub}</subProcess>'
    return START + END + flow("start", "end") + sub


def on_a_boundary(kind: str, attributes: str, about: str) -> str:
    task, handler, leads = '<task id="a"/>', '<task id="b"/>', flow("e", "b")
    if kind == "cancel":
        task = '<transaction id="a"><startEvent id="as"/></transaction>'
    if kind == "compensation":
        handler = '<task id="b" isForCompensation="true"/>'
        leads = '<association id="l" sourceRef="e" targetRef="b"/>'
    event = f'<boundaryEvent attachedToRef="a" {attributes}>{about}</boundaryEvent>'
    return START + task + handler + END + event + leads + flow("start", "a") + flow("a", "end")


def caught_on_the_way(kind: str, attributes: str, about: str) -> str:
    event = f"<intermediateCatchEvent {attributes}>{about}</intermediateCatchEvent>"
    before = ""
    if kind == "link":
        before = f'<intermediateThrowEvent id="t">{about}</intermediateThrowEvent>'
    entry = flow("start", "t" if before else "e")
    return START + before + event + END + entry + flow("e", "end")


def thrown_on_the_way(kind: str, attributes: str, about: str) -> str:
    event = f"<intermediateThrowEvent {attributes}>{about}</intermediateThrowEvent>"
    after = ""
    if kind == "link":
        after = f'<intermediateCatchEvent id="c">{about}</intermediateCatchEvent>'
    return START + event + after + END + flow("start", "e") + flow("c" if after else "e", "end")


def at_the_end(kind: str, attributes: str, about: str) -> str:
    inner = f"{START}<endEvent {attributes}>{about}</endEvent>" + flow("start", "e")
    if kind != "cancel":  # it ends a transaction
        return inner
    event = '<boundaryEvent id="k" attachedToRef="x"><cancelEventDefinition/></boundaryEvent>'
    inner = f'<startEvent id="s0"/><transaction id="x">{inner}</transaction>{event}'
    return inner + flow("s0", "x")


PLACES: Mapping[str, Callable[[str, str, str], str]] = {
    "start": at_the_start,
    "subprocess start": in_event_subprocess,
    "catch": caught_on_the_way,
    "boundary": on_a_boundary,
    "throw": thrown_on_the_way,
    "end": at_the_end,
}


@pytest.mark.parametrize("position", POSITIONS)
@pytest.mark.parametrize("kind", DEFINITIONS)
def test_each_event_runs_where_the_standard_lets_it_stand_and_is_refused_elsewhere(
    kind: str, position: str
) -> None:
    xml = written(kind, position)

    if position in ALLOWED[kind] or (kind, position) in READ_ANYWAY:
        assert "e" in str(parsed(xml).elements)
    else:
        assert '"e"' in refusal_of(xml)


@pytest.mark.parametrize("definition", [TIMER, SIGNAL, CONDITION])
def test_only_messages_can_be_needed_together_to_start_an_instance(definition: str) -> None:
    event = f'<startEvent id="e" parallelMultiple="true">{MESSAGE}{definition}</startEvent>'
    found = refusal_of(model(event + END + flow("e", "end"), around=AROUND))

    assert 'startEvent "e" (line 1): expected nothing but messages' in found
    assert "it has no key that says to which of the instances begun it belongs" in found


def test_a_message_that_another_is_waited_for_after_needs_a_key() -> None:
    around = '<message id="M" name="paid"/><message id="N" name="sent"/>'
    both = MESSAGE + '<messageEventDefinition messageRef="N"/>'
    event = f'<startEvent id="e" parallelMultiple="true">{both}</startEvent>'

    assert "with a correlationKey at message" in refusal_of(
        model(event + END + flow("e", "end"), around=around)
    )


@pytest.mark.parametrize("definition", [ERROR, ESCALATION])
def test_what_is_thrown_can_be_one_of_several_but_not_one_of_all(definition: str) -> None:
    def event(attributes: str) -> bytes:
        inner = f"{MESSAGE}{definition}"
        on = f'<boundaryEvent id="e" attachedToRef="a" {attributes}>{inner}</boundaryEvent>'
        flows = flow("start", "a") + flow("a", "end")
        return model(START + '<task id="a"/>' + END + on + flows, around=AROUND)

    assert "e" in parsed(event("")).elements
    assert "unsupported element type parallelMultiple" in refusal_of(
        event('parallelMultiple="true"')
    )


def test_an_error_among_several_has_to_interrupt() -> None:
    on = f'<boundaryEvent id="e" attachedToRef="a" cancelActivity="false">{MESSAGE}{ERROR}'
    body = START + '<task id="a"/>' + END + on + "</boundaryEvent>"
    flows = flow("start", "a") + flow("a", "end")

    assert "expected an error to interrupt" in refusal_of(model(body + flows, around=AROUND))
