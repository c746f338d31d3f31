"""A stage for scheduled jobs with everything in memory: firings, a scripted runner, alerts."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from chalicelib.delivery import runs
from chalicelib.delivery.runs import Firing
from chalicelib.operations import firings, scheduled_jobs
from chalicelib.operations.firings import Fired
from chalicelib.ports import Ports, Settings
from chalicelib.scheduler.definition import Every, Loop, Retry, ScheduledJob
from chalicelib.scheduler.overlap import Lock
from chalicelib.scheduler.rows import Row, RowState, run_id_of
from chalicelib.store import invocations
from chalicelib.store import runs as rows
from chalicelib.store.invocations import Invocation
from chalicelib.triggers.runs import on_runs
from tests.fakes.chance import SeededChance
from tests.fakes.clock import BEGIN, ManualClock
from tests.fakes.firings import MemoryFirings
from tests.fakes.queues import MemoryQueues
from tests.fakes.runner import MemoryAlerts, Said, ScriptedRunner
from tests.fakes.schedules import MemorySchedules
from tests.fakes.table import MemoryTable

VISIBILITY_S = runs.VISIBILITY // timedelta(seconds=1)
HOURLY, DAILY = Every(3_600_000), Every(86_400_000)
LOOPING = Loop(enabled=True)
RETRYING = Retry(enabled=True)


class Scheduling:
    """Ports in memory, and verbs that read like the domain."""

    def __init__(self, *said: Said, recurs: bool = True) -> None:
        self.clock = ManualClock()
        self.table = MemoryTable()
        self.queues = MemoryQueues(self.clock)
        self.schedules = MemorySchedules(self.clock, self.queues)
        self.firings = MemoryFirings(self.clock, self.queues, recurs=recurs)
        self.runner = ScriptedRunner(self.clock, *said)
        self.alerts = MemoryAlerts()
        self.chance = SeededChance()
        self.ports = Ports(
            self.table,
            self.queues,
            self.schedules,
            self.clock,
            self.chance,
            Settings(),
            firings=self.firings,
            runner=self.runner,
            alerts=self.alerts,
        )

    def create(self, **fields: Any) -> ScheduledJob:
        """Store a job that fires every hour, unless it is said otherwise."""
        return scheduled_jobs.create_scheduled_job(self.ports, draft(**fields))

    def change(self, job: ScheduledJob, **fields: Any) -> ScheduledJob:
        """Change fields of a stored job."""
        return scheduled_jobs.patch_scheduled_job(
            self.ports, job.id, lambda before: replace(before, **fields)
        )

    def trigger(self, job: ScheduledJob) -> Fired:
        """Set a job going by hand."""
        return firings.trigger(self.ports, job.id)

    def fire(self, job: ScheduledJob, due: datetime | None = None) -> str:
        """Let a firing of a job arrive that is due now, or was; return its run's id."""
        due = due or self.clock.now()
        body = runs.to_text(Firing(job.id, job.revision, due))
        self.serve([body])
        return run_id_of(due)

    def serve(self, bodies: Sequence[str], ports: Ports | None = None) -> None:
        """Let the trigger serve bodies as if a queue had delivered them."""
        failed = on_runs(ports or self.ports, [(str(n), body) for n, body in enumerate(bodies)])
        assert [] == failed

    def pump(self, ports: Ports | None = None) -> None:
        """Let the function behind `runs` serve what is visible."""
        while received := self.queues.receive(runs.QUEUE, 1, VISIBILITY_S, 0):
            failed = on_runs(ports or self.ports, [(each.receipt, each.body) for each in received])
            done = [each.receipt for each in received if each.receipt not in failed]
            self.queues.delete(runs.QUEUE, done)

    def wait(self, seconds: float) -> None:
        """Let time pass, and the function serve what becomes visible meanwhile."""
        end = self.clock.now() + timedelta(seconds=seconds)
        self.pump()
        while self.clock.now() < end:
            self.clock.move(min(1.0, (end - self.clock.now()).total_seconds()))
            self.pump()

    def row(self, job: ScheduledJob, run_id: str, pool_idx: int = 0, iteration: int = 0) -> Row:
        """Return a row that must be there."""
        row = rows.read(self.table, job.id, run_id, pool_idx, iteration)
        assert row is not None
        return row

    def rows(self, job: ScheduledJob, run_id: str) -> list[Row]:
        """Return the rows that a firing put into the queue, without what it dropped."""
        found = rows.rows_of_run(self.table, job.id, run_id)
        return [row for row in found if row.attempt or row.state is not RowState.CANCELLED]

    def locks(self, job: ScheduledJob) -> list[Lock]:
        """Return the lock entries of a job."""
        return rows.locks_of(self.table, job.id)

    def history(self, job: ScheduledJob) -> list[Invocation]:
        """Return a job's invocations, the oldest first."""
        return list(invocations.newest(self.table, job.id))[::-1]

    def waiting(self) -> list[str]:
        """Return what the queue holds, hidden and delayed too."""
        return self.queues.bodies(runs.QUEUE)


class _Listener(logging.Handler):
    """Keeps every line."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.heard: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(record)


@contextmanager
def listening() -> Iterator[list[logging.LogRecord]]:
    """Give the lines that the operations write while this lasts, whoever set up the log."""
    logger, listener = logging.getLogger("chalicelib.operations"), _Listener()
    level = logger.level
    logger.addHandler(listener)
    logger.setLevel(logging.DEBUG)
    try:
        yield listener.heard
    finally:
        logger.removeHandler(listener)
        logger.setLevel(level)


def draft(**fields: Any) -> ScheduledJob:
    """Return a definition as a caller sends it."""
    said = {"name": "drain", "type": "http", "schedule": HOURLY, **fields}
    return ScheduledJob(id="", created_at=BEGIN, **said)


def at(seconds: float) -> datetime:
    """Return a moment after the stage's begin."""
    return BEGIN + timedelta(seconds=seconds)
