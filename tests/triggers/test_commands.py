"""The commands queue: real commands are done, others wait or go; sweeps are done in parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.delivery import commands
from chalicelib.delivery.commands import QueuedCommand, Source
from chalicelib.delivery.horizon import DEADLINE, FUNCTION_TIMEOUT
from chalicelib.engine.commands import Continue
from chalicelib.engine.limits import Limits
from chalicelib.operations import retention, sweep_parts
from chalicelib.operations.owed import INLINE_TIME
from chalicelib.ports import Settings
from chalicelib.triggers.commands import SERVE_TIME, on_commands
from chalicelib.triggers.sweep import on_hour
from tests.operations.stage import Stage
from tests.operations.watched import fault, watched

FEW_MOVES = Settings(limits=Limits(moves_max=2))


def halted(stage: Stage) -> int:
    """Start an instance whose first turn was full, and whose next did not come."""
    definition = stage.deploy("parallel_join.bpmn")
    whole, (stage.ports, watch) = stage.ports, watched(stage.ports)
    watch.after["table.transact", 1] = lambda: watch.before.update({("table.get", 1): fault})
    key = stage.create(definition)
    stage.ports = whole
    assert stage.instance(key).root.agenda
    return key


def test_a_command_that_its_turn_promised_is_done() -> None:
    stage = Stage(FEW_MOVES)
    key = halted(stage)
    (body,) = stage.queues.bodies(commands.QUEUE)

    assert [] == on_commands(stage.ports, [("m", body)])

    assert 2 <= stage.instance(key).root.version


def test_a_command_waits_some_seconds_as_an_insurance() -> None:
    stage = Stage(FEW_MOVES)
    halted(stage)

    stage.clock.move(4)
    assert [] == stage.queues.visible(commands.QUEUE)
    stage.clock.move(1)
    assert 1 == len(stage.queues.visible(commands.QUEUE))


def test_a_command_of_a_turn_that_lost_is_dropped() -> None:
    stage = Stage(FEW_MOVES)
    key = halted(stage)
    (body,) = stage.queues.bodies(commands.QUEUE)
    real = commands.from_text(body)
    assert real.source is not None
    lost = replace(real, source=replace(real.source, turn_id="another"))

    assert [] == on_commands(stage.ports, [("m", commands.to_text(lost))])

    assert 1 == stage.instance(key).root.version
    assert [body] == stage.queues.bodies(commands.QUEUE)


def test_a_command_that_comes_before_its_commit_is_put_back_with_its_age() -> None:
    stage = Stage()
    early = QueuedCommand(2**32, Continue(), stage.clock.now(), Source(2**32, 1, "a-turn"))

    assert [] == on_commands(stage.ports, [("m", commands.to_text(early))])

    assert [commands.to_text(early)] == stage.queues.bodies(commands.QUEUE)
    stage.clock.move(121)
    stage.pump()
    assert [] == stage.queues.bodies(commands.QUEUE)


def test_a_command_done_already_changes_nothing() -> None:
    stage = Stage(FEW_MOVES)
    key = stage.create("parallel_join.bpmn")
    before = stage.instance(key).root.version

    stage.wait(10)

    assert before == stage.instance(key).root.version
    assert [] == stage.queues.bodies(commands.QUEUE)


@pytest.mark.parametrize("body", ["", "[]", '{"do":"explode","instance":1,"sent":1}'])
def test_what_is_no_command_is_dropped(body: str) -> None:
    assert [] == on_commands(Stage().ports, [("m", body)])


def test_an_hourly_sweep_is_done_in_parts_off_the_queue() -> None:
    stage = Stage()
    key = stage.create("one_task.bpmn")
    stage.queues.lose(stage.queue("charge"))
    stage.clock.move(25 * 3600)

    on_hour(stage.ports)
    stage.wait(1)

    assert 1 == len(stage.activate("charge"))
    assert 2 < stage.jobs_of(key)[0].ring


def test_what_a_batch_has_no_time_for_is_put_back_as_it_was() -> None:
    stage = Stage()

    def slowly() -> Iterator[tuple[str, str]]:
        yield "1", "no command, which takes all the time there is"
        stage.clock.move(16)
        yield "2", "later"

    assert [] == on_commands(stage.ports, slowly())
    assert ["later"] == stage.queues.bodies(commands.QUEUE)


@pytest.mark.parametrize("longest", [retention.RETIRE_TIME, sweep_parts.PART_TIME, DEADLINE])
def test_what_a_batch_begins_last_ends_before_its_function_does(longest: timedelta) -> None:
    assert SERVE_TIME + longest + INLINE_TIME < FUNCTION_TIMEOUT
