"""Ad-hoc subprocesses: how they are read, and all that may be wrong with one."""

from __future__ import annotations

import pytest

from chalicelib.bpmn import codec
from chalicelib.bpmn.model import NAME_MAX, AdHocDefinition, Kind, Value
from chalicelib.profile import Profile
from tests.bpmn.models import flow, line, parsed, refusal_of

ANY = pytest.mark.parametrize("profile", list(Profile))


def box(*inside: str, attributes: str = "", extensions: str = "", condition: str = "") -> bytes:
    """Return a process with an ad-hoc subprocess `a`."""
    told = f"<extensionElements>{extensions}</extensionElements>" if extensions else ""
    until = f"<completionCondition>{condition}</completionCondition>" if condition else ""
    return line(
        f'<adHocSubProcess id="a" {attributes}>{told}{"".join(inside)}{until}</adHocSubProcess>'
    )


def definition(xml: bytes, profile: Profile = Profile.ZENBPM) -> AdHocDefinition:
    found = parsed(xml, profile).elements["a"].ad_hoc
    assert found is not None
    return found


@ANY
def test_one_is_read_with_all_that_it_says(profile: Profile) -> None:
    xml = box(
        '<task id="x"/><task id="y"/>',
        flow("x", "y"),
        attributes='cancelRemainingInstances="false" ordering="Sequential"',
        extensions='<zeebe:adHoc activeElementsCollection="=ids" outputCollection="all" '
        'outputElement="=one"/>',
        condition="=done",
    )

    assert AdHocDefinition(
        active_elements=Value("ids", is_feel=True),
        output_collection="all",
        output_element=Value("one", is_feel=True),
        completion=Value("done", is_feel=True),
        cancels_remaining=False,
        is_sequential=True,
        activatable=({"elementId": "x"},),
        activation="a#innerInstance",
    ) == definition(xml, profile)


@ANY
def test_one_that_says_nothing_has_what_the_standard_says(profile: Profile) -> None:
    found = definition(box('<task id="x"/>'), profile)

    assert (True, False, None) == (found.cancels_remaining, found.is_sequential, found.completion)


def test_what_is_inside_stands_in_an_activation_but_event_subprocesses() -> None:
    inside = (
        '<task id="x"/><boundaryEvent id="late" attachedToRef="x"><timerEventDefinition>'
        "<timeDuration>PT1S</timeDuration></timerEventDefinition></boundaryEvent>"
        '<subProcess id="e" triggeredByEvent="true"><startEvent id="es"><timerEventDefinition>'
        "<timeDuration>PT1S</timeDuration></timerEventDefinition></startEvent></subProcess>"
        '<subProcess id="s"><startEvent id="ss"/></subProcess>'
    )
    elements = parsed(box(inside)).elements

    assert {
        "x": "a#innerInstance",
        "late": "a#innerInstance",
        "e": "a",
        "es": "e",
        "s": "a#innerInstance",
        "ss": "s",
        "a#innerInstance": "a",
    } == {id_: e.scope for id_, e in elements.items() if e.scope != "order"}
    assert Kind.AD_HOC_ACTIVATION == elements["a#innerInstance"].kind
    assert ["x", "s"] == [each["elementId"] for each in definition(box(inside)).activatable]


def test_events_and_gateways_that_no_flow_leads_to_can_be_activated() -> None:
    inside = (
        '<intermediateThrowEvent id="x"/><exclusiveGateway id="g"/><task id="y"/>',
        '<task id="undo" isForCompensation="true"/>',
        flow("g", "y"),
    )

    assert ["x", "g"] == [each["elementId"] for each in definition(box(*inside)).activatable]


def test_a_worker_is_told_by_a_task_definition() -> None:
    xml = box('<task id="x"/>', extensions='<zeebe:taskDefinition type="agent" retries="2"/>')
    job = parsed(xml).elements["a"].job

    assert job is not None
    assert (Value("agent"), Value("2")) == (job.type, job.retries)
    assert parsed(xml) == codec.from_json(codec.to_json(parsed(xml)))


def test_what_a_worker_has_to_give_is_read_off_the_mappings() -> None:
    mapped = (
        '<serviceTask id="x"><extensionElements><zeebe:taskDefinition type="x"/>'
        "<zeebe:ioMapping><zeebe:input target='q' source='=\"?\" + fromAi(toolCall.query, "
        '"What", "string", {minLength: 1})\'/><zeebe:input target="n" '
        'source="={a: fromAi(value: toolCall.n, type: &quot;number&quot;), '
        'b: fromAi(1 + 1)}"/></zeebe:ioMapping></extensionElements></serviceTask>'
    )
    (told,) = definition(box(mapped)).activatable

    assert [
        {"name": "query", "description": "What", "type": "string", "schema": {"minLength": 1}},
        {"name": "n", "type": "number"},
    ] == told["parameters"]


# --- faults ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("xml", "fault"),
    [
        (
            box(),
            'adHocSubProcess "a" (line 1): expected an element inside that no flow leads to, to be '
            "activated; found none",
        ),
        (
            box('<task id="x"/>', attributes='ordering="Random"'),
            'attribute ordering: expected Parallel or Sequential, found "Random"',
        ),
        (
            box('<task id="x"/>', attributes='cancelRemainingInstances="maybe"'),
            'attribute cancelRemainingInstances: expected true or false, found "maybe"',
        ),
        (
            box('<task id="x"/>', attributes='triggeredByEvent="true"'),
            "expected no ad-hoc subprocess that is triggered by an event",
        ),
        (
            box('<task id="x"/>', extensions='<zeebe:adHoc activeElementsCollection="= [1"/>'),
            "attribute activeElementsCollection of adHoc: ",
        ),
        (
            box('<task id="x"/>', extensions='<zeebe:adHoc outputCollection="all"/>'),
            "expected outputCollection and outputElement together, found only outputCollection",
        ),
        (
            box('<task id="x"/>', extensions='<zeebe:adHoc outputElement="=1"/>'),
            "expected outputCollection and outputElement together, found only outputElement",
        ),
        (box('<task id="x"/>', condition="= 1 +"), "completionCondition: "),
        (
            box('<task id="x"/>', extensions="<zeebe:taskDefinition/>"),
            "expected a job type (attribute type of taskDefinition), found none",
        ),
        (
            box('<task id="x"/><startEvent id="s"/>', flow("s", "x")),
            'startEvent "s" (line 1): expected neither a start nor an end event directly in '
            'adHocSubProcess "a" (line 1)',
        ),
        (
            box('<task id="x"/><endEvent id="e"/>', flow("x", "e")),
            'endEvent "e" (line 1): expected neither a start nor an end event directly in ',
        ),
    ],
)
def test_what_is_wrong_is_refused_where_it_stands(xml: bytes, fault: str) -> None:
    assert fault in refusal_of(xml)


def test_all_that_is_wrong_is_told_at_once() -> None:
    xml = box(
        '<startEvent id="s"/><endEvent id="e"/>',
        attributes='ordering="x"',
        extensions='<zeebe:adHoc activeElementsCollection="=[" outputCollection="all"/>',
        condition="=(",
    )

    assert refusal_of(xml).startswith("7 faults:")


def test_an_id_leaves_room_for_that_of_an_activation() -> None:
    id_ = "h" * (NAME_MAX - len("#innerInstance") + 1)
    xml = line(f'<adHocSubProcess id="{id_}"><task id="x"/></adHocSubProcess>', id_=id_)

    assert "expected an id of at most 236 characters" in refusal_of(xml)
