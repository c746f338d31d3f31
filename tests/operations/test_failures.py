"""Failing jobs: what counts, what is a repeat, and when the job is out again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.delivery import bells
from chalicelib.engine.commands import CancelInstance
from chalicelib.engine.state import Job, JobState
from chalicelib.errors import Conflict, Reason, Rejected
from chalicelib.operations.advance import advance
from chalicelib.store import failures
from tests.operations.models import typed_task
from tests.operations.stage import Stage
from tests.operations.watched import Crash, Fault, die, fault, watched

SECOND = timedelta(seconds=1)


def taken(stage: Stage, retries: int = 3) -> Job:
    """Start an instance of one job with so many retries, and hand it out to client a."""
    stage.create(typed_task("work", str(retries)))
    (job,) = stage.activate("work", "a")
    return job


def test_a_failure_spends_an_attempt_and_the_job_is_out_at_once() -> None:
    stage = Stage()
    job = taken(stage)

    stage.fail(job, "no stock", token=job.delivery_token)

    failed = stage.job(job.key)
    assert (2, 1, "no stock", JobState.ACTIVE) == (
        failed.retries,
        failed.attempts,
        failed.last_failure_message,
        failed.state,
    )
    (again,) = stage.activate("work", "b")
    assert (job.key, 2) == (again.key, again.delivery_token)


def test_a_failure_that_leaves_retries_does_not_move_the_instance() -> None:
    stage = Stage()
    job = taken(stage)

    stage.fail(job, token=1)

    assert 1 == stage.instance(job.instance_key).root.version


def test_a_backoff_holds_the_job_back_until_its_time() -> None:
    stage = Stage()
    job = taken(stage)

    stage.fail(job, token=1, backoff=60 * SECOND)

    stage.clock.move(58)
    assert [] == stage.activate("work")
    stage.clock.move(1)
    assert [job.key] == [each.key for each in stage.activate("work", wait_s=2)]


def test_the_exhausting_failure_stops_the_job_with_an_incident() -> None:
    stage = Stage()
    job = taken(stage, retries=1)

    stage.fail(job, "no stock", token=1)

    instance = stage.instance(job.instance_key)
    assert JobState.FAILED is stage.job(job.key).state
    assert 1 == instance.root.incident_count
    stage.clock.move(60)
    assert [] == stage.activate("work")
    assert [] == stage.bells(job)


def test_each_failure_leaves_a_row_with_a_key_of_its_own() -> None:
    stage = Stage()
    job = taken(stage)
    stage.fail(job, "one", token=1)
    stage.activate("work")
    stage.fail(job, "two", token=2)

    rows = failures.newest(stage.table, stage.job(job.key))

    assert [("two", 2, 2), ("one", 1, 1)] == [
        (row.message, row.number, row.delivery_token) for row in rows
    ]
    assert 2 == len({row.key for row in rows})


# --- tokens ------------------------------------------------------------------------------------


def test_the_same_failure_twice_counts_once() -> None:
    stage = Stage()
    job = taken(stage)

    stage.fail(job, token=1)
    stage.fail(job, token=1)

    assert (2, 1) == (stage.job(job.key).retries, stage.job(job.key).attempts)


def test_a_recorded_failure_may_be_repeated_after_others_came() -> None:
    stage = Stage()
    job = taken(stage)
    for token in (1, 2, 3):
        stage.fail(job, token=token)
        stage.activate("work")
    before = stage.job(job.key)

    stage.fail(job, token=1)
    stage.fail(job, token=2)

    assert before == stage.job(job.key)


def test_a_failure_of_a_delivery_that_lapsed_is_superseded() -> None:
    stage = Stage()
    job = taken(stage)
    stage.clock.move(30)
    (again,) = stage.activate("work", "b")

    with pytest.raises(Rejected, match="handed out again") as caught:
        stage.fail(job, token=1, retries=0)

    assert Reason.INVALID_STATE == caught.value.reason
    assert again == stage.job(job.key)


@pytest.mark.parametrize("token", [0, -1, 2])
def test_a_token_that_was_never_handed_out_is_refused(token: int) -> None:
    stage = Stage()
    job = taken(stage)

    with pytest.raises(Rejected, match="deliveryToken") as caught:
        stage.fail(job, token=token)

    assert Reason.INVALID_ARGUMENT == caught.value.reason


def test_a_failure_of_a_job_that_ended_is_refused() -> None:
    stage = Stage()
    job = taken(stage)
    advance(stage.ports, job.instance_key, CancelInstance())

    attempts: list[dict[str, Any]] = [{"token": 1}, {}]
    for said in attempts:
        with pytest.raises(Rejected, match="already terminated"):
            stage.fail(job, **said)


def test_an_unknown_job_is_not_found() -> None:
    with pytest.raises(Rejected, match="job 7 was not found"):
        Stage().fail(7)


# --- locks -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("freed", "said"),
    [
        pytest.param(True, {"token": 1}, id="of the current delivery"),
        pytest.param(True, {"client_id": "a"}, id="from the lock's client"),
        pytest.param(False, {"client_id": "b"}, id="from another client"),
        pytest.param(False, {}, id="from nobody named"),
    ],
)
def test_a_failure_frees_the_lock_it_is_of(freed: bool, said: dict[str, Any]) -> None:
    stage = Stage()
    job = taken(stage)

    stage.fail(job, **said)

    assert 1 == stage.job(job.key).attempts
    assert freed is bool(stage.activate("work", "c"))
    stage.clock.move(30)
    assert stage.activate("work", "d")


def test_a_failure_of_a_lapsed_lock_without_a_token_counts() -> None:
    stage = Stage()
    job = taken(stage)
    stage.clock.move(60)

    stage.fail(job)

    assert 1 == stage.job(job.key).attempts


def test_a_late_failure_leaves_the_current_lock_alone() -> None:
    stage = Stage()
    job = taken(stage)
    stage.fail(job, token=1)
    (again,) = stage.activate("work", "b")

    stage.fail(job, token=1)

    assert again == stage.job(job.key)
    assert [] == stage.activate("work", "c")


# --- races and crashes -------------------------------------------------------------------------


def test_a_failure_that_loses_to_a_completion_is_refused() -> None:
    stage = Stage()
    job = taken(stage)
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)

    def complete_meanwhile() -> None:
        other = Stage.__new__(Stage)
        other.ports = whole
        other.complete(job)

    watch.before["table.transact", 1] = complete_meanwhile

    with pytest.raises(Rejected, match="already completed"):
        stage.fail(job, token=1)


def test_a_failure_that_keeps_losing_is_a_conflict() -> None:
    stage = Stage()
    job = taken(stage, retries=100)
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    other = Stage.__new__(Stage)
    other.ports = whole
    watch.before.update(
        {("table.transact", number): lambda: other.fail(job, retries=50) for number in range(1, 99)}
    )

    with pytest.raises(Conflict, match=f"job {job.key} was changed by others"):
        stage.fail(job)


WINDOWS = [
    ("before", "queues.send"),
    ("after", "queues.send"),
    ("before", "table.transact"),
    ("after", "table.transact"),
]


@pytest.mark.parametrize(("when", "call"), WINDOWS)
@pytest.mark.parametrize("how", [die, fault])
def test_a_failure_that_dies_anywhere_loses_no_job_and_is_safe_to_repeat(
    when: str, call: str, how: object
) -> None:
    stage = Stage()
    job = taken(stage)
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    hooks = watch.before if when == "before" else watch.after
    hooks[call, 1] = how  # type: ignore[assignment]

    with pytest.raises((Crash, Fault)):
        stage.fail(job, token=1)
    stage.ports = whole
    stage.fail(job, token=1)

    assert (2, 1) == (stage.job(job.key).retries, stage.job(job.key).attempts)
    assert [job.key] == [each.key for each in stage.activate("work", "b", wait_s=5)]


def test_a_process_that_stalls_after_ringing_rings_again() -> None:
    stage = Stage()
    job = taken(stage)
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    watch.after["queues.send", 1] = lambda: stage.clock.move(25)

    stage.fail(job, token=1)
    stage.ports = whole

    sent = [bells.from_text(body) for body in stage.bells(job)]
    assert [3, 3] == [bell.number for bell in sent if bell.number == 3]
    assert [job.key] == [each.key for each in stage.activate("work", "b", wait_s=5)]
