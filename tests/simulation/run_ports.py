"""What fires scheduled jobs and what runs them, in a world in which both may be struck."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from chalicelib.delivery import runs
from chalicelib.delivery.runs import Firing
from chalicelib.ports import Message
from chalicelib.scheduler.definition import ScheduledJob, Sink
from chalicelib.scheduler.rows import Attempt, Outcome, Row
from chalicelib.scheduler.schedules import next_firings
from chalicelib.store.moments import to_ms
from tests.simulation.faults import Call, Strike
from tests.simulation.ports import LATE_SCHEDULE, WatchedQueues
from tests.simulation.run_watch import RunWatch
from tests.simulation.tape import taped
from tests.simulation.watch import Watch
from tests.simulation.world import BEGIN, Fault, World

FIRES_FOR = timedelta(seconds=150)  # then nothing more is planned, so that a run has an end

Says = Callable[[Row], tuple[Outcome, int]]  # how an attempt ends, and how much is left then


def succeeds(_: Row) -> tuple[Outcome, int]:
    """Succeed, with nothing left."""
    return Outcome.SUCCEEDED, 0


@dataclass(slots=True)
class StruckFirings:
    """Firings that do not recur: each has to plan the next, or there is none."""

    world: World
    queues: WatchedQueues
    watch: Watch
    planned: dict[str, str] = field(default_factory=dict)  # the body each job is to fire with
    latest: dict[str, int] = field(default_factory=dict)  # the revision each was last planned for

    def begin_with(self, job: ScheduledJob) -> None:
        """Let a job's firings be planned from before the play."""
        self._plan(job, BEGIN, None)

    @taped
    def put(self, job: ScheduledJob, now: datetime) -> None:
        strike = self.world.call(Call.SCHEDULE, "put firing", job.revision)
        self._plan(job, now, strike)
        self._fail(strike)

    @taped
    def remove(self, job_id: str) -> None:
        strike = self.world.call(Call.SCHEDULE, "remove firing", job_id)
        self._forget(job_id)
        self.latest.pop(job_id, None)
        self._fail(strike)

    @taped
    def goes_on(self, job: ScheduledJob, due: datetime) -> None:
        strike = self.world.call(Call.SCHEDULE, "go on", job.revision, due)
        self._plan(job, due, strike)
        self._fail(strike)

    def _fail(self, strike: Strike | None) -> None:
        if strike is Strike.CRASH_AFTER:
            self.world.crash()
        if strike is Strike.LOST_ANSWER:
            raise Fault("the answer of the scheduler was lost")

    def _plan(self, job: ScheduledJob, after: datetime, strike: Strike | None) -> None:
        self._forget(job.id)
        if job.schedule is None:
            return
        for due in next_firings(job.schedule, after, 1, job.created_at):
            self.latest[job.id] = job.revision
            if due > BEGIN + FIRES_FOR:
                return
            body = runs.to_text(Firing(job.id, job.revision, due))
            self.planned[job.id] = body
            self.watch.scheduled(body)
            at = due + LATE_SCHEDULE if strike is Strike.LATE else due
            wait_ms = (at - self.world.now()) // timedelta(milliseconds=1)
            self.world.spawn("firing", partial(self._fire, job.id, body), max(0, wait_ms))

    def _fire(self, job_id: str, body: str) -> None:
        if self.planned.get(job_id) == body:
            self.queues.send(runs.QUEUE, [Message(body)])
            self._forget(job_id)

    def _forget(self, job_id: str) -> None:
        body = self.planned.pop(job_id, None)
        if body is not None:
            self.watch.fired(body)


@dataclass(frozen=True, slots=True)
class CountedAlerts:
    """Counts how often an alarm of the only job went off: in one window once."""

    world: World
    runs: RunWatch

    @taped
    def send(self, sink: Sink, text: str) -> None:
        self.runs.alerts += 1
        if self.runs.alerts > 1:
            self.runs.complain(f"an alarm went off {self.runs.alerts} times: {text}")


@dataclass(frozen=True, slots=True)
class PlayedRunner:
    """Makes attempts that take a while and say what the scenario wants; it may die at work."""

    world: World
    runs: RunWatch
    work_ms: int
    says: Says

    @taped
    def run(self, job: ScheduledJob, row: Row, timeout: timedelta) -> Attempt:
        self.world.call(Call.WORK, "run", row.run_id, row.pool_idx, row.iteration, row.attempt)
        started_at = self.world.local_now()
        with self.runs.working(job, row, to_ms(row.due)):
            self.world.pause(self.work_ms)
        outcome, left = self.says(row)
        body = b'{"result":{"remaining":%d}}' % left
        return Attempt(outcome, started_at, self.world.local_now(), output=body)
