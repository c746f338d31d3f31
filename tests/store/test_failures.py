"""Failures of a job are found by their number, and by the delivery that they are of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.engine.state import Failure, Job
from chalicelib.ports import Refused, Written
from chalicelib.store import failures, instances, jobs, marks
from chalicelib.store.marks import Once
from tests.fakes.table import MemoryTable
from tests.store import samples
from tests.store.samples import JOB, KEY, NOW

ONCE = Once("POST /v1/jobs/{job_key}/fail", "attempt-1", "body")


@pytest.fixture
def store() -> MemoryTable:
    return MemoryTable()


def stored(store: MemoryTable, job: Job) -> Job:
    """Store an instance with one job; return the job as read."""
    instances.commit(store, samples.start(job, samples.variables()))
    return jobs.read(store, [JOB])[JOB]


def failed(job: Job, number: int = 1, token: int | None = 1) -> tuple[Job, Failure]:
    """Return a job as it is after a failure, and the failure's row."""
    after = job._replace(retries=job.retries - 1, failures=number, ring=job.ring + 1, ring_at=NOW)
    return after, Failure(KEY + 50 + number, JOB, KEY, number, 1, NOW, "broken", None, None, token)


def test_failures_are_paged_from_the_newest(store: MemoryTable) -> None:
    job = stored(store, samples.job(retries=30))
    rows = []
    for number in range(1, 13):
        after, row = failed(job, number, token=None)
        result = jobs.record_retried_failure(store, job, after, row, token=f"f{number}")
        assert isinstance(result, Job)
        job = result
        rows.append(row)

    assert rows[:1:-1] == failures.newest(store, job)
    assert rows[1::-1] == failures.newest(store, job, first=10)
    assert [] == failures.newest(store, job, first=20)
    assert [] == failures.newest(store, samples.job(key=JOB + 1))


def test_a_delivery_whose_failure_is_recorded_is_found_among_others(store: MemoryTable) -> None:
    job = stored(store, samples.job(retries=30, delivery_token=9))
    for number, token in enumerate((2, None, 5, None, 7), 1):
        after, row = failed(job, number, token)
        result = jobs.record_retried_failure(store, job, after, row, token=f"f{number}")
        assert isinstance(result, Job)
        job = result

    found = {token for token in range(1, 10) if failures.is_recorded(store, job, token)}

    assert {2, 5, 7} == found


def test_a_failure_that_is_marked_is_written_with_its_mark_or_not_at_all(
    store: MemoryTable,
) -> None:
    job = stored(store, samples.job(retries=3))
    after, row = failed(job)
    mark = marks.write(ONCE, KEY, now=NOW)

    assert isinstance(store.write(mark), Written)
    jobs.record_retried_failure(store, job, after, row, token="f1", mark=mark)
    assert [] == failures.newest(store, job)

    other = marks.write(replace(ONCE, key="attempt-2"), KEY, now=NOW)
    jobs.record_retried_failure(store, job, after, row, token="f2", mark=other)
    assert [row] == failures.newest(store, after)
    assert isinstance(store.write(other), Refused)
