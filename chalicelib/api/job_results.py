"""The member `result` of a job's completion, the same in all dialects.

Source: Camunda 8 documentation, "Complete job".
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from chalicelib.api.schema import Anything, Field, Flag, ListOf, Object, Text, Whole
from chalicelib.api.tagged import Tagged
from chalicelib.bpmn.model import PRIORITY_MAX
from chalicelib.engine.job_results import (
    WORDS,
    Activation,
    AdHocResult,
    JobResult,
    TaskResult,
)
from chalicelib.engine.task_attributes import ATTRIBUTES
from chalicelib.json_text import JsonObject

ACTIVATIONS = ListOf(
    Object(
        "Activation",
        {
            "elementId": Field(Text(1), required=True),
            "variables": Field(Anything(), nullable=True),
        },
    )
)
# The attributes of a user task; null keeps what is, an empty text or list clears it.
TASK_CHANGES = Object(
    "UserTaskAttributes",
    {
        "assignee": Field(Text(), nullable=True),
        "candidateGroups": Field(ListOf(Text()), nullable=True),
        "candidateUsers": Field(ListOf(Text()), nullable=True),
        "dueDate": Field(Text(), nullable=True),
        "followUpDate": Field(Text(), nullable=True),
        "priority": Field(Whole(0, PRIORITY_MAX), nullable=True),
    },
)
RESULT = Tagged(
    "type",
    {
        WORDS[AdHocResult]: Object(
            "JobResultAdHocSubProcess",
            {
                "activateElements": Field(ACTIVATIONS, nullable=True),
                "isCompletionConditionFulfilled": Field(Flag(), nullable=True),
                "isCancelRemainingInstances": Field(Flag(), nullable=True),
            },
        ),
        WORDS[TaskResult]: Object(
            "JobResultUserTask",
            {
                "denied": Field(Flag(), nullable=True),
                "deniedReason": Field(Text(), nullable=True),
                "corrections": Field(TASK_CHANGES, nullable=True),
            },
        ),
    },
)


def result_of(body: Mapping[str, Any]) -> JobResult | None:
    """Return the result that a body which was read has; None without one."""
    found = body.get("result")
    if found is None:
        return None
    if found["type"] == WORDS[TaskResult]:
        corrections = changes_of(found.get("corrections") or {})
        return TaskResult(bool(found.get("denied")), found.get("deniedReason") or "", corrections)
    return AdHocResult(
        activations_of(found.get("activateElements")),
        bool(found.get("isCompletionConditionFulfilled")),
        bool(found.get("isCancelRemainingInstances")),
    )


def changes_of(found: Mapping[str, Any]) -> JsonObject:
    """Return the changes of a user task that a body names, as JSON."""
    named = {name: found[name] for name in ATTRIBUTES if found.get(name) is not None}
    return {n: Decimal(v) if isinstance(v, int) else v for n, v in named.items()}


def activations_of(found: list[Mapping[str, Any]] | None) -> tuple[Activation, ...]:
    """Return which elements a body wants activated."""
    return tuple(Activation(each["elementId"], each.get("variables") or {}) for each in found or ())
