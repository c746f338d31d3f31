"""What people are told of user tasks, and listeners, as JSON and back: a part of `codec.py`.

Shapes: a list of candidate users, due date, follow-up date, priority, then of the form its key, id,
    external reference, binding and version tag; what is missing at the end is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from chalicelib.bpmn.codec_values import optional_from, optional_to, value_from, value_to
from chalicelib.bpmn.model import FormReference, Listener, TaskDefinition

_LENGTH = 9


def task_to(task: TaskDefinition) -> list[str | None]:
    """Write what people are told of a task."""
    values = (task.candidate_users, task.due_date, task.follow_up_date, task.priority)
    row = [optional_to(value) for value in values]
    if (form := task.form) is not None:
        row += [form.key, optional_to(form.id), optional_to(form.external)]
        row += [form.binding, form.version_tag]
    while row and row[-1] is None:
        row.pop()
    return row


def task_from(row: Sequence[str | None]) -> TaskDefinition:
    """Read it."""
    whole = [*row, *[None] * (_LENGTH - len(row))]
    users, due, follow_up, priority = map(optional_from, whole[:4])
    key, id_, external, binding, tag = whole[4:]
    form = None
    if any(whole[4:]):
        form = FormReference(key, optional_from(id_), optional_from(external), binding, tag)
    return TaskDefinition(users, due, follow_up, priority, form)


def listener_to(listener: Listener) -> list[Any]:
    """Write a listener: its event, type, retries and headers."""
    retries, headers = optional_to(listener.retries), dict(listener.headers)
    return [listener.event, value_to(listener.type), retries, headers]


def listener_from(row: Sequence[Any]) -> Listener:
    """Read a listener."""
    event, type_, retries, headers = row
    return Listener(event, value_from(type_), optional_from(retries), headers)
