"""What every implementation of the firings does: in memory, recurring and planned on EventBridge.

The emulated EventBridge puts nothing into a message and counts an interval from the schedule's own
creation (contracts/emulation.md section 3), so recurring schedules are only tried with one-offs,
and what AWS would put into their messages is put into them here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from chalicelib.delivery import firings, runs
from chalicelib.delivery.firings import EventBridgeFirings, PlannedFirings
from chalicelib.delivery.runs import Firing
from chalicelib.delivery.scheduler import EventBridgeSchedules
from chalicelib.delivery.sqs import SqsQueues
from chalicelib.ports import Firings, Queues
from chalicelib.scheduler.definition import Every, Once, ScheduledJob
from chalicelib.wiring import SystemClock
from tests.contract.clients import client_of
from tests.fakes.clock import ManualClock
from tests.fakes.firings import MemoryFirings
from tests.fakes.queues import MemoryQueues
from tests.patience import eventually, in_time

MINUTE_MS = 60_000
SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class Bench:
    """One implementation, the queue it fires into, and how time passes for it."""

    firings: Firings
    queues: Queues
    now: Callable[[], datetime]

    def fired(self, *jobs: ScheduledJob, due: datetime) -> list[Firing]:
        """Return what has fired of some jobs up to a moment, at which it would be due.

        It has passed when another job fires that is due then, and was planned after them.
        """
        sign = job_at(due)
        self.firings.put(sign, min(self.now(), due - SECOND))
        found: list[Firing] = []

        def has_passed() -> bool:
            found.extend(self._next(due))
            return sign.id in _ids(found)

        assert eventually(has_passed)
        found.extend(self._next(due, wait_s=0))
        return [each for each in found if each.job_id in _ids(jobs)]

    def _next(self, due: datetime, wait_s: int = 1) -> list[Firing]:
        written = f"{due:%Y-%m-%dT%H:%M:%SZ}"
        bodies = [each.body for each in self.queues.receive(runs.QUEUE, 10, 300, wait_s)]
        read = [runs.from_text(body.replace(firings.DUE, written)) for body in bodies]
        return [each for each in read if isinstance(each, Firing)]


def in_memory(*, recurs: bool) -> Bench:
    clock = ManualClock()
    queues = MemoryQueues(clock)
    made = MemoryFirings(clock, queues, recurs=recurs)
    return Bench(made, queues, clock.now)


def on_eventbridge(endpoint: str, *, recurs: bool) -> Bench:
    client = partial(client_of, endpoint)
    prefix = f"t{uuid4().hex[:8]}-"
    scheduler = client("scheduler")
    scheduler.create_schedule_group(Name=prefix.strip("-"))
    role = "arn:aws:iam::000000000000:role/schedules"
    schedules = EventBridgeSchedules(scheduler, prefix.strip("-"), role, prefix)
    made = EventBridgeFirings(schedules) if recurs else PlannedFirings(schedules, SystemClock())
    return Bench(made, SqsQueues(client("sqs"), prefix), lambda: datetime.now(UTC))


@pytest.fixture(
    params=[
        "memory-recurring",
        "memory-planned",
        pytest.param("eventbridge-recurring", marks=pytest.mark.aws),
        pytest.param("eventbridge-planned", marks=pytest.mark.aws),
    ]
)
def bench(request: pytest.FixtureRequest) -> Bench:
    where, _, how = request.param.partition("-")
    recurs = how == "recurring"
    if where == "memory":
        made = in_memory(recurs=recurs)
    else:
        made = on_eventbridge(request.getfixturevalue("emulated_aws"), recurs=recurs)
    made.queues.ensure(runs.QUEUE)
    return made


def _ids(found: Iterable[Firing | ScheduledJob]) -> set[str]:
    return {each.job_id if isinstance(each, Firing) else each.id for each in found}


def job_at(due: datetime, **fields: Any) -> ScheduledJob:
    """Return a job that runs once."""
    created_at = due - timedelta(hours=1)
    made = ScheduledJob(id=uuid4().hex, name="once", type="http", created_at=created_at)
    return replace(made, schedule=Once(due), **fields)


def test_a_job_fires_when_it_is_due_once_and_says_which_revision_was_planned(bench: Bench) -> None:
    def put(due: datetime) -> ScheduledJob:
        job = job_at(due, revision=7)
        bench.firings.put(job, bench.now())
        return job

    job, due = in_time(put, bench.now)

    assert [Firing(job.id, 7, due)] == bench.fired(job, due=due)
    assert due <= bench.now()
    assert [] == bench.fired(job, due=due + SECOND)


def test_a_job_that_is_put_twice_fires_once(bench: Bench) -> None:
    def put(due: datetime) -> ScheduledJob:
        job = job_at(due)
        bench.firings.put(job, bench.now())
        bench.firings.put(job, bench.now())
        return job

    job, due = in_time(put, bench.now)

    assert [Firing(job.id, 1, due)] == bench.fired(job, due=due)
    assert [] == bench.fired(job, due=due + SECOND)


def test_a_job_that_is_changed_fires_by_its_new_schedule_alone(bench: Bench) -> None:
    def put(first: datetime) -> ScheduledJob:
        job = job_at(first)
        bench.firings.put(job, bench.now())
        bench.firings.put(replace(job, schedule=Once(first + SECOND), revision=2), bench.now())
        return job

    job, first = in_time(put, bench.now)

    second = first + SECOND
    assert [Firing(job.id, 2, second)] == bench.fired(job, due=second)


def test_a_change_that_was_never_written_leaves_nothing_under_its_revision(bench: Bench) -> None:
    def put(first: datetime) -> ScheduledJob:
        lost = job_at(first, revision=2)
        bench.firings.put(lost, bench.now())
        bench.firings.put(replace(lost, schedule=Once(first + SECOND)), bench.now())
        return lost

    job, first = in_time(put, bench.now)

    second = first + SECOND
    assert [Firing(job.id, 2, second)] == bench.fired(job, due=second)


def test_a_job_that_is_removed_fires_no_more_and_can_be_put_again(bench: Bench) -> None:
    def put_and_remove(due: datetime) -> ScheduledJob:
        job = job_at(due)
        bench.firings.put(job, bench.now())
        bench.firings.remove(job.id)
        bench.firings.remove(job.id)
        return job

    job, due = in_time(put_and_remove, bench.now)

    assert [] == bench.fired(job, due=due)

    def put_again(due: datetime) -> None:
        bench.firings.put(replace(job, schedule=Once(due), revision=2), bench.now())

    _, due = in_time(put_again, bench.now)
    assert [2] == [each.revision for each in bench.fired(job, due=due)][-1:]


def test_a_job_without_firings_to_come_does_not_fire_by_what_it_fired_by_before(
    bench: Bench,
) -> None:
    def put(due: datetime) -> ScheduledJob:
        job = job_at(due)
        bench.firings.put(job, bench.now())
        bench.firings.put(replace(job, schedule=None, revision=2), bench.now())
        return job

    job, due = in_time(put, bench.now)

    assert [] == bench.fired(job, due=due)


def test_removing_one_job_leaves_the_others(bench: Bench) -> None:
    def put(due: datetime) -> tuple[ScheduledJob, ScheduledJob]:
        stays, goes = job_at(due), job_at(due)
        bench.firings.put(stays, bench.now())
        bench.firings.put(goes, bench.now())
        bench.firings.remove(goes.id)
        return stays, goes

    (stays, goes), due = in_time(put, bench.now)

    assert [Firing(stays.id, 1, due)] == bench.fired(stays, goes, due=due)


def test_a_firing_that_goes_on_twice_is_followed_by_one(
    bench: Bench, request: pytest.FixtureRequest
) -> None:
    if "eventbridge-recurring" in request.node.name:
        pytest.skip("the emulated Scheduler counts an interval from its own creation")

    def put(due: datetime) -> ScheduledJob:
        before = due - timedelta(milliseconds=MINUTE_MS)
        job = replace(job_at(due), schedule=Every(MINUTE_MS), created_at=before)
        bench.firings.put(job, bench.now())
        bench.firings.goes_on(job, before)
        bench.firings.goes_on(job, before)
        return job

    job, due = in_time(put, bench.now)

    assert [Firing(job.id, 1, due)] == bench.fired(job, due=due)
    assert [] == bench.fired(job, due=due + SECOND)
