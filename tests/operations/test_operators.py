"""What operators and workers say of a job beside its end, and the bells that this owes."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from chalicelib.delivery import bells
from chalicelib.engine.commands import ResolveIncident
from chalicelib.engine.state import Incident, Job
from chalicelib.operations import incidents, locks, retries
from chalicelib.operations.advance import advance
from chalicelib.operations.incidents import Mended
from chalicelib.operations.locks import Extension
from chalicelib.store.lists import Cut
from tests.operations.models import typed_task
from tests.operations.stage import Stage
from tests.operations.watched import Crash, die, watched

SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
PAGE = Cut(size=100)


@pytest.fixture
def stage() -> Stage:
    return Stage()


def taken(stage: Stage, given: str = "3") -> Job:
    stage.create(typed_task("work", given))
    (job,) = stage.activate("work")
    return job


def live_bells(stage: Stage, job: Job) -> list[bells.Bell]:
    """Return the bells of the job's own number that are under way."""
    found = [bells.from_text(text) for text in stage.bells(job)]
    return [bell for bell in found if bell.number == stage.job(job.key).ring]


def failed(stage: Stage) -> tuple[Job, Incident]:
    """Return a job that is exhausted, and its incident."""
    job = taken(stage, "1")
    stage.fail(job, token=job.delivery_token)
    (incident,) = (
        each
        for each in stage.instance(job.instance_key).records.values()
        if isinstance(each, Incident) and each.resolved_at is None
    )
    return stage.job(job.key), incident


# --- locks -------------------------------------------------------------------------------------


@pytest.mark.rule("R37")
def test_a_longer_lock_rings_nothing_and_the_old_bell_is_rung_on(stage: Stage) -> None:
    job = taken(stage)

    until = locks.extend_job_lock(stage.ports, Extension(job.key, "a", duration=2 * MINUTE))

    assert (job.ring, until) == (stage.job(job.key).ring, stage.job(job.key).lock_until)
    stage.wait(31)
    assert [] == stage.activate("work")
    assert [until] == [bell.at for bell in live_bells(stage, job)]


@pytest.mark.rule("R40")
def test_a_shorter_lock_rings_for_its_end(stage: Stage) -> None:
    job = taken(stage)

    until = locks.extend_job_lock(stage.ports, Extension(job.key, "a", duration=4 * SECOND))

    assert job.ring + 1 == stage.job(job.key).ring
    assert [until] == [bell.at for bell in live_bells(stage, job)]


@pytest.mark.rule("R40", "R43")
def test_whoever_dies_before_a_shorter_lock_is_written_has_changed_nothing(stage: Stage) -> None:
    job = taken(stage)
    ports, watch = watched(stage.ports)
    watch.before["table.write", 1] = die

    with pytest.raises(Crash):
        locks.extend_job_lock(ports, Extension(job.key, "a", duration=SECOND))

    assert job == stage.job(job.key)
    stage.clock.move(31)
    assert [job.key] == [each.key for each in stage.activate("work")]


# --- retries -----------------------------------------------------------------------------------


@pytest.mark.rule("R125")
def test_retries_that_are_set_ring_for_the_time_the_job_is_out(stage: Stage) -> None:
    job = taken(stage)
    stage.fail(job, token=1, backoff=HOUR)

    retries.update_job_retries(stage.ports, job.key, 4)

    assert [stage.clock.now()] == [bell.at for bell in live_bells(stage, job)]
    retries.update_job_retries(stage.ports, job.key, 4, stage.clock.now() + MINUTE)
    assert [stage.clock.now() + MINUTE] == [bell.at for bell in live_bells(stage, job)]


@pytest.mark.rule("R125")
@pytest.mark.parametrize("call", ["queues.send", "table.write"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_whoever_dies_while_setting_retries_loses_no_job(
    stage: Stage, call: str, when: str
) -> None:
    job = taken(stage)
    stage.fail(job, token=1, backoff=MINUTE)
    ports, watch = watched(stage.ports)
    getattr(watch, when)[call, 1] = die

    with pytest.raises(Crash):
        retries.update_job_retries(ports, job.key, 4)

    stage.clock.move(61)
    assert [job.key] == [each.key for each in stage.activate("work")]


@pytest.mark.rule("R126", "R78", "R116")
def test_a_retry_time_hours_ahead_goes_by_way_of_one_schedule(stage: Stage) -> None:
    job = taken(stage)
    stage.fail(job, token=1)
    due = stage.clock.now() + 3 * HOUR
    retries.update_job_retries(stage.ports, job.key, 4, due)

    _wait_until_delivered(stage, job, due)


@pytest.mark.rule("R78", "R113", "R116")
@pytest.mark.parametrize("backoff", [HOUR, 24 * HOUR])
def test_a_backoff_of_hours_goes_by_way_of_one_schedule(stage: Stage, backoff: timedelta) -> None:
    """Nothing of the wait is in memory: each look is by a worker that was just started."""
    job = taken(stage)
    stage.fail(job, token=1, backoff=backoff)

    _wait_until_delivered(stage, job, stage.clock.now() + backoff)


def _wait_until_delivered(stage: Stage, job: Job, due: datetime) -> None:
    """Look every five minutes, then closely: the job is out at its time, within two seconds."""
    planned: set[str] = set()
    while stage.clock.now() < due - 6 * MINUTE:
        assert [] == stage.activate("work")
        planned |= stage.schedules.planned.keys()
        stage.clock.move(300)
    assert 1 == len(planned)
    while not (again := stage.activate("work")):
        assert stage.clock.now() <= due + 2 * SECOND
    assert (job.key, 2) == (again[0].key, again[0].delivery_token)
    assert due <= stage.clock.now()


# --- incidents ---------------------------------------------------------------------------------


@pytest.mark.rule("R134")
def test_variables_given_with_a_resolve_are_there_when_it_starts_again(stage: Stage) -> None:
    key = stage.create(typed_task("work", "=n"), n="many")
    (incident,) = incidents.get_open_incidents(stage.ports, None, PAGE).items

    mended = Mended(variables={"n": 2})
    incidents.resolve_incident(stage.ports, incident.incident.key, mended)

    (job,) = stage.jobs_of(key)
    assert (2, {"n": 2}) == (job.retries, job.inputs)


@pytest.mark.rule("R146")
def test_variables_of_a_resolve_that_is_refused_are_not_set(stage: Stage) -> None:
    job, incident = failed(stage)
    advance(stage.ports, job.key, ResolveIncident(incident.key))

    with pytest.raises(Exception, match="already resolved"):
        incidents.resolve_incident(stage.ports, incident.key, Mended(variables={"n": 2}))

    assert {} == stage.variables(job.instance_key)


def test_open_incidents_are_listed_over_all_instances_the_newest_first(stage: Stage) -> None:
    keys = []
    for _ in range(3):
        _, incident = failed(stage)
        keys.append(incident.key)
        stage.clock.move(1)
    advance(stage.ports, keys[1], ResolveIncident(keys[1]))

    listed = incidents.get_open_incidents(stage.ports, None, PAGE)
    second = incidents.get_open_incidents(stage.ports, None, Cut(first=1, size=1))

    assert ([keys[2], keys[0]], 2) == ([i.incident.key for i in listed.items], listed.total)
    assert ([keys[0]], 2) == ([i.incident.key for i in second.items], second.total)
    assert {"made"} == {each.root.bpmn_process_id for each in listed.items}


def test_open_incidents_are_listed_of_one_process(stage: Stage) -> None:
    _, incident = failed(stage)
    stage.create("exclusive_choice.bpmn", amount="no number")

    def keys(process_id: str) -> list[int]:
        listed = incidents.get_open_incidents(stage.ports, process_id, PAGE)
        assert listed.total == len(listed.items)
        return [each.incident.key for each in listed.items]

    assert [incident.key] == keys("made")
    assert 1 == len(keys("exclusive_choice"))
    assert [] == keys("none")
