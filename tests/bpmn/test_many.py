"""What makes an activity multi-instance, and what of it is refused at deployment."""

from __future__ import annotations

import pytest

from chalicelib.bpmn.model import ManyDefinition, Value
from tests.bpmn.models import line, parsed, refusal_of

HEAD = '<task id="a">'
LOOP = "multiInstanceLoopCharacteristics"


def loop(inner: str = "", attributes: str = "", flags: str = "") -> str:
    extension = (
        f"<extensionElements><zeebe:loopCharacteristics {attributes}/></extensionElements>"
        if attributes
        else ""
    )
    return f'<task id="a"><{LOOP} {flags}>{extension}{inner}</{LOOP}></task>'


def test_a_loop_is_read_from_the_standard_and_the_extension() -> None:
    items = 'inputCollection="=items" inputElement="item"'
    results = 'outputCollection="results" outputElement="=result"'
    done = "<completionCondition>=done</completionCondition>"
    xml = loop(done, f"{items} {results}", 'isSequential="true"')

    found = parsed(line(xml)).elements["a"].many

    assert (
        ManyDefinition(
            is_sequential=True,
            input_collection=Value("items", is_feel=True),
            input_element="item",
            output_collection="results",
            output_element=Value("result", is_feel=True),
            completion=Value("done", is_feel=True),
        )
        == found
    )


def test_a_cardinality_is_feel_with_a_sign_or_without() -> None:
    found = parsed(line(loop("<loopCardinality>3</loopCardinality>"))).elements["a"].many

    assert ManyDefinition(cardinality=Value("3", is_feel=True)) == found


@pytest.mark.parametrize(
    ("xml", "told"),
    [
        (loop(), "expected an attribute inputCollection"),
        (loop(attributes='inputCollection="=items["'), "is no FEEL expression"),
        (loop("<loopCardinality>${n}</loopCardinality>"), "is no FEEL expression"),
        (loop("<loopCardinality/>"), "expected a FEEL expression, found nothing"),
        (
            loop(attributes='inputCollection="=items" outputCollection="all"'),
            "expected outputCollection and outputElement together",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_with_the_element(xml: str, told: str) -> None:
    refusal = refusal_of(line(xml))

    assert 'task "a" (line' in refusal
    assert told in refusal
