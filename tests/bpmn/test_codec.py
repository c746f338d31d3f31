"""A compiled process comes back from its JSON text as it was."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib import json_text
from chalicelib.bpmn import codec
from chalicelib.bpmn.model import (
    Binding,
    ConditionDefinition,
    DecisionCall,
    Element,
    EventName,
    EventType,
    IoMapping,
    JobDefinition,
    Kind,
    Loop,
    ManyDefinition,
    Process,
    Script,
    SequenceFlow,
    TimerDefinition,
    Value,
)
from chalicelib.bpmn.reopened import with_reopened
from tests.bpmn.models import START, model, parsed

DIAGRAMS = Path(__file__).parent.parent / "diagrams"
TEXT = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(["=", "'", "'=", "=="])
VALUES = st.builds(Value, TEXT, st.booleans())
OPTIONAL = st.none() | VALUES
IDS = st.lists(TEXT, max_size=3).map(tuple)
MAPPINGS = st.lists(st.builds(IoMapping, OPTIONAL, TEXT), max_size=2).map(tuple)
ELEMENTS = st.builds(
    Element,
    id=TEXT,
    kind=st.sampled_from([kind for kind in Kind if kind is not Kind.REOPENED]),  # made when read
    scope=TEXT,
    name=st.none() | TEXT,
    event_type=st.sampled_from(EventType),
    incoming=IDS,
    outgoing=IDS,
    default=st.none() | TEXT,
    inputs=MAPPINGS,
    outputs=MAPPINGS,
    job=st.none()
    | st.builds(
        JobDefinition,
        VALUES,
        OPTIONAL,
        OPTIONAL,
        st.dictionaries(TEXT, TEXT, max_size=2),
        OPTIONAL,
    ),
    script=st.none() | st.builds(Script, TEXT, TEXT),
    decision=st.none()
    | st.builds(DecisionCall, VALUES, TEXT, st.sampled_from(Binding), st.none() | TEXT),
    timer=st.none()
    | st.builds(TimerDefinition, st.sampled_from(["date", "duration", "cycle"]), VALUES),
    event_name=st.none() | st.builds(EventName, VALUES, OPTIONAL),
    many=st.none()
    | st.builds(
        ManyDefinition,
        st.booleans(),
        OPTIONAL,
        st.none() | TEXT,
        st.none() | TEXT,
        OPTIONAL,
        OPTIONAL,
        OPTIONAL,
    ),
    error_code=st.none() | TEXT,
    attached_to=st.none() | TEXT,
    cancel_activity=st.booleans(),
    boundary_events=IDS,
    start=st.none() | TEXT,
    escalation_code=st.none() | TEXT,
    triggered_by_event=st.booleans(),
    is_for_compensation=st.booleans(),
    handler=st.none() | TEXT,
    activity_ref=st.none() | TEXT,
    condition=st.none()
    | st.builds(ConditionDefinition, VALUES, st.none() | IDS, st.booleans(), st.booleans()),
    loop=st.none() | st.builds(Loop, OPTIONAL, st.none() | st.integers(1, 9), st.booleans()),
    link=st.none() | TEXT,
    activation=OPTIONAL,
)
FLOWS = st.builds(SequenceFlow, TEXT, TEXT, TEXT, OPTIONAL)
ELEMENTS = st.one_of(
    ELEMENTS,
    st.builds(
        lambda whole, parts: replace(whole, parts=tuple(parts), is_parallel=True),
        ELEMENTS,
        st.lists(ELEMENTS, max_size=2),
    ),
)
PROCESSES = st.builds(
    Process,
    TEXT,
    st.none() | TEXT,
    st.lists(ELEMENTS, max_size=3).map(lambda found: {element.id: element for element in found}),
    st.lists(FLOWS, max_size=3).map(lambda found: {flow.id: flow for flow in found}),
    st.none() | TEXT,
    st.none() | TEXT,
)


@given(PROCESSES)
def test_a_process_comes_back_as_it_was(process: Process) -> None:
    whole = replace(process, elements=with_reopened(process.elements))

    back = codec.from_json(codec.to_json(whole))

    assert whole == back
    assert list(whole.elements) == list(back.elements)


@pytest.mark.parametrize("diagram", sorted(DIAGRAMS.glob("*.bpmn")), ids=lambda path: path.stem)
def test_a_drawn_process_comes_back_smaller(diagram: Path) -> None:
    xml = diagram.read_bytes()
    process = parsed(xml)

    assert process == codec.from_json(codec.to_json(process))
    assert len(codec.to_json(process)) < len(xml) / 2


def test_what_has_its_default_value_is_left_out() -> None:
    assert {
        "format": 2,
        "id": "order",
        "start": "start",
        "elements": [{"id": "start", "kind": "startEvent", "scope": "order"}],
        "flows": [],
    } == json_text.loads(codec.to_json(parsed(model(START))))


@pytest.mark.parametrize("text", ["{}", "[]", '{"format":3}', '{"format":"1"}', "null"])
def test_the_text_of_another_version_is_told_apart(text: str) -> None:
    with pytest.raises(codec.UnknownFormat, match="expected a process in format 2, found"):
        codec.from_json(text)


def test_reading_a_compiled_process_loads_no_xml_parser() -> None:
    program = (
        "import sys; from chalicelib.bpmn import codec, model, parse, timers; "
        "print([name for name in sys.modules if 'lxml' in name or 'expat' in name])"
    )

    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )

    assert "[]" == result.stdout.strip()
