"""The failures recorded of a job: rows that are written once and never change."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from chalicelib.engine.state import Failure, Job
from chalicelib.ports import LIVE, Query, Table
from chalicelib.store import items, reading, table


def newest(store: Table, job: Job, first: int = 0, size: int = 10) -> list[Failure]:
    """Return a page of a job's failures, the newest first; the job tells how many there are."""
    return list(islice(_newest(store, job, first + size), first, first + size))


def is_recorded(store: Table, job: Job, token: int) -> bool:
    """Say whether a failure of that delivery is recorded.

    Tokens of recorded failures rise with their numbers, so the first older one ends the search.
    """
    for failure in _newest(store, job):
        if failure.delivery_token is not None and failure.delivery_token <= token:
            return failure.delivery_token == token
    return False


def _newest(store: Table, job: Job, limit: int | None = None) -> Iterator[Failure]:
    prefix = table.failures_prefix(job.key)
    pk = table.instance_pk(job.instance_key)
    query = Query(
        LIVE, pk, first=prefix, last=table.after(prefix), ascending=False, limit=limit or None
    )
    for item in reading.every(store, query):
        record = items.to_record(item, {})
        if isinstance(record, Failure):
            yield record
