"""A scheduled job, its attempts, and a run of it played by the decisions alone."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from chalicelib.scheduler.decisions import (
    Continued,
    Decision,
    Ended,
    Retried,
    after_attempt,
    begun,
    first_rows,
)
from chalicelib.scheduler.definition import HttpCall, Loop, Retry, ScheduledJob
from chalicelib.scheduler.rows import Attempt, Outcome, Row

NOW = datetime(2026, 3, 2, 9, tzinfo=UTC)
RUN = "20260302T090000Z"
TOOK = timedelta(seconds=3)  # an attempt

MORE = {"result": {"remaining": 1}}
LESS = {"result": {"remaining": 0}}


def job(**changes: Any) -> ScheduledJob:
    """Return a job that calls an endpoint, with what a test changes."""
    given: dict[str, Any] = {
        "id": "j1",
        "name": "drain",
        "type": "http",
        "http": HttpCall(url="https://example.com/drain"),
        "created_at": NOW - timedelta(days=1),
    }
    return ScheduledJob(**given | changes)


def looping(**settings: Any) -> ScheduledJob:
    return job(loop=Loop(enabled=True, **settings))


def retrying(**settings: Any) -> ScheduledJob:
    return job(retry=Retry(enabled=True, **settings))


def running(job: ScheduledJob, *, attempt: int = 1, iteration: int = 0, pool_idx: int = 0) -> Row:
    """Return a row of a job whose attempt of that number goes on."""
    row = first_rows(job, RUN, NOW)[pool_idx]
    return begun(replace(row, attempt=attempt - 1, iteration=iteration), NOW)


def succeeded(body: object = None, at: datetime = NOW) -> Attempt:
    """Return a success whose output is a JSON value, or the bytes given."""
    output = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Attempt(Outcome.SUCCEEDED, at, at + TOOK, status_code=200, output=output)


def failed(body: object = None, at: datetime = NOW) -> Attempt:
    return replace(succeeded(body, at), outcome=Outcome.FAILED, status_code=500, error="500")


def cancelled(at: datetime = NOW) -> Attempt:
    return Attempt(Outcome.CANCELLED, at, at, error="it can never succeed")


def decide(job: ScheduledJob, attempt: Attempt, *, row: Row | None = None) -> Decision:
    """Decide what follows the first attempt of a job's first row, with no jitter."""
    return after_attempt(job, row or running(job), attempt, 0)


def play(job: ScheduledJob, attempts: Iterable[Callable[..., Attempt]]) -> list[Decision]:
    """Play one run of pool index 0, each attempt at the time it is due, until it ends.

    Shapes: each of `attempts` makes an attempt that begins at a moment; the last one goes on.
    """
    row = first_rows(job, RUN, NOW)[0]
    decisions: list[Decision] = []
    made = list(attempts)
    for make in itertools.chain(made, itertools.repeat(made[-1])):
        decisions.append(after_attempt(job, begun(row, row.due), make(at=row.due), 0))
        if isinstance(decisions[-1], Ended):
            break
        row = decisions[-1].row
    return decisions


def continued(decision: Decision) -> Continued:
    assert isinstance(decision, Continued)
    return decision


def retried(decision: Decision) -> Retried:
    assert isinstance(decision, Retried)
    return decision


def ended(decision: Decision) -> Ended:
    assert isinstance(decision, Ended)
    return decision
