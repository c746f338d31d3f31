"""Two who say something of one job at once: exactly one of them wins, and nothing is mixed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from chalicelib.engine.commands import CancelInstance, CompleteJob, FailJob, ResolveIncident
from chalicelib.engine.state import Incident, InstanceState, Job, JobState
from chalicelib.errors import Reason, Rejected
from chalicelib.operations import jobs, locks, retries
from chalicelib.operations.advance import advance
from chalicelib.operations.failures import fail_job
from chalicelib.operations.incidents import Mended, resolve_incident
from chalicelib.operations.locks import Extension
from tests.operations.models import typed_task
from tests.operations.stage import Stage
from tests.operations.watched import Watch, watched

MINUTE = timedelta(minutes=1)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def taken(stage: Stage, given: str = "3") -> Job:
    """A job that was handed out to client `a`."""
    stage.create(typed_task("work", given))
    (job,) = stage.activate("work")
    return job


def incident_of(stage: Stage, job: Job) -> Incident:
    records = stage.instance(job.instance_key).records.values()
    (found,) = (each for each in records if isinstance(each, Incident) and not each.resolved_at)
    return found


def beaten(stage: Stage, call: str, first: Callable[[], None]) -> tuple[Watch, Stage]:
    """Return a stage for somebody who is overtaken just before a call to the table."""
    ports, watch = watched(stage.ports)
    watch.before[call, 1] = first
    slow = Stage()
    slow.ports = ports
    return watch, slow


WRITE, TRANSACT = "table.write", "table.transact"


# --- completion --------------------------------------------------------------------------------


@pytest.mark.rule("R12")
def test_a_completion_that_a_cancel_overtakes_is_refused(stage: Stage) -> None:
    job = taken(stage)
    _, slow = beaten(stage, TRANSACT, lambda: _advance(stage, job.instance_key, CancelInstance()))

    with pytest.raises(Rejected) as refused:
        advance(slow.ports, job.key, CompleteJob(job.key))

    assert Reason.INVALID_STATE == refused.value.reason
    assert (JobState.TERMINATED, InstanceState.TERMINATED) == _states(stage, job)


@pytest.mark.rule("R12")
def test_a_cancel_that_a_completion_overtakes_is_refused(stage: Stage) -> None:
    job = taken(stage)
    _, slow = beaten(stage, TRANSACT, lambda: stage.complete(job))

    with pytest.raises(Rejected) as refused:
        advance(slow.ports, job.instance_key, CancelInstance())

    assert "actual=ActivityStateCompleted" in refused.value.message
    assert (JobState.COMPLETED, InstanceState.COMPLETED) == _states(stage, job)


@pytest.mark.rule("R12", "R2")
def test_a_completion_that_another_overtakes_is_a_repeat(stage: Stage) -> None:
    job = taken(stage)
    _, slow = beaten(stage, TRANSACT, lambda: stage.complete(job, by="first"))

    advance(slow.ports, job.key, CompleteJob(job.key, {"by": "second"}))

    assert {"by": "first"} == stage.job(job.key).outputs


# --- failures ----------------------------------------------------------------------------------


@pytest.mark.rule("R105")
@pytest.mark.parametrize("call", ["table.get", TRANSACT])
def test_two_identical_exhausting_failures_make_one_incident(stage: Stage, call: str) -> None:
    job = taken(stage, "1")
    failure = FailJob(job.key, "no", token=1)
    _, slow = beaten(stage, call, lambda: fail_job(stage.ports, failure))

    fail_job(slow.ports, failure)

    assert (JobState.FAILED, 1) == (stage.job(job.key).state, stage.job(job.key).attempts)
    assert incident_of(stage, job).job_key == job.key
    assert 1 == stage.instance(job.instance_key).root.incident_count


@pytest.mark.rule("R98")
def test_a_repeat_is_one_even_if_all_went_on_while_it_was_judged(stage: Stage) -> None:
    job = taken(stage, "1")
    failure = FailJob(job.key, "no", token=1)

    def go_on() -> None:
        """The first of the two comes through, is resolved, and the next delivery fails too."""
        fail_job(stage.ports, failure)
        advance(stage.ports, job.key, ResolveIncident(incident_of(stage, job).key, retries=9))
        (again,) = stage.activate("work")
        stage.fail(again, token=again.delivery_token)

    _, slow = beaten(stage, "table.get", go_on)
    fail_job(slow.ports, failure)

    shown = stage.job(job.key)
    assert (JobState.ACTIVE, 8, 1) == (shown.state, shown.retries, shown.attempts)


@pytest.mark.rule("R99")
def test_a_failure_that_the_next_delivery_overtakes_is_superseded(stage: Stage) -> None:
    job = taken(stage)
    stage.clock.move(28)  # two seconds before the lock's end

    def lapse() -> None:
        stage.clock.move(3)
        assert 1 == len(stage.activate("work", "b"))

    _, slow = beaten(stage, TRANSACT, lapse)
    with pytest.raises(Rejected, match="handed out again"):
        fail_job(slow.ports, FailJob(job.key, token=1))

    assert (3, 0, "b") == _series(stage, job)


# --- what operators say ------------------------------------------------------------------------


@pytest.mark.rule("R133")
@pytest.mark.parametrize("end", [CompleteJob, CancelInstance])
def test_retries_that_the_end_overtakes_are_refused(
    stage: Stage, end: type[CompleteJob] | type[CancelInstance]
) -> None:
    job = taken(stage)
    command = CompleteJob(job.key) if end is CompleteJob else CancelInstance()
    _, slow = beaten(stage, WRITE, lambda: _advance(stage, job.key, command))

    with pytest.raises(Rejected, match="cannot update the retries") as refused:
        retries.update_job_retries(slow.ports, job.key, 7)

    assert Reason.INVALID_STATE == refused.value.reason


@pytest.mark.rule("R133", "R131")
def test_retries_that_a_failure_overtakes_count_its_attempt(stage: Stage) -> None:
    job = taken(stage)
    _, slow = beaten(stage, WRITE, lambda: stage.fail(job, token=1))

    retries.update_job_retries(slow.ports, job.key, 7)

    assert (7, 1, None) == _series(stage, job)


@pytest.mark.rule("R133")
def test_an_assignment_that_a_failure_overtakes_leaves_its_retries(stage: Stage) -> None:
    job = taken(stage)
    _, slow = beaten(stage, WRITE, lambda: stage.fail(job, token=1))

    jobs.assign_job(slow.ports, job.key, "ann")

    assert "ann" == stage.job(job.key).assignee
    assert (2, 1, None) == _series(stage, job)
    assert stage.job(job.key).ring == job.ring + 1


def test_an_assignment_that_the_end_overtakes_is_refused(stage: Stage) -> None:
    job = taken(stage)
    _, slow = beaten(stage, WRITE, lambda: stage.complete(job))

    with pytest.raises(Rejected, match="already completed"):
        jobs.assign_job(slow.ports, job.key, "ann")


@pytest.mark.rule("R43", "R45")
def test_an_extension_that_the_next_delivery_overtakes_is_refused(stage: Stage) -> None:
    job = taken(stage)
    stage.clock.move(28)  # two seconds before the lock's end

    again: list[Job] = []

    def lapse() -> None:
        stage.clock.move(3)
        again.extend(stage.activate("work"))

    _, slow = beaten(stage, WRITE, lapse)
    with pytest.raises(Rejected, match="not held by delivery 1"):
        locks.extend_job_lock(slow.ports, Extension(job.key, "a", token=1, duration=MINUTE))

    assert (2, again) == (stage.job(job.key).delivery_token, [stage.job(job.key)])


@pytest.mark.rule("R146", "R145")
def test_of_two_resolves_one_counts(stage: Stage) -> None:
    job = taken(stage, "1")
    stage.fail(job)
    key = incident_of(stage, job).key
    first = Mended(retries=5)
    _, slow = beaten(stage, TRANSACT, lambda: resolve_incident(stage.ports, key, first))

    with pytest.raises(Rejected, match="already resolved"):
        resolve_incident(slow.ports, key, Mended(retries=9))

    assert 5 == stage.job(job.key).retries


@pytest.mark.rule("R146", "R136")
def test_a_resolve_that_set_retries_overtake_takes_them_up(stage: Stage) -> None:
    job = taken(stage, "1")
    stage.fail(job)
    key = incident_of(stage, job).key
    _, slow = beaten(stage, TRANSACT, lambda: retries.update_job_retries(stage.ports, job.key, 6))

    resolve_incident(slow.ports, key, Mended())

    assert (6, 0, None) == _series(stage, job)


@pytest.mark.rule("R146")
def test_a_resolve_is_one_transaction_and_a_cancel_before_it_leaves_nothing(stage: Stage) -> None:
    job = taken(stage, "1")
    stage.fail(job)
    key = incident_of(stage, job).key
    watch, slow = beaten(
        stage, TRANSACT, lambda: _advance(stage, job.instance_key, CancelInstance())
    )

    with pytest.raises(Rejected, match="already resolved"):
        resolve_incident(slow.ports, key, Mended(retries=4))

    assert 0 == watch.counts[WRITE]
    assert (JobState.TERMINATED, 0) == (stage.job(job.key).state, stage.job(job.key).retries)


def _advance(stage: Stage, key: int, command: CompleteJob | CancelInstance) -> None:
    advance(stage.ports, key, command)


def _states(stage: Stage, job: Job) -> tuple[JobState, InstanceState]:
    return stage.job(job.key).state, stage.state(job.instance_key)


def _series(stage: Stage, job: Job) -> tuple[int, int, str | None]:
    shown = stage.job(job.key)
    return shown.retries, shown.attempts, shown.owner
