from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.engine.state import Failure, Job, JobState
from chalicelib.errors import TooLarge
from chalicelib.ports import Update
from chalicelib.store import failures, instances, jobs, table
from chalicelib.store.jobs import Lock, Lost
from tests.fakes.table import MemoryTable
from tests.store import samples
from tests.store.samples import JOB, KEY, NOW, seconds

LATER = NOW + seconds(30)
LOCK = Lock("worker", LATER, seconds(30))
PLACE = table.record_key(KEY, table.JOB, JOB)
LARGE = {"text": "x" * 500}


@pytest.fixture
def store() -> MemoryTable:
    return MemoryTable()


def stored(store: MemoryTable, job: Job | None = None) -> Job:
    """Store an instance with one job; return the job as read."""
    instances.commit(store, samples.start(job or samples.job(), samples.variables()))
    return jobs.read(store, [JOB])[JOB]


def meanwhile(store: MemoryTable, job: Job) -> Job:
    """Let somebody else write the job as it is given."""
    item = store.get(PLACE)
    assert item is not None
    write = jobs.difference(jobs.read(store, [JOB])[JOB], job, ())
    store.write(write)
    return job


def claimed(store: MemoryTable, job: Job, lock: Lock = LOCK) -> Job:
    result = jobs.claim(store, job, lock, now=NOW)
    assert isinstance(result, Job)
    return result


def assert_lost(store: MemoryTable, result: Job | Lost, current: Job) -> None:
    assert Lost(current) == result
    assert {JOB: current} == jobs.read(store, [JOB], kind=current.kind)


# --- claims ------------------------------------------------------------------------------------


def test_a_claim_locks_the_job_raises_the_token_and_makes_the_next_bell_live(
    store: MemoryTable,
) -> None:
    job = stored(store)

    result = jobs.claim(store, job, replace(LOCK, claim_id="request"), now=NOW)

    expected = job._replace(
        owner="worker",
        lock_until=LATER,
        lock_duration=seconds(30),
        claim_id="request",
        delivery_token=1,
        ring=2,
        ring_at=LATER,
    )
    assert expected == result == jobs.read(store, [JOB])[JOB]


def test_a_lapsed_lock_is_claimed_by_another_and_nothing_of_the_old_one_stays(
    store: MemoryTable,
) -> None:
    first = claimed(store, stored(store), replace(LOCK, claim_id="request"))

    second = jobs.claim(store, first, Lock("other", LATER + seconds(9)), now=LATER)

    assert isinstance(second, Job)
    assert ("other", None, None, 2, 3) == (
        second.owner,
        second.lock_duration,
        second.claim_id,
        second.delivery_token,
        second.ring,
    )


def test_a_hold_has_no_end_and_is_claimed_by_nobody_else(store: MemoryTable) -> None:
    held = claimed(store, stored(store), Lock("worker"))

    result = jobs.claim(store, held, LOCK, now=NOW + timedelta(days=999))

    assert held.lock_until is None and held.ring_at is None
    assert_lost(store, result, held)


@pytest.mark.parametrize(
    "change",
    [
        {"state": JobState.COMPLETED},
        {"state": JobState.FAILED},
        {"retry_at": NOW + seconds(1)},
        {"owner": "other", "lock_until": NOW + seconds(0.001)},
        {"owner": "other"},
        {"ring": 2},
        {"type": "another"},
        {"kind": "another"},
    ],
    ids=str,
)
def test_a_claim_is_lost_to_whoever_was_first(
    store: MemoryTable, change: dict[str, object]
) -> None:
    job = stored(store)
    current = meanwhile(store, job._replace(**change))  # type: ignore[arg-type]

    assert_lost(store, jobs.claim(store, job, LOCK, now=NOW), current)


def test_a_claim_comes_at_the_moment_that_retry_and_lock_end(store: MemoryTable) -> None:
    job = stored(store, samples.job(retry_at=NOW, owner="other", lock_until=NOW))

    assert isinstance(jobs.claim(store, job, LOCK, now=NOW), Job)


def test_a_claim_of_a_job_that_is_gone_is_lost_to_nothing(store: MemoryTable) -> None:
    assert Lost(None) == jobs.claim(store, samples.job(), LOCK, now=NOW)


def test_the_current_job_of_a_lost_claim_has_the_inputs_of_now(store: MemoryTable) -> None:
    job = stored(store, samples.job(inputs=LARGE))
    before = instances.load(store, KEY, None)
    assert before is not None
    changed = job._replace(inputs={"text": "y" * 500}, ring=2)
    instances.commit(store, samples.then(before, changed))

    assert_lost(store, jobs.claim(store, job, LOCK, now=NOW), changed)


# --- what is large lies apart ------------------------------------------------------------------


@pytest.mark.parametrize(
    "job",
    [
        samples.job(),
        samples.job(inputs=LARGE),
        samples.job(headers={"h": "x" * 500}),
        samples.job(outputs=LARGE, state=JobState.COMPLETED),
        samples.job(inputs=LARGE, outputs=LARGE, state=JobState.COMPLETED),
        samples.job(outputs={}),
    ],
    ids=["small", "inputs", "headers", "outputs", "both", "empty"],
)
def test_a_job_is_read_whole_however_large_its_parts_are(store: MemoryTable, job: Job) -> None:
    stored(store, job)

    hot = store.get(PLACE)
    assert hot is not None and len(str(hot)) < 1000
    assert {JOB: job} == jobs.read(store, [JOB, JOB, JOB + 1])
    found = instances.load(store, KEY, None)
    assert found is not None and job in found.records.values()


def test_a_job_may_be_read_without_what_lies_apart(store: MemoryTable) -> None:
    job = stored(store, samples.job(inputs=LARGE, outputs=LARGE))

    bare = job._replace(inputs={}, headers={}, outputs=None)  # headers lie with the inputs
    assert {JOB: bare} == jobs.read(store, [JOB], whole=False)


def test_a_write_to_a_large_job_answers_with_all_of_it(store: MemoryTable) -> None:
    job = stored(store, samples.job(inputs=LARGE))

    assert LARGE == claimed(store, job).inputs


# --- extensions --------------------------------------------------------------------------------


def test_an_extension_moves_the_end_of_the_lock_and_rings_nothing(store: MemoryTable) -> None:
    job = claimed(store, stored(store))
    until = LATER + seconds(5)

    result = jobs.extend(store, job, "worker", until, now=NOW, token=1)

    assert job._replace(lock_until=until) == result == jobs.read(store, [JOB])[JOB]


def test_a_shorter_lock_makes_the_next_bell_live(store: MemoryTable) -> None:
    job = claimed(store, stored(store))
    until = LATER - seconds(5)

    result = jobs.extend(store, job, "worker", until, now=NOW)

    assert jobs.shortens(job, until)
    assert job._replace(lock_until=until, ring=3, ring_at=until) == result


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({"state": JobState.COMPLETED}, {}),
        ({"owner": "other"}, {}),
        ({"owner": None, "lock_until": None}, {}),
        ({"lock_until": NOW}, {}),
        ({}, {"token": 2}),
        ({}, {"client_id": "other"}),
        ({"lock_until": LATER + seconds(9)}, {}),
        ({"ring": 3}, {"until": LATER - seconds(5)}),
    ],
    ids=str,
)
def test_an_extension_is_lost(
    store: MemoryTable, change: dict[str, object], asked: dict[str, object]
) -> None:
    job = claimed(store, stored(store))
    current = meanwhile(store, job._replace(**change)) if change else job  # type: ignore[arg-type]
    request = {"client_id": "worker", "until": LATER + seconds(5), "now": NOW} | asked

    assert_lost(store, jobs.extend(store, job, **request), current)  # type: ignore[arg-type]


def test_a_shortened_lock_is_extended_whatever_the_old_bell_was(store: MemoryTable) -> None:
    job = claimed(store, stored(store))
    short = jobs.extend(store, job, "worker", LATER - seconds(5), now=NOW)
    assert isinstance(short, Job)

    assert isinstance(jobs.extend(store, short, "worker", LATER, now=NOW), Job)


# --- other writes on the job alone -------------------------------------------------------------


def test_an_assignment_changes_the_assignee_and_nothing_else(store: MemoryTable) -> None:
    job = stored(store)
    busy = claimed(store, job)

    assert busy._replace(assignee="ann") == jobs.assign(store, job, "ann")
    assert busy == jobs.assign(store, job, None)


def test_an_ended_job_is_assigned_to_nobody(store: MemoryTable) -> None:
    job = stored(store)
    current = meanwhile(store, job._replace(state=JobState.COMPLETED))

    assert_lost(store, jobs.assign(store, job, "ann"), current)


def test_what_does_not_fit_into_an_item_is_too_large_and_changes_nothing(
    store: MemoryTable,
) -> None:
    job = stored(store, samples.job(retries=3))
    after, row = failed(job)
    large = "x" * 350_000

    with pytest.raises(TooLarge, match=str(JOB)):
        jobs.assign(store, job, large)
    with pytest.raises(TooLarge, match=str(JOB)):
        jobs.record_retried_failure(store, job, after, replace(row, message=large), token="f")

    assert {JOB: job} == jobs.read(store, [JOB])


def failed(job: Job, number: int = 1, token: int | None = 1) -> tuple[Job, Failure]:
    after = job._replace(
        retries=job.retries - 1,
        attempts=job.attempts + 1,
        owner=None,
        lock_until=None,
        lock_duration=None,
        last_recorded_token=token or job.last_recorded_token,
        last_failure_message="broken",
        failures=number,
        ring=job.ring + 1,
        ring_at=NOW,
    )
    return after, Failure(KEY + 50 + number, JOB, KEY, number, 1, NOW, "broken", None, None, token)


def test_a_retried_failure_is_written_with_its_row(store: MemoryTable) -> None:
    job = claimed(store, stored(store, samples.job(retries=3)))
    after, row = failed(job)

    assert after == jobs.record_retried_failure(store, job, after, row, token="t")

    assert {JOB: after} == jobs.read(store, [JOB])
    assert [row] == failures.newest(store, after)


@pytest.mark.parametrize(
    "change",
    [
        {"state": JobState.COMPLETED},
        {"delivery_token": 2},
        {"attempts": 5},
        {"retries": 9},
        {"ring": 9},
    ],
    ids=str,
)
def test_a_retried_failure_is_lost_and_leaves_no_row(
    store: MemoryTable, change: dict[str, object]
) -> None:
    job = claimed(store, stored(store, samples.job(retries=3)))
    current = meanwhile(store, job._replace(**change))  # type: ignore[arg-type]
    after, row = failed(job)

    assert_lost(store, jobs.record_retried_failure(store, job, after, row, token="t"), current)
    assert [] == failures.newest(store, current)


def test_set_retries_keep_what_a_worker_did_meanwhile(store: MemoryTable) -> None:
    job = stored(store, samples.job(retry_at=LATER))
    after = job._replace(retries=4, retry_at=None, retries_set_by_operator=True, ring=2)
    meanwhile(store, job._replace(assignee="ann"))

    result = jobs.set_retries(store, job, after._replace(ring_at=NOW))

    assert after._replace(ring_at=NOW, assignee="ann") == result


@pytest.mark.parametrize("change", [{"state": JobState.FAILED}, {"attempts": 1}, {"ring": 5}])
def test_set_retries_are_lost(store: MemoryTable, change: dict[str, object]) -> None:
    job = stored(store)
    current = meanwhile(store, job._replace(**change))  # type: ignore[arg-type]

    assert_lost(store, jobs.set_retries(store, job, job._replace(retries=4, ring=2)), current)


def test_a_released_job_is_nobodys_and_its_token_stays(store: MemoryTable) -> None:
    job = claimed(store, stored(store), Lock("worker", claim_id="request"))

    result = jobs.release(store, job, NOW)

    expected = samples.job()._replace(delivery_token=1, ring=3, ring_at=NOW)
    assert expected == result == jobs.read(store, [JOB])[JOB]


@pytest.mark.parametrize(
    "change", [{"owner": "other"}, {"owner": None}, {"delivery_token": 2}, {"ring": 9}]
)
def test_a_release_is_lost(store: MemoryTable, change: dict[str, object]) -> None:
    job = claimed(store, stored(store))
    current = meanwhile(store, job._replace(**change))  # type: ignore[arg-type]

    assert_lost(store, jobs.release(store, job, NOW), current)


def test_ringing_again_makes_the_next_bell_live(store: MemoryTable) -> None:
    job = stored(store)

    assert job._replace(ring=2, ring_at=LATER) == jobs.ring_again(store, job, LATER)


@pytest.mark.parametrize("change", [{"ring": 2}, {"state": JobState.TERMINATED}])
def test_ringing_again_is_lost(store: MemoryTable, change: dict[str, object]) -> None:
    job = stored(store)
    current = meanwhile(store, job._replace(**change))  # type: ignore[arg-type]

    assert_lost(store, jobs.ring_again(store, job, LATER), current)


def test_a_part_that_is_missing_makes_the_job_be_read_again(store: MemoryTable) -> None:
    small = stored(store)
    hot = store.get(PLACE)
    assert hot is not None
    store.write(Update(PLACE, set={"payload_apart": True}))

    class Healing(MemoryTable):
        """Shows a job that names a part, until the part is asked for."""

        def get_many(self, keys):  # type: ignore[no-untyped-def]
            found = store.get_many(keys)
            if any(key.sk.startswith(table.PAYLOAD) for key in keys):
                store.write(Update(PLACE, remove=("payload_apart",)))
            return found

    assert {JOB: small} == jobs.read(Healing(), [JOB])
