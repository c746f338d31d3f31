"""Compensation is read, and refused where it undoes nothing or belongs to no transaction."""

from __future__ import annotations

import pytest

from tests.bpmn.models import END, START, flow, model, parsed, refusal_of

TASK = '<task id="a"/>'
EVENT = '<boundaryEvent id="b" attachedToRef="a"><compensateEventDefinition/></boundaryEvent>'
HANDLER = '<task id="h" isForCompensation="true"/>'
ASSOCIATION = '<association sourceRef="b" targetRef="h"/>'
CANCEL = '<endEvent id="x"><cancelEventDefinition/></endEvent>'


@pytest.mark.parametrize("association", [ASSOCIATION, '<association sourceRef="h" targetRef="b"/>'])
def test_a_handler_is_found_by_its_association(association: str) -> None:
    elements = parsed(model(START + TASK + EVENT + HANDLER + association)).elements

    assert ("h", True) == (elements["b"].handler, elements["h"].is_for_compensation)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (TASK + EVENT + HANDLER, "expected an association with an activity beside it that has"),
        (TASK + EVENT + '<task id="h"/>' + ASSOCIATION, 'isForCompensation="true", found "h"'),
        (TASK + EVENT + HANDLER + ASSOCIATION + flow("b", "end"), "expected no flow out of a comp"),
        (HANDLER + flow("start", "h"), "expected no flow of an activity with isForCompensation"),
        (
            '<endEvent id="e"><compensateEventDefinition activityRef="no"/></endEvent>',
            'activityRef "no" names no activity of the process',
        ),
        (CANCEL, "expected a cancel event to belong to a transaction"),
        (
            TASK + '<boundaryEvent id="b" attachedToRef="a"><cancelEventDefinition/>'
            "</boundaryEvent>",
            "expected a cancel event to belong to a transaction",
        ),
        (
            f'<transaction id="t"><startEvent id="s"/>{CANCEL}</transaction>',
            'expected a cancel boundary event on transaction "t"',
        ),
        (
            '<intermediateThrowEvent id="e"><extensionElements><zeebe:executionListeners>'
            '<zeebe:executionListener eventType="end" type="x"/></zeebe:executionListeners>'
            '</extensionElements><compensateEventDefinition waitForCompletion="false"/>'
            "</intermediateThrowEvent>" + flow("start", "e"),
            'expected no listener of its end with waitForCompletion="false"',
        ),
    ],
)
def test_what_undoes_nothing_is_refused(body: str, problem: str) -> None:
    assert problem in refusal_of(model(START + END + body))
