"""Event subprocesses and escalations are read, and refused where they make no sense."""

from __future__ import annotations

import pytest

from chalicelib.bpmn.model import EventType
from tests.bpmn.models import END, START, flow, model, parsed, refusal_of

ESCALATION = '<escalation id="x" escalationCode="X-1"/>'
TRIGGER = '<startEvent id="s"><errorEventDefinition/></startEvent>'


def event_sub(inside: str, attributes: str = "") -> str:
    return f'<subProcess id="a" triggeredByEvent="true" {attributes}>{inside}</subProcess>'


def test_an_event_subprocess_is_read() -> None:
    elements = parsed(model(START + event_sub(TRIGGER))).elements

    assert (True, "s") == (elements["a"].triggered_by_event, elements["a"].start)
    assert (EventType.ERROR, True) == (elements["s"].event_type, elements["s"].cancel_activity)


def test_one_that_does_not_interrupt_says_so_at_its_start_event() -> None:
    start = (
        '<startEvent id="s" isInterrupting="false"><escalationEventDefinition escalationRef="x"/>'
        "</startEvent>"
    )
    element = parsed(model(START + event_sub(start), around=ESCALATION)).elements["s"]

    assert (False, "X-1") == (element.cancel_activity, element.escalation_code)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (event_sub(""), "expected a start event, found none"),
        (event_sub('<startEvent id="s"/>'), "with a definition, found one without"),
        (event_sub(TRIGGER + TRIGGER.replace('"s"', '"t"')), "with a definition, found more"),
        (
            event_sub(TRIGGER.replace('"s"', '"s" isInterrupting="false"')),
            "expected an error to interrupt",
        ),
        (event_sub(TRIGGER) + flow("start", "a"), "expected no incoming flow of an event subproce"),
        (event_sub(TRIGGER) + flow("a", "end"), "expected no outgoing flow of an event subprocess"),
        (
            event_sub(TRIGGER)
            + '<boundaryEvent id="b" attachedToRef="a"><errorEventDefinition/></boundaryEvent>',
            "expected attachedToRef to name a task or subprocess beside it",
        ),
    ],
)
def test_what_cannot_be_triggered_is_refused(body: str, problem: str) -> None:
    assert problem in refusal_of(model(START + END + body))


@pytest.mark.parametrize(
    ("reference", "problem"),
    [
        ("", "expected an escalationRef that names an escalation with an escalationCode"),
        ('escalationRef="y"', 'escalationRef "y" names no escalation of the file'),
        ('escalationRef="e"', 'escalationRef "e" names no escalation of the file'),
    ],
)
def test_an_escalation_that_is_thrown_has_a_code(reference: str, problem: str) -> None:
    event = f'<endEvent id="a"><escalationEventDefinition {reference}/></endEvent>'
    around = ESCALATION + '<error id="e" errorCode="E"/>'

    assert problem in refusal_of(model(START + event + flow("start", "a"), around=around))
