"""Failure rows of a job: one for each failure without an error code, by running number."""

from __future__ import annotations

from chalicelib.engine.state import Job
from chalicelib.ports import LIVE, Query, Table
from chalicelib.store import reading, table


def is_recorded(store: Table, job: Job, token: int) -> bool:
    """Say whether a failure of that delivery was recorded, the newest looked at first."""
    if not job.failures:
        return False
    prefix = table.failures_prefix(job.key)
    rows = Query(
        LIVE,
        table.instance_pk(job.instance_key),
        first=prefix,
        last=table.after(prefix),
        ascending=False,
    )
    return any(row.get("delivery_token") == token for row in reading.every(store, rows))
