"""Scheduled jobs: firings, triggers, loops, retries and locks against each other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta
from functools import partial

from chalicelib.delivery import runs
from chalicelib.delivery.runs import Firing, RunMessage
from chalicelib.errors import Rejected
from chalicelib.operations import firings, scheduled_jobs
from chalicelib.ports import Message
from chalicelib.scheduler.definition import (
    Alarm,
    Every,
    Loop,
    Once,
    Overlap,
    Retry,
    Schedule,
    ScheduledJob,
    Watch,
)
from chalicelib.scheduler.rows import Outcome, Row, run_id_of
from chalicelib.store import scheduled_jobs as definitions
from tests.simulation.replacing import replaced
from tests.simulation.run_ports import Says
from tests.simulation.scenario import Scenario
from tests.simulation.stage import Stage
from tests.simulation.world import BEGIN

MINUTE_MS = 60_000
DAILY = Every(24 * 60 * MINUTE_MS)
TWO_SECONDS = Loop(enabled=True, delay_ms=2_000)
QUICK_RETRY = Retry(enabled=True, base_delay_ms=1_000, max_attempts=3)
LONG = timedelta(minutes=65)  # of a loop's delay, in which its lock goes stale
MS = timedelta(milliseconds=1)
DRAFT = ScheduledJob(
    id="0" * 32, name="drain", type="http", schedule=DAILY, created_at=BEGIN - timedelta(days=1)
)


# --- who acts ----------------------------------------------------------------------------------


def store(stage: Stage, job: ScheduledJob = DRAFT) -> ScheduledJob:
    """Let there be a job, from before the play."""
    assert definitions.create(stage.inner, job, token="")
    return job


def fire(stage: Stage, job: ScheduledJob, after_ms: int = 0, late_ms: int = 0) -> None:
    """Let a job's schedule fire."""
    due = BEGIN + (after_ms - late_ms) * MS
    body = runs.to_text(Firing(job.id, job.revision, due))
    stage.client("schedule", lambda: stage.queues.send(runs.QUEUE, [Message(body)]), after_ms)


def trigger(stage: Stage, job: ScheduledJob, name: str = "client", after_ms: int = 0) -> None:
    """Let a client trigger a job once."""

    def act() -> None:
        try:
            fired = stage.repeat("trigger", partial(firings.trigger, stage.ports, job.id))
        except Rejected as refused:
            stage.ledger.refused.append(refused.message)
            return
        if fired is not None:
            stage.watch.runs.triggered.append(fired.fired)

    stage.client(name, act, after_ms)


def change(stage: Stage, job: ScheduledJob, after_ms: int, **fields: object) -> None:
    """Let a client change a job."""

    def act() -> None:
        changed = partial(replace, **fields)
        operation = partial(scheduled_jobs.patch_scheduled_job, stage.ports, job.id, changed)
        stage.repeat("patch", operation)

    stage.client("editor", act, after_ms)


# --- how attempts end --------------------------------------------------------------------------


def drains(*left: int) -> Says:
    """Say how much is left after each iteration; nothing after the last."""

    def says(row: Row) -> tuple[Outcome, int]:
        return Outcome.SUCCEEDED, left[row.iteration] if row.iteration < len(left) else 0

    return says


def fails_first(row: Row) -> tuple[Outcome, int]:
    """Fail each row's first attempt; one more iteration follows the first."""
    return (Outcome.FAILED if row.attempt == 1 else Outcome.SUCCEEDED), 1 - row.iteration


def the_first_drains(row: Row) -> tuple[Outcome, int]:
    """Let the run of the first firing go on once."""
    return Outcome.SUCCEEDED, int(row.run_id == run_id_of(BEGIN) and not row.iteration)


def fails(_: Row) -> tuple[Outcome, int]:
    """Fail every attempt."""
    return Outcome.FAILED, 0


# --- what is played ----------------------------------------------------------------------------


def _fired_in_a_loop(stage: Stage) -> None:
    """A firing comes while the loop of the one before goes on."""
    job = store(stage, replace(DRAFT, loop=TWO_SECONDS))
    fire(stage, job)
    fire(stage, job, 3_000)


def _fired_at_once(stage: Stage) -> None:
    """Two firings at the same moment, of which each comes twice."""
    job = store(stage)
    for late_ms in (0, 1_000):
        for _ in range(2):
            fire(stage, job, 100, late_ms)


def _fired_and_triggered(stage: Stage) -> None:
    """A manual trigger against a firing."""
    job = store(stage)
    fire(stage, job, 100)
    trigger(stage, job, after_ms=100)


def _triggered_at_once(stage: Stage) -> None:
    """Two clients trigger a pool of two at the same moment."""
    job = store(stage, replace(DRAFT, pool_count=2))
    trigger(stage, job)
    trigger(stage, job, "other client")


def _pool_with_retry(stage: Stage) -> None:
    """A pool of two whose members fail, retry and go on."""
    fire(stage, store(stage, replace(DRAFT, pool_count=2, retry=QUICK_RETRY, loop=TWO_SECONDS)))


def _discarded(stage: Stage) -> None:
    """A run fails until it is discarded, against a trigger; another run may have come between."""
    job = store(stage, replace(DRAFT, retry=QUICK_RETRY))
    fire(stage, job)
    trigger(stage, job, after_ms=3_500)


def _stale_lock(stage: Stage) -> None:
    """A run waits for longer than its lock is kept, and is taken over when it comes back."""
    loop = Loop(enabled=True, delay_ms=LONG // MS)
    job = store(stage, replace(DRAFT, loop=loop))
    fire(stage, job)
    fire(stage, job, LONG // MS + 2 * MINUTE_MS)


def _one_off(stage: Stage) -> None:
    """A client makes a one-off, which is done when it has run."""
    draft = replace(DRAFT, schedule=Once(BEGIN + timedelta(seconds=4)))

    def act() -> None:
        create = partial(scheduled_jobs.create_scheduled_job, stage.ports, draft)
        stage.repeat("create", create)

    stage.client("client", act)


def _one_off_is_done(stage: Stage) -> Iterator[str]:
    for job in definitions.every(stage.inner):
        if not job.is_done:
            yield f"one-off {job.id} has not run"


def _chained(stage: Stage) -> None:
    """A job fires every minute, where each firing has to plan the one after it."""
    schedule: Schedule = Every(MINUTE_MS)

    def act() -> None:
        create = partial(
            scheduled_jobs.create_scheduled_job, stage.ports, replace(DRAFT, schedule=schedule)
        )
        stage.repeat("create", create)

    stage.client("client", act)


def _rescheduled(stage: Stage) -> None:
    """Two clients change a job at the same moment, another one pauses and resumes it later."""
    job = store(stage, replace(DRAFT, schedule=Every(MINUTE_MS), created_at=BEGIN))
    stage.firings.begin_with(job)
    change(stage, job, 20_000, name="drains")
    change(stage, job, 20_000, schedule=Every(2 * MINUTE_MS))
    change(stage, job, 30_000, enabled=False)
    change(stage, job, 40_000, enabled=True)


def _fires_as_defined(stage: Stage) -> Iterator[str]:
    """What fires a job is of its latest revision, and what does not fire is not planned."""
    for job in definitions.every(stage.inner):
        planned = stage.firings.latest.get(job.id)
        if planned != (job.revision if runs.fires(job) else None):
            yield f"{job} is planned by revision {planned}"


def _side_by_side(stage: Stage) -> None:
    """Under `allow` a firing runs beside the loop of the one before."""
    job = store(stage, replace(DRAFT, overlap=Overlap.ALLOW, loop=TWO_SECONDS))
    fire(stage, job)
    fire(stage, job, 2_200)


def _edited(stage: Stage) -> None:
    """A one-off's definition is changed at the moment it is marked as done."""
    schedule = Once(BEGIN + timedelta(seconds=1))
    job = store(stage, replace(DRAFT, schedule=schedule, loop=TWO_SECONDS))
    fire(stage, job, 1_000)
    change(stage, job, 3_300, name="drains")


def _paused(stage: Stage) -> None:
    """A job is paused just after it fired: what has begun goes on."""
    job = store(stage, replace(DRAFT, loop=TWO_SECONDS))
    fire(stage, job)
    change(stage, job, 300, enabled=False)


def _deleted(stage: Stage) -> None:
    """A job is deleted in the middle of its loop."""
    job = store(stage, replace(DRAFT, loop=TWO_SECONDS, retry=QUICK_RETRY))
    fire(stage, job)

    def act() -> None:
        operation = partial(scheduled_jobs.delete_scheduled_job, stage.ports, job.id)
        try:
            stage.repeat("delete", operation)
        except Rejected as refused:
            stage.ledger.refused.append(refused.message)

    stage.client("client", act, 3_000)


def _outlived(stage: Stage) -> None:
    """An executor is taken for dead while it works, and records what it did all the same."""
    retry = Retry(enabled=True, base_delay_ms=2 * MINUTE_MS)
    job = store(stage, replace(DRAFT, retry=retry))
    fire(stage, job)
    copy = RunMessage(job.id, run_id_of(BEGIN), 0, 0, 1, BEGIN)
    message = Message(runs.to_text(copy))
    stage.client("copy", lambda: stage.queues.send(runs.QUEUE, [message]), 1_500)


def _impatiently() -> AbstractContextManager[None]:
    """Take an executor for dead after a second."""
    return replaced(runs, DEAD_AFTER=timedelta(seconds=1))


def _unlocked(stage: Stage) -> None:
    """An operator unlocks an index at work; another run takes it and keeps it to its end."""
    job = store(stage)
    fire(stage, job)
    fire(stage, job, 2_000)
    fire(stage, job, 4_000)

    def act() -> None:
        stage.repeat("unlock", partial(firings.unlock, stage.ports, job.id, 0))

    stage.client("operator", act, 1_000)


def _alarmed(stage: Stage) -> None:
    """Two members of a pool fail at once, and one failure is enough for the alarm."""
    alarm = Alarm(Watch.FAILURES, 1, 24 * 60 * MINUTE_MS)
    fire(stage, store(stage, replace(DRAFT, pool_count=2, alarm=alarm)))


SCENARIOS = (
    Scenario("fired-in-a-loop", None, _fired_in_a_loop, says=drains(1, 1)),
    Scenario("fired-at-once", None, _fired_at_once),
    Scenario("fired-and-triggered", None, _fired_and_triggered),
    Scenario("triggered-at-once", None, _triggered_at_once),
    Scenario("pool-with-retry", None, _pool_with_retry, says=fails_first),
    Scenario("discarded", None, _discarded, says=fails),
    Scenario(
        "stale-lock",
        None,
        _stale_lock,
        struck_ms=LONG // MS + 10 * MINUTE_MS,
        work_ms=4 * MINUTE_MS,
        says=the_first_drains,
    ),
    Scenario("one-off", None, _one_off, expect=_one_off_is_done),
    Scenario("chained", None, _chained, expect=_fires_as_defined),
    Scenario("rescheduled", None, _rescheduled, expect=_fires_as_defined),
    Scenario("side-by-side", None, _side_by_side, says=drains(1)),
    Scenario("edited-at-its-end", None, _edited, says=drains(1), expect=_one_off_is_done),
    Scenario("paused", None, _paused, says=drains(1)),
    Scenario("outlived", None, _outlived, under=_impatiently, work_ms=3_000),
    Scenario("unlocked", None, _unlocked, work_ms=3_000),
    Scenario("alarmed", None, _alarmed, says=fails),
    Scenario("deleted-in-a-loop", None, _deleted, says=fails_first),
)
