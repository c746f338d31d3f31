"""What may be changed of a user task that people claim: its attributes, by Camunda's names.

    assignee: text     candidateUsers, candidateGroups: texts
    dueDate, followUpDate: ISO 8601 text     priority: a whole number from 0 to 100

A change that is not there, or null, keeps what is; an empty text or list clears it.

Source: Camunda 8 documentation, "User task listeners" (corrections), "Update user task".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from chalicelib.bpmn.durations import InvalidTime
from chalicelib.bpmn.model import PRIORITY_MAX
from chalicelib.bpmn.timers import parse_date
from chalicelib.engine.expressions import show
from chalicelib.engine.state import Job
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject, JsonValue, is_integer

ASSIGNEE = "assignee"
PREFIX = "io.camunda.zeebe:"  # of the headers that tell listeners of a task


class Attribute(NamedTuple):
    """The field of the record that holds it, and how it is read from JSON and told in a header."""

    field: str
    read: Callable[[str, JsonValue], Any]
    told: Callable[[Any], str]


def _text(name: str, value: JsonValue) -> str | None:
    if isinstance(value, str):
        return value or None
    raise _unfit(name, "a text", value)


def _texts(name: str, value: JsonValue) -> str | None:
    names = value if isinstance(value, list) else None
    texts = [each for each in names or () if isinstance(each, str) and each and "," not in each]
    if names is None or len(texts) < len(names):
        raise _unfit(name, "a list of texts without commas", value)
    return ",".join(texts) or None


def _moment(name: str, value: JsonValue) -> datetime | None:
    if value == "":
        return None
    if not isinstance(value, str):
        raise _unfit(name, "a date and time", value)
    try:
        return parse_date(value)
    except InvalidTime as error:
        raise Rejected(Reason.INVALID_ARGUMENT, f"{name}: {error}") from error


def _priority(name: str, value: JsonValue) -> int:
    if isinstance(value, Decimal) and is_integer(value) and 0 <= value <= PRIORITY_MAX:
        return int(value)
    raise _unfit(name, f"a whole number from 0 to {PRIORITY_MAX}", value)


def _unfit(name: str, expected: str, found: JsonValue) -> Rejected:
    message = f"{name} of a user task: expected {expected}, found {show(found)}"
    return Rejected(Reason.INVALID_ARGUMENT, message)


def _told_texts(joined: str) -> str:
    return json.dumps(joined.split(","), ensure_ascii=False)


def _told_moment(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


ATTRIBUTES: Mapping[str, Attribute] = {
    ASSIGNEE: Attribute("assignee", _text, str),
    "candidateGroups": Attribute("candidate_groups", _texts, _told_texts),
    "candidateUsers": Attribute("candidate_users", _texts, _told_texts),
    "dueDate": Attribute("due_at", _moment, _told_moment),
    "followUpDate": Attribute("follow_up_at", _moment, _told_moment),
    "priority": Attribute("priority", _priority, str),
}


def changed(task: Job, changes: JsonObject) -> Job:
    """Return a task with changes made. Raises: Rejected(INVALID_ARGUMENT), naming what is unfit."""
    fields: dict[str, Any] = {}
    for name, value in changes.items():
        attribute = ATTRIBUTES.get(name)
        if attribute is None:
            message = f"expected one of {', '.join(ATTRIBUTES)}, found {name}"
            raise Rejected(Reason.INVALID_ARGUMENT, f"attribute of a user task: {message}")
        if value is not None:
            fields[attribute.field] = attribute.read(name, value)
    return task._replace(**fields) if fields else task


def headers_of(before: Job, after: Job, action: str) -> Mapping[str, str]:
    """Return the headers that tell the listener of a task what it is, and what is to change."""
    told = {"action": action, "userTaskKey": str(after.key)}
    differing = []
    for name, (field, _, tell) in ATTRIBUTES.items():
        value = getattr(after, field)
        if value is not None:
            told[name] = tell(value)
        if value != getattr(before, field):
            differing.append(name)
    if differing:
        told["changedAttributes"] = json.dumps(differing)
    if after.form is not None and isinstance(key := after.form.get("formKey"), str):
        told["formKey"] = key
    return {f"{PREFIX}{name}": text for name, text in told.items()}
