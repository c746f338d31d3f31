"""Claiming one job by its key: what a worker is told, and that no bell is lost by it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.delivery import bells
from chalicelib.engine.commands import CancelInstance
from chalicelib.engine.effects import Ring
from chalicelib.engine.state import Job, JobState
from chalicelib.errors import Rejected
from chalicelib.operations.advance import advance
from chalicelib.profile import Profile
from chalicelib.store import jobs
from tests.operations.models import typed_task
from tests.operations.stage import Stage
from tests.operations.watched import Crash, die, watched

SECOND = timedelta(seconds=1)
WINDOWS = [
    ("after", "table.get_many"),
    ("before", "queues.send"),
    ("after", "queues.send"),
    ("before", "table.write"),
    ("after", "table.write"),
]


def one_job(stage: Stage) -> Job:
    """Start an instance that waits for its one job."""
    (job,) = stage.jobs_of(stage.create("one_task.bpmn", amount=5))
    return job


def later(stage: Stage, job: Job, seconds: float) -> list[Job]:
    """Let time pass, and ask for the job as another client."""
    stage.clock.move(seconds)
    return stage.activate(job.type, "b")


def test_a_job_is_claimed_by_its_key_and_bell() -> None:
    stage = Stage()
    job = one_job(stage)
    (bell,) = stage.bells(job)

    claimed = stage.claim(job.key, "a", bell)

    assert ("a", 1) == (claimed.owner, claimed.delivery_token)
    assert 1 == len(later(stage, claimed, 30))


def test_a_job_is_claimed_by_its_key_alone() -> None:
    stage = Stage()

    assert "a" == stage.claim(one_job(stage).key).owner


def refusal(stage: Stage, key: int, bell: str | None = None) -> Rejected:
    with pytest.raises(Rejected) as caught:
        stage.claim(key, "z", bell)
    return caught.value


def test_a_job_that_somebody_has_is_held() -> None:
    stage = Stage()
    job = one_job(stage)
    (locked,) = stage.activate("charge", "a")

    refused = refusal(stage, job.key)

    assert {"reason": "held", "owner": "a", "until": locked.lock_until} == refused.details


def test_a_job_that_backs_off_is_waiting() -> None:
    stage = Stage()
    stage.create(typed_task("work"))
    (job,) = stage.activate("work")
    stage.fail(job, backoff=60 * SECOND, token=1)

    refused = refusal(stage, job.key)

    assert {"reason": "waiting", "until": stage.job(job.key).retry_at} == refused.details


@pytest.mark.parametrize("way", ["completed", "terminated"])
def test_a_job_that_is_over_is_ended(way: str) -> None:
    stage = Stage()
    job = one_job(stage)
    (bell,) = stage.bells(job)
    if way == "completed":
        stage.complete(job)
    else:
        advance(stage.ports, job.instance_key, CancelInstance())

    assert "ended" == refusal(stage, job.key, bell).details["reason"]
    assert way in refusal(stage, job.key).message


def test_a_job_that_waits_for_an_operator_is_ended_for_a_worker() -> None:
    stage = Stage()
    job = one_job(stage)
    stage.fail(job)
    assert JobState.FAILED is stage.job(job.key).state

    assert "ended" == refusal(stage, job.key).details["reason"]


def test_before_it_answers_held_the_bell_was_rung_on() -> None:
    stage = Stage()
    job = one_job(stage)
    (locked,) = stage.activate("charge", "a")
    (bell,) = stage.bells(job)
    stage.queues.lose(stage.queue("charge"))

    refusal(stage, job.key, bell)

    (rung,) = [bells.from_text(body) for body in stage.bells(job)]
    assert (2, locked.lock_until) == (rung.number, rung.at)
    assert 1 == len(later(stage, job, 30))


def test_a_bell_that_is_outdated_does_not_keep_a_free_job_from_its_worker() -> None:
    stage = Stage()
    job = one_job(stage)
    (outdated,) = stage.bells(job)
    stage.activate("charge", "a")
    stage.clock.move(30)

    assert ("b", 2) == (
        stage.claim(job.key, "b", outdated).owner,
        stage.job(job.key).delivery_token,
    )


def test_a_bell_that_is_outdated_is_not_rung_on() -> None:
    stage = Stage()
    job = one_job(stage)
    (outdated,) = stage.bells(job)
    stage.activate("charge", "a")

    refusal(stage, job.key, outdated)

    assert 1 == len(stage.bells(job))


def test_a_bell_of_a_job_that_is_not_there_yet_is_early() -> None:
    stage = Stage()
    job = one_job(stage)
    unborn = Ring(job.key + 1, "bpmn", "charge", Profile.ZENBPM, 1, stage.clock.now(), version=2)
    bell = bells.to_text(bells.bell_of(unborn, stage.clock.now()))

    assert "early" == refusal(stage, job.key + 1, bell).details["reason"]
    stage.clock.move(121)
    assert "not found" in refusal(stage, job.key + 1, bell).message


def test_a_bell_of_a_ring_that_is_not_committed_yet_is_early() -> None:
    stage = Stage()
    job = one_job(stage)
    bell = bells.to_text(bells.bell_of(bells.next_ring(job, stage.clock.now()), stage.clock.now()))

    assert "early" == refusal(stage, job.key, bell).details["reason"]
    stage.clock.move(121)
    assert "z" == stage.claim(job.key, "z", bell).owner


def test_a_job_that_comes_while_it_is_looked_for_is_claimed() -> None:
    stage = Stage()
    job = one_job(stage)
    bell = bells.to_text(bells.bell_of(bells.next_ring(job, stage.clock.now()), stage.clock.now()))

    def commit_meanwhile(_: float) -> None:
        jobs.ring_again(stage.table, stage.job(job.key), stage.clock.now())

    stage.clock.on_sleep = commit_meanwhile

    assert "z" == stage.claim(job.key, "z", bell).owner


def test_an_early_job_is_looked_for_again_after_20_40_and_80_ms() -> None:
    stage = Stage()

    refusal(stage, 2**32 + 7)

    assert [0.020, 0.040, 0.080] == [s for s in stage.clock.slept if s]


@pytest.mark.parametrize("bell", ["", "no bell", '{"job":1}'])
def test_what_is_no_bell_is_refused(bell: str) -> None:
    stage = Stage()

    assert "message body" in refusal(stage, one_job(stage).key, bell).message


def test_the_bell_of_another_job_is_refused() -> None:
    stage = Stage()
    job = one_job(stage)
    (bell,) = stage.bells(job)

    assert f"expected the bell of job {job.key + 1}" in refusal(stage, job.key + 1, bell).message


@pytest.mark.parametrize(("when", "call"), WINDOWS)
def test_a_claim_by_key_that_dies_anywhere_loses_no_job(when: str, call: str) -> None:
    stage = Stage()
    job = one_job(stage)
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    (watch.before if when == "before" else watch.after)[call, 1] = die
    try:
        stage.claim(job.key)
    except Crash:
        stage.ports = whole
    stage.ports = whole

    stage.clock.move(60)
    assert job.key == stage.activate("charge", "b", wait_s=20)[0].key
