"""The sweeper's part of scheduled jobs: rows that are told again, and schedules put right."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from zlib import crc32

from chalicelib.delivery import runs
from chalicelib.delivery.later import delay_s
from chalicelib.delivery.runs import RunMessage
from chalicelib.operations.runs import died
from chalicelib.operations.scheduled_jobs import put_right
from chalicelib.ports import Item, Message, Ports
from chalicelib.scheduler.rows import Row, RowState
from chalicelib.store import scheduled_jobs, sweeping, table
from chalicelib.store.runs import to_row

HOURS = 24  # over which the looks at schedules are spread, as each costs a few requests
# Overdue for longer than a message stays away whose function died: it has been lost.
ROW_AGE = runs.VISIBILITY + timedelta(minutes=5)


def messages_of(ports: Ports, item: Item, now: datetime, *, everything: bool) -> Iterator[Message]:
    """Give the message of a row that waits although its time has come, or whose executor died.

    Shapes: with `everything`, of each row that is not through, for its time.
    """
    if not str(item["sk"]).startswith(table.ROW):
        return
    row = to_row(item)
    message = _message(row, now)
    if message is None or not (everything or _waits_since(row) < now - ROW_AGE):
        return
    if scheduled_jobs.read(ports.table, row.job_id) is not None:  # else nobody waits for it
        yield Message(runs.to_text(message), delay_s(row.due, now))


def fire_again(ports: Ports, item: Item, now: datetime, *, everything: bool) -> bool:
    """Let what fires a job be what its definition says, for it may be lost; once a day.

    Shapes: with `everything` at any hour. Return whether the item is a job that fires.
    """
    if item["sk"] != table.JOB_DEFINITION:
        return False
    job = scheduled_jobs.to_job(item)
    if not (everything or crc32(job.id.encode()) % HOURS == now.hour):
        return False
    put_right(ports, job.id)  # which reads it again: this one may be of an older revision
    return runs.fires(job)


def is_of_scheduled_job(item: Item) -> bool:
    """Say whether an item of the live table is a scheduled job or one of its rows."""
    return str(item["pk"]).startswith(table.SCHEDULED_JOB)


def end_attempts(ports: Ports, before: datetime) -> int:
    """Write down the end of the attempts whose executors are known to be dead; return how many.

    Shapes: `before` is when the only process that runs jobs has started.
    Raises: Conflict.
    """
    found = (item for page in sweeping.whole(ports.table) for item in page)
    return sum(_end_attempt(ports, item, before) for item in found if is_of_scheduled_job(item))


def _end_attempt(ports: Ports, item: Item, before: datetime) -> bool:
    if not str(item["sk"]).startswith(table.ROW):
        return False
    row = to_row(item)
    if row.state is not RowState.RUNNING or row.started_at is None or row.started_at >= before:
        return False
    died(ports, row)
    return True


def _message(row: Row, now: datetime) -> RunMessage | None:
    """Return what tells of a row: its next attempt, or the one that may have died."""
    if row.state.is_final:
        return None
    attempt = row.attempt + row.state.is_open
    return RunMessage(row.job_id, row.run_id, row.pool_idx, row.iteration, attempt, now)


def _waits_since(row: Row) -> datetime:
    return row.due if row.state.is_open or row.started_at is None else row.started_at
