"""Warnings of ad-hoc subprocesses that can be deployed."""

from __future__ import annotations

import pytest

from chalicelib import bpmn
from chalicelib.bpmn.lint import warnings_of
from chalicelib.profile import Profile
from tests.engine.models import ad_hoc, boundary_error, line, parallel, process, service, start
from tests.play import DIAGRAMS

A, B, C = service("a"), service("b"), service("c")


def warnings(xml: bytes) -> list[str]:
    return [
        fault.text for fault in warnings_of(xml, bpmn.parse(xml, Profile.ZENBPM), item_bytes=350)
    ]


def test_one_that_is_as_it_should_be_is_warned_of_nothing() -> None:
    assert [] == warnings(line(ad_hoc("h", A, B, active="ids", until="done")))
    assert [] == warnings(line(ad_hoc("h", A, B, job="agent")))


@pytest.mark.parametrize(
    ("box", "told"),
    [
        (ad_hoc("h", A), "nothing in it is activated by itself: expected an "),
        (ad_hoc("h", A, job="x", active="ids"), "its activeElementsCollection does not count: "),
        (ad_hoc("h", A, job="x", until="done"), "its completionCondition does not count: "),
        (ad_hoc("h", A, active="ids", until="1 = 2"), "its completionCondition can never be true"),
        (
            ad_hoc("h", A, active="ids", results=("all", "r")),
            'every path adds to "all": the variables of one scope may have 350 bytes at most',
        ),
    ],
)
def test_what_may_be_meant_otherwise_is_told(box: str, told: str) -> None:
    (text,) = warnings(line(box))

    assert text.startswith(f'adHocSubProcess "h" (line 1): {told}')


def test_a_join_that_no_activation_reaches_by_all_flows_waits_for_ever() -> None:
    joined = ad_hoc("h", A, B, parallel("j"), C, flows="a > j > c; b > j", active="ids")

    assert [
        'parallelGateway "j" (line 1): it waits for ever: tokens of one activation only meet, and '
        "none comes by all of its flows"
    ] == warnings(line(joined))


def test_a_join_behind_a_fork_or_a_boundary_event_of_one_activation_does_not() -> None:
    parts = (A, parallel("f"), B, C, boundary_error("no", "b"), parallel("j"))
    box = ad_hoc("h", *parts, flows="a > f; f > b; f > c; no > j; c > j", active="ids")

    assert [] == warnings(process(start(), box, flows="start > h"))


def test_the_drawn_example_is_warned_of_its_collection_alone() -> None:
    (warning,) = warnings((DIAGRAMS / "ad_hoc.bpmn").read_bytes())

    assert 'every path adds to "findings"' in warning
