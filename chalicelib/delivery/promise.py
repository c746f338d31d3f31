"""To promise: to send the messages of effects before the transaction that makes them owed.

A promise without its commit finds nothing and goes; a commit without its promise cannot happen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import assert_never

from chalicelib.delivery import bells, commands, start_timers, timers
from chalicelib.delivery.horizon import COMMIT_WINDOW
from chalicelib.delivery.later import delay_s
from chalicelib.engine.effects import Effect, Ring, Send, SetStart, SetTimer
from chalicelib.errors import Conflict, TooLarge
from chalicelib.ports import Message, Ports, QueueMissing
from chalicelib.profile import Profile

TYPES_MAX = 1_000  # job queues of one stage; design section 5
TYPE_BYTES_MAX = 2_000  # of one job type: ten bells, escaped, stay below 256 KiB a batch (SQS)
QUEUE_WAITS_MAX = 5  # a queue can be used about a second after it was made (SQS CreateQueue)
QUEUE_WAIT_S = 0.5
PROMISES_MAX = 3  # a process that stalls longer than the commit window after each of them is ill


def measure(effects: Sequence[Effect]) -> None:
    """Raises: TooLarge for what is too long for the message that tells of it: a job type, or what
    goes along with a message or signal."""
    for effect in effects:
        if isinstance(effect, Send):
            commands.check(effect.command)
        if isinstance(effect, Ring) and (length := len(effect.type.encode())) > TYPE_BYTES_MAX:
            raise TooLarge(
                f"expected a job type of at most {TYPE_BYTES_MAX} bytes, found {length}: "
                f"{effect.type[:50]!r}"
            )


def promise(
    ports: Ports, effects: Sequence[Effect], source_key: int = 0, turn_id: str = ""
) -> datetime:
    """Send all that is owed, one batch for each queue; return the moment before it was sent.

    Shapes: `source_key` and `turn_id` name the turn that owes commands; bells need neither.
    Raises: TooLarge if a job type would be one more than TYPES_MAX; a fault, if anything may not
        have been sent: then nothing may be committed.
    """
    now = ports.clock.now()
    outgoing: dict[str, list[Message]] = {}
    for effect in effects:
        queue, message = _addressed(ports, effect, now, source_key, turn_id)
        outgoing.setdefault(queue, []).append(message)
    for queue, messages in outgoing.items():
        _send(ports, queue, messages)
    return now


def promise_in_time(
    ports: Ports, effects: Sequence[Effect], source_key: int = 0, turn_id: str = ""
) -> datetime:
    """Promise, and return while there is time to commit: a stalled process promises again.

    Returns the moment before the promise was sent.
    Raises: Conflict if it stalls again and again.
    """
    return in_time(ports, partial(promise, ports, effects, source_key, turn_id))


def in_time(ports: Ports, send: Callable[[], datetime]) -> datetime:
    """Send what is promised, again if this process stalled, until there is time to commit.

    Shapes: `send` returns the moment before it sent, and so does this.
    Raises: Conflict if it stalls again and again.
    """
    for _ in range(PROMISES_MAX):
        promised_at = send()
        if is_fresh(ports, promised_at):
            return promised_at
    raise Conflict(f"expected to commit within {COMMIT_WINDOW} of a promise, {PROMISES_MAX} times")


def is_fresh(ports: Ports, promised_at: datetime) -> bool:
    """Say whether a commit may still rest on a promise of that moment."""
    return ports.clock.now() - promised_at <= COMMIT_WINDOW


def job_queue(ports: Ports, kind: str, type_: str, profile: Profile) -> str:
    """Return the name of the queue that bells of these jobs are sent to."""
    return bells.queue_of(kind, type_, None if ports.settings.cross_dialect else profile)


def ensure_queue(ports: Ports, queue: str) -> str:
    """Make a job queue unless it is there; return its ARN. Raises: TooLarge beyond TYPES_MAX."""
    names = ports.queues.names()
    if queue not in names and len(names) >= TYPES_MAX:
        raise TooLarge(f"expected at most {TYPES_MAX} job types, found one more: queue {queue}")
    return ports.queues.ensure(queue)


def _addressed(
    ports: Ports, effect: Effect, now: datetime, source_key: int, turn_id: str
) -> tuple[str, Message]:
    """Return the queue and the message of one effect."""
    match effect:
        case Ring(kind=kind, type=type_, profile=profile, at=at):
            text = bells.to_text(bells.bell_of(effect, now))
            return job_queue(ports, kind, type_, profile), Message(text, delay_s(at, now))
        case SetTimer(due=due):
            text = timers.to_text(timers.message_of(effect, now))
            return timers.QUEUE, Message(text, delay_s(due, now))
        case SetStart(due=due):
            text = start_timers.to_text(start_timers.message_of(effect, now))
            return timers.QUEUE, Message(text, delay_s(due, now))
        case Send():
            queued = commands.message_of(effect, source_key, turn_id, now)
            return commands.QUEUE, Message(commands.to_text(queued), commands.INSURANCE_S)
        case _ as never:
            assert_never(never)


def _send(ports: Ports, queue: str, messages: Sequence[Message]) -> None:
    """Send, after making a job queue that is missing; only a promise makes queues."""
    try:
        ports.queues.send(queue, messages)
        return
    except QueueMissing:
        if not queue.startswith(bells.PREFIX):
            raise
    ensure_queue(ports, queue)
    for _ in range(QUEUE_WAITS_MAX - 1):
        try:
            ports.queues.send(queue, messages)
            return
        except QueueMissing:
            ports.clock.sleep(QUEUE_WAIT_S)
    ports.queues.send(queue, messages)
