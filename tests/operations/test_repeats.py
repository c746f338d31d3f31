"""Requests done once: whatever is lost on the way, a repeat changes nothing and is told so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.engine.commands import FailJob
from chalicelib.engine.limits import Limits
from chalicelib.engine.state import Job, JobState
from chalicelib.errors import Reason, Rejected
from chalicelib.operations import failures, instances
from chalicelib.operations.instances import Start
from chalicelib.ports import Ports, Settings
from chalicelib.profile import Profile
from chalicelib.store import failures as rows
from chalicelib.store.marks import KEPT, Once
from tests.operations.models import typed_task, wide_fork
from tests.operations.stage import Stage
from tests.operations.watched import Crash, Fault, die, fault, watched

ONCE = Once("POST /v1/process-instances", "order-7", "body")
FAIL_ONCE = Once("POST /v1/jobs/{job_key}/fail", "attempt-1", "body")


def start(ports: Ports, key: int, once: Once = ONCE) -> int:
    wanted = Start(definition_key=key, profile=Profile.ZENBPM)
    return instances.create_process_instance(ports, wanted, once).key


def fail(ports: Ports, job: Job, once: Once = FAIL_ONCE, token: int | None = None) -> None:
    failures.fail_job(ports, FailJob(job.key, "no stock", token=token), once)


def void(_: object) -> None:
    """Let nobody see what an action returns."""


def taken(stage: Stage, retries: int = 3) -> Job:
    stage.create(typed_task("work", str(retries)))
    (job,) = stage.activate("work")
    return job


# --- starting ----------------------------------------------------------------------------------


def test_a_start_that_is_repeated_answers_the_instance_as_it_is_now() -> None:
    stage = Stage()
    definition = stage.deploy("one_task.bpmn").key
    key = start(stage.ports, definition)
    stage.work("charge")

    wanted = Start(definition_key=definition, profile=Profile.ZENBPM)
    found = instances.create_process_instance(stage.ports, wanted, ONCE)

    assert (key, "completed") == (found.key, found.instance.root.state.value)


def test_another_body_under_the_same_key_is_refused_and_starts_nothing() -> None:
    stage = Stage()
    definition = stage.deploy("one_task.bpmn").key
    start(stage.ports, definition)

    with pytest.raises(Rejected, match="used for another request body") as refused:
        start(stage.ports, definition, replace(ONCE, fingerprint="another"))

    assert Reason.INVALID_STATE is refused.value.reason
    assert 1 == len(stage.activate("charge", max_jobs=10))


def test_keys_of_different_routes_are_strangers() -> None:
    stage = Stage()
    definition = stage.deploy("one_task.bpmn").key

    assert start(stage.ports, definition) != start(
        stage.ports, definition, replace(ONCE, route="POST /v1/elsewhere", fingerprint="another")
    )


def test_a_key_is_free_again_after_a_day() -> None:
    stage = Stage()
    definition = stage.deploy("one_task.bpmn").key
    first = start(stage.ports, definition)

    stage.clock.move((KEPT - timedelta(seconds=1)).total_seconds())
    assert first == start(stage.ports, definition)
    stage.clock.move(1)
    second = start(stage.ports, definition, replace(ONCE, fingerprint="another"))
    assert first != second
    assert second == start(stage.ports, definition, replace(ONCE, fingerprint="another"))


def test_a_start_that_is_refused_leaves_its_key_free() -> None:
    stage = Stage()
    with pytest.raises(Rejected):
        start(stage.ports, 77)

    definition = stage.deploy("one_task.bpmn").key

    assert start(stage.ports, definition, replace(ONCE, fingerprint="another"))


@pytest.mark.parametrize("call", ["queues.send", "table.transact"])
@pytest.mark.parametrize("happens", [die, fault])
def test_a_start_that_dies_before_its_commit_is_made_by_the_repeat(
    call: str, happens: Callable[[], None]
) -> None:
    stage = Stage()
    definition = stage.deploy("one_task.bpmn").key
    ports, watch = watched(stage.ports)
    watch.before[call, 1] = happens
    with pytest.raises((Crash, Fault)):
        start(ports, definition)

    key = start(stage.ports, definition)

    assert [key] == [job.instance_key for job in stage.activate("charge", max_jobs=10, wait_s=5)]


def test_a_start_whose_answer_is_lost_is_not_made_again() -> None:
    stage = Stage()
    definition = stage.deploy("one_task.bpmn").key
    ports, watch = watched(stage.ports)
    watch.after["table.transact", 1] = die
    with pytest.raises(Crash):
        start(ports, definition)

    key = start(stage.ports, definition)

    assert [key] == [job.instance_key for job in stage.activate("charge", max_jobs=10, wait_s=5)]


@pytest.mark.parametrize("call", ["queues.send", "table.transact"])
def test_of_two_starts_at_the_same_time_one_wins_and_both_are_told_it(call: str) -> None:
    stage = Stage()
    definition = stage.deploy("one_task.bpmn").key
    ports, watch = watched(stage.ports)
    keys: list[int] = []
    watch.before[call, 1] = lambda: keys.append(start(stage.ports, definition))

    keys.append(start(ports, definition))

    assert 1 == len(set(keys))
    assert keys[:1] == [job.instance_key for job in stage.activate("charge", max_jobs=10)]


def test_of_two_different_starts_at_the_same_time_one_is_refused() -> None:
    stage = Stage()
    definition = stage.deploy("one_task.bpmn").key
    ports, watch = watched(stage.ports)
    other = replace(ONCE, fingerprint="another")
    watch.before["table.transact", 1] = lambda: void(start(stage.ports, definition, other))

    with pytest.raises(Rejected, match="another request body"):
        start(ports, definition)

    assert 1 == len(stage.activate("charge", max_jobs=10))


# --- failing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("retries", [3, 1])
def test_a_failure_without_token_that_is_repeated_counts_once(retries: int) -> None:
    stage = Stage()
    job = taken(stage, retries)

    fail(stage.ports, job)
    fail(stage.ports, job)

    failed = stage.job(job.key)
    assert (1, retries - 1) == (failed.attempts, failed.retries)
    assert 1 == len(rows.newest(stage.table, failed))
    assert (JobState.ACTIVE if retries > 1 else JobState.FAILED) is failed.state


@pytest.mark.rule("R81")
def test_failures_without_token_or_key_each_spend_an_attempt() -> None:
    stage = Stage()
    job = taken(stage)

    stage.fail(job)
    stage.fail(job)

    assert 2 == stage.job(job.key).attempts


@pytest.mark.parametrize("retries", [3, 1])
def test_another_failure_under_the_same_key_is_refused_and_counts_nothing(retries: int) -> None:
    stage = Stage()
    job = taken(stage, retries)
    fail(stage.ports, job)

    with pytest.raises(Rejected, match="used for another request body"):
        fail(stage.ports, job, replace(FAIL_ONCE, fingerprint="another"))

    assert 1 == stage.job(job.key).attempts


def test_a_failure_known_by_its_token_takes_a_key_as_well() -> None:
    stage = Stage()
    job = taken(stage)
    fail(stage.ports, job, replace(FAIL_ONCE, key="first"), token=1)

    fail(stage.ports, job, token=1)

    with pytest.raises(Rejected, match="used for another request body"):
        fail(stage.ports, job, replace(FAIL_ONCE, fingerprint="another"), token=1)
    assert 1 == stage.job(job.key).attempts


@pytest.mark.parametrize("retries", [3, 1])
@pytest.mark.parametrize("happens", [die, fault])
def test_a_failure_that_dies_before_its_commit_is_recorded_by_the_repeat(
    retries: int, happens: Callable[[], None]
) -> None:
    stage = Stage()
    job = taken(stage, retries)
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 1] = happens
    with pytest.raises((Crash, Fault)):
        fail(ports, job)

    fail(stage.ports, job)

    assert 1 == stage.job(job.key).attempts


@pytest.mark.parametrize("retries", [3, 1])
def test_a_failure_whose_answer_is_lost_is_not_recorded_again(retries: int) -> None:
    stage = Stage()
    job = taken(stage, retries)
    ports, watch = watched(stage.ports)
    watch.after["table.transact", 1] = die
    with pytest.raises(Crash):
        fail(ports, job)

    fail(stage.ports, job)

    assert 1 == stage.job(job.key).attempts


@pytest.mark.parametrize("retries", [3, 1])
@pytest.mark.parametrize("call", ["table.get", "table.get_many", "table.transact"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_of_two_same_failures_at_the_same_time_one_counts_and_both_are_told_so(
    retries: int, call: str, when: str
) -> None:
    stage = Stage()
    job = taken(stage, retries)
    ports, watch = watched(stage.ports)
    getattr(watch, when)[call, 1] = lambda: fail(stage.ports, job)

    fail(ports, job)

    failed = stage.job(job.key)
    assert (1, 1) == (failed.attempts, len(rows.newest(stage.table, failed)))


def test_a_failure_that_loses_to_another_one_is_judged_again() -> None:
    stage = Stage()
    job = taken(stage, 1)
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 1] = lambda: stage.fail(job, retries=1)

    fail(ports, job)

    assert (2, JobState.FAILED) == (stage.job(job.key).attempts, stage.job(job.key).state)


def test_a_turn_that_only_makes_moves_left_by_others_marks_nothing() -> None:
    stage = Stage(Settings(limits=Limits(moves_max=4)))
    definition = stage.deploy(wide_fork(40))
    ports, watch = watched(stage.ports)
    watch.after["table.transact", 1] = die
    with pytest.raises(Crash):
        start(ports, definition.key)
    (job,) = stage.activate("work", wait_s=5)
    watch.reset()
    watch.after["table.transact", 1] = die  # moves left over: the failure comes after them
    with pytest.raises(Crash):
        fail(ports, job)
    assert 0 == stage.job(job.key).attempts

    fail(stage.ports, job)

    assert (1, JobState.FAILED) == (stage.job(job.key).attempts, stage.job(job.key).state)
