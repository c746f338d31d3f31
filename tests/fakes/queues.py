"""Queues in memory, as unreliable as standard queues are allowed to be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from heapq import heappop, heappush

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


@dataclass(slots=True)
class _Queue:
    """The messages of a queue by their numbers, so in the order sent.

    Shapes: `hidden` is a heap of when each is to be seen again, `shown` one of those that can be
        seen. What became of a message since is found in the message: an entry that is outdated is
        dropped when its turn comes.
    """

    messages: dict[int, _Held] = field(default_factory=dict)
    hidden: list[tuple[datetime, int]] = field(default_factory=list)
    shown: list[int] = field(default_factory=list)

    def put(self, message: _Held) -> None:
        self.messages[message.number] = message
        heappush(self.hidden, (message.visible_at, message.number))

    def hide(self, message: _Held, until: datetime) -> None:
        message.visible_at = until
        heappush(self.hidden, (until, message.number))

    def take(self, limit: int, now: datetime) -> list[_Held]:
        """Return the first of those that can be seen; whoever takes them hides them."""
        self._show(now)
        taken: dict[int, _Held] = {}
        while self.shown and len(taken) < limit:
            number = heappop(self.shown)
            message = self.messages.get(number)
            if message is not None and message.visible_at <= now:
                taken[number] = message
        return [*taken.values()]

    def find(self, receipt: str) -> _Held | None:
        """Return the message whose newest receipt it is."""
        message = self.messages.get(int(receipt.partition(".")[0]))
        return message if message is not None and message.receipt == receipt else None

    def _show(self, now: datetime) -> None:
        while self.hidden and self.hidden[0][0] <= now:
            at, number = heappop(self.hidden)
            message = self.messages.get(number)
            if message is not None and message.visible_at == at:
                heappush(self.shown, number)


class MemoryQueues:
    """Messages by queue; with `chance` they come in any order."""

    def __init__(self, clock: Clock, chance: Chance | None = None) -> None:
        self._clock = clock
        self._chance = chance
        self._sent = 0
        self._queues: dict[str, _Queue] = {name: _Queue() for name in FIXED}

    def send(self, queue: str, messages: Sequence[Message]) -> None:
        held = self._queue(queue)
        for message in messages:
            if not 0 <= message.delay_s <= DELAY_MAX_S:
                raise ValueError(f"expected a delay of 0 to 900 s, found {message.delay_s}")
            self._sent += 1
            visible_at = self._clock.now() + timedelta(seconds=message.delay_s)
            held.put(_Held(self._sent, message.body, visible_at))

    def receive(self, queue: str, limit: int, visibility_s: int, wait_s: int) -> list[Received]:
        end = self._clock.now() + timedelta(seconds=wait_s)
        while not (taken := self._take(queue, limit)) and self._clock.now() < end:
            left = (end - self._clock.now()).total_seconds()
            self._clock.sleep(min(STEP_S, left))
        for message in taken:
            message.received += 1
            until = self._clock.now() + timedelta(seconds=visibility_s)
            self._queue(queue).hide(message, until)
        return [Received(message.body, message.receipt) for message in taken]

    def delete(self, queue: str, receipts: Sequence[str]) -> None:
        # SQS promises it only for the newest receipt of a message, so here others do nothing.
        held = self._queue(queue)
        for receipt in receipts:
            if (message := held.find(receipt)) is not None:
                del held.messages[message.number]

    def show_again(self, queue: str, receipt: str, after_s: int) -> None:
        held, now = self._queue(queue), self._clock.now()
        message = held.find(receipt)
        if message is not None and message.visible_at > now:
            held.hide(message, now + timedelta(seconds=after_s))

    def ensure(self, queue: str) -> str:
        self._queues.setdefault(queue, _Queue())
        return f"arn:aws:sqs:us-east-1:000000000000:{queue}"

    def names(self) -> list[str]:
        return [name for name in self._queues if name.startswith(bells.PREFIX)]

    def count(self, queue: str) -> int:
        return len(self._queues[queue].messages) if queue in self._queues else 0

    # --- what only a test may do -------------------------------------------------------------

    def bodies(self, queue: str) -> list[str]:
        """Return what a queue holds, hidden and delayed ones too, in the order sent."""
        return [message.body for message in self._queue(queue).messages.values()]

    def visible(self, queue: str) -> list[str]:
        """Return what a receive could take now."""
        now = self._clock.now()
        messages = self._queue(queue).messages.values()
        return [message.body for message in messages if message.visible_at <= now]

    def lose(self, queue: str) -> None:
        """Lose all that a queue holds, as no queue ever should."""
        self._queue(queue).messages.clear()

    def drop(self, queue: str) -> None:
        """Let there be no such queue."""
        self._queues.pop(queue, None)

    def _take(self, queue: str, limit: int) -> list[_Held]:
        """Return what one receive takes: the oldest, or by chance any of those to be seen."""
        held, now = self._queue(queue), self._clock.now()
        wanted = max(1, min(RECEIVE_MAX, limit))
        if self._chance is None:
            return held.take(wanted, now)
        chance, seen = self._chance, held.take(len(held.messages), now)
        seen.sort(key=lambda _: chance.share())
        for message in seen[wanted:]:
            heappush(held.shown, message.number)
        return seen[:wanted]

    def _queue(self, queue: str) -> _Queue:
        if queue not in self._queues:
            raise QueueMissing(f"expected queue {queue}, found none")
        return self._queues[queue]
