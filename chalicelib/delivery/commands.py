"""Queued commands: "instance I shall do C".

A command is promised before the commit of the turn that owes it, and run right after that commit;
the message is the insurance. It is real if and only if the history of its source has, for the
version it names, the turn that it names. Design section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import assert_never

from chalicelib import json_text
from chalicelib.delivery import bodies, children, meetings
from chalicelib.delivery.verdicts import LiveDue, Spare, Verdict, not_yet
from chalicelib.engine.commands import (
    BroadcastSignal,
    CancelChild,
    Continue,
    HearEnd,
    HearEscalation,
    HearIteration,
    OfferMessage,
    Owed,
    PublishMessage,
    Retire,
    SeekMessage,
    SeekStart,
    StartChild,
)
from chalicelib.engine.effects import Send
from chalicelib.errors import Reason, Rejected, TooLarge
from chalicelib.json_text import JsonObject
from chalicelib.store.moments import to_ms

QUEUE = "commands"
PAYLOAD_BYTES_MAX = 200_000  # of the 256 KiB of a message (SQS quota)
INSURANCE_S = 5  # by then it has usually been done by whoever promised it


@dataclass(frozen=True, slots=True)
class Source:
    """The turn that owes a command: of which instance, which version, and which turn made it."""

    instance_key: int
    version: int
    turn_id: str


@dataclass(frozen=True, slots=True)
class QueuedCommand:
    """What a command message says; without a source no instance sent it, and it is real."""

    instance_key: int
    command: Owed
    first_sent: datetime
    source: Source | None = None


def message_of(effect: Send, source_key: int, turn_id: str, now: datetime) -> QueuedCommand:
    """Return the message that a turn owes, as it is first sent."""
    source = Source(source_key, effect.version, turn_id)
    return QueuedCommand(effect.instance_key, effect.command, now, source)


def to_text(queued: QueuedCommand) -> str:
    """Write a command as a message body."""
    body: JsonObject = {
        "instance": queued.instance_key,
        "sent": to_ms(queued.first_sent),
        **_written(queued.command),
    }
    if queued.source is not None:
        body["source"] = queued.source.instance_key
        body["version"] = queued.source.version
        body["turn"] = queued.source.turn_id
    return json_text.dumps(body)


def from_text(text: str) -> QueuedCommand:
    """Read a body. Raises: Rejected(INVALID_ARGUMENT) if it is not a command."""
    body = bodies.parse(text)
    source = None
    if "source" in body:
        source = Source(
            instance_key=bodies.integer(body, "source"),
            version=bodies.integer(body, "version"),
            turn_id=bodies.text(body, "turn"),
        )
    return QueuedCommand(
        instance_key=bodies.integer(body, "instance"),
        command=_read(body),
        first_sent=bodies.moment(body, "sent"),
        source=source,
    )


def check(command: Owed) -> None:
    """Raises: TooLarge for what cannot go along with a message or signal."""
    match command:
        case PublishMessage(variables=variables) | BroadcastSignal(variables=variables):
            length = len(json_text.dumps(variables).encode())
            if length > PAYLOAD_BYTES_MAX:
                raise TooLarge(
                    f"expected at most {PAYLOAD_BYTES_MAX} bytes to go along with a message or "
                    f"signal, found {length}"
                )


def judge(
    queued: QueuedCommand, root_version: int | None, turn_id: str | None, now: datetime
) -> Verdict:
    """Say whether a command is real: due if it is, spare if it never was.

    A Continue is spare, too, once the source has moved on: each later turn has made the moves
    that were left, or owes a Continue of its own. Else old ones would race with the newest.

    Shapes: `root_version` of the source, None without a root; `turn_id` of the source's history
        at the version that the command names, None without one.
    """
    source = queued.source
    if source is None:
        return LiveDue()
    if root_version is None or root_version < source.version:
        return not_yet(queued.first_sent, now)
    is_outdated = isinstance(queued.command, Continue) and root_version > source.version
    return LiveDue() if turn_id == source.turn_id and not is_outdated else Spare()


def _written(command: Owed) -> JsonObject:
    match command:
        case Continue():
            return {"do": "continue"}
        case Retire():
            return {"do": "retire"}
        case PublishMessage() | OfferMessage() | SeekMessage() | SeekStart() | BroadcastSignal():
            return meetings.written(command)
        case StartChild() | CancelChild() | HearEnd() | HearEscalation() | HearIteration():
            return children.written(command)
        case _ as never:
            assert_never(never)


def _read(body: JsonObject) -> Owed:
    match bodies.text(body, "do"):
        case "continue":
            return Continue()
        case "retire":
            return Retire()
        case other if other in meetings.WORDS:
            return meetings.read(other, body)
        case other if other in children.WORDS:
            return children.read(other, body)
        case other:
            raise Rejected(Reason.INVALID_ARGUMENT, f"expected a command to do, found {other!r}")
