"""Timer messages: "timer T of instance I is due", judged like bells with the due time for number.

A message whose due time is not the record's is spare: another one is on its way. Cancelling a
timer only ends its record, and the message finds nothing. Design section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from chalicelib import json_text
from chalicelib.delivery import bodies
from chalicelib.delivery.later import Later
from chalicelib.delivery.verdicts import LiveDue, LiveLater, Spare, Verdict, not_yet
from chalicelib.engine.effects import SetTimer
from chalicelib.engine.state import Timer
from chalicelib.store.moments import to_ms

QUEUE = "timers"


@dataclass(frozen=True, slots=True)
class TimerMessage:
    """What a timer message says.

    Shapes: `version` is the root version that makes the timer.
    """

    instance_key: int
    timer_key: int
    due: datetime
    version: int
    first_sent: datetime


def message_of(effect: SetTimer, now: datetime) -> TimerMessage:
    """Return the message that a turn owes, as it is first sent."""
    return TimerMessage(effect.instance_key, effect.timer_key, effect.due, effect.version, now)


def to_text(message: TimerMessage) -> str:
    """Write a timer message as a body."""
    return json_text.dumps(
        {
            "instance": message.instance_key,
            "timer": message.timer_key,
            "due": to_ms(message.due),
            "version": message.version,
            "sent": to_ms(message.first_sent),
        }
    )


def from_text(text: str) -> TimerMessage:
    """Read a body. Raises: Rejected(INVALID_ARGUMENT) if it is not a timer message."""
    body = bodies.parse(text)
    return TimerMessage(
        instance_key=bodies.integer(body, "instance"),
        timer_key=bodies.integer(body, "timer"),
        due=bodies.moment(body, "due"),
        version=bodies.integer(body, "version"),
        first_sent=bodies.moment(body, "sent"),
    )


def later(message: TimerMessage) -> Later:
    """Return the message to be sent on for its due time."""
    name = f"t-{message.timer_key}-{to_ms(message.due) // 1000}"
    return Later(name, message.due, to_text(message))


def judge(
    message: TimerMessage, timer: Timer | None, root_version: int | None, now: datetime
) -> Verdict:
    """Say what a received timer message is.

    Shapes: `root_version` must have been read before the timer: else the turn that makes both
        may have come in between; None says that there is no root.
    """
    if timer is None:
        if root_version is not None and root_version >= message.version:
            return Spare()
        return not_yet(message.first_sent, now)
    if to_ms(timer.due) != to_ms(message.due):
        return Spare()
    return LiveDue() if timer.due <= now else LiveLater(timer.due)
