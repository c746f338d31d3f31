"""Processes and subprocesses are scopes: each has one start, and ids of its own."""

from __future__ import annotations

import pytest

from chalicelib.bpmn.model import NAME_MAX, Kind
from tests.bpmn.models import END, START, flow, line, model, parsed, refusal_of


def nested() -> str:
    return (
        '<subProcess id="outer"><startEvent id="s2"/><subProcess id="inner">'
        '<startEvent id="s3"/><task id="t"/>' + flow("s3", "t") + "</subProcess>"
        "<endEvent id='e2'/>" + flow("s2", "inner") + flow("inner", "e2") + "</subProcess>"
    )


def test_each_element_knows_its_scope_and_each_scope_its_start() -> None:
    process = parsed(model(START + nested() + flow("start", "outer")))

    assert {
        "start": "order",
        "outer": "order",
        "s2": "outer",
        "inner": "outer",
        "s3": "inner",
        "t": "inner",
        "e2": "outer",
    } == {id_: element.scope for id_, element in process.elements.items()}
    assert ("start", "s2", "s3") == (
        process.start,
        process.elements["outer"].start,
        process.elements["inner"].start,
    )


@pytest.mark.parametrize(
    "tag",
    [
        kind.value
        for kind in Kind
        if kind.value.endswith("Gateway") and kind is not Kind.EVENT_BASED_GATEWAY
    ],
)
def test_gateways_are_read(tag: str) -> None:
    assert tag == parsed(line(f'<{tag} id="a"/>')).elements["a"].kind


@pytest.mark.parametrize("tag", ["task", "manualTask"])
def test_tasks_that_do_nothing_are_read(tag: str) -> None:
    found = parsed(line(f'<{tag} id="a"/>')).elements["a"]

    assert (tag, None, None) == (found.kind, found.job, found.script)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("", 'process "order" (line 1): expected a start event, found none'),
        ('<task id="t"/>', 'process "order" (line 1): expected a start event, found none'),
        (
            START + '<subProcess id="sub"/>',
            'subProcess "sub" (line 1): expected a start event, found none',
        ),
        (
            START + '<startEvent id="again"/>',
            'process "order" (line 1): expected one start event without a definition, '
            'found "start" and startEvent "again" (line 1)',
        ),
    ],
)
def test_a_scope_has_one_start_event(body: str, problem: str) -> None:
    assert problem == refusal_of(model(body))


@pytest.mark.parametrize(
    "body",
    [
        '<task id="twice"/><endEvent id="twice"/>',
        '<task id="twice"/><sequenceFlow id="twice" sourceRef="start" targetRef="twice"/>',
        '<sequenceFlow id="twice" sourceRef="start" targetRef="end"/>' * 2,
        '<task id="twice"/><subProcess id="s"><startEvent id="twice"/></subProcess>',
        '<task id="twice"/><callActivity id="twice"/>',
        '<task id=" twice "/><manualTask id="twice"/>',
    ],
)
def test_an_id_that_is_there_twice_is_refused(body: str) -> None:
    message = refusal_of(model(START + END + body))

    assert '"twice" (line 1): expected an id of its own, found it at ' in message


def test_the_id_of_the_process_is_taken_too() -> None:
    assert "expected an id of its own" in refusal_of(model(START + '<task id="order"/>'))


@pytest.mark.parametrize("tag", ["task", "startEvent", "subProcess", "exclusiveGateway"])
@pytest.mark.parametrize("attribute", ["", 'id=""', 'id="  "'])
def test_an_element_without_an_id_is_refused(tag: str, attribute: str) -> None:
    message = refusal_of(model(f"<{tag} {attribute}/>"))

    assert f"{tag} without an id (line 1): expected an attribute id, found none" == message


def test_a_process_without_an_id_is_refused() -> None:
    assert "process without an id (line 1): expected an attribute id, found none" == (
        refusal_of(model(START, process='isExecutable="true"'))
    )


def test_an_id_that_no_key_could_hold_is_refused() -> None:
    assert f"expected an id of at most {NAME_MAX} characters, found 251" in (
        refusal_of(model(START + f'<task id="{"x" * 251}"/>'))
    )
    assert "at most" in refusal_of(model(START, process=f'id="{"x" * 251}"'))


def test_a_truth_value_that_is_none_is_refused() -> None:
    message = refusal_of(model(START, process='id="order" isExecutable="perhaps"'))

    assert (
        'process "order" (line 1): attribute isExecutable: expected true or false, found "perhaps"'
        == message
    )


def test_the_line_on_which_the_tag_of_an_element_ends_is_named() -> None:
    xml = model(f"\n{START}\n\n<serviceTask\n id='a'/>\n")

    assert refusal_of(xml).startswith('serviceTask "a" (line 5): expected a job type')


def test_lines_are_counted_beyond_what_fits_in_two_bytes() -> None:
    xml = model(START + "\n" * 70_000 + "<serviceTask id='a'>\n</serviceTask>")

    assert refusal_of(xml).startswith('serviceTask "a" (line 70')
