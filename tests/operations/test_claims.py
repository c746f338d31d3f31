"""Handing out jobs: exactly one worker has a job, and no bell of an open job is ever lost."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.delivery import bells
from chalicelib.delivery.horizon import HORIZON
from chalicelib.delivery.promise import promise
from chalicelib.engine.commands import CancelInstance
from chalicelib.engine.effects import Ring
from chalicelib.engine.keys import BLOCK_SIZE
from chalicelib.engine.state import Job
from chalicelib.operations import claims
from chalicelib.operations.advance import advance
from chalicelib.operations.claims import Activation, lock_duration
from chalicelib.operations.handing_out import Claimant
from chalicelib.ports import Message
from chalicelib.profile import Profile
from tests.operations.models import typed_task, wide_fork
from tests.operations.stage import LOCK, Stage
from tests.operations.watched import Crash, Fault, die, fault, watched

SECOND = timedelta(seconds=1)


def one_job(stage: Stage) -> Job:
    """Start an instance that waits for its one job."""
    (job,) = stage.jobs_of(stage.create("one_task.bpmn", amount=5))
    return job


def later(stage: Stage, job: Job, seconds: float) -> list[Job]:
    """Let time pass, and ask for the job as another client."""
    stage.clock.move(seconds)
    return stage.activate(job.type, "b")


# --- activate ----------------------------------------------------------------------------------


def test_a_job_is_handed_out_with_all_that_its_worker_needs() -> None:
    stage = Stage()
    made = one_job(stage)

    (job,) = stage.activate("charge", "a")

    assert ("a", 1, stage.clock.now() + LOCK) == (job.owner, job.delivery_token, job.lock_until)
    assert made.inputs == job.inputs
    assert job == stage.job(made.key)


def test_a_locked_job_is_not_handed_out_again_until_its_lock_ends() -> None:
    stage = Stage()
    job = one_job(stage)
    stage.activate("charge", "a")

    assert [] == stage.activate("charge", "a")
    assert [] == later(stage, job, 20)
    (again,) = later(stage, job, 10)
    assert ("b", 2) == (again.owner, again.delivery_token)


def test_an_open_job_has_one_live_bell_at_every_time() -> None:
    stage = Stage()
    job = one_job(stage)
    for round_ in range(4):
        (claimed,) = stage.activate("charge", "a", wait_s=20)
        numbers = [bells.from_text(body).number for body in stage.bells(job)]
        assert [round_ + 2] == numbers == [claimed.ring]
        stage.clock.move(LOCK.total_seconds())


def test_a_finished_job_leaves_no_bell_behind() -> None:
    stage = Stage()
    job = stage.work(one_job(stage).type)
    stage.clock.move(30)

    assert [] == stage.activate("charge")
    assert [] == stage.bells(job)


def test_as_many_are_handed_out_as_are_asked_for_and_there_are() -> None:
    stage = Stage()
    stage.create(wide_fork(40))

    assert 25 == len(stage.activate("work", max_jobs=25))
    assert 15 == len(stage.activate("work", max_jobs=100))


def test_of_those_received_the_oldest_come_first() -> None:
    stage = Stage()
    definition = stage.deploy("one_task.bpmn")
    for _ in range(5):
        stage.create(definition)
        stage.clock.move(1)

    claimed = stage.activate("charge", max_jobs=10)

    assert sorted(job.created_at for job in claimed) == [job.created_at for job in claimed]
    assert 5 == len(claimed)


def test_it_waits_for_the_first_job_and_no_longer_than_asked() -> None:
    stage = Stage()
    definition = stage.deploy("one_task.bpmn")
    began = stage.clock.now()

    assert [] == stage.activate("charge", wait_s=20)
    assert began + 20 * SECOND == stage.clock.now()

    def sleep(seconds: float) -> None:
        stage.clock.move(seconds)
        if stage.clock.now() == began + 25 * SECOND:
            stage.create(definition)

    stage.clock.on_sleep = sleep
    assert 1 == len(stage.activate("charge", wait_s=20))
    assert began + 25 * SECOND == stage.clock.now()


def test_spare_bells_do_not_hide_a_job_behind_them() -> None:
    stage = Stage()
    definition = stage.deploy("one_task.bpmn")
    for _ in range(25):
        stage.work(stage.jobs_of(stage.create(definition))[0].type)
    stage.clock.move(30)
    stage.create(definition)

    assert 1 == len(stage.activate("charge"))


def test_who_is_asked_to_stop_answers_empty() -> None:
    stage = Stage()
    one_job(stage)
    stage.clock.stop()

    assert [] == stage.activate("charge", wait_s=20)


def test_a_type_without_a_queue_waits_and_makes_none() -> None:
    stage = Stage()
    began = stage.clock.now()

    assert [] == stage.activate("unheard-of", wait_s=3)
    assert began + 3 * SECOND == stage.clock.now()
    assert [] == stage.queues.names()


def test_a_type_from_an_expression_gets_its_queue_from_the_first_promise() -> None:
    stage = Stage()
    stage.create(typed_task("=kind"), kind="payment:charge")

    assert 1 == len(stage.activate("payment:charge"))


def test_a_message_that_is_no_bell_is_thrown_away() -> None:
    stage = Stage()
    job = one_job(stage)
    stage.queues.send(stage.queue("charge"), [Message("hello")])

    assert 1 == len(stage.activate("charge", max_jobs=2))
    assert "hello" not in stage.bells(job)


@pytest.mark.parametrize(
    ("given", "asked"),
    [(30, None), (30, timedelta(0)), (5, timedelta(seconds=5)), (86_400, timedelta(days=9))],
)
def test_a_lock_lasts_as_asked_within_the_cap(given: int, asked: timedelta | None) -> None:
    assert timedelta(seconds=given) == lock_duration(Stage().ports, asked)


def test_workers_of_dialects_that_are_kept_apart_get_their_own() -> None:
    stage = Stage()
    stage.ports = replace(stage.ports, settings=replace(stage.ports.settings, cross_dialect=False))
    stage.create(stage.deploy("one_task.bpmn"))

    def ask(profile: Profile) -> list[Job]:
        return claims.activate(
            stage.ports, Activation("charge", Claimant("a", LOCK), profile=profile)
        )

    assert [] == ask(Profile.PRIOSTACK)
    assert 1 == len(ask(Profile.ZENBPM))


# --- bells that are early, late or spare -------------------------------------------------------


def test_a_bell_that_comes_before_its_commit_is_looked_at_again_and_claimed() -> None:
    stage = Stage()
    definition = stage.deploy("one_task.bpmn")
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    asked: list[list[Job]] = []

    def ask_meanwhile() -> None:  # the bell is out, and nothing is committed
        asked.append(claims.activate(whole, Activation("charge", Claimant("b", LOCK))))

    watch.before["table.transact", 1] = ask_meanwhile
    stage.create(definition)
    stage.ports = whole

    assert [[]] == asked
    stage.clock.move(1)
    assert 1 == len(stage.activate("charge", "b"))


def test_a_bell_whose_turn_never_came_is_dropped_after_the_horizon() -> None:
    stage = Stage()
    job = one_job(stage)
    unborn = Ring(job.key + 1, "bpmn", "charge", Profile.ZENBPM, 1, stage.clock.now(), version=9)
    promise(stage.ports, [unborn])
    stage.activate("charge")

    assert [] == stage.activate("charge")
    assert 2 == len(stage.bells(job))
    stage.clock.move(HORIZON.total_seconds() + 1)
    stage.activate("charge", max_jobs=2)
    assert job.key in [bells.from_text(body).job_key for body in stage.bells(job)]
    assert job.key + 1 not in [bells.from_text(body).job_key for body in stage.bells(job)]


def test_a_bell_whose_turn_lost_is_dropped_at_the_second_look() -> None:
    stage = Stage()
    job = one_job(stage)
    lost = Ring(job.key + 1, "bpmn", "charge", Profile.ZENBPM, 1, stage.clock.now(), version=1)
    promise(stage.ports, [lost])

    stage.activate("charge", max_jobs=2)

    assert [job.key] == [bells.from_text(body).job_key for body in stage.bells(job)]


def test_a_missing_job_is_spare_only_if_the_root_was_read_before_it() -> None:
    stage = Stage()
    definition = stage.deploy("one_task.bpmn")
    (first,) = stage.jobs_of(stage.create(definition))
    stage.work("charge")
    following = first.key + BLOCK_SIZE
    promise(
        stage.ports,
        [Ring(following, "bpmn", "charge", Profile.ZENBPM, 1, stage.clock.now(), version=1)],
    )
    ports, watch = watched(stage.ports)
    born: list[int] = []

    # The other process commits right after the first look at the job.
    watch.after["table.get_many", 1] = lambda: born.append(stage.create(definition))
    (claimed,) = claims.activate(ports, Activation("charge", Claimant("b", LOCK)))

    assert [claimed.instance_key] == born
    assert following == claimed.key


def test_a_bell_of_a_job_that_backs_off_is_rung_on_for_its_time() -> None:
    stage = Stage()
    stage.create(typed_task("work"))
    (job,) = stage.activate("work")
    stage.fail(job, backoff=timedelta(seconds=60), token=1)
    stage.queues.lose(stage.queue("work"))
    promise(
        stage.ports, [replace(bells.next_ring(stage.job(job.key), stage.clock.now()), number=3)]
    )

    assert [] == stage.activate("work")

    (bell,) = [bells.from_text(body) for body in stage.bells(job)]
    assert (3, stage.clock.now() - SECOND + 60 * SECOND) == (bell.number, bell.at) or (
        stage.job(job.key).retry_at == bell.at
    )
    assert 1 == len(later(stage, stage.job(job.key), 60))


def test_a_lock_of_hours_ends_by_way_of_a_schedule() -> None:
    stage = Stage()
    job = one_job(stage)
    hours = Activation("charge", Claimant("a", timedelta(hours=3)))
    claims.activate(stage.ports, hours)

    stage.clock.move(900)
    assert [] == stage.activate("charge", "b")
    assert 1 == len(stage.schedules.planned)
    assert [] == stage.bells(job)
    while stage.schedules.planned:
        stage.clock.move(60)
    assert [] == stage.activate("charge", "b")
    assert stage.clock.now() < stage.job(job.key).lock_until  # type: ignore[operator]
    stage.clock.move(900)

    assert 1 == len(stage.activate("charge", "b"))


def test_doubles_of_a_bell_hand_out_one_job() -> None:
    stage = Stage()
    job = one_job(stage)
    (body,) = stage.bells(job)
    stage.queues.send(stage.queue("charge"), [Message(body), Message(body)])

    assert 1 == len(stage.activate("charge", max_jobs=10))
    assert 1 == len(stage.bells(job))


# --- crash windows -----------------------------------------------------------------------------

WINDOWS = [
    ("before", "queues.receive"),
    ("after", "queues.receive"),
    ("after", "table.get_many"),
    ("before", "queues.send"),
    ("after", "queues.send"),
    ("before", "table.write"),
    ("after", "table.write"),
    ("before", "queues.delete"),
    ("after", "queues.delete"),
]


@pytest.mark.parametrize(("when", "call"), WINDOWS)
def test_a_worker_front_that_dies_anywhere_loses_no_job(when: str, call: str) -> None:
    stage = Stage()
    job = one_job(stage)
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    (watch.before if when == "before" else watch.after)[call, 1] = die

    with pytest.raises(Crash):
        stage.activate("charge", "a")
    stage.ports = whole

    stage.clock.move(60)
    (again,) = stage.activate("charge", "b", wait_s=20)
    assert job.key == again.key
    stage.clock.move(60)
    (third,) = stage.activate("charge", "c", wait_s=20)
    assert again.delivery_token < third.delivery_token


@pytest.mark.parametrize(("when", "call"), WINDOWS)
def test_a_call_that_fails_anywhere_loses_no_job(when: str, call: str) -> None:
    stage = Stage()
    job = one_job(stage)
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    (watch.before if when == "before" else watch.after)[call, 1] = fault

    try:
        claimed = stage.activate("charge", "a")
        assert [job.key] == [each.key for each in claimed]
        assert "queues.delete" == call
    except Fault:
        assert "queues.delete" != call
    stage.ports = whole

    stage.clock.move(60)
    (again,) = stage.activate("charge", "b", wait_s=20)
    assert job.key == again.key


def test_a_process_that_stalls_after_ringing_rings_again_before_it_claims() -> None:
    stage = Stage()
    job = one_job(stage)
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    watch.after["queues.send", 1] = lambda: stage.clock.move(25)

    (claimed,) = stage.activate("charge", "a")
    stage.ports = whole

    sent = [bells.from_text(body).first_sent for body in stage.bells(job)]
    assert [2, 2] == [bells.from_text(body).number for body in stage.bells(job)]
    assert 25 * SECOND == sent[1] - sent[0]
    assert 1 == len(later(stage, claimed, 30))


def test_a_claim_that_loses_is_judged_by_what_beat_it() -> None:
    stage = Stage()
    job = one_job(stage)
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)

    def other() -> None:
        claims.claim_by_key(whole, job.key, Claimant("b", LOCK))

    watch.before["table.write", 1] = other

    assert [] == stage.activate("charge", "a")
    stage.ports = whole
    assert ("b", 1) == (stage.job(job.key).owner, stage.job(job.key).delivery_token)
    assert 1 == len(later(stage, job, 30))


def test_a_cancelled_instance_hands_out_nothing() -> None:
    stage = Stage()
    job = one_job(stage)
    advance(stage.ports, job.instance_key, CancelInstance())

    assert [] == stage.activate("charge")
    assert [] == stage.bells(job)
