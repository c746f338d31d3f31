"""A link leads from its throw events to the one catch event of its name in its scope."""

from __future__ import annotations

import pytest

from chalicelib.bpmn.model import EventType
from tests.bpmn.models import END, START, flow, model, parsed, refusal_of

THROW = '<intermediateThrowEvent id="go"><linkEventDefinition name="L"/></intermediateThrowEvent>'
CATCH = '<intermediateCatchEvent id="in"><linkEventDefinition name="L"/></intermediateCatchEvent>'
FLOWS = flow("start", "go") + flow("in", "end")


def test_a_link_is_read() -> None:
    elements = parsed(model(START + END + THROW + CATCH + FLOWS)).elements

    assert [(EventType.LINK, "L")] * 2 == [
        (elements[id_].event_type, elements[id_].link) for id_ in ("go", "in")
    ]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (THROW + flow("start", "go"), 'intermediateThrowEvent "go" (line 1): failed to find link'),
        (THROW + CATCH.replace('"L"', '"M"') + FLOWS, 'failed to find link "L"'),
        (THROW + CATCH + CATCH.replace('"in"', '"too"') + FLOWS, "expected one catch event of li"),
        (THROW + CATCH + FLOWS + flow("go", "end"), "expected no flow out of the throw event"),
        (THROW + CATCH + FLOWS + flow("start", "in"), "expected no flow into the catch event"),
        (THROW.replace(' name="L"', "") + FLOWS + CATCH, "expected an attribute name, found none"),
    ],
)
def test_a_link_that_leads_nowhere_or_has_flows_beside_is_refused(body: str, problem: str) -> None:
    assert problem in refusal_of(model(START + END + body))


def test_a_catch_event_in_another_scope_does_not_count() -> None:
    inner = f'<subProcess id="s"><startEvent id="s2"/>{CATCH}</subProcess>'

    assert 'failed to find link "L"' in refusal_of(
        model(START + END + THROW + inner + flow("start", "go"))
    )


def test_an_activation_condition_is_read_and_checked() -> None:
    gateway = (
        '<complexGateway id="j"><activationCondition>{}</activationCondition></complexGateway>'
    )

    good = parsed(model(START + gateway.format("= activationCount > 1"))).elements["j"].activation
    assert good is not None and (good.text, good.is_feel) == ("activationCount > 1", True)
    assert "activationCondition" in refusal_of(model(START + gateway.format("= 1 +")))
