"""What was lost between an instance and its children is told again by the sweeper."""

from __future__ import annotations

import pytest

from chalicelib.delivery import commands
from chalicelib.engine.commands import CancelInstance, CompleteJob
from chalicelib.engine.state import InstanceState
from chalicelib.operations.sweep import Swept
from chalicelib.operations.turns import take_turns
from tests.engine.event_models import boundary_escalation, escalation_throw
from tests.engine.models import call, end, line, process, service, start
from tests.operations.stage import Stage
from tests.operations.sweeping import sweep_all
from tests.operations.test_children import CHILD, children, named, started_alone


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    stage.deploy(named(CHILD, "child"))
    return stage


def test_a_start_that_was_lost_is_told_again() -> None:
    stage = Stage()
    stage.deploy(named(CHILD, "child"))
    key = started_alone(stage)
    stage.queues.lose(commands.QUEUE)

    stage.clock.move(290)
    assert Swept() == sweep_all(stage.ports)
    stage.clock.move(20)
    assert Swept(children=1, mended=1) == sweep_all(stage.ports)
    stage.wait(5)

    assert 1 == len(children(stage, key))
    assert Swept() == sweep_all(stage.ports)


def test_an_end_that_was_lost_is_told_again(stage: Stage) -> None:
    key = stage.create(line(call("c", "child")))
    (child,) = children(stage, key)
    (job,) = stage.activate("work")
    take_turns(stage.ports, job.key, CompleteJob(job.key), stage.clock.now())
    stage.queues.lose(commands.QUEUE)

    stage.clock.move(310)
    assert InstanceState.COMPLETED is stage.state(child.key)
    assert Swept(children=1, mended=1) == sweep_all(stage.ports)
    stage.wait(5)

    assert InstanceState.COMPLETED is stage.state(key)


def test_a_cancel_that_was_lost_is_told_again(stage: Stage) -> None:
    key = stage.create(line(call("c", "child")))
    (child,) = children(stage, key)
    take_turns(stage.ports, key, CancelInstance(), stage.clock.now())
    stage.queues.lose(commands.QUEUE)

    stage.clock.move(310)
    assert InstanceState.TERMINATING is stage.state(key)
    assert 1 == sweep_all(stage.ports).children
    stage.wait(5)

    assert {InstanceState.TERMINATED} == {stage.state(key), stage.state(child.key)}


def test_an_escalation_that_was_lost_is_told_again_before_the_end() -> None:
    stage = Stage()
    codes = {"escalation1": "X"}
    throws = line(service("work"), escalation_throw("up", "escalation1"), errors=codes)
    stage.deploy(named(throws, "child"))
    catches = boundary_escalation("b", "c", interrupting=False)
    model = process(
        *(start(), call("c", "child"), catches, service("beside"), end()),
        flows="start > c > end; b > beside",
        errors=codes,
    )
    key = stage.create(model)
    (job,) = stage.activate("work")
    take_turns(stage.ports, job.key, CompleteJob(job.key), stage.clock.now())
    stage.queues.lose(commands.QUEUE)

    stage.clock.move(310)
    assert Swept(children=2, mended=2) == sweep_all(stage.ports)
    stage.wait(60)

    assert ["beside"] == [each.element_id for each in stage.jobs_of(key)]
    stage.work("beside")
    assert InstanceState.COMPLETED is stage.state(key)
