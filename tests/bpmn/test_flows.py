"""Sequence flows are tied to elements, ordered, and refused where they lead nowhere."""

from __future__ import annotations

import pytest

from chalicelib.bpmn.model import Value
from tests.bpmn.models import END, START, flow, line, model, parsed, refusal_of

SUB = '<subProcess id="sub"><startEvent id="s2"/><task id="inner"/></subProcess>'


def choice(children: str = "", attributes: str = "", tag: str = "exclusiveGateway") -> bytes:
    """Return a process with three flows out of an element `x`."""
    element = f'<{tag} id="x" {attributes}>{children}</{tag}>'
    flows = "".join(f'<sequenceFlow id="f{n}" sourceRef="x" targetRef="end"/>' for n in (1, 2, 3))
    return model(START + element + END + flow("start", "x") + flows)


def test_flows_are_known_to_both_of_their_ends() -> None:
    process = parsed(line('<task id="a"/>'))

    assert ((), ("start-a",)) == (
        process.elements["start"].incoming,
        process.elements["start"].outgoing,
    )
    assert (("start-a",), ("a-end",)) == (
        process.elements["a"].incoming,
        process.elements["a"].outgoing,
    )
    assert ("a", "end") == (process.flows["a-end"].source, process.flows["a-end"].target)


@pytest.mark.parametrize(
    ("children", "expected"),
    [
        ("", ("f1", "f2", "f3")),
        (
            "<outgoing>f3</outgoing><outgoing>f1</outgoing><outgoing>f2</outgoing>",
            ("f3", "f1", "f2"),
        ),
        ("<outgoing> f3 </outgoing>", ("f3", "f1", "f2")),
        ("<outgoing>tns:f2</outgoing><outgoing>f2</outgoing>", ("f2", "f1", "f3")),
    ],
)
def test_flows_are_tried_in_the_order_of_the_elements_own_list(
    children: str, expected: tuple[str, ...]
) -> None:
    assert expected == parsed(choice(children)).elements["x"].outgoing


@pytest.mark.parametrize("name", ["incoming", "outgoing"])
def test_a_list_that_names_a_flow_which_is_not_there_is_refused(name: str) -> None:
    message = refusal_of(choice(f"<{name}>gone</{name}>"))

    assert message.startswith(
        f'exclusiveGateway "x" (line 1): {name} "gone" names no sequence flow'
    )


@pytest.mark.parametrize("text", ["amount > 100", "=amount > 100", "\n = amount > 100 \n"])
def test_a_condition_is_feel_with_a_leading_equals_sign_or_without(text: str) -> None:
    condition = f"<![CDATA[{text}]]>"
    xml = model(START + END + flow("start", "end", condition))

    assert Value("amount > 100", is_feel=True) == parsed(xml).flows["start-end"].condition


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("", "expected a FEEL expression, found nothing"),
        ("=", "expected a FEEL expression, found nothing"),
        ("=amount &gt;", '"amount >" is no FEEL expression, line 1, column'),
        ("${amount > 100}", "is no FEEL expression, line 1, column 1"),
        ("=a\nand and", "is no FEEL expression, line 2, column"),
        ("=" + "(" * 200 + "1" + ")" * 200, "is no FEEL expression"),
    ],
)
def test_a_condition_that_does_not_parse_is_refused(condition: str, problem: str) -> None:
    message = refusal_of(model(START + END + flow("start", "end", condition)))

    assert message.startswith('sequenceFlow "start-end" (line 1): condition: ')
    assert problem in message


def test_a_condition_in_another_language_is_refused() -> None:
    body = (
        START
        + END
        + (
            '<sequenceFlow id="f" sourceRef="start" targetRef="end">'
            '<conditionExpression language="javascript">true</conditionExpression></sequenceFlow>'
        )
    )

    assert 'condition: expected FEEL, found language "javascript"' in refusal_of(model(body))


@pytest.mark.parametrize("tag", ["exclusiveGateway", "task", "userTask", "subProcess"])
def test_gateways_and_activities_may_have_a_default_flow(tag: str) -> None:
    inner = '<startEvent id="s2"/>' if tag == "subProcess" else ""

    assert "f2" == parsed(choice(inner, 'default="f2"', tag)).elements["x"].default


@pytest.mark.parametrize("default", ["gone", "start-x"])
def test_a_default_that_leaves_another_element_is_refused(default: str) -> None:
    message = refusal_of(choice(attributes=f'default="{default}"'))

    assert (
        'exclusiveGateway "x" (line 1): attribute default: expected a flow that leaves it, '
        f'found "{default}"' == message
    )


@pytest.mark.parametrize(
    ("attributes", "problem"),
    [
        ('sourceRef="start"', "expected an attribute targetRef, found none"),
        ('targetRef="end"', "expected an attribute sourceRef, found none"),
        ('sourceRef="start" targetRef="gone"', 'targetRef "gone" names no element of process'),
        ('sourceRef="gone" targetRef="end"', 'sourceRef "gone" names no element of process'),
        ('sourceRef="start" targetRef="order"', 'targetRef "order" names no element of process'),
        ('sourceRef="start" targetRef="inner"', "expected both ends in one scope"),
        ('sourceRef="inner" targetRef="end"', "expected both ends in one scope"),
    ],
)
def test_a_flow_that_leads_nowhere_is_refused(attributes: str, problem: str) -> None:
    message = refusal_of(model(START + END + SUB + f'<sequenceFlow id="f" {attributes}/>'))

    assert message.startswith('sequenceFlow "f" (line 1): ')
    assert problem in message


def test_a_flow_across_pools_is_refused() -> None:
    other = '<process id="p2" isExecutable="false"><task id="theirs"/></process>'

    message = refusal_of(model(START + END + flow("start", "theirs"), around=other))

    assert 'targetRef "theirs" names no element of process "order"' in message


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (START + END + flow("end", "start"), 'endEvent "end" (line 1): expected no outgoing flow'),
        (
            START + '<task id="t"/>' + flow("t", "start"),
            'startEvent "start" (line 1): expected no incoming flow',
        ),
        (
            START + '<task id="t"/><boundaryEvent id="b" attachedToRef="t"><timerEventDefinition>'
            "<timeDuration>PT1S</timeDuration></timerEventDefinition></boundaryEvent>"
            + flow("start", "b"),
            'boundaryEvent "b" (line 1): expected no incoming flow',
        ),
    ],
)
def test_a_flow_against_the_direction_of_events_is_refused(body: str, problem: str) -> None:
    assert refusal_of(model(body)).startswith(problem)


def test_a_flow_may_lead_back_to_where_it_came_from() -> None:
    process = parsed(line('<task id="a"/>', beside=flow("a", "a", "=again")))

    assert ("start-a", "a-a") == process.elements["a"].incoming
