"""Schedules in memory, which fire when the clock has moved past their time."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from chalicelib.ports import Message, QueueMissing, Queues
from tests.fakes.clock import ManualClock


class Planned(NamedTuple):
    """What a schedule will do."""

    at: datetime
    queue: str
    body: str


class MemorySchedules:
    """Schedules by name; one whose queue is missing loses its message, as on AWS."""

    def __init__(self, clock: ManualClock, queues: Queues) -> None:
        self._clock = clock
        self._queues = queues
        self.planned: dict[str, Planned] = {}
        clock.listeners.append(self.fire_due)

    def create(self, name: str, at: datetime, queue: str, body: str) -> None:
        self.planned.setdefault(name, Planned(at.replace(microsecond=0), queue, body))

    def fire_due(self) -> None:
        """Fire what is due."""
        now = self._clock.now()
        for name, plan in list(self.planned.items()):
            if plan.at <= now:
                del self.planned[name]
                try:
                    self._queues.send(plan.queue, [Message(plan.body)])
                except QueueMissing:
                    continue
