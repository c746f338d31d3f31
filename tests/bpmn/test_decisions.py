"""Business rule tasks that call a decision, as they are read."""

from __future__ import annotations

import pytest

from chalicelib.bpmn.model import Binding, DecisionCall, Value
from tests.bpmn.models import element, extended, line, refusal_of

BOTH = '<zeebe:calledDecision decisionId="d" resultVariable="r"/><zeebe:taskDefinition type="t"/>'


def called(attributes: str) -> bytes:
    return line(extended("businessRuleTask", f"<zeebe:calledDecision {attributes}/>"))


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("", DecisionCall(Value("d"), "r")),
        ('bindingType="latest" versionTag="v1"', DecisionCall(Value("d"), "r")),
        ('bindingType="deployment"', DecisionCall(Value("d"), "r", Binding.DEPLOYMENT)),
        (
            'bindingType="versionTag" versionTag="v1"',
            DecisionCall(Value("d"), "r", Binding.VERSION_TAG, "v1"),
        ),
    ],
)
def test_a_called_decision_is_read_with_its_binding(
    attributes: str, expected: DecisionCall
) -> None:
    found = element(called(f'decisionId="d" resultVariable="r" {attributes}'))

    assert (expected, None) == (found.decision, found.job)


def test_a_decision_may_be_called_by_an_expression() -> None:
    found = element(called('decisionId="=kind" resultVariable="r"')).decision

    assert DecisionCall(Value("kind", is_feel=True), "r") == found


@pytest.mark.parametrize(
    ("attributes", "words"),
    [
        ('decisionId="d"', "expected an attribute resultVariable, found none"),
        ('resultVariable="r"', "expected an attribute decisionId, found none"),
        ('decisionId="d" resultVariable="r" bindingType="newest"', "attribute bindingType of"),
        (
            'decisionId="d" resultVariable="r" bindingType="versionTag"',
            "expected an attribute versionTag, found none",
        ),
        ('decisionId="=a +" resultVariable="r"', "attribute decisionId of calledDecision"),
    ],
)
def test_a_call_that_says_too_little_is_refused(attributes: str, words: str) -> None:
    message = refusal_of(called(attributes))

    assert 'businessRuleTask "a" (line 1)' in message
    assert words in message


def test_a_task_is_a_decision_or_a_job_and_not_both() -> None:
    message = refusal_of(line(extended("businessRuleTask", BOTH)))

    assert "expected a calledDecision (DMN) or a taskDefinition (a job), found both" in message
