"""Definitions of scheduled jobs: written under the revision as read, listed by their creation."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache

from chalicelib import json_text
from chalicelib.engine.limits import ITEM_BYTES_MAX
from chalicelib.errors import TooLarge
from chalicelib.ports import LIVE, Delete, Item, Put, Query, Refused, Table, Write
from chalicelib.scheduler import codec
from chalicelib.scheduler.definition import ScheduledJob
from chalicelib.store import quotas, reading, table
from chalicelib.store.moments import to_ms
from chalicelib.store.run_conditions import RunGuard, Stands, condition

KEPT_MAX = 256  # definitions that a container keeps as it read them
ID_MAX = 100  # characters; ours have 32, and a longer one names nothing


def create(store: Table, job: ScheduledJob, *, token: str) -> bool:
    """Make a job known and list it; False if its id is taken. Raises: TooLarge."""
    absent = condition(RunGuard.NEW_JOB, Stands())
    entry = Put(table.listed_job_key(to_ms(job.created_at), job.id), {"id": job.id})
    put = Put(table.scheduled_job_key(job.id), _item(job), absent)
    return not isinstance(store.transact([put, entry], token), Refused)


def read(store: Table, job_id: str) -> ScheduledJob | None:
    """Return a job."""
    if not 0 < len(job_id) <= ID_MAX:
        return None
    item = store.get(table.scheduled_job_key(job_id))
    return None if item is None else to_job(item)


def every(store: Table) -> list[ScheduledJob]:
    """Return all jobs, the oldest first."""
    entries = reading.every(store, Query(LIVE, table.SCHEDULED_JOBS))
    places = [table.scheduled_job_key(str(entry["id"])) for entry in entries]
    found = store.get_many(places)
    return [to_job(found[place]) for place in places if place in found]


def to_job(item: Item) -> ScheduledJob:
    """Read a definition's item."""
    return _definition(str(item["definition"]))


@lru_cache(maxsize=KEPT_MAX)
def _definition(text: str) -> ScheduledJob:
    """Read a definition, which is frozen, so that each text is read once."""
    definition = json_text.loads(text)
    assert isinstance(definition, dict)
    return codec.from_json(definition)


def replace(store: Table, before: ScheduledJob, after: ScheduledJob) -> bool:
    """Write a job in place of the one that was read; False if somebody was first.

    Raises: TooLarge.
    """
    return not isinstance(store.write(replacement(before, after)), Refused)


def replacement(before: ScheduledJob, after: ScheduledJob) -> Put:
    """Return the write that puts a job in place of the one that was read."""
    as_read = condition(RunGuard.REPLACE_JOB, Stands(revision=before.revision))
    return Put(table.scheduled_job_key(before.id), _item(after), as_read)


def delete(store: Table, job: ScheduledJob, *, token: str) -> bool:
    """Remove a job and its entry in the list; False if somebody changed it first."""
    as_read = condition(RunGuard.DELETE_JOB, Stands(revision=job.revision))
    writes: list[Write] = [
        Delete(table.scheduled_job_key(job.id), as_read),
        Delete(table.listed_job_key(to_ms(job.created_at), job.id)),
        Delete(table.alarm_key(job.id)),
    ]
    return not isinstance(store.transact(writes, token), Refused)


# --- alarms ------------------------------------------------------------------------------------


def alarm_fired_at(store: Table, job_id: str) -> int | None:
    """Return when a job's alarm last went off, in epoch milliseconds."""
    item = store.get(table.alarm_key(job_id))
    return None if item is None else int(str(item["fired_at"]))


def mark_alarm(store: Table, job_id: str, *, now: datetime, silent_since: datetime) -> bool:
    """Note that the alarm goes off; False if it has done so since that time."""
    silent = condition(RunGuard.ALARM, Stands(silent_since=silent_since))
    mark = Put(table.alarm_key(job_id), {"fired_at": to_ms(now)}, silent)
    return not isinstance(store.write(mark), Refused)


def _item(job: ScheduledJob) -> Item:
    item: Item = {"definition": json_text.dumps(codec.to_json(job)), "revision": job.revision}
    size = quotas.size_of(item)
    if size > ITEM_BYTES_MAX:
        raise TooLarge(
            f"scheduled job {job.name!r}: expected at most {ITEM_BYTES_MAX} bytes, found {size}"
        )
    return item
