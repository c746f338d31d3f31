"""What a model says of a user task that people claim: who may, when, how urgent, by which form.

Source: contracts/bpmn.md 3.2 (userTask, assignmentDefinition, taskSchedule, priorityDefinition,
formDefinition); contracts/zenbpm.md 4.3 has the jobs that all other user tasks are there.
"""

from __future__ import annotations

from chalicelib.bpmn.durations import InvalidTime
from chalicelib.bpmn.expressions import optional_value
from chalicelib.bpmn.extensions import Extensions
from chalicelib.bpmn.model import PRIORITY_MAX, FormReference, TaskDefinition, Value
from chalicelib.bpmn.reading import Reading
from chalicelib.bpmn.refusals import Faults, refusal
from chalicelib.bpmn.timers import parse_date
from chalicelib.xml_tree import Node, shown

BINDINGS = ("latest", "deployment", "versionTag")


def is_managed(extensions: Extensions, reading: Reading) -> bool:
    """Say whether people claim a user task, or are assigned to it, in place of a worker: where user
    tasks are no jobs, and where one says so and names no job type of its own."""
    if reading.user_task_type is None:
        return True
    return "userTask" in extensions and "taskDefinition" not in extensions


def task_of(node: Node, extensions: Extensions) -> TaskDefinition:
    """Read what people are told of a user task. Raises: Rejected."""
    assignment = extensions.get("assignmentDefinition")
    schedule, priority = extensions.get("taskSchedule"), extensions.get("priorityDefinition")
    faults = Faults()
    task = TaskDefinition(
        candidate_users=faults.tried(None, optional_value, node, assignment, "candidateUsers"),
        due_date=faults.tried(None, _date, node, schedule, "dueDate"),
        follow_up_date=faults.tried(None, _date, node, schedule, "followUpDate"),
        priority=faults.tried(None, _priority, node, priority),
        form=faults.tried(None, _form, node, extensions.get("formDefinition")),
    )
    faults.check()
    return task


def _date(node: Node, schedule: Node | None, attribute: str) -> Value | None:
    value = optional_value(node, schedule, attribute)
    if value is not None and not value.is_feel:
        try:
            parse_date(value.text)
        except InvalidTime as error:
            raise refusal(node, f"attribute {attribute} of taskSchedule: {error}") from error
    return value


def _priority(node: Node, definition: Node | None) -> Value | None:
    value = optional_value(node, definition, "priority")
    if value is None or value.is_feel:
        return value
    text = value.text.strip()
    if text.isascii() and text.isdigit() and len(text) < 4 and int(text) <= PRIORITY_MAX:
        return value
    raise refusal(
        node,
        f"attribute priority of priorityDefinition: expected a whole number from 0 to "
        f'{PRIORITY_MAX}, or FEEL after "=", found {shown(value.text)}',
    )


def _form(node: Node, definition: Node | None) -> FormReference | None:
    """Return which form a user task is worked on by; None if the model names none."""
    if definition is None:
        return None
    binding = definition.get("bindingType")
    if binding not in (None, *BINDINGS):
        raise refusal(
            node,
            f"attribute bindingType of formDefinition: expected one of {', '.join(BINDINGS)}, "
            f"found {shown(binding or '')}",
        )
    form = FormReference(
        key=definition.get("formKey"),
        id=optional_value(node, definition, "formId"),
        external=optional_value(node, definition, "externalReference"),
        binding=binding,
        version_tag=definition.get("versionTag"),
    )
    return form if form.key or form.id or form.external else None
