"""What cannot be run yet is refused by name where it has a part in the process, and only there."""

from __future__ import annotations

import pytest

from tests.bpmn.models import END, START, flow, line, model, parsed, refusal_of

TAGS = [
    "somethingNew",
]
DEFINITIONS = [
    "messageEventDefinition",
    "signalEventDefinition",
    "eventDefinitionRef",
]
ESCALATION = "escalationEventDefinition"
LINK = "linkEventDefinition"
MULTIPLE = "<timerEventDefinition/><messageEventDefinition/>"


@pytest.mark.parametrize("tag", TAGS)
@pytest.mark.parametrize("flows", [flow("start", "a"), flow("a", "end")])
def test_an_element_with_a_flow_is_refused(tag: str, flows: str) -> None:
    message = refusal_of(model(f'{START}<{tag} id="a"/>{END}{flows}'))

    assert f'unsupported element type {tag}, found at {tag} "a" (line 1)' == message


@pytest.mark.parametrize("tag", TAGS)
def test_an_element_that_stands_alone_may_be_anything(tag: str) -> None:
    inside = f'<{tag} id="a"><task/><startEvent id="start"/></{tag}>'

    assert ["start", "end"] == list(parsed(model(START + inside + END)).elements)


@pytest.mark.parametrize("definition", DEFINITIONS)
@pytest.mark.parametrize("tag", ["intermediateCatchEvent", "intermediateThrowEvent"])
def test_an_event_on_the_way_is_refused(tag: str, definition: str) -> None:
    event = f'<{tag} id="a"><{definition}/></{tag}>'

    message = refusal_of(line(event))

    assert message.startswith(f"unsupported element type {definition} in {tag}")
    assert message.endswith(f', found at {tag} "a" (line 1)')
    assert ["start"] == list(parsed(model(START + event)).elements)


@pytest.mark.parametrize("definition", [*DEFINITIONS, LINK, ESCALATION])
def test_a_start_event_is_refused_though_no_flow_leads_to_it(definition: str) -> None:
    event = f'<startEvent id="a"><{definition}/></startEvent>'

    assert f"unsupported element type {definition} in startEvent" in refusal_of(
        model(START + event)
    )


@pytest.mark.parametrize("definition", [*DEFINITIONS, LINK])
def test_a_boundary_event_is_refused_though_no_flow_leads_to_it(definition: str) -> None:
    event = f'<boundaryEvent id="b" attachedToRef="a"><{definition}/></boundaryEvent>'

    assert f"unsupported element type {definition} in boundaryEvent" in (
        refusal_of(line('<task id="a"/>', beside=event))
    )


def test_an_event_of_several_definitions_is_refused() -> None:
    event = f'<intermediateCatchEvent id="a">{MULTIPLE}</intermediateCatchEvent>'

    assert refusal_of(line(event)).startswith(
        "unsupported element type timerEventDefinition and messageEventDefinition in one "
        "intermediateCatchEvent"
    )


def test_a_boundary_event_on_what_cannot_be_run_is_refused() -> None:
    body = (
        '<somethingNew id="a"/><boundaryEvent id="b" attachedToRef="a"><timerEventDefinition>'
        "<timeDuration>PT1S</timeDuration></timerEventDefinition></boundaryEvent>"
    )

    assert "unsupported element type somethingNew" in refusal_of(model(START + body))


@pytest.mark.parametrize(
    "extension",
    [
        "<zeebe:linkedResources><zeebe:linkedResource resourceId='x'/></zeebe:linkedResources>",
        "<zeebe:properties><zeebe:property name='a' value='b'/></zeebe:properties>",
        "<camunda:inputOutput/><zeebe:formDefinition formKey='f'/><future:thing/>",
    ],
)
def test_extension_elements_that_are_not_known_are_ignored(extension: str) -> None:
    task = f'<task id="a"><extensionElements>{extension}</extensionElements></task>'

    assert parsed(line('<task id="a"/>')) == parsed(line(task))
