"""The overlap lock: under `skip` a pool index has one run at a time.

Source: contracts/scheduled-jobs.md, Z81 to Z97.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

STALE_AFTER = timedelta(hours=1)  # as long as River takes to rescue a stuck row


class Overlap(StrEnum):
    """What a firing does while an earlier run of its pool index goes on."""

    SKIP = "skip"  # it is dropped for that index
    ALLOW = "allow"  # it runs beside


@dataclass(frozen=True, slots=True)
class Lock:
    """Which run holds a pool index.

    Shapes: `since` is when the run took it (a job's `running_since_by_pool`), `refreshed_at` the
        last attempt's time (Z88).
    """

    pool_idx: int
    run_id: str
    since: datetime
    refreshed_at: datetime


def is_stale(lock: Lock, now: datetime) -> bool:
    """Say whether a lock was not refreshed for more than an hour (Z90, Z91)."""
    return now - lock.refreshed_at > STALE_AFTER


def is_free(lock: Lock | None, run_id: str, now: datetime) -> bool:
    """Say whether a firing may take an index: no lock, a stale one, or its own."""
    return lock is None or lock.run_id == run_id or is_stale(lock, now)


def is_ours(lock: Lock | None, run_id: str) -> bool:
    """Say whether a run that ends may release the lock: it was not taken over (Z93)."""
    return lock is not None and lock.run_id == run_id
