"""What fires scheduled jobs, in memory: a firing message is sent when its time has come."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from chalicelib.delivery import runs
from chalicelib.delivery.runs import Firing
from chalicelib.ports import Message, Queues
from chalicelib.scheduler.definition import ScheduledJob
from chalicelib.scheduler.schedules import next_firings
from tests.fakes.clock import ManualClock


class Planned(NamedTuple):
    """A job's next firing."""

    job: ScheduledJob
    due: datetime


class MemoryFirings:
    """The next firing of each job; without `recurs` each firing has to plan the one after it."""

    def __init__(self, clock: ManualClock, queues: Queues, *, recurs: bool = True) -> None:
        self._clock = clock
        self._queues = queues
        self._recurs = recurs
        self.planned: dict[str, Planned] = {}
        clock.listeners.append(self.fire_due)

    def put(self, job: ScheduledJob, now: datetime) -> None:
        self.planned.pop(job.id, None)
        self._plan(job, now)

    def remove(self, job_id: str) -> None:
        self.planned.pop(job_id, None)

    def goes_on(self, job: ScheduledJob, due: datetime) -> None:
        if not self._recurs:
            self._plan(job, due)

    def fire_due(self) -> None:
        """Fire what is due, each job as often as its time has come."""
        for job_id in list(self.planned):
            while (plan := self.planned.get(job_id)) and plan.due <= self._clock.now():
                del self.planned[job_id]
                body = runs.to_text(Firing(plan.job.id, plan.job.revision, plan.due))
                self._queues.send(runs.QUEUE, [Message(body)])
                if self._recurs:
                    self._plan(plan.job, plan.due)

    def _plan(self, job: ScheduledJob, after: datetime) -> None:
        if job.schedule is None:
            return
        for due in next_firings(job.schedule, after, 1, job.created_at):
            self.planned[job.id] = Planned(job, due)
