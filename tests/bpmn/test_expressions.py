"""FEEL that does not parse refuses the deployment, wherever in a model it stands."""

from __future__ import annotations

import pytest

from tests.bpmn.models import END, START, extended, flow, line, model, refusal_of, timer_event

BROKEN = "=a +"
WHY = '"a +" is no FEEL expression, line 1, column 4: expected an expression'


def job(attributes: str = 'type="t"', more: str = "") -> bytes:
    return line(extended("serviceTask", f"<zeebe:taskDefinition {attributes}/>{more}"))


def mapped(tag: str) -> bytes:
    row = f'<zeebe:{tag} source="{BROKEN}" target="x"/>'
    return job(more=f"<zeebe:ioMapping>{row}</zeebe:ioMapping>")


def loop(attributes: str, condition: str = "") -> bytes:
    inner = f"<zeebe:loopCharacteristics {attributes}/>"
    return line(
        '<serviceTask id="a"><extensionElements><zeebe:taskDefinition type="t"/>'
        "</extensionElements><multiInstanceLoopCharacteristics><extensionElements>"
        f"{inner}</extensionElements>{condition}</multiInstanceLoopCharacteristics></serviceTask>"
    )


def assigned(attribute: str) -> bytes:
    return line(extended("userTask", f'<zeebe:assignmentDefinition {attribute}="{BROKEN}"/>'))


def received(name: str, key: str) -> bytes:
    row = f'<zeebe:subscription correlationKey="{key}"/>'
    message = (
        f'<message id="m" name="{name}"><extensionElements>{row}</extensionElements></message>'
    )
    return line('<receiveTask id="a" messageRef="m"/>', around=message)


def gateway(tag: str, inner: str = "", condition: str | None = None) -> bytes:
    flows = flow("start", "a") + flow("a", "end", condition)
    return model(START + f'<{tag} id="a">{inner}</{tag}>' + END + flows)


COLLECTION = f'inputCollection="{BROKEN}"'
SOME = 'inputCollection="=a"'
DECISION = f'<zeebe:calledDecision decisionId="{BROKEN}" resultVariable="r"/>'
SCRIPT = f'<zeebe:script expression="{BROKEN}" resultVariable="r"/>'
WATCHED = (
    f"<conditionalEventDefinition><condition>{BROKEN}</condition></conditionalEventDefinition>"
)


@pytest.mark.parametrize(
    ("xml", "place"),
    [
        (job(f'type="{BROKEN}"'), "attribute type of taskDefinition"),
        (job(f'type="t" retries="{BROKEN}"'), "attribute retries of taskDefinition"),
        (job(f'type="t" retryBackoff="{BROKEN}"'), "attribute retryBackoff of taskDefinition"),
        (mapped("input"), "attribute source of input"),
        (mapped("output"), "attribute source of output"),
        (assigned("assignee"), "attribute assignee of assignmentDefinition"),
        (line(extended("scriptTask", SCRIPT)), "attribute expression of script"),
        (line(extended("businessRuleTask", DECISION)), "attribute decisionId of calledDecision"),
        (line(timer_event("intermediateCatchEvent", "timeDate", BROKEN)), "timeDate of"),
        (line(timer_event("intermediateCatchEvent", "timeDuration", BROKEN)), "timeDuration of"),
        (received("paid", BROKEN), 'attribute correlationKey of message "m"'),
        (received(BROKEN, "=a"), 'name of message "m"'),
        (loop(COLLECTION), "attribute inputCollection of loopCharacteristics"),
        (
            loop(f'{SOME} outputCollection="o" outputElement="{BROKEN}"'),
            "attribute outputElement of loopCharacteristics",
        ),
        (
            loop(SOME, f"<completionCondition>{BROKEN}</completionCondition>"),
            "completionCondition",
        ),
        (gateway("exclusiveGateway", condition=BROKEN), "condition"),
        (
            gateway("complexGateway", f"<activationCondition>{BROKEN}</activationCondition>"),
            "activationCondition",
        ),
        (
            line(f'<intermediateCatchEvent id="a">{WATCHED}</intermediateCatchEvent>'),
            "condition",
        ),
        (
            line(extended("callActivity", f'<zeebe:calledElement processId="{BROKEN}"/>')),
            "attribute processId of calledElement",
        ),
    ],
)
def test_feel_that_does_not_parse_is_refused_with_its_place(xml: bytes, place: str) -> None:
    message = refusal_of(xml)

    assert "(line 1): " in message
    assert f"{place}" in message and WHY in message
