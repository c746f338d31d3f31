"""A model that is refused is told all that is wrong with it, each by element, id, name and line."""

from __future__ import annotations

import pytest

from chalicelib.bpmn import parse
from chalicelib.bpmn.refusals import FAULTS_MAX, Refused
from chalicelib.profile import Profile
from tests.bpmn.models import END, START, flow, model, refusal_of

TASK = '<serviceTask id="{0}"><extensionElements>{1}</extensionElements></serviceTask>'

WANTED = [
    'serviceTask "a" named "Charge card" (line 2): expected a job type',
    'exclusiveGateway "g" (line 3): attribute default',
    'subProcess "s" (line 4): expected a start event',
    'sequenceFlow "h" (line 6): targetRef "gone" names no element',
    'sequenceFlow "i" (line 7): condition: "1 +" is no FEEL expression',
]


def faults(xml: bytes) -> list[str]:
    with pytest.raises(Refused) as refused:
        parse(xml, Profile.ZENBPM)
    return [fault.text for fault in refused.value.faults]


def test_independent_faults_of_a_model_are_told_together_in_the_order_of_the_file() -> None:
    body = "\n".join(
        [
            '<startEvent id="start" name="Order placed"/>',
            '<serviceTask id="a" name="Charge card"/>',
            '<exclusiveGateway id="g" default="nowhere"/>',
            '<subProcess id="s"/>',
            '<sequenceFlow id="f" sourceRef="start" targetRef="a"/>',
            '<sequenceFlow id="h" sourceRef="a" targetRef="gone"/>',
            '<sequenceFlow id="i" sourceRef="a" targetRef="g">',
            "<conditionExpression>=1 +</conditionExpression></sequenceFlow>",
        ]
    )

    found = faults(model(body))

    assert WANTED == [text[: len(wanted)] for text, wanted in zip(found, WANTED, strict=True)]


def test_all_faults_of_one_element_are_told() -> None:
    extensions = (
        '<zeebe:taskDefinition type="=1 +" retries="many" retryBackoff="soon"/><zeebe:ioMapping>'
        '<zeebe:input source="=(" target="x"/><zeebe:input source="=1" target="x..y"/>'
        '<zeebe:output source="=]" target="z"/></zeebe:ioMapping>'
    )
    body = START + TASK.format("a", extensions) + END + flow("start", "a") + flow("a", "end")

    found = faults(model(body))

    parts = ("type of", "retries of", "retryBackoff of", "source of", "target of", "source of")
    told = zip(sorted(parts), sorted(map(_part, found)), strict=True)
    assert all(text.startswith(part) for part, text in told)


def _part(text: str) -> str:
    return text.split("attribute ")[1]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        # the flow of a wrong element, and the child that names a wrong flow
        (
            '<task/><task id="b"><outgoing>f</outgoing></task>'
            '<sequenceFlow id="f" sourceRef="b" targetRef="c"/>',
            2,
        ),
        # one element that cannot be run, with three flows
        (
            '<callConversation id="c"/><task id="b"/>'
            + flow("start", "c")
            + flow("c", "b")
            + flow("b", "c"),
            1,
        ),
        # an event that cannot be read is still the start of its process
        ('<exclusiveGateway id="b" default="f"/>' + flow("start", "b").replace("b<", "<"), 1),
    ],
)
def test_what_follows_from_a_fault_is_not_told_again(body: str, fault: int) -> None:
    assert fault == len(faults(model(START + body)))


def test_a_start_event_that_cannot_be_run_is_the_only_fault_of_its_scope() -> None:
    start = '<startEvent id="start"><cancelEventDefinition/></startEvent>'
    (found,) = faults(model(start + END + flow("start", "end")))

    assert "unsupported element type cancelEventDefinition in startEvent" in found


def test_faults_of_all_processes_of_a_file_are_told() -> None:
    one, other = (
        model('<task id="t"/>', process=f'id="{id_}" isExecutable="true"').decode()
        for id_ in ("one", "other")
    )
    process = other[other.index("<process") : other.index("</definitions>")]
    found = faults(one.replace("</definitions>", process + "</definitions>").encode())

    assert 2 == len(found)
    assert all("expected a start event" in text for text in found)


def test_what_is_wrong_with_a_process_itself_hides_nothing_in_it() -> None:
    one, other, third = (
        model('<task id="t"/>', process=f'id="same" isExecutable="{says}"').decode()
        for says in ("true", "1", "perhaps")
    )
    more = [xml[xml.index("<process") : xml.index("</definitions>")] for xml in (other, third)]
    found = faults(
        one.replace("</definitions>", "\n" + "\n".join(more) + "</definitions>").encode()
    )

    told = ("isExecutable: expected true or false", "expected an id of its own", "a start event")
    assert [1, 2, 3] == [sum(part in text for text in found) for part in told]


def test_each_definition_of_an_event_is_judged() -> None:
    wrong = (
        '<messageEventDefinition messageRef="gone"/><signalEventDefinition signalRef="gone"/>'
        "<timerEventDefinition/><conditionalEventDefinition/>"
    )
    event = f'<intermediateCatchEvent id="a">{wrong}</intermediateCatchEvent>'
    found = faults(model(START + event + END + flow("start", "a") + flow("a", "end")))

    told = ('messageRef "gone"', 'signalRef "gone"', "timerEvent", "conditionalEvent")
    assert [1] * 4 == [sum(part in text for text in found) for part in told]


def test_one_fault_is_one_sentence_and_many_are_counted_and_cut() -> None:
    tasks = [TASK.format(f"t{n}", "") for n in range(FAULTS_MAX + 5)]
    flows = [flow("start", f"t{n}") for n in range(FAULTS_MAX + 5)]

    one = refusal_of(model(START + tasks[0] + flows[0]))
    many = refusal_of(model("\n".join([START, *tasks, *flows]))).splitlines()

    assert one.startswith('serviceTask "t0" (line 1): expected a job type')
    assert f"{FAULTS_MAX + 5} faults:" == many[0]
    assert FAULTS_MAX + 2 == len(many)
    assert "… and 5 more, which headrace lint prints" == many[-1]


EXTENDED = "<{0} {2}><extensionElements>{1}</extensionElements>{3}</{0}>"
LISTENED = (
    '<zeebe:{0}Listeners><zeebe:{0}Listener eventType="{1}" type="=1 +" retries="few"/>'
    '<zeebe:{0}Listener eventType="{1}" retries="some"/><zeebe:{0}Listener eventType="some"/>'
    "</zeebe:{0}Listeners>"
)


@pytest.mark.parametrize(
    ("tag", "extensions", "inner", "told"),
    [
        (
            "callActivity",
            '<zeebe:calledElement processId="=1 +" bindingType="newest" versionTag="=("'
            ' propagateAllChildVariables="maybe" propagateAllParentVariables="no"/>'
            '<zenbpm:in businessKey="x"/>',
            "",
            [
                'processId of calledElement: "1 +"',
                "bindingType of calledElement: expected one of latest, deployment, versionTag",
                'versionTag of calledElement: "("',
                'propagateAllChildVariables of calledElement: expected true or false, found "m',
                'propagateAllParentVariables of calledElement: expected true or false, found "no"',
                "businessKey of in: expected FEEL",
            ],
        ),
        (
            "businessRuleTask",
            '<zeebe:calledDecision decisionId="=1 +" bindingType="newest"/>',
            "",
            [
                'decisionId of calledDecision: "1 +"',
                "calledDecision: expected an attribute resultVariable, found none",
                "bindingType of calledDecision: expected one of",
            ],
        ),
        (
            "scriptTask",
            '<zeebe:script expression="=1 +"/>',
            "",
            ["expected an attribute resultVariable, found none", 'expression of script: "1 +"'],
        ),
        (
            "task",
            '<zeebe:ioMapping><zeebe:input source="=1 +" target="x..y"/></zeebe:ioMapping>',
            "",
            [
                'target of input: expected names joined by dots, found "x..y"',
                'source of input: "1 +"',
            ],
        ),
        (
            "task",
            "",
            '<standardLoopCharacteristics loopMaximum="0" testBefore="x">'
            "<loopCondition>=1 +</loopCondition></standardLoopCharacteristics>",
            [
                'loopCondition: "1 +"',
                'loopMaximum: expected a whole number from 1 to 2147483647, found "0"',
                "testBefore of standardLoopCharacteristics: expected true or false",
            ],
        ),
        (
            "task",
            "",
            '<standardLoopCharacteristics/><multiInstanceLoopCharacteristics isSequential="x">'
            "<extensionElements><zeebe:loopCharacteristics inputCollection='=1 +'"
            " outputElement='=('/></extensionElements><loopCardinality>=[</loopCardinality>"
            "<completionCondition>=]</completionCondition></multiInstanceLoopCharacteristics>",
            [
                "expected one way to repeat, found two",
                "expected a loopCondition or a loopMaximum",
                'inputCollection of loopCharacteristics: "1 +"',
                'outputElement of loopCharacteristics: "("',
                "expected outputCollection and outputElement together, found only outputElement",
                'loopCardinality: "["',
                'completionCondition: "]"',
                "isSequential of multiInstanceLoopCharacteristics: expected true or false",
            ],
        ),
        (
            "userTask",
            "<zeebe:userTask/>"
            + LISTENED.format("execution", "start")
            + LISTENED.format("task", "creating"),
            "",
            [
                'type of executionListener: "1 +"',
                "retries of executionListener: expected a whole number from 0 to 2147483647, or"
                ' FEEL after "=", found "few"',
                "executionListener: expected an attribute type, found none",
                'found "some"',
                'executionListener of eventType "some" on userTask',
                'type of taskListener: "1 +"',
                'after "=", found "few"',
                "taskListener: expected an attribute type, found none",
                'taskListener of eventType "some"',
            ],
        ),
    ],
)
def test_no_fault_of_an_element_hides_another(
    tag: str, extensions: str, inner: str, told: list[str]
) -> None:
    element = EXTENDED.format(tag, extensions, 'id="a" name="It"', inner)

    found = faults(model(START + element + END + flow("start", "a") + flow("a", "end")))

    assert [] == [part for part in told if not any(part in text for text in found)]
    assert all(f'{tag} "a" named "It" (line 1)' in text for text in found)
