"""Every attempt is one invocation, and alarms count them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from chalicelib.errors import Rejected
from chalicelib.operations import invocations
from chalicelib.operations.invocations import Counted
from chalicelib.ports import Ports
from chalicelib.scheduler.definition import Alarm, Retry, Sink, SinkType, Watch
from chalicelib.scheduler.rows import Outcome
from chalicelib.store import invocations as store
from chalicelib.store.invocations import LIST_MAX
from tests.fakes.clock import BEGIN
from tests.fakes.runner import CANCELLED, FAILED, Said, remaining
from tests.operations.scheduling import DAILY, LOOPING, Scheduling, at
from tests.operations.watched import watched

# Three iterations, of which the second needs one retry (Z98).
STORY = (remaining(2), FAILED, remaining(1), remaining(0))
QUICK = Retry(enabled=True, base_delay_ms=1_000)
WINDOW_MS = 600_000


def counted(stage: Scheduling, job_id: str, failures_only: bool = False) -> int:
    return invocations.count_invocations(stage.ports, job_id, BEGIN, failures_only).count


def alarm(watch: Watch, threshold: int) -> Alarm:
    return Alarm(watch, threshold, WINDOW_MS, (Sink(SinkType.LOG), Sink(SinkType.EMAIL, "a@b.c")))


@pytest.mark.rule("Z98", "Z101")
def test_every_attempt_is_counted() -> None:
    stage = Scheduling(*STORY)
    job = stage.create(loop=LOOPING, retry=QUICK)

    stage.fire(job)
    stage.wait(10)

    assert (4, 1) == (counted(stage, job.id), counted(stage, job.id, failures_only=True))


@pytest.mark.rule("Z99")
def test_the_attempts_of_a_whole_pool_are_counted() -> None:
    stage = Scheduling()
    job = stage.create(loop=LOOPING, retry=QUICK, pool_count=3)
    story = {(0, 1): STORY[0], (1, 1): STORY[1], (1, 2): STORY[2], (2, 1): STORY[3]}
    stage.runner.said = [story[key] for key in ((0, 1), (0, 1), (0, 1), (1, 1), (1, 1), (1, 1))] + [
        story[key] for key in ((1, 2), (1, 2), (1, 2), (2, 1), (2, 1), (2, 1))
    ]

    stage.fire(job)
    stage.wait(10)

    assert 12 == counted(stage, job.id)


@pytest.mark.rule("Z100")
def test_a_skipped_firing_counts_nothing() -> None:
    stage = Scheduling()
    job = stage.create()
    stage.fire(job)
    stage.clock.move(1)
    stage.fire(job)

    stage.wait(1)

    assert 1 == counted(stage, job.id)


@pytest.mark.rule("Z102")
def test_a_cancelled_attempt_counts_as_a_failure() -> None:
    stage = Scheduling(CANCELLED)
    job = stage.create()

    stage.fire(job)
    stage.wait(1)

    assert 1 == counted(stage, job.id, failures_only=True)


def test_an_invocation_tells_what_was_done_and_what_came_of_it() -> None:
    stage = Scheduling(Said(Outcome.FAILED, b"\xffno", "expected 200", 500, takes_s=3))
    job = stage.create()
    run = stage.fire(job)
    stage.pump()

    listed = invocations.list_invocations(stage.ports, job.id, 50, 0)
    (told,) = listed.items

    assert (1, run, 0, 0, 1) == (
        listed.total,
        told.run_id,
        told.pool_idx,
        told.iteration,
        told.attempt,
    )
    assert (BEGIN, at(3), Outcome.FAILED) == (told.started_at, told.finished_at, told.outcome)
    assert (500, None, "expected 200", "�no") == (
        told.status_code,
        told.exit_code,
        told.error,
        told.output,
    )


def test_invocations_are_listed_from_the_newest_on() -> None:
    stage = Scheduling(*STORY)
    job = stage.create(loop=LOOPING, retry=QUICK)
    stage.fire(job)
    stage.wait(10)

    page = invocations.list_invocations(stage.ports, job.id, 2, 1)

    assert [(1, 2), (1, 1)] == [(each.iteration, each.attempt) for each in page.items]
    assert (4, False) == (page.total, page.is_floor)


def test_what_is_counted_is_a_floor_where_the_search_stops() -> None:
    stage = Scheduling()
    job = stage.create(schedule=DAILY)
    run = stage.fire(job)
    stage.pump()
    (one,) = stage.history(job)
    for number in range(2, LIST_MAX + 1):
        stage.table.write(store.write(replace(one, attempt=number)))
    full = invocations.count_invocations(stage.ports, job.id, BEGIN)
    stage.table.write(store.write(replace(one, run_id=f"{run}2")))

    page = invocations.list_invocations(stage.ports, job.id, 2, 1)
    assert (2, LIST_MAX, True) == (len(page.items), page.total, page.is_floor)
    assert Counted(LIST_MAX, is_floor=True) == full
    assert full == invocations.count_invocations(stage.ports, job.id, BEGIN)


def test_only_what_ended_since_a_moment_is_counted() -> None:
    stage = Scheduling()
    job = stage.create(schedule=DAILY)
    for _ in range(3):
        stage.fire(job)
        stage.pump()
        stage.clock.move(10)

    assert 2 == invocations.count_invocations(stage.ports, job.id, at(10)).count


@pytest.mark.parametrize("of_nobody", ["list", "count"])
def test_the_invocations_of_an_unknown_job_are_refused(of_nobody: str) -> None:
    stage = Scheduling()

    with pytest.raises(Rejected):
        if of_nobody == "list":
            invocations.list_invocations(stage.ports, "nobody", 50, 0)
        else:
            invocations.count_invocations(stage.ports, "nobody", BEGIN)


# --- alarms ------------------------------------------------------------------------------------


@pytest.mark.rule("Z101")
@pytest.mark.parametrize(
    ("watch", "threshold", "sent"),
    [(Watch.ALL, 4, 1), (Watch.ALL, 5, 0), (Watch.FAILURES, 1, 1), (Watch.FAILURES, 2, 0)],
)
def test_an_alarm_counts_what_it_watches(watch: Watch, threshold: int, sent: int) -> None:
    stage = Scheduling(*STORY)
    job = stage.create(loop=LOOPING, retry=QUICK, alarm=alarm(watch, threshold))

    stage.fire(job)
    stage.wait(10)

    assert [SinkType.LOG, SinkType.EMAIL] * sent == [sink.type for sink, _ in stage.alerts.sent]
    assert all("drain" in text for _, text in stage.alerts.sent)


def test_an_alarm_goes_off_once_a_window() -> None:
    stage = Scheduling(FAILED)
    job = stage.create(schedule=DAILY, alarm=alarm(Watch.FAILURES, 2))

    def fail() -> int:
        stage.fire(job)
        stage.pump()
        stage.clock.move(60)
        return len(stage.alerts.sent) // 2

    assert [0, 1, 1, 1] == [fail() for _ in range(4)]
    stage.clock.move(WINDOW_MS / 1000)
    assert [1, 2, 2] == [fail() for _ in range(3)]


def test_of_two_attempts_that_count_at_once_one_tells() -> None:
    stage = Scheduling(FAILED)
    job = stage.create(schedule=DAILY, alarm=alarm(Watch.FAILURES, 1), pool_count=2)
    stage.fire(job)
    one, other = stage.waiting()
    ports, watch = watched(stage.ports)
    watch.before["table.write", 1] = lambda: stage.serve([other])

    stage.serve([one], ports)

    assert 2 == len(stage.alerts.sent)


def test_an_alarm_that_reaches_one_sink_less_harms_nothing() -> None:
    stage = Scheduling(FAILED)
    job = stage.create(alarm=alarm(Watch.ALL, 1))
    stage.fire(job)

    class Deaf:
        told = 0

        def send(self, sink: Sink, text: str) -> None:
            Deaf.told += 1
            raise OSError(sink.target)

    ports = Ports(
        stage.table,
        stage.queues,
        stage.ports.schedules,
        stage.clock,
        stage.chance,
        runner=stage.runner,
        alerts=Deaf(),
    )
    stage.pump(ports)

    assert (2, 1, []) == (Deaf.told, len(stage.history(job)), stage.locks(job))
