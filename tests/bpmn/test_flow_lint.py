"""Warnings of flows that no token ever takes: the right ones, and no others."""

from __future__ import annotations

import pytest

from tests.bpmn.models import END, START, flow, model
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
