"""Messages for later: delayed ones, and one-time schedules for what is far.

SQS delays a message by at most 15 minutes. What is for later than that is sent with the longest
delay; whoever receives it then exchanges it for a schedule, which sends it again early enough to
be sent on once more with a delay. So most work, which ends before, never touches a schedule, and
the precision is that of SQS, not the minute of EventBridge Scheduler. Design section 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import NamedTuple

from chalicelib.ports import Message, Ports

DELAY_MAX_S = 900  # SQS quota of DelaySeconds; the emulated one does not enforce it
EARLY_MIN_S = 75  # a schedule may fire 60 s late (EventBridge Scheduler); the rest is for us
EARLY_SPREAD_S = 780  # spreads what is due in one second; 75 + 779 stays below DELAY_MAX_S

_SECOND = timedelta(seconds=1)


class Later(NamedTuple):
    """A message and the time it is for; `name` is unique for both together."""

    name: str
    at: datetime
    body: str


def delay_s(at: datetime, now: datetime) -> int:
    """Return the seconds to delay a message that is for a time, rounded up, 0 to 900."""
    return max(0, min(DELAY_MAX_S, -((now - at) // _SECOND)))


def is_far(at: datetime, now: datetime) -> bool:
    """Say whether a message would have to be delayed longer than SQS can."""
    return at - now > DELAY_MAX_S * _SECOND


def schedule_at(name: str, at: datetime) -> datetime:
    """Return when the schedule of that name fires: 75 s to 14 minutes before the time."""
    spread = int.from_bytes(sha256(name.encode()).digest()[:8], "big") % EARLY_SPREAD_S
    return at - (EARLY_MIN_S + spread) * _SECOND


def send_on(ports: Ports, queue: str, messages: Sequence[Later]) -> None:
    """Send received messages again for their times: delayed, or by a schedule if that is far.

    Sending one on twice is harmless; only then may the received message be deleted.
    """
    now = ports.clock.now()
    near = [
        Message(each.body, delay_s(each.at, now)) for each in messages if not is_far(each.at, now)
    ]
    for name, at, body in (each for each in messages if is_far(each.at, now)):
        ports.schedules.create(name, schedule_at(name, at), queue, body)
    if near:
        ports.queues.send(queue, near)
