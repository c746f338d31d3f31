"""Priostack's spelling of what people and callers do: user tasks, messages.

Source: contracts/priostack.md, "Not known, with the design we should take".
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter

from chalicelib.api.fields import member
from chalicelib.api.priostack.shapes import KEY, PAGE_QUERY, page_of
from chalicelib.api.schema import Anything, Choice, Field, ListOf, Object, Text, Type, Whole
from chalicelib.api.task_members import TOLD
from chalicelib.api.values import AnyValue
from chalicelib.engine.decided import Evaluated
from chalicelib.engine.state import Job, JobState
from chalicelib.json_text import JsonObject

NAME_MAX = 200  # characters of a person's name
TIME_TO_LIVE_MAX_MS = 365 * 86_400_000  # a message waits for a year at most

TASK_STATES = Choice(("created", "claimed", "completed", "canceled"))


def _state(task: Job) -> str:
    match task.state:
        case JobState.COMPLETED:
            return "completed"
        case JobState.TERMINATED:
            return "canceled"
        case _:
            return "created" if task.assignee is None else "claimed"


TASK = Object(
    "UserTask",
    {
        "key": member(KEY, attrgetter("key")),
        "state": member(TASK_STATES, _state),
        "processInstanceKey": member(KEY, attrgetter("instance_key")),
        "elementId": member(Text(), attrgetter("element_id")),
        "elementInstanceKey": member(KEY, attrgetter("element_key")),
        "transition": member(Text(), attrgetter("transition"), optional=True),
        **TOLD,
    },
)
TASK_PAGE = page_of(TASK)
TASKS_QUERY: Mapping[str, Type] = {
    **PAGE_QUERY,
    "state": TASK_STATES,
    "assignee": Text(),
    "candidateGroup": Text(),
    "processInstanceKey": KEY,
}
CLAIM = Object("ClaimUserTask", {"assignee": Field(Text(1, NAME_MAX), required=True)})

EVALUATE = Object("EvaluateDecision", {"variables": Field(Anything(), nullable=True)})
MATCHED_RULE = Object(
    "MatchedRule",
    {
        "id": member(Text(), lambda rule: rule["id"], optional=True),
        "number": member(Whole(), lambda rule: rule["number"]),
    },
)


def _rules(evaluated: Evaluated) -> list[JsonObject]:
    """Return the rules that matched in the decision itself, not in those that it rests on."""
    return list(evaluated.audit[-1]["rules"]) if evaluated.audit else []


DECIDED = Object(
    "Decided",
    {
        "result": member(AnyValue(), lambda evaluated: (evaluated.output,)),
        "matchedRules": member(ListOf(MATCHED_RULE), _rules),
    },
)


_MESSAGE = {
    "name": Field(Text(1), required=True),
    "correlationKey": Field(Text(), nullable=True),
    "variables": Field(Anything(), nullable=True),
}
CORRELATE = Object("CorrelateMessage", _MESSAGE)
CORRELATED = Object("CorrelatedMessage", {"processInstanceKey": member(KEY, lambda key: key)})
PUBLISH = Object(
    "PublishMessage",
    {
        **_MESSAGE,
        "timeToLive": Field(Whole(0, TIME_TO_LIVE_MAX_MS), nullable=True),
        "messageId": Field(Text(), nullable=True),
    },
)
