"""Messages of the `routing` queue: a message in a channel is to be handled, a group's time is up.

Both are rumours that are judged against the table. They are sent before the transaction that makes
them true, so one may be early; each names the very state it is about, so copies of it are spare as
soon as one has served. Design section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import NamedTuple

from chalicelib import json_text
from chalicelib.delivery import bodies, horizon
from chalicelib.delivery.later import Later, delay_s
from chalicelib.delivery.promise import in_time
from chalicelib.delivery.verdicts import LiveDue, LiveLater, Spare, Verdict, not_yet
from chalicelib.json_text import JsonObject
from chalicelib.ports import Message, Ports
from chalicelib.routing.messages import Entry, Group, Place, State
from chalicelib.store.moments import to_ms

QUEUE = "routing"
NAME_LENGTH = 40  # hexadecimal digits that name the schedule of a message


@dataclass(frozen=True, slots=True)
class Handle:
    """A message in a channel is to be handled, in the state of that revision."""

    place: Place
    nonce: str
    revision: int
    first_sent: datetime


@dataclass(frozen=True, slots=True)
class GroupDue:
    """The time of an aggregator's group is up."""

    aggregator: str
    correlation_key: str
    group_id: str
    first_sent: datetime


RoutingMessage = Handle | GroupDue


class Owed(NamedTuple):
    """A message and the time it is for."""

    message: RoutingMessage
    at: datetime


def handling(entry: Entry, now: datetime) -> Owed:
    """Return what tells of a message that waits."""
    return Owed(Handle(entry.place, entry.nonce, entry.revision, now), entry.due)


def timeout(group: Group, now: datetime) -> Owed:
    """Return what tells of the end of a group."""
    message = GroupDue(group.aggregator, group.correlation_key, group.id, now)
    return Owed(message, group.due)


def promise(ports: Ports, owed: Sequence[Owed]) -> None:
    """Send what a commit is about to make true, and return while there is time for it.

    Raises: Conflict if this process stalls again and again.
    """

    def send() -> datetime:
        now = ports.clock.now()
        messages = [Message(to_text(each.message), delay_s(each.at, now)) for each in owed]
        ports.queues.send(QUEUE, messages)
        return now

    if owed:
        in_time(ports, send)


def to_text(message: RoutingMessage) -> str:
    """Write a message as a body."""
    return json_text.dumps(_body(message))


def _body(message: RoutingMessage) -> JsonObject:
    match message:
        case Handle(place, nonce, revision, first_sent):
            return {
                "handle": place.id,
                "channel": place.channel,
                "nonce": nonce,
                "revision": revision,
                "sent": to_ms(first_sent),
            }
        case GroupDue(aggregator, correlation_key, group_id, first_sent):
            return {
                "group": group_id,
                "aggregator": aggregator,
                "key": correlation_key,
                "sent": to_ms(first_sent),
            }


def from_text(text: str) -> RoutingMessage:
    """Read a body. Raises: Rejected(INVALID_ARGUMENT) if it is neither."""
    body = bodies.parse(text)
    if "group" in body:
        return GroupDue(
            bodies.text(body, "aggregator"),
            bodies.text(body, "key"),
            bodies.text(body, "group"),
            bodies.moment(body, "sent"),
        )
    return Handle(
        Place(bodies.text(body, "channel"), bodies.text(body, "handle")),
        bodies.text(body, "nonce"),
        bodies.integer(body, "revision"),
        bodies.moment(body, "sent"),
    )


def later(message: RoutingMessage, at: datetime) -> Later:
    """Return a message to be sent on for its time."""
    named = {name: value for name, value in _body(message).items() if name != "sent"}
    text = json_text.canonical({**named, "at": to_ms(at) // 1000})
    return Later(f"m-{sha256(text.encode()).hexdigest()[:NAME_LENGTH]}", at, to_text(message))


def put_back_after_s(message: RoutingMessage, now: datetime) -> int:
    """Return how many seconds an early message waits before it is looked at again."""
    return horizon.put_back_after_s(message.first_sent, now)


# --- verdicts ----------------------------------------------------------------------------------


def judge_handle(message: Handle, entry: Entry | None, now: datetime) -> Verdict:
    """Say what a received message is; of an entry that is still to be committed it is early.

    It is spare where another message has the id: whoever promised this one read the clock before
    that, so that to him the other has not expired either.
    """
    early = not_yet(message.first_sent, now)
    if entry is None:
        return early
    if entry.nonce != message.nonce:
        return Spare() if entry.expires_at > now + horizon.CLOCK_SKEW_MAX else early
    if entry.revision < message.revision:
        return early
    if entry.revision > message.revision or entry.state is not State.WAITING:
        return Spare()
    return LiveDue() if entry.due <= now else LiveLater(entry.due)


def judge_group(message: GroupDue, group: Group | None, is_closed: bool, now: datetime) -> Verdict:
    """Say what a received message is, by the group that is open under its key."""
    if is_closed:
        return Spare()
    if group is None or group.id != message.group_id:
        return not_yet(message.first_sent, now)
    return LiveDue() if group.due <= now else LiveLater(group.due)
