"""A sweep in parts: by the hour what is open, once a day the whole table."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from chalicelib.delivery import commands, runs, sweeps, timers
from chalicelib.delivery.sweeps import Part
from chalicelib.operations import sweep_parts
from chalicelib.operations.sweep import Swept
from chalicelib.scheduler.definition import Retry
from chalicelib.store import sweeping, table
from chalicelib.store.sweeping import Of
from tests.counting import CountingTable
from tests.fakes.runner import FAILED
from tests.operations.models import timer_then_task
from tests.operations.scheduling import DAILY, Scheduling
from tests.operations.stage import Stage
from tests.operations.sweeping import sweep_all
from tests.operations.watched import watched
from tests.play import DIAGRAMS

DAY_S = 86_400


def hourly(stage: Stage) -> Swept:
    """Sweep what is open, in parts, and return all that they did."""
    sweep_parts.begin(stage.ports, whole=False)
    bodies = [body for body in stage.queues.visible(commands.QUEUE) if sweeps.is_sweep(body)]
    stage.queues.lose(commands.QUEUE)
    done = [asdict(sweep_parts.sweep_part(stage.ports, sweeps.from_text(body))) for body in bodies]
    return Swept(**{name: sum(each[name] for each in done) for name in done[0]})


def test_by_the_hour_what_is_open_is_looked_at_and_nothing_that_ended() -> None:
    stage = Stage()
    definition = stage.deploy("one_task.bpmn")
    for _ in range(100):
        stage.create(definition, note="x" * 5_000)
        stage.work("charge")
    stage.wait(60)
    stage.create(definition)
    stage.create(timer_then_task("PT10S"))
    stage.queues.lose(stage.queue("charge"))
    stage.queues.lose(timers.QUEUE)
    stage.clock.move(DAY_S + 60)
    counter = CountingTable(stage.table)
    whole, stage.ports = stage.ports, replace(stage.ports, table=counter)

    assert Swept(jobs=1, timers=1, mended=2) == hourly(stage)
    used = counter.costs().read_units
    sweep_all(replace(whole, table=counter))
    assert 5 * used < counter.costs().read_units


def test_by_the_hour_timer_starts_and_scheduled_jobs_are_looked_at() -> None:
    stage = Stage()
    stage.deploy("timer_start.bpmn")
    stage.deploy((DIAGRAMS / "timer_start.bpmn").read_bytes().replace(b'name="', b'name="anew '))
    stage.queues.lose(timers.QUEUE)
    stage.clock.move(DAY_S)

    assert 1 == hourly(stage).timers

    jobs_stage = Scheduling(FAILED)
    job = jobs_stage.create(schedule=DAILY, retry=Retry(enabled=True))
    jobs_stage.fire(job)
    jobs_stage.pump()
    jobs_stage.queues.lose(runs.QUEUE)
    jobs_stage.clock.move(DAY_S)
    sweep_parts.begin(jobs_stage.ports, whole=False)
    parts = [sweeps.from_text(body) for body in jobs_stage.queues.visible(commands.QUEUE)]
    assert 1 == sum(sweep_parts.sweep_part(jobs_stage.ports, part).runs for part in parts)


def test_an_hourly_sweep_goes_on_from_its_cursor() -> None:
    stage = Stage()
    definition = stage.deploy("one_task.bpmn")
    for _ in range((sweeping.COLLECTIONS + 1) * table.SHARDS):
        stage.create(definition)
    stage.queues.lose(stage.queue("charge"))
    stage.clock.move(DAY_S + 60)
    ports, watch = watched(stage.ports)
    slow = {("table.query", n): lambda: stage.clock.move(16) for n in range(1, 3)}
    watch.after.update(slow)
    part: Part | None = Part(0, table.SHARDS, stage.clock.now(), of=Of.INSTANCES)
    rung = parts = 0

    while part is not None:
        stage.queues.lose(commands.QUEUE)
        rung += sweep_parts.sweep_part(ports, part).jobs
        parts += 1
        rest = stage.queues.bodies(commands.QUEUE)
        part = sweeps.from_text(rest[0]) if rest else None

    assert sweeping.COLLECTIONS + 1 == rung
    assert 2 <= parts


@pytest.mark.parametrize(("hour", "of"), [(sweep_parts.WHOLE_HOUR, Of.ALL), (4, Of.INSTANCES)])
def test_once_a_day_the_whole_table_is_looked_at(hour: int, of: Of) -> None:
    stage = Stage()
    stage.clock.move((hour - stage.clock.now().hour) % 24 * 3_600)

    sweep_parts.on_hour(stage.ports)

    assert of is sweeps.from_text(stage.queues.bodies(commands.QUEUE)[0]).of


def test_a_part_that_an_older_version_sent_is_of_everything() -> None:
    part = Part(1, 4, Stage().clock.now())
    text = sweeps.to_text(part).replace(',"of":"all"', "")

    assert "of" not in text.replace("offset", "")
    assert part == sweeps.from_text(text)
