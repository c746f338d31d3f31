"""Models that are too repetitive to be drawn."""

from __future__ import annotations

from collections.abc import Iterable

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d" targetNamespace="urn:test">
  <bpmn:process id="made" isExecutable="true">
"""
_TAIL = """
  </bpmn:process>
</bpmn:definitions>
"""


def wide_fork(width: int, type_: str = "work") -> bytes:
    """A start that forks at once into so many tasks, each with its end."""
    tasks = (
        f'<bpmn:serviceTask id="t{n}"><bpmn:extensionElements><zeebe:taskDefinition '
        f'type="{type_}"/></bpmn:extensionElements></bpmn:serviceTask>{_flow("fork", f"t{n}")}'
        for n in range(width)
    )
    return _document(
        ['<bpmn:startEvent id="start"/><bpmn:parallelGateway id="fork"/>', _flow("start", "fork")],
        tasks,
    )


def script_then_task(expression: str, type_: str = "work") -> bytes:
    """A script whose result goes into the variable `result`, then a task."""
    return _document(
        [
            '<bpmn:startEvent id="start"/><bpmn:scriptTask id="script"><bpmn:extensionElements>',
            f'<zeebe:script expression="{expression}" resultVariable="result"/>',
            "<zeebe:ioMapping><zeebe:output source='=result' target='result'/></zeebe:ioMapping>",
            "</bpmn:extensionElements></bpmn:scriptTask>",
            f'<bpmn:serviceTask id="task"><bpmn:extensionElements><zeebe:taskDefinition '
            f'type="{type_}"/></bpmn:extensionElements></bpmn:serviceTask>',
            _flow("start", "script"),
            _flow("script", "task"),
        ]
    )


def timer_then_task(duration: str, type_: str = "work") -> bytes:
    """A pause, then a task."""
    return _document(
        [
            '<bpmn:startEvent id="start"/><bpmn:intermediateCatchEvent id="pause">',
            f"<bpmn:timerEventDefinition><bpmn:timeDuration>{duration}</bpmn:timeDuration>",
            "</bpmn:timerEventDefinition></bpmn:intermediateCatchEvent>",
            f'<bpmn:serviceTask id="task"><bpmn:extensionElements><zeebe:taskDefinition '
            f'type="{type_}"/></bpmn:extensionElements></bpmn:serviceTask>',
            _flow("start", "pause"),
            _flow("pause", "task"),
        ]
    )


def typed_task(type_: str, retries: str = "3") -> bytes:
    """One task, whose type and retries may be expressions."""
    return _document(
        [
            '<bpmn:startEvent id="start"/><bpmn:serviceTask id="task"><bpmn:extensionElements>',
            f'<zeebe:taskDefinition type="{type_}" retries="{retries}"/>',
            "</bpmn:extensionElements></bpmn:serviceTask>",
            _flow("start", "task"),
        ]
    )


def task_then_typed(first: str, second: str) -> bytes:
    """Two tasks in a row."""
    return _document(
        [
            '<bpmn:startEvent id="start"/>',
            *(
                f'<bpmn:serviceTask id="{id_}"><bpmn:extensionElements><zeebe:taskDefinition '
                f'type="{type_}"/></bpmn:extensionElements></bpmn:serviceTask>'
                for id_, type_ in (("one", first), ("two", second))
            ),
            _flow("start", "one"),
            _flow("one", "two"),
        ]
    )


def _flow(source: str, target: str) -> str:
    id_ = f"{source}_to_{target}"
    return f'<bpmn:sequenceFlow id="{id_}" sourceRef="{source}" targetRef="{target}"/>'


def _document(*parts: Iterable[str]) -> bytes:
    return (_HEAD + "\n".join(line for part in parts for line in part) + _TAIL).encode()
