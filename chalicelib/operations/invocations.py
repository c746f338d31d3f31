"""The history of scheduled jobs: one invocation for each attempt (Z98 to Z102)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from chalicelib.operations.scheduled_jobs import get_scheduled_job
from chalicelib.ports import Ports
from chalicelib.scheduler.rows import Outcome
from chalicelib.store import invocations
from chalicelib.store.invocations import LIST_MAX, Invocation
from chalicelib.store.lists import Listed


@dataclass(frozen=True, slots=True)
class Counted:
    """How many there are; `is_floor` says that the search stopped at LIST_MAX."""

    count: int
    is_floor: bool


def list_invocations(ports: Ports, job_id: str, limit: int, offset: int) -> Listed[Invocation]:
    """Return a page of a job's invocations, the newest first, and how many there are.

    Raises: Rejected(NOT_FOUND).
    """
    get_scheduled_job(ports, job_id)
    found = list(invocations.newest(ports.table, job_id))
    return Listed(found[offset : offset + limit], len(found), len(found) >= LIST_MAX)


def count_invocations(
    ports: Ports, job_id: str, since: datetime, failures_only: bool = False
) -> Counted:
    """Return how many attempts ended since a moment; a cancelled one is a failure (Z102).

    Raises: Rejected(NOT_FOUND).
    """
    get_scheduled_job(ports, job_id)
    found = list(invocations.since(ports.table, job_id, since))
    return Counted(sum(1 for _ in _counted(found, failures_only)), len(found) >= LIST_MAX)


def count_to(ports: Ports, job_id: str, since: datetime, *, failures_only: bool, most: int) -> int:
    """Return how many attempts of a job ended since a moment, counting to no more than `most`."""
    found = invocations.since(ports.table, job_id, since)
    return sum(1 for _ in islice(_counted(found, failures_only), most))


def _counted(found: Iterable[Invocation], failures_only: bool) -> Iterator[Invocation]:
    return (each for each in found if not failures_only or each.outcome is not Outcome.SUCCEEDED)
