"""A file as a whole: which of its processes deploy, and what is no BPMN at all."""

from __future__ import annotations

import cProfile

import pytest

from chalicelib.bpmn import parse
from chalicelib.profile import Profile
from tests.bpmn.models import END, NAMESPACES, START, flow, line, model, parsed, refusal_of

BODY = START + END + flow("start", "end")


def ids(*processes: str) -> list[str]:
    xml = f"<definitions {NAMESPACES}>{''.join(processes)}</definitions>"
    return [process.id for process in parse(xml.encode(), Profile.ZENBPM)]


def test_every_executable_process_deploys_in_the_order_of_the_file() -> None:
    assert ["b", "a"] == ids(
        f'<process id="b" isExecutable="true">{BODY}</process>',
        '<process id="drawn" isExecutable="false"><complexGateway id="x"/></process>',
        f'<process id="a" isExecutable="1">{BODY}</process>',
    )


@pytest.mark.parametrize("profile", Profile)
def test_a_process_that_says_nothing_deploys(profile: Profile) -> None:
    assert "order" == parsed(model(BODY, process='id="order"'), profile).id


def test_a_process_that_says_nothing_is_only_drawn_beside_one_that_says_yes() -> None:
    assert ["ours"] == ids(
        '<process id="theirs"><task id="think"/></process>',
        f'<process id="ours" isExecutable="true">{BODY}</process>',
    )


@pytest.mark.parametrize(
    "process",
    [
        "",
        f'<process id="drawn" isExecutable="false">{BODY}</process>',
        "<collaboration id='c'><participant id='p' processRef='drawn'/></collaboration>",
    ],
)
def test_a_file_without_an_executable_process_is_refused(process: str) -> None:
    message = refusal_of(f"<definitions {NAMESPACES}>{process}</definitions>".encode())

    assert message.startswith('expected an executable process (isExecutable="true"), found')
    assert ("drawn" in message) == (process.startswith("<process"))


@pytest.mark.parametrize(
    "xml",
    [
        b"<html/>",
        b'<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"><process id="p"/>'
        b"</definitions>",
        b'<process xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="p"/>',
    ],
)
def test_what_is_no_bpmn_is_refused(xml: bytes) -> None:
    assert refusal_of(xml).startswith("expected a BPMN model: an element definitions in namespace")


def test_two_processes_of_one_id_are_refused() -> None:
    process = f'<process id="twice" isExecutable="true">{BODY}</process>'

    message = refusal_of(f"<definitions {NAMESPACES}>\n{process}\n{process}</definitions>".encode())

    assert (
        'process "twice" (line 3): expected an id of its own, found it at '
        'process "twice" (line 2)' == message
    )


@pytest.mark.parametrize("prefix", ["", "bpmn", "bpmn2", "semantic", "モデル"])
def test_any_prefix_of_the_bpmn_namespace_will_do(prefix: str) -> None:
    colon, xmlns = (f"{prefix}:", f"xmlns:{prefix}") if prefix else ("", "xmlns")
    xml = (
        f'<{colon}definitions {xmlns}="http://www.omg.org/spec/BPMN/20100524/MODEL">'
        f'<{colon}process id="p" isExecutable="true"><{colon}startEvent id="s"/>'
        f"</{colon}process></{colon}definitions>"
    )

    assert "s" == parsed(xml.encode()).start


def test_elements_of_other_namespaces_do_not_count() -> None:
    foreign = '<zeebe:startEvent id="s2"/><zeebe:sequenceFlow/><zeebe:callActivity id="c"/>'

    assert ["start", "end"] == list(parsed(model(BODY + foreign)).elements)


def test_drawing_has_no_effect() -> None:
    drawing = (
        '<laneSet id="l"><lane id="lane"><flowNodeRef>start</flowNodeRef></lane></laneSet>'
        '<textAnnotation id="n"><text>note</text></textAnnotation><group id="g"/>'
        '<association id="as" sourceRef="start" targetRef="n"/><dataObject id="d"/>'
        '<dataObjectReference id="dr" dataObjectRef="d"/><dataStoreReference id="ds"/>'
        '<property id="prop"/><ioSpecification id="io"/>'
    )
    around = (
        '<collaboration id="c"><participant id="p" processRef="order"/>'
        '<messageFlow id="m" sourceRef="p" targetRef="start"/></collaboration>'
    )

    assert parsed(model(BODY)) == parsed(model(BODY + drawing, around=around))


def test_the_version_tag_of_a_process_is_kept() -> None:
    tag = '<extensionElements><{0}:versionTag value="v7"/></extensionElements>'

    assert "v7" == parsed(model(tag.format("zeebe") + BODY)).version_tag
    assert "v7" == parsed(model(tag.format("zenbpm") + BODY)).version_tag


def test_unicode_ids_and_names_are_kept() -> None:
    process = parsed(line('<task id="a" name=" Überweisung 💶 "/>'))
    renamed = parsed(line('<task id="prüfung-№1"/>', id_="prüfung-№1"))

    assert "Überweisung 💶" == process.elements["a"].name
    assert "prüfung-№1" in renamed.elements


@pytest.mark.parametrize("profile", Profile)
def test_hand_written_xml_without_declared_prefix_and_ids_of_flows_deploys(
    profile: Profile,
) -> None:
    """P58: the prefix is never declared, the flows have no ids, nothing says executable."""
    xml = b"""<?xml version="1.0" encoding="UTF-8"?>
    <definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="demo">
      <process id="order-process" name="Order">
        <startEvent id="start"/>
        <serviceTask id="validate" name="Validate order">
          <extensionElements><zeebe:taskDefinition type="validate-order"/></extensionElements>
        </serviceTask>
        <exclusiveGateway id="ok" default="no"/>
        <endEvent id="done"/>
        <endEvent id="refused"/>
        <sequenceFlow sourceRef="start" targetRef="validate"/>
        <sequenceFlow sourceRef="validate" targetRef="ok"/>
        <sequenceFlow sourceRef="ok" targetRef="done">
          <conditionExpression>amount &gt; 100</conditionExpression>
        </sequenceFlow>
        <sequenceFlow id="no" sourceRef="ok" targetRef="refused"/>
      </process>
    </definitions>"""

    process = parsed(xml, profile)

    job = process.elements["validate"].job
    assert job is not None
    assert "validate-order" == job.type.text
    assert ["start_to_validate", "validate_to_ok", "ok_to_done", "no"] == list(process.flows)
    assert ("ok_to_done", "no") == process.elements["ok"].outgoing


def test_the_same_file_is_read_to_the_same_process() -> None:
    flows = '<sequenceFlow sourceRef="start" targetRef="end"/>' * 3
    xml = model(START + END + flows + '<task id="start_to_end_2"/>')

    assert parsed(xml) == parsed(xml)
    assert ["start_to_end", "start_to_end_3", "start_to_end_4"] == list(parsed(xml).flows)


def steps(body: str) -> int:
    """Return how many calls it takes to read a process."""
    profile = cProfile.Profile()
    profile.runcall(parse, model(START + body), Profile.ZENBPM)
    return int(sum(entry.callcount for entry in profile.getstats()))


@pytest.mark.parametrize(
    "part",
    [
        '<serviceTask id="t{0}"><extensionElements><zeebe:taskDefinition type="a"/>'
        "</extensionElements></serviceTask>",
        '<subProcess id="s{0}"><startEvent id="x{0}"/></subProcess>',
        '<subProcess id="s{0}" triggeredByEvent="true"><startEvent id="x{0}">'
        "<errorEventDefinition/></startEvent></subProcess>",
        '<adHocSubProcess id="a{0}"><task id="t{0}"/></adHocSubProcess>',
        '<task id="t{0}"/><boundaryEvent id="b{0}" attachedToRef="t{0}"><errorEventDefinition/>'
        "</boundaryEvent>",
    ],
)
def test_reading_a_model_takes_steps_in_proportion_to_it(part: str) -> None:
    few, many = (steps("".join(part.format(n) for n in range(count))) for count in (200, 400))

    assert many < 2.2 * few
