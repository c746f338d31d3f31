"""The sweeper's part of scheduled jobs: rows whose message was lost are told again."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from chalicelib.delivery import runs
from chalicelib.delivery.later import delay_s
from chalicelib.delivery.runs import RunMessage
from chalicelib.operations.runs import died
from chalicelib.ports import Item, Message, Ports
from chalicelib.scheduler.rows import Row, RowState
from chalicelib.store import scheduled_jobs, table
from chalicelib.store.runs import to_row

# Overdue for longer than a message stays away whose function died: it has been lost.
ROW_AGE = runs.VISIBILITY + timedelta(minutes=5)


def messages_of(
    ports: Ports, item: Item, now: datetime, *, everything: bool = False
) -> Iterator[Message]:
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


def fire_again(ports: Ports, item: Item) -> bool:
    """Let a job fire by its schedule, which may be lost; say whether the item is such a job."""
    if item["sk"] != table.JOB_DEFINITION:
        return False
    job = scheduled_jobs.to_job(item)
    if runs.fires(job):
        ports.firings.put(job, ports.clock.now())
    return runs.fires(job)


def end_attempt(ports: Ports, item: Item, before: datetime) -> bool:
    """Write down that whoever made an attempt is dead, if it was begun before a time.

    Raises: Conflict.
    """
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
