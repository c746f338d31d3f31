"""The member `result` of a job's completion, the same in all dialects.

Source: Camunda 8 documentation, "Complete job".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalicelib.api.schema import Anything, Field, Flag, ListOf, Object, Text
from chalicelib.api.tagged import Tagged
from chalicelib.engine.job_results import WORDS, Activation, AdHocResult, JobResult

ACTIVATIONS = ListOf(
    Object(
        "Activation",
        {
            "elementId": Field(Text(1), required=True),
            "variables": Field(Anything(), nullable=True),
        },
    )
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
        )
    },
)


def result_of(body: Mapping[str, Any]) -> JobResult | None:
    """Return the result that a body which was read has; None without one."""
    found = body.get("result")
    if found is None:
        return None
    return AdHocResult(
        activations_of(found.get("activateElements")),
        bool(found.get("isCompletionConditionFulfilled")),
        bool(found.get("isCancelRemainingInstances")),
    )


def activations_of(found: list[Mapping[str, Any]] | None) -> tuple[Activation, ...]:
    """Return which elements a body wants activated."""
    return tuple(Activation(each["elementId"], each.get("variables") or {}) for each in found or ())
