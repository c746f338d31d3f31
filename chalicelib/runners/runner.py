"""One attempt of a scheduled job, whatever its type."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from chalicelib.ports import Clock
from chalicelib.runners import ending
from chalicelib.runners.ending import Ending
from chalicelib.scheduler.definition import HTTP, SCRIPT, ScheduledJob
from chalicelib.scheduler.rows import Attempt, Row


class TypedRunner(Protocol):
    """Runs jobs of one type."""

    def run(self, job: ScheduledJob, pool_idx: int, timeout: timedelta) -> Ending:
        """Make one attempt within the time."""


@dataclass(frozen=True, slots=True)
class JobRunner:
    """Runs jobs of all types.

    Shapes: `http` and `script` make the runner of their type, which is loaded by the first job
        of that type.
    """

    clock: Clock
    http: Callable[[], TypedRunner]
    script: Callable[[], TypedRunner]

    def run(self, job: ScheduledJob, row: Row, timeout: timedelta) -> Attempt:
        """Make one attempt; it never raises for what the job did (ports.Runner)."""
        started_at = self.clock.now()
        ended = self._ended(job, row.pool_idx, timeout)
        return Attempt(
            ended.outcome,
            started_at,
            self.clock.now(),
            status_code=ended.status_code,
            exit_code=ended.exit_code,
            error=ended.error,
            output=ended.output,
            secrets=ended.secrets,
        )

    def _ended(self, job: ScheduledJob, pool_idx: int, timeout: timedelta) -> Ending:
        match job.type:
            case t if t == HTTP:
                return self.http().run(job, pool_idx, timeout)
            case t if t == SCRIPT:
                return self.script().run(job, pool_idx, timeout)
        return ending.cancelled(f"type: expected {HTTP} or {SCRIPT}, found {job.type[:50]!r}")
