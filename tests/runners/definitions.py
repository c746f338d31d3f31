"""Scheduled jobs as the tests of the runners need them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from chalicelib.runners.ending import Ending
from chalicelib.scheduler.definition import HTTP, SCRIPT, HttpCall, ScheduledJob, ScriptCall
from chalicelib.scheduler.rows import Row, RowState

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
PATIENCE = timedelta(seconds=60)  # more than any attempt here takes
IMPATIENCE = timedelta(milliseconds=150)
# For what has to come so far before its time is over: more of it, where the machine was busy.
IMPATIENCES = (IMPATIENCE, timedelta(seconds=3), timedelta(seconds=30))
JOB = ScheduledJob(id="j1", name="drain", type=HTTP, created_at=NOW)


def calling(call: HttpCall, pool_count: int = 1) -> ScheduledJob:
    return replace(JOB, http=call, pool_count=pool_count)


def running(call: ScriptCall) -> ScheduledJob:
    return replace(JOB, type=SCRIPT, script=call)


def cut(attempt: Callable[[timedelta], Ending], came_far: Callable[[Ending], object]) -> Ending:
    """Make attempts until one came as far as is told; return the last."""
    for timeout in IMPATIENCES:
        ended = attempt(timeout)
        if came_far(ended):
            break
    return ended


def row(pool_idx: int = 0) -> Row:
    return Row(JOB.id, "20260302T090000Z", pool_idx, 0, RowState.RUNNING, 1, 1, NOW, NOW)
