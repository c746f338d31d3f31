"""Scheduled jobs are made, changed and removed, and fire as their definition says."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from chalicelib.errors import Conflict, Reason, Rejected
from chalicelib.operations import scheduled_jobs
from chalicelib.operations.scheduled_jobs import WantedJobs
from chalicelib.scheduler.definition import Once, Overlap, ScheduledJob
from chalicelib.store import runs as rows
from tests.fakes.clock import BEGIN
from tests.operations.scheduling import HOURLY, Scheduling, at, draft
from tests.operations.watched import Crash, Watch, die, watched


def dying(stage: Scheduling, call: str) -> tuple[Scheduling, Watch]:
    """Let the process of a stage die before its first call of that name."""
    ports, watch = watched(stage.ports)
    watch.before[call, 1] = die
    stage.ports = ports
    return stage, watch


def test_a_job_gets_an_id_and_the_time_it_was_made() -> None:
    stage = Scheduling()
    sent = replace(draft(), id="mine", created_at=at(99), revision=7, is_done=True)

    job = scheduled_jobs.create_scheduled_job(stage.ports, sent)

    assert (32, BEGIN, 1, False) == (len(job.id), job.created_at, job.revision, job.is_done)
    assert job == scheduled_jobs.get_scheduled_job(stage.ports, job.id)
    assert job == stage.firings.planned[job.id].job


@pytest.mark.rule("Z70", "Z77")
@pytest.mark.parametrize(
    "fields",
    [{"pool_count": n} for n in (21, 0, -1)] + [{"pool_count": 2, "schedule": Once(at(60))}],
)
def test_a_senseless_pool_is_refused_on_create_and_on_update(fields: dict[str, int]) -> None:
    stage = Scheduling()
    job = stage.create(pool_count=20)

    for refuse in (stage.create, partial(stage.change, job)):
        with pytest.raises(Rejected) as refused:
            refuse(**fields)
        assert Reason.INVALID_ARGUMENT is refused.value.reason
        assert {"field": "pool_count"} == refused.value.details
    assert job == scheduled_jobs.get_scheduled_job(stage.ports, job.id)


def test_a_job_that_could_not_be_stored_fires_only_what_goes() -> None:
    stage, _ = dying(Scheduling(), "table.transact")

    with pytest.raises(Crash):
        stage.create()

    assert 1 == len(stage.firings.planned)
    stage.wait(3_600 + 150)
    assert ({}, []) == (stage.firings.planned, stage.waiting())


def test_a_job_whose_schedule_is_old_when_it_is_written_is_planned_anew() -> None:
    stage = Scheduling()
    puts: list[ScheduledJob] = []
    put = stage.firings.put

    def slow_put(job: ScheduledJob, now: object) -> None:
        puts.append(job)
        stage.clock.move(30 if len(puts) == 1 else 0)
        put(job, stage.clock.now())

    stage.firings.put = slow_put  # type: ignore[method-assign]
    job = stage.create()

    assert [job, job] == puts


def test_jobs_are_listed_from_the_oldest_on() -> None:
    stage = Scheduling()
    made = []
    for number in range(5):
        stage.clock.move(1)
        made.append(stage.create(name=f"job {number}", enabled=number != 3))
    made[0] = stage.change(made[0], type="script")

    def listed(limit: int, offset: int, **wanted: object) -> tuple[list[ScheduledJob], int]:
        asked = WantedJobs(**wanted)  # type: ignore[arg-type]
        return scheduled_jobs.list_scheduled_jobs(stage.ports, asked, limit, offset)

    assert (made, 5) == listed(50, 0)
    assert (made[2:4], 5) == listed(2, 2)
    assert ([made[3]], 1) == listed(50, 0, enabled=False)
    assert ([made[0]], 1) == listed(50, 0, type="script")
    assert ([made[4]], 4) == listed(50, 3, enabled=True)


def test_a_changed_job_keeps_who_it_is_and_gets_a_new_revision() -> None:
    stage = Scheduling()
    job = stage.create()
    stage.clock.move(5)

    changed = scheduled_jobs.patch_scheduled_job(stage.ports, job.id, lambda _: draft(name="other"))

    assert replace(job, name="other", revision=2) == changed
    assert changed == stage.firings.planned[job.id].job


def test_a_paused_job_fires_no_more_until_it_is_resumed() -> None:
    stage = Scheduling()
    job = stage.create()

    scheduled_jobs.pause_scheduled_job(stage.ports, job.id)
    assert {} == stage.firings.planned
    resumed = scheduled_jobs.resume_scheduled_job(stage.ports, job.id)

    assert resumed == stage.firings.planned[job.id].job
    assert (True, 3) == (resumed.enabled, resumed.revision)


def test_a_pause_that_stalls_takes_no_schedule_away_from_a_resumed_job() -> None:
    stage = Scheduling()
    job = stage.create()
    remove = stage.firings.remove

    def resume_then_remove(job_id: str) -> None:
        scheduled_jobs.resume_scheduled_job(stage.ports, job_id)
        remove(job_id)

    stage.firings.remove = resume_then_remove  # type: ignore[method-assign]
    scheduled_jobs.pause_scheduled_job(stage.ports, job.id)

    resumed = scheduled_jobs.get_scheduled_job(stage.ports, job.id)
    assert resumed.enabled
    assert resumed == stage.firings.planned[job.id].job


def test_a_job_without_a_schedule_is_not_planned() -> None:
    stage = Scheduling()
    job = stage.create(schedule=None)
    assert {} == stage.firings.planned

    stage.change(job, schedule=HOURLY)

    assert [job.id] == list(stage.firings.planned)


def test_a_change_that_another_one_comes_before_is_made_on_top() -> None:
    stage = Scheduling()
    job = stage.create()
    ports, watch = watched(stage.ports)
    watch.before["table.write", 1] = lambda: stage.change(  # type: ignore[assignment]
        job, timeout_ms=5_000
    )

    changed = scheduled_jobs.patch_scheduled_job(
        ports, job.id, lambda before: replace(before, name="other")
    )

    assert ("other", 5_000, 3) == (changed.name, changed.timeout_ms, changed.revision)
    assert changed == stage.firings.planned[job.id].job


def test_a_change_that_others_keep_coming_before_gives_up() -> None:
    stage = Scheduling()
    job = stage.create()

    def change(before: ScheduledJob) -> ScheduledJob:
        stage.change(job, timeout_ms=before.timeout_ms + 1)
        return before

    with pytest.raises(Conflict):
        scheduled_jobs.patch_scheduled_job(stage.ports, job.id, change)


def test_a_one_off_that_is_done_fires_again_only_at_another_time() -> None:
    stage = Scheduling()
    job = stage.create(schedule=Once(at(5)))
    stage.wait(10)
    assert {} == stage.firings.planned

    renamed = stage.change(scheduled_jobs.get_scheduled_job(stage.ports, job.id), name="other")
    assert (True, {}) == (renamed.is_done, stage.firings.planned)
    moved = stage.change(renamed, schedule=Once(at(60)))

    assert (False, [job.id]) == (moved.is_done, list(stage.firings.planned))


def test_a_job_that_allows_overlap_from_now_on_has_no_locks() -> None:
    stage = Scheduling()
    job = stage.create(pool_count=2)
    stage.fire(job)

    stage.change(job, overlap=Overlap.ALLOW)

    assert [] == stage.locks(job)
    stage.wait(1)
    assert (2, []) == (len(stage.runner.made), stage.locks(job))


def test_a_deleted_job_is_gone_with_its_schedule_and_locks() -> None:
    stage = Scheduling()
    job = stage.create()
    stage.fire(job)

    scheduled_jobs.delete_scheduled_job(stage.ports, job.id)

    assert ({}, []) == (stage.firings.planned, stage.locks(job))
    asked = scheduled_jobs.list_scheduled_jobs(stage.ports, WantedJobs(), 50, 0)
    assert ([], 0) == asked
    with pytest.raises(Rejected):
        scheduled_jobs.get_scheduled_job(stage.ports, job.id)
    with pytest.raises(Rejected):
        scheduled_jobs.delete_scheduled_job(stage.ports, job.id)


@pytest.mark.parametrize("job_id", ["", "nobody", "x" * 5_000])
def test_an_id_that_names_nothing_is_refused(job_id: str) -> None:
    stage = Scheduling()

    with pytest.raises(Rejected) as refused:
        scheduled_jobs.get_scheduled_job(stage.ports, job_id)

    assert Reason.NOT_FOUND is refused.value.reason


def test_a_definition_that_is_too_large_for_an_item_is_refused() -> None:
    stage = Scheduling()

    with pytest.raises(Rejected) as refused:
        stage.create(script=replace(draft().script, script="x" * 400_000))

    assert refused.value.reason in (Reason.TOO_LARGE, Reason.INVALID_ARGUMENT)


def test_it_is_told_since_when_each_index_runs() -> None:
    stage = Scheduling()
    job = stage.create(pool_count=3)
    stage.fire(job)
    rows.unlock(stage.table, job.id, 1)
    stage.clock.move(1_800)
    assert {0: BEGIN, 2: BEGIN} == scheduled_jobs.running_since_by_pool(stage.ports, job.id)

    stage.clock.move(1_801)

    assert {} == scheduled_jobs.running_since_by_pool(stage.ports, job.id)
