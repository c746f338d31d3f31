"""Warnings of flows that no token ever takes: the right ones, and no others."""

from __future__ import annotations

import pytest

from tests.bpmn.models import END, START, flow, line, model
from tests.bpmn.test_ad_hoc_lint import warnings

OTHER = '<endEvent id="z"/>'


def choice(*flows: str, gateway: str = "exclusiveGateway", default: str = "") -> bytes:
    chosen = f'default="{default}"' if default else ""
    return model(
        START + f'<{gateway} id="g" {chosen}/>' + END + OTHER + flow("start", "g") + "".join(flows)
    )


@pytest.mark.parametrize("gateway", ["exclusiveGateway", "inclusiveGateway"])
@pytest.mark.parametrize("condition", ["=true", "=false"])
def test_the_condition_of_a_default_flow_is_never_asked(gateway: str, condition: str) -> None:
    flows = flow("g", "end", condition), flow("g", "z", "=x")

    assert [] == warnings(choice(*flows, gateway=gateway, default="g-end"))


def test_of_several_flows_without_a_condition_an_exclusive_gateway_takes_none() -> None:
    assert [
        'sequenceFlow "g-end" (line 1): it is never taken: expected a condition, or that it is the '
        "default, as another flow has no condition either",
        'sequenceFlow "g-z" (line 1): it is never taken: expected a condition, or that it is the '
        "default, as another flow has no condition either",
    ] == warnings(choice(flow("g", "end"), flow("g", "z")))


def test_beside_a_default_flow_one_without_a_condition_is_never_taken() -> None:
    (told,) = warnings(choice(flow("g", "end"), flow("g", "z"), default="g-z"))

    assert told.startswith('sequenceFlow "g-end" (line 1): it is never taken: expected a condition')
    assert told.endswith('as "g-z" is the default')


@pytest.mark.parametrize(
    "xml",
    [
        choice(flow("g", "end"), flow("g", "z", "=x")),  # the one without is taken otherwise
        choice(flow("g", "end"), flow("g", "z"), gateway="inclusiveGateway"),
        choice(flow("g", "end")),
    ],
)
def test_what_is_taken_is_not_warned_of(xml: bytes) -> None:
    assert [] == warnings(xml)


def marked(marker: str) -> bytes:
    return line(f'<task id="a">{marker}</task>')


def many(loop: str, inner: str = "") -> bytes:
    extensions = f"<extensionElements><zeebe:loopCharacteristics {loop}/></extensionElements>"
    return marked(
        f"<multiInstanceLoopCharacteristics>{extensions}{inner}</multiInstanceLoopCharacteristics>"
    )


def conditional(*texts: str) -> bytes:
    parts = "".join(
        f"<conditionalEventDefinition><condition>{text}</condition></conditionalEventDefinition>"
        for text in texts
    )
    event = f'<boundaryEvent id="b" attachedToRef="a">{parts}</boundaryEvent>'
    return line('<task id="a"/>', beside=event + flow("b", "end"))


@pytest.mark.parametrize(
    ("xml", "what"),
    [
        (
            many('inputCollection="=xs"', "<completionCondition>=1 = 2</completionCondition>"),
            'task "a" (line 1): its completionCondition',
        ),
        (
            marked(
                '<standardLoopCharacteristics loopMaximum="3"><loopCondition>=false</loopCondition>'
                "</standardLoopCharacteristics>"
            ),
            'task "a" (line 1): its loopCondition',
        ),
        (
            model(
                START
                + '<parallelGateway id="p"/><complexGateway id="g"><activationCondition>=false'
                "</activationCondition></complexGateway>"
                + END
                + flow("start", "p")
                + flow("p", "g")
                + flow("p", "g").replace("p-g", "again")
                + flow("g", "end")
            ),
            'complexGateway "g" (line 1): its activationCondition',
        ),
        (conditional("=false"), 'boundaryEvent "b" (line 1): its condition'),
        (conditional("=x &gt; 1", "=false"), 'boundaryEvent "b" (line 1): its condition'),
    ],
)
def test_no_condition_of_an_element_that_can_never_be_true_is_passed_over(
    xml: bytes, what: str
) -> None:
    assert [f"{what} can never be true"] == warnings(xml)


RESULTS = 'outputCollection="ys" outputElement="=y"'
CARDINALITY = "<loopCardinality>=3</loopCardinality>"


@pytest.mark.parametrize(
    ("xml", "told"),
    [
        (many(f'inputCollection="=[1, 2]" {RESULTS}'), 0),
        (many(RESULTS, CARDINALITY), 0),
        (many(RESULTS, CARDINALITY.replace("3", "n")), 1),
        (many(f'inputCollection="=[x]" {RESULTS}'), 1),
    ],
)
def test_results_of_as_many_rounds_as_the_model_says_do_not_grow(xml: bytes, told: int) -> None:
    assert told == sum("every round adds" in each for each in warnings(xml))
