"""The net: what waits although its time has come is told so again."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from chalicelib.delivery import commands, sweeps, timers
from chalicelib.delivery.sweeps import Part
from chalicelib.engine.facts import Census, Fact
from chalicelib.engine.limits import Limits
from chalicelib.operations import holds, sweep, sweep_parts
from chalicelib.operations.claims import Activation, activate
from chalicelib.operations.handing_out import Claimant
from chalicelib.operations.sweep import Swept
from chalicelib.ports import Settings
from chalicelib.store import jobs
from chalicelib.store.jobs import Lock
from chalicelib.store.sweeping import SEGMENTS
from tests.operations.models import timer_then_task, typed_task, wide_fork
from tests.operations.stage import Stage
from tests.operations.sweeping import sweep_all
from tests.operations.watched import fault, watched

DAY_S = 86_400


def test_a_job_whose_bell_was_lost_is_rung_again_after_a_day() -> None:
    stage = Stage()
    stage.create("one_task.bpmn")
    stage.queues.lose(stage.queue("charge"))

    stage.clock.move(DAY_S - 60)
    assert Swept() == sweep_all(stage.ports)
    stage.clock.move(120)
    assert Swept(jobs=1, mended=1) == sweep_all(stage.ports)

    assert 1 == len(stage.activate("charge"))


def test_a_job_that_nobody_works_on_is_rung_again_daily_as_a_routine() -> None:
    stage = Stage()
    key = stage.create("one_task.bpmn")
    stage.clock.move(DAY_S + 60)

    assert Swept(jobs=1) == sweep_all(stage.ports)
    assert Swept() == sweep_all(stage.ports)

    assert 2 == stage.jobs_of(key)[0].ring
    assert 1 == len(stage.activate("charge", max_jobs=10))
    assert 1 == len(stage.bells(stage.jobs_of(key)[0]))


def test_as_many_losses_are_counted_as_messages_are_missing() -> None:
    stage = Stage()
    stage.create(wide_fork(5))
    received = stage.queues.receive(stage.queue("work"), 3, 30, 1)
    stage.queues.delete(stage.queue("work"), [each.receipt for each in received])
    stage.clock.move(DAY_S + 60)

    assert Swept(jobs=5, mended=3) == sweep_all(stage.ports)
    assert 5 == len(stage.activate("work", max_jobs=10))


def test_jobs_that_are_locked_held_waiting_or_ended_are_left_alone() -> None:
    stage = Stage()
    day = timedelta(days=1)
    for name in ("locked", "waiting", "held"):
        stage.create(typed_task(name))
    stage.create("one_task.bpmn")
    stage.work("charge")
    stage.clock.move(DAY_S)
    activate(stage.ports, Activation("locked", Claimant("a", day)))
    (waiting,) = stage.activate("waiting")
    stage.fail(waiting, token=1, backoff=day)
    hold(stage, "held")
    stage.clock.move(3600)

    assert Swept() == sweep_all(stage.ports)


def hold(stage: Stage, type_: str) -> int:
    """Let a client hold a job without an end; return the job's key."""
    (job,) = stage.activate(type_)
    stage.clock.move(30)
    held = jobs.claim(stage.table, stage.job(job.key), Lock("p"), now=stage.clock.now())
    assert isinstance(held, type(job))
    return job.key


def test_an_overdue_timer_fires() -> None:
    stage = Stage()
    key = stage.create(timer_then_task("PT10S"))
    stage.queues.lose(timers.QUEUE)

    stage.clock.move(10 + 299)
    assert Swept() == sweep_all(stage.ports)
    stage.clock.move(2)
    assert Swept(timers=1, mended=1) == sweep_all(stage.ports)

    stage.pump()
    assert ["work"] == [job.type for job in stage.jobs_of(key)]


def halted(stage: Stage) -> int:
    definition = stage.deploy("parallel_join.bpmn")
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    watch.after["table.transact", 1] = lambda: watch.before.update({("table.get", 1): fault})
    key = stage.create(definition)
    stage.ports = whole
    return key


def test_an_agenda_that_nobody_touches_is_continued() -> None:
    stage = Stage(Settings(limits=Limits(moves_max=2)))
    key = halted(stage)
    stage.queues.lose(commands.QUEUE)

    stage.clock.move(299)
    assert Swept() == sweep_all(stage.ports)
    stage.clock.move(2)
    assert Swept(agendas=1, mended=1) == sweep_all(stage.ports)

    stage.wait(30)
    assert not stage.instance(key).root.agenda
    assert Swept() == sweep_all(stage.ports)


def test_a_job_that_is_changed_while_it_is_rung_for_is_left_to_whoever_did() -> None:
    stage = Stage()
    key = stage.create("one_task.bpmn")
    (job,) = stage.jobs_of(key)
    stage.clock.move(DAY_S + 60)
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)

    def claim_meanwhile() -> None:
        other = Stage.__new__(Stage)
        other.ports = whole
        other.claim(job.key)

    watch.before["table.write", 1] = claim_meanwhile

    assert 0 == sweep_all(stage.ports).jobs
    assert "a" == stage.job(job.key).owner


def test_a_sweep_goes_on_from_its_cursor_until_its_segment_ends() -> None:
    stage = Stage()
    definition = stage.deploy(wide_fork(30))
    for _ in range(10):
        stage.create(definition, text="x" * 6_000)
    stage.queues.lose(stage.queue("work"))
    stage.queues.lose(commands.QUEUE)
    stage.clock.move(DAY_S + 60)
    began = stage.clock.now()
    ports, watch = watched(stage.ports)
    watch.after.update({("table.scan", n): lambda: stage.clock.move(16) for n in range(1, 99)})

    part, rung = Part(0, 1, began), 0
    while True:
        rung += sweep_parts.sweep_part(ports, part).jobs
        rest = stage.queues.bodies(commands.QUEUE)
        if not rest:
            break
        part = sweeps.from_text(rest[0])
        stage.queues.lose(commands.QUEUE)

    assert 300 == rung
    assert watch.counts["table.scan"] > 1


def test_a_sweep_begins_once_for_each_segment() -> None:
    stage = Stage()

    sweep_parts.begin(stage.ports, whole=True)

    parts = [sweeps.from_text(body) for body in stage.queues.bodies(commands.QUEUE)]
    assert [Part(n, SEGMENTS, stage.clock.now()) for n in range(SEGMENTS)] == parts


# --- the census --------------------------------------------------------------------------------


class Listener:
    """A journal that keeps what is open, by the sweeps that counted it."""

    def __init__(self) -> None:
        self.told: list[Census] = []

    def tell(self, facts: Sequence[Fact]) -> None:
        self.told += [fact for fact in facts if isinstance(fact, Census)]


def listened(stage: Stage) -> Listener:
    """Let somebody listen to what a stage tells."""
    listener = Listener()
    stage.ports = replace(stage.ports, journal=listener)
    return listener


def stocked() -> Stage:
    """Three instances that are active and one that ended; two jobs that a worker could have."""
    stage = Stage()
    for type_ in ("free", "free", "taken", "gone"):
        stage.create(typed_task(type_))
    stage.activate("taken")
    stage.work("gone")
    return stage


def test_a_sweep_of_everything_tells_how_much_is_open() -> None:
    stage = stocked()
    listener = listened(stage)

    sweep_all(stage.ports)

    assert [Census(instances=3, jobs=2)] == listener.told


@pytest.mark.parametrize("whole", [False, True])
def test_a_sweep_in_segments_tells_it_once_when_the_last_one_ends(whole: bool) -> None:
    stage = stocked()
    listener = listened(stage)
    sweep_parts.begin(stage.ports, whole=whole)

    stage.pump()

    assert [Census(instances=3, jobs=2)] == listener.told


def test_what_the_parts_of_a_segment_found_is_handed_on_to_the_next() -> None:
    stage = stocked()
    listener = listened(stage)
    before = Part(0, 1, stage.clock.now(), instances=10, jobs=20)

    sweep_parts.sweep_part(stage.ports, sweeps.from_text(sweeps.to_text(before)))

    assert [Census(instances=13, jobs=22)] == listener.told


def oldest(lines: pytest.LogCaptureFixture) -> list[tuple[str, int]]:
    """Return the types and seconds of jobs that a sweep says wait the longest."""
    told: list[Any] = [line for line in lines.records if line.message == "oldest job"]
    return [(line.job_type, line.waited_s) for line in told]


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Collect what is logged; another test may have set a level, or kept lines from the root."""
    logger = logging.getLogger(sweep.__name__)
    before = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(caplog.handler)
    yield caplog
    logger.removeHandler(caplog.handler)
    logger.setLevel(before)


def test_the_job_of_all_types_that_waits_the_longest_is_told(
    lines: pytest.LogCaptureFixture,
) -> None:
    stage = Stage()
    stage.create(typed_task("early"))
    stage.clock.move(100)
    stage.create(typed_task("late"))
    stage.clock.move(40)

    sweep_all(stage.ports)
    stage.activate("early")
    sweep_all(stage.ports)

    assert {("early", 140), ("late", 40)} == set(oldest(lines))


def test_a_job_waits_since_it_was_free_the_last_time(lines: pytest.LogCaptureFixture) -> None:
    stage = Stage()
    stage.create(typed_task("work"))
    stage.activate("work")  # a lock of 30 s

    stage.clock.move(20)
    sweep_all(stage.ports)
    assert [] == oldest(lines)

    stage.clock.move(25)
    sweep_all(stage.ports)
    assert {("work", 15)} == set(oldest(lines))


# --- ring all ----------------------------------------------------------------------------------


def test_ringing_all_makes_good_for_every_message_that_was_lost() -> None:
    stage = Stage(Settings(limits=Limits(moves_max=2)))
    stage.create(timer_then_task("PT10S"))
    stage.create(typed_task("locked"))
    stage.create(typed_task("waiting"))
    stage.wait(10)
    (locked,) = stage.activate("locked")
    (waiting,) = stage.activate("waiting")
    stage.fail(waiting, token=1, backoff=timedelta(seconds=60))
    left = halted(stage)
    due_later = stage.create(timer_then_task("PT20S"))
    for queue in [*stage.queues.names(), timers.QUEUE, commands.QUEUE]:
        stage.queues.lose(queue)

    swept = sweep.ring_all(stage.ports)

    assert (3, 1, 1, 0) == (swept.jobs, swept.timers, swept.agendas, swept.mended)
    stage.wait(20)
    assert not stage.instance(left).root.agenda
    assert 1 == len(stage.jobs_of(due_later))
    assert 2 == len(stage.activate("work", max_jobs=10))
    stage.wait(40)
    assert [locked.key] == [job.key for job in stage.activate("locked", wait_s=5)]
    assert [waiting.key] == [job.key for job in stage.activate("waiting", wait_s=5)]


def test_ringing_all_twice_hands_out_each_job_once() -> None:
    stage = Stage()
    stage.create(wide_fork(5))

    sweep.ring_all(stage.ports)
    sweep.ring_all(stage.ports)

    assert 5 == len(stage.activate("work", max_jobs=50))
    assert [] == stage.activate("work", max_jobs=50)


def test_ringing_all_leaves_holds_and_ended_jobs_alone() -> None:
    stage = Stage()
    stage.create(typed_task("held"))
    hold(stage, "held")
    stage.create("one_task.bpmn")
    stage.work("charge")

    assert Swept() == sweep.ring_all(stage.ports)


# --- holds -------------------------------------------------------------------------------------


def test_a_hold_is_freed_and_its_job_handed_out_again() -> None:
    stage = Stage()
    stage.create(typed_task("held"))
    key = hold(stage, "held")
    stage.clock.move(DAY_S)
    assert [] == stage.activate("held")

    assert 1 == holds.release_holds(stage.ports)

    assert [key] == [job.key for job in stage.activate("held")]


def test_what_is_locked_is_not_freed_with_the_holds() -> None:
    stage = Stage()
    stage.create(typed_task("held"))
    hold(stage, "held")
    stage.create(typed_task("locked"))
    stage.activate("locked")

    assert 1 == holds.release_holds(stage.ports)
