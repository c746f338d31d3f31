"""Scheduled jobs as the tests of the runners need them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from chalicelib.scheduler.definition import HTTP, SCRIPT, HttpCall, ScheduledJob, ScriptCall
from chalicelib.scheduler.rows import Row, RowState

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
PATIENCE = timedelta(seconds=20)  # more than any attempt here takes
IMPATIENCE = timedelta(milliseconds=150)
JOB = ScheduledJob(id="j1", name="drain", type=HTTP, created_at=NOW)


def calling(call: HttpCall, pool_count: int = 1) -> ScheduledJob:
    return replace(JOB, http=call, pool_count=pool_count)


def running(call: ScriptCall) -> ScheduledJob:
    return replace(JOB, type=SCRIPT, script=call)


def row(pool_idx: int = 0) -> Row:
    return Row(JOB.id, "20260302T090000Z", pool_idx, 0, RowState.RUNNING, 1, 1, NOW, NOW)
