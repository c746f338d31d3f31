"""The history of scheduled jobs: one invocation for each attempt (Z98 to Z102)."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

from chalicelib.operations.scheduled_jobs import get_scheduled_job
from chalicelib.ports import Ports
from chalicelib.scheduler.rows import Outcome
from chalicelib.store import invocations
from chalicelib.store.invocations import Invocation


def list_invocations(
    ports: Ports, job_id: str, limit: int, offset: int
) -> tuple[list[Invocation], int]:
    """Return a page of a job's invocations, the newest first, and how many there are.

    Shapes: no more than LIST_MAX are looked at; then the number is a floor.
    Raises: Rejected(NOT_FOUND).
    """
    get_scheduled_job(ports, job_id)
    found = list(invocations.newest(ports.table, job_id))
    return found[offset : offset + limit], len(found)


def count_invocations(
    ports: Ports, job_id: str, since: datetime, failures_only: bool = False
) -> int:
    """Return how many attempts ended since a moment; a cancelled one is a failure (Z102).

    Raises: Rejected(NOT_FOUND).
    """
    get_scheduled_job(ports, job_id)
    return count(ports, job_id, since, failures_only=failures_only)


def count(
    ports: Ports, job_id: str, since: datetime, *, failures_only: bool, most: int | None = None
) -> int:
    """Return how many attempts of a job ended since a moment, counting to no more than `most`."""
    found = invocations.since(ports.table, job_id, since)
    counted = (each for each in found if not failures_only or each.outcome is not Outcome.SUCCEEDED)
    return sum(1 for _ in islice(counted, most))
