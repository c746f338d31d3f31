"""What fires the scheduled jobs: one recurring schedule each, or a chain of one-time ones.

Both send the same message to the `runs` queue, with the revision of the job that it was planned
for: so what was planned for an older definition is told when it comes, and starts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib import json_text
from chalicelib.delivery import runs
from chalicelib.delivery.runs import Firing
from chalicelib.delivery.scheduler import EventBridgeSchedules, Plan
from chalicelib.ports import Clock
from chalicelib.scheduler.definition import ScheduledJob
from chalicelib.scheduler.schedules import Every, Problem, next_firings, translate

PREFIX = "sj-"  # of the names of schedules that fire jobs
DUE = "<aws.scheduler.scheduled-time>"  # becomes the time that a firing was due
CHUNK = 100  # firings looked at together

_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class EventBridgeFirings:
    """One schedule for each job, which recurs by itself and knows time zones.

    Source: EventBridge Scheduler User Guide, "Schedule types" and "Adding context attributes".
    """

    schedules: EventBridgeSchedules

    def put(self, job: ScheduledJob, now: datetime) -> None:
        """Let a job fire by its schedule from now on, in place of what it fired by before."""
        due = _next(job, now)
        when = None if job.schedule is None else translate(job.schedule)
        if due is None or when is None or isinstance(when, Problem):
            self.remove(job.id)
            return
        body = json_text.dumps({"fire": job.id, "revision": job.revision, "due": DUE})
        start = due if isinstance(job.schedule, Every) else None
        self.schedules.put(Plan(PREFIX + job.id, when, runs.QUEUE, body, start))

    def remove(self, job_id: str) -> None:
        """Let a job fire no more; one that does not is left as it is."""
        self.schedules.remove(PREFIX + job_id)

    def goes_on(self, job: ScheduledJob, due: datetime) -> None:
        """Do nothing: the schedule recurs."""


@dataclass(frozen=True, slots=True)
class PlannedFirings:
    """A chain of one-time schedules in UTC: each firing plans the next of its job.

    It is for schedulers that know neither time zones nor what to put into a message, as the
    emulated one (contracts/emulation.md section 3). A name says job, revision and due second, so
    planning twice is planning once.
    """

    schedules: EventBridgeSchedules
    clock: Clock

    def put(self, job: ScheduledJob, now: datetime) -> None:
        """Let a job fire by its schedule from now on, in place of what it fired by before.

        A firing that is overdue stays: it was missed while nobody served it, and is about to come.
        """
        due = _next(job, now)
        kept = "" if due is None else self._plan(job, due)
        chain = _chain(job)
        for name in self.schedules.names(_every_chain(job.id)):
            is_overdue = name.startswith(chain) and int(name[len(chain) :]) <= now.timestamp()
            if name != kept and not is_overdue:
                self.schedules.remove(name)

    def remove(self, job_id: str) -> None:
        """Let a job fire no more; one that does not is left as it is."""
        for name in self.schedules.names(_every_chain(job_id)):
            self.schedules.remove(name)

    def goes_on(self, job: ScheduledJob, due: datetime) -> None:
        """Plan the firing after the one that was due, or the last of those that were missed."""
        following, now = _next(job, due), self.clock.now()
        if following is not None and following <= now:
            following = _latest(job, due, now)
        if following is not None:
            self._plan(job, following)

    def _plan(self, job: ScheduledJob, due: datetime) -> str:
        """Plan one firing; return the name of its schedule."""
        name = f"{_chain(job)}{int(due.timestamp())}"
        body = runs.to_text(Firing(job.id, job.revision, due))
        self.schedules.create(name, due, runs.QUEUE, body)
        return name


def _every_chain(job_id: str) -> str:
    return f"{PREFIX}{job_id}-"


def _chain(job: ScheduledJob) -> str:
    return f"{_every_chain(job.id)}{job.revision}-"


def _next(job: ScheduledJob, after: datetime) -> datetime | None:
    if job.schedule is None:
        return None
    return next(iter(next_firings(job.schedule, after, 1, job.created_at)), None)


def _latest(job: ScheduledJob, after: datetime, now: datetime) -> datetime | None:
    """Return the last firing after one moment and up to another, looking back from the latter."""
    back = _MINUTE  # nothing fires more often
    while True:
        start = max(after, now - back)
        found = _last_of(job, start, now)
        if found is not None or start == after:
            return found
        back *= 2


def _last_of(job: ScheduledJob, start: datetime, now: datetime) -> datetime | None:
    assert job.schedule is not None
    last = None
    while True:
        chunk = next_firings(job.schedule, last or start, CHUNK, job.created_at)
        passed = [each for each in chunk if each <= now]
        last = passed[-1] if passed else last
        if len(passed) < CHUNK:
            return last
