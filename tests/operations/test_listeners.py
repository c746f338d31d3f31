"""Listeners that hold up the end of what waits for a child, and the ends of many."""

from __future__ import annotations

import pytest

from chalicelib.engine.state import InstanceState, Job, JobState
from chalicelib.operations.instances import cancel_process_instance
from chalicelib.profile import Profile
from tests.engine.models import boundary, call, end, line, process, service, start, user
from tests.engine.test_process_listeners import heard
from tests.operations.stage import Stage
from tests.operations.test_children import children, named

TASK = (
    '<zeebe:userTask/><zeebe:taskListeners><zeebe:taskListener eventType="canceling" '
    'type="farewell"/></zeebe:taskListeners>'
)
OF_PROCESS = heard(line(service("work")), "cancel:farewell")
OF_TASK = line(user("a", extensions=TASK))


@pytest.mark.parametrize("child", [OF_PROCESS, OF_TASK])
def test_who_calls_ends_when_the_listeners_below_were_heard(child: bytes) -> None:
    stage = Stage()
    stage.deploy(named(child, "child"))
    key = stage.create(line(call("c", "child")))
    stage.pump()
    (below,) = children(stage, key)

    cancel_process_instance(stage.ports, key)
    stage.wait(5)
    states = {stage.state(each) for each in (key, below.key)}
    assert {InstanceState.TERMINATING} == states
    stage.work("farewell")
    stage.wait(5)

    assert {InstanceState.TERMINATED} == {stage.state(each) for each in (key, below.key)}


def test_a_boundary_event_takes_its_flow_when_the_listeners_below_were_heard() -> None:
    stage = Stage()
    stage.deploy(named(OF_TASK, "child"))
    parts = (start(), call("c", "child"), boundary("late", "c", duration="PT1M"), end())
    key = stage.create(process(*parts, service("after"), flows="start > c > end; late > after"))

    stage.wait(65)
    assert [] == [job for job in stage.jobs_of(key) if job.type == "after"]
    stage.work("farewell")
    stage.wait(5)

    assert isinstance(stage.work("after"), Job)
    assert InstanceState.COMPLETED is stage.state(key)


def test_a_listener_says_by_feel_how_often_it_may_be_tried_in_every_profile() -> None:
    stage = Stage()
    listener = (
        '<zeebe:executionListeners><zeebe:executionListener eventType="start" type="x" '
        'retries="=tries + 1"/></zeebe:executionListeners>'
    )
    for profile in Profile:
        xml = line(service("work", extensions=listener))
        key = stage.create(stage.deploy(xml, profile), tries=3)
        (job,) = stage.jobs_of(key)
        assert (4, JobState.ACTIVE) == (job.retries, job.state)
