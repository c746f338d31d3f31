"""What happens between a call and events: messages at two levels, escalations from below."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.engine.commands import CompleteJob
from chalicelib.engine.state import InstanceState, JobState
from chalicelib.errors import Conflict
from chalicelib.operations.children import hear_end
from chalicelib.operations.messages import Message, publish_message
from chalicelib.operations.turns import take_turns
from chalicelib.profile import Profile
from tests.engine.event_models import boundary_escalation, escalation_end, escalation_throw
from tests.engine.models import boundary_message, call, end, line, process, service, start
from tests.operations.stage import Stage
from tests.operations.test_children import children, is_clean, named

STOP = {"stop": "=order"}


def open_jobs(stage: Stage, key: int) -> list[str]:
    return [job.element_id for job in stage.jobs_of(key) if job.state is JobState.ACTIVE]


def test_one_message_interrupts_a_call_and_what_it_called() -> None:
    """Row 47 of the known ways to get it wrong."""
    stage = Stage()
    parts = (boundary_message("late", "work", "stop"), service("undo"), end())
    inner = process(
        *(start(), service("work"), *parts),
        flows="start > work > end; late > undo",
        messages=STOP,
    )
    stage.deploy(named(inner, "child"), Profile.PRIOSTACK)
    outer = process(
        *(start(), call("c", "child"), boundary_message("late", "c", "stop"), service("b"), end()),
        flows="start > c > end; late > b",
        messages=STOP,
    )
    key = stage.create(stage.deploy(outer, Profile.PRIOSTACK), order="o-1")
    (child,) = children(stage, key)

    publish_message(stage.ports, Message("stop", "o-1", profile=Profile.PRIOSTACK))
    stage.wait(30)

    assert ["b"] == open_jobs(stage, key)
    assert InstanceState.TERMINATED is stage.state(child.key)
    assert is_clean(stage, child.key)


@pytest.mark.parametrize("interrupting", [False, True])
def test_an_escalation_of_a_child_is_caught_by_the_call(interrupting: bool) -> None:
    stage = Stage()
    codes = {"escalation1": "X-1"}
    throws = line(escalation_throw("up", "escalation1"), service("work"), errors=codes)
    stage.deploy(named(throws, "inner"))
    stage.deploy(named(line(call("c", "inner")), "child"))
    catches = boundary_escalation("up", "c", "escalation1", interrupting=interrupting)
    outer = process(
        *(start(), call("c", "child"), catches, service("b"), end()),
        flows="start > c > end; up > b",
        errors=codes,
    )
    key = stage.create(outer)
    stage.wait(30)

    assert ["b"] == open_jobs(stage, key)
    (child,) = children(stage, key)
    (inner,) = children(stage, child.key)
    ended = {InstanceState.TERMINATED} if interrupting else {InstanceState.ACTIVE}
    assert ended == {stage.state(child.key), stage.state(inner.key)}
    if not interrupting:
        stage.work("work")
    stage.work("b")
    assert InstanceState.COMPLETED is stage.state(key)


def test_an_escalation_that_nobody_catches_is_over() -> None:
    stage = Stage()
    throws = line(escalation_throw("up", "escalation1"), errors={"escalation1": "X-1"})
    stage.deploy(named(throws, "child"))
    key = stage.create(line(call("c", "child")))

    assert InstanceState.COMPLETED is stage.state(key)


@pytest.mark.parametrize("interrupting", [False, True])
def test_an_escalation_is_caught_though_the_end_of_the_child_is_heard_of_before(
    interrupting: bool,
) -> None:
    stage = Stage()
    codes = {"escalation1": "X-1"}
    inner = process(
        *(start(), service("work"), escalation_end("up", "escalation1")),
        flows="start > work > up",
        errors=codes,
    )
    stage.deploy(named(inner, "child"))
    catches = boundary_escalation("up", "c", "escalation1", interrupting=interrupting)
    outer = process(
        *(start(), call("c", "child"), catches, service("a"), service("b")),
        flows="start > c > a; up > b",
        errors=codes,
    )
    key = stage.create(outer)
    (child,) = children(stage, key)
    (job,) = stage.jobs_of(child.key)
    until = stage.clock.now() + timedelta(seconds=10)

    take_turns(stage.ports, child.key, CompleteJob(job.key), until)  # owes both
    with pytest.raises(Conflict, match="escalation"):
        hear_end(stage.ports, key, child.key, until)
    stage.wait(60)

    assert (["b"] if interrupting else ["b", "a"]) == open_jobs(stage, key)
