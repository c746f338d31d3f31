"""What the dialects that show user tasks have in common: how members of one are read off it."""

from __future__ import annotations

from operator import attrgetter

from chalicelib.api.fields import member
from chalicelib.api.schema import Anything, Field, ListOf, Moment, Object, Text, Whole
from chalicelib.engine.state import Job

DENIED = Object(
    "DeniedTransition",
    {
        "event": member(Text(), lambda denied: denied["event"]),
        "reason": member(Text(), lambda denied: denied["reason"]),
    },
)


def names_in(joined: str | None) -> list[str]:
    """Return names that a record has joined by commas."""
    return joined.split(",") if joined else []


def _users(task: Job) -> list[str] | None:
    return names_in(task.candidate_users) or None


TOLD: dict[str, Field] = {
    "assignee": member(Text(), attrgetter("assignee"), optional=True),
    "candidateGroups": member(ListOf(Text()), lambda task: names_in(task.candidate_groups)),
    "candidateUsers": member(ListOf(Text()), _users, optional=True),
    "dueDate": member(Moment(), attrgetter("due_at"), optional=True),
    "followUpDate": member(Moment(), attrgetter("follow_up_at"), optional=True),
    "priority": member(Whole(), attrgetter("priority"), optional=True),
    "form": member(Anything(), attrgetter("form"), optional=True),
    "denied": member(DENIED, attrgetter("denied"), optional=True),
    "customHeaders": member(Anything(), attrgetter("headers")),
    "variables": member(Anything(), attrgetter("inputs")),
    "createdAt": member(Moment(), attrgetter("created_at")),
}
