"""Messages of timer start events: "element E of process P is due", on the `timers` queue.

They are judged like those of timers, by the *latest* pointer: one of another version, or for
another second, is spare, unless the pointer has yet to be moved. Design section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from chalicelib import json_text
from chalicelib.delivery import bodies
from chalicelib.delivery.later import Later
from chalicelib.delivery.verdicts import LiveDue, LiveLater, Spare, Verdict, not_yet
from chalicelib.engine.effects import SetStart
from chalicelib.profile import Profile
from chalicelib.store.moments import to_ms
from chalicelib.store.start_timers import Starts

_MARK = "starts"  # what tells these messages from those of timers


@dataclass(frozen=True, slots=True)
class StartMessage:
    """What a message says."""

    profile: Profile
    bpmn_process_id: str
    definition_key: int
    generation: int  # of the pointer that the timer stands on
    element_id: str
    due: datetime
    first_sent: datetime


def message_of(effect: SetStart, now: datetime) -> StartMessage:
    """Return the message that a deployment or a firing owes, as it is first sent."""
    return StartMessage(
        effect.profile,
        effect.bpmn_process_id,
        effect.definition_key,
        effect.generation,
        effect.element_id,
        effect.due,
        now,
    )


def is_start(text: str) -> bool:
    """Say whether a message of the queue is one of these."""
    return _MARK in bodies.parse(text)


def to_text(message: StartMessage) -> str:
    """Write a message as a body."""
    return json_text.dumps(
        {
            _MARK: message.bpmn_process_id,
            "profile": message.profile.value,
            "definition": message.definition_key,
            "version": message.generation,
            "element": message.element_id,
            "due": to_ms(message.due),
            "sent": to_ms(message.first_sent),
        }
    )


def from_text(text: str) -> StartMessage:
    """Read a body. Raises: Rejected(INVALID_ARGUMENT) if it is not such a message."""
    body = bodies.parse(text)
    return StartMessage(
        profile=bodies.profile(body),
        bpmn_process_id=bodies.text(body, _MARK),
        definition_key=bodies.integer(body, "definition"),
        generation=bodies.integer(body, "version"),
        element_id=bodies.text(body, "element"),
        due=bodies.moment(body, "due"),
        first_sent=bodies.moment(body, "sent"),
    )


def later(message: StartMessage) -> Later:
    """Return the message to be sent on for its due time."""
    element = sha256(message.element_id.encode()).hexdigest()[:16]
    name = f"s-{message.definition_key}-{element}-{to_ms(message.due) // 1000}"
    return Later(name, message.due, to_text(message))


def judge(message: StartMessage, starts: Starts | None, now: datetime) -> Verdict:
    """Say what a received message is, by the pointer of its process.

    It comes before the deployment, or the firing before it, that promised it was committed: then
    it is early, and spare once that can no more come.
    """
    if starts is None or starts.generation < message.generation:
        return not_yet(message.first_sent, now)
    if starts.definition_key != message.definition_key:
        return Spare()
    timer = starts.timers.get(message.element_id)
    if timer is None or to_ms(timer.due) > to_ms(message.due):
        return Spare()
    if to_ms(timer.due) < to_ms(message.due):
        return not_yet(message.first_sent, now)
    return LiveDue() if timer.due <= now else LiveLater(timer.due)
