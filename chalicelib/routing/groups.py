"""What an aggregator does with the messages of one correlation key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from chalicelib import feel
from chalicelib.feel import Moment
from chalicelib.json_text import JsonValue
from chalicelib.routing import definition as d
from chalicelib.routing.decisions import size_of
from chalicelib.routing.expressions import evaluate, holds, seen_together
from chalicelib.routing.messages import Entry, Group, Message

COUNT, CONDITION, TIMEOUT = "count", "condition", "timeout"
INCOMPLETE = "incomplete for the time to live of its first message's channel"

Members = Sequence[tuple[str, Message]]  # each with the channel that it was in


@dataclass(frozen=True, slots=True)
class Full:
    """The group cannot take one more."""

    why: str


def joined(
    aggregator: d.Aggregator,
    group: Group | None,
    entry: Entry,
    message: Message,
    opened: tuple[datetime, str],
) -> Group | Full:
    """Return the group with one more message; if there is none, a new one.

    Shapes: `entry` is where the message was; without a timeout a group is open for as long as its
        first message's channel keeps one; `opened` is when a new one is, and its id.
    """
    assert message.correlation_key is not None
    if group is None:
        now, id_ = opened
        lives = aggregator.timeout or entry.expires_at - entry.entered_at
        return Group(
            aggregator=aggregator.name,
            correlation_key=message.correlation_key,
            id=id_,
            members=(entry.place,),
            size=size_of(message),
            opened_at=now,
            due=now + lives,
            hops=entry.hops,
        )
    size = group.size + size_of(message)
    if size > d.MESSAGE_BYTES_MAX:
        return Full(f"expected a group of at most {d.MESSAGE_BYTES_MAX} bytes, found {size}")
    if len(group.members) >= d.MEMBERS_MAX:
        return Full(f"expected a group of at most {d.MEMBERS_MAX} messages, found one more")
    return replace(
        group,
        members=(*group.members, entry.place),
        size=size,
        hops=max(group.hops, entry.hops),
    )


def asks_members(aggregator: d.Aggregator, group: Group) -> bool:
    """Say whether it takes the messages of a group to tell if it is released, or to release it."""
    return aggregator.condition is not None or _is_counted(aggregator, group)


def completed_by(
    aggregator: d.Aggregator, group: Group, members: Members, moment: Moment
) -> str | None:
    """Say what releases a group, None if it stays open. Raises: FeelError."""
    if _is_counted(aggregator, group):
        return COUNT
    around = seen_together(group.correlation_key, members)
    if aggregator.condition is not None and holds(aggregator.condition, around, moment):
        return CONDITION
    return None


def released(
    aggregator: d.Aggregator, group: Group, members: Members, why: str, moment: Moment
) -> Message:
    """Return the one message that a group becomes. Raises: FeelError."""
    body: JsonValue = [message.body for _, message in members]
    if aggregator.body is not None:
        body = evaluate(aggregator.body, seen_together(group.correlation_key, members), moment)
    made = Message(
        id=f"{group.aggregator}.{group.id}",
        body=body,
        correlation_key=group.correlation_key,
        headers={"aggregator": group.aggregator, "releasedBy": why},
    )
    size = size_of(made)
    if size > d.RELEASED_BYTES_MAX:
        raise feel.FeelError(
            f"expected a message of at most {d.RELEASED_BYTES_MAX} bytes, found {size}"
        )
    return made


def _is_counted(aggregator: d.Aggregator, group: Group) -> bool:
    return aggregator.count is not None and len(group.members) >= aggregator.count


def closed(group: Group, why: str, now: datetime) -> Group:
    """Return a group that takes no more messages."""
    return replace(group, closed_at=now, why=why)
