"""Queues in memory, as unreliable as standard queues are allowed to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.delivery import bells, commands, routing, runs, timers
from chalicelib.ports import Chance, Clock, Message, QueueMissing, Received

RECEIVE_MAX = 10  # messages of one receive (SQS quota)
DELAY_MAX_S = 900  # SQS quota
STEP_S = 1.0  # a receive that waits looks again so often
FIXED = (timers.QUEUE, commands.QUEUE, runs.QUEUE, routing.QUEUE)


@dataclass(slots=True)
class _Held:
    """A message in a queue; its receipt is the newest one, None while nobody has it."""

    number: int
    body: str
    visible_at: datetime
    received: int = 0

    @property
    def receipt(self) -> str:
        return f"{self.number}.{self.received}"


class MemoryQueues:
    """Messages by queue; with `chance` they come in any order."""

    def __init__(self, clock: Clock, chance: Chance | None = None) -> None:
        self._clock = clock
        self._chance = chance
        self._sent = 0
        self._queues: dict[str, list[_Held]] = {name: [] for name in FIXED}

    def send(self, queue: str, messages: Sequence[Message]) -> None:
        held = self._queue(queue)
        for message in messages:
            if not 0 <= message.delay_s <= DELAY_MAX_S:
                raise ValueError(f"expected a delay of 0 to 900 s, found {message.delay_s}")
            self._sent += 1
            visible_at = self._clock.now() + timedelta(seconds=message.delay_s)
            held.append(_Held(self._sent, message.body, visible_at))

    def receive(self, queue: str, limit: int, visibility_s: int, wait_s: int) -> list[Received]:
        end = self._clock.now() + timedelta(seconds=wait_s)
        while not (visible := self._visible(queue)) and self._clock.now() < end:
            left = (end - self._clock.now()).total_seconds()
            self._clock.sleep(min(STEP_S, left))
        if self._chance is not None:
            visible.sort(key=lambda _: self._chance.share() if self._chance else 0.0)
        taken = visible[: max(1, min(RECEIVE_MAX, limit))]
        for message in taken:
            message.received += 1
            message.visible_at = self._clock.now() + timedelta(seconds=visibility_s)
        return [Received(message.body, message.receipt) for message in taken]

    def delete(self, queue: str, receipts: Sequence[str]) -> None:
        # SQS promises it only for the newest receipt of a message, so here others do nothing.
        gone = set(receipts)
        held = self._queue(queue)
        held[:] = [message for message in held if message.receipt not in gone]

    def show_again(self, queue: str, receipt: str, after_s: int) -> None:
        for message in self._queue(queue):
            if message.receipt == receipt and message.visible_at > self._clock.now():
                message.visible_at = self._clock.now() + timedelta(seconds=after_s)

    def ensure(self, queue: str) -> str:
        self._queues.setdefault(queue, [])
        return f"arn:aws:sqs:us-east-1:000000000000:{queue}"

    def names(self) -> list[str]:
        return [name for name in self._queues if name.startswith(bells.PREFIX)]

    def count(self, queue: str) -> int:
        return len(self._queues.get(queue, ()))

    # --- what only a test may do -------------------------------------------------------------

    def bodies(self, queue: str) -> list[str]:
        """Return what a queue holds, hidden and delayed ones too, in the order sent."""
        return [message.body for message in self._queue(queue)]

    def visible(self, queue: str) -> list[str]:
        """Return what a receive could take now."""
        return [message.body for message in self._visible(queue)]

    def lose(self, queue: str) -> None:
        """Lose all that a queue holds, as no queue ever should."""
        self._queue(queue).clear()

    def drop(self, queue: str) -> None:
        """Let there be no such queue."""
        self._queues.pop(queue, None)

    def _visible(self, queue: str) -> list[_Held]:
        now = self._clock.now()
        return [message for message in self._queue(queue) if message.visible_at <= now]

    def _queue(self, queue: str) -> list[_Held]:
        if queue not in self._queues:
            raise QueueMissing(f"expected queue {queue}, found none")
        return self._queues[queue]
