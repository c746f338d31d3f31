"""User tasks that people claim: what they are told, computed when the task is made.

Such a task has the record of a job, but neither bell nor worker: it waits until somebody claims
and completes it. A value that does not fit its place is an incident before anything was made.

Source: contracts/bpmn.md 3.2; design section 5.
"""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

from chalicelib.bpmn.durations import InvalidTime
from chalicelib.bpmn.model import PRIORITY_MAX, TaskDefinition
from chalicelib.bpmn.timers import parse_date
from chalicelib.engine.draft import Draft
from chalicelib.engine.expressions import Compute, compile_optional, extract, show
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.json_text import JsonObject, JsonValue, is_integer

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node

PRIORITY = 50  # where the model names none (contracts/bpmn.md 3.2)


class TaskPlan(NamedTuple):
    """What people are told of a task, each value computable; `form` has only what is named."""

    candidate_users: Compute | None
    due_date: Compute | None
    follow_up_date: Compute | None
    priority: Compute | None
    form: dict[str, Compute | str]


def plan_task(task: TaskDefinition | None) -> TaskPlan | None:
    """Return the plan of a task; None where the element is none."""
    if task is None:
        return None
    form: dict[str, Compute | str | None] = {}
    if task.form is not None:
        form = {
            "formKey": task.form.key,
            "formId": compile_optional(task.form.id),
            "externalReference": compile_optional(task.form.external),
            "bindingType": task.form.binding,
            "versionTag": task.form.version_tag,
        }
    return TaskPlan(
        compile_optional(task.candidate_users),
        compile_optional(task.due_date),
        compile_optional(task.follow_up_date),
        compile_optional(task.priority),
        {name: value for name, value in form.items() if value is not None},
    )


def told(draft: Draft, node: Node, seen: JsonObject) -> dict[str, Any]:
    """Compute what a job record has of a user task, by the names of its fields.

    Raises: Stuck(EXTRACT_VALUE_ERROR).
    """
    job = node.job
    if job is None or not job.is_managed:
        return {}
    groups = texts(draft, job.candidate_groups, seen, f"candidateGroups of {node.id}")
    if job.task is None:
        return {"candidate_groups": groups, "priority": PRIORITY}
    task = job.task
    return {
        "candidate_groups": groups,
        "candidate_users": texts(draft, task.candidate_users, seen, f"candidateUsers of {node.id}"),
        "due_at": _moment(draft, task.due_date, seen, f"dueDate of {node.id}"),
        "follow_up_at": _moment(draft, task.follow_up_date, seen, f"followUpDate of {node.id}"),
        "priority": _priority(draft, task.priority, seen, f"priority of {node.id}"),
        "form": _form(draft, task.form, seen, node.id) or None,
    }


def texts(draft: Draft, compute: Compute | None, seen: JsonObject, where: str) -> str | None:
    """Compute names, a text with commas or a list of texts; return them joined by commas."""
    if compute is None:
        return None
    value = extract(compute, seen, draft.moment, where)
    listed = value if isinstance(value, list) else str(value or "").split(",")
    names = [name.strip() for name in listed if isinstance(name, str)]
    if len(names) == len(listed) and (value is None or isinstance(value, str | list)):
        return ",".join(filter(None, names)) or None
    raise _unfit(where, "texts", value)


def _moment(draft: Draft, compute: Compute | None, seen: JsonObject, where: str) -> datetime | None:
    value = None if compute is None else extract(compute, seen, draft.moment, where)
    if value is None or value == "":
        return None
    if not isinstance(value, str):
        raise _unfit(where, "a date and time", value)
    try:
        return parse_date(value)
    except InvalidTime as error:
        raise Stuck(ErrorType.EXTRACT_VALUE_ERROR, f"{where}: {error}") from error


def _priority(draft: Draft, compute: Compute | None, seen: JsonObject, where: str) -> int:
    value = None if compute is None else extract(compute, seen, draft.moment, where)
    if value is None:
        return PRIORITY
    if isinstance(value, str) and value.strip().isdecimal() and len(value.strip()) < 4:
        value = Decimal(value.strip())
    if isinstance(value, Decimal) and is_integer(value) and 0 <= value <= PRIORITY_MAX:
        return int(value)
    raise _unfit(where, f"a whole number from 0 to {PRIORITY_MAX}", value)


def _form(
    draft: Draft, form: dict[str, Compute | str], seen: JsonObject, element_id: str
) -> JsonObject:
    made: JsonObject = {}
    for name, value in form.items():
        if isinstance(value, str):
            made[name] = value
            continue
        where = f"{name} of {element_id}"
        computed = extract(value, seen, draft.moment, where)
        if not isinstance(computed, str):
            raise _unfit(where, "a text", computed)
        made[name] = computed
    return made


def _unfit(where: str, expected: str, found: JsonValue) -> Stuck:
    return Stuck(
        ErrorType.EXTRACT_VALUE_ERROR, f"{where}: expected {expected}, found {show(found)}"
    )
