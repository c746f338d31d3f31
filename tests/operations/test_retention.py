"""An ended instance goes as a whole, counted from its end."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from chalicelib.delivery import commands
from chalicelib.engine.commands import CreateInstance
from chalicelib.engine.state import ChildWait, InstanceState
from chalicelib.errors import Conflict
from chalicelib.operations.children import cancel_child
from chalicelib.operations.instances import Start, create_process_instance
from chalicelib.operations.retention import RETIRE_TIME, retire
from chalicelib.operations.sweep import Swept
from chalicelib.operations.turns import take_start
from chalicelib.ports import HISTORY, LIVE, Item, Query, Settings
from chalicelib.store import reading, table
from chalicelib.store.moments import to_ms
from tests.engine.models import call, line
from tests.fakes.clock import ManualClock
from tests.operations.stage import Stage
from tests.operations.sweeping import sweep_all
from tests.operations.test_children import CHILD, named

KEPT = timedelta(days=20)
SETTINGS = Settings(history_time_to_live_s=int(KEPT.total_seconds()))


class Rushing(ManualClock):
    """A clock by which the time is up whenever somebody looks."""

    def now(self) -> datetime:
        self.move(RETIRE_TIME.total_seconds())
        return super().now()


def started(stage: Stage, model: str, **variables: object) -> int:
    definition = stage.deploy(model)
    wanted = Start(
        definition_key=definition.key, profile=definition.profile, variables=dict(variables)
    )
    return create_process_instance(stage.ports, wanted).key


def work_to_its_end(stage: Stage, key: int) -> None:
    while stage.state(key) is InstanceState.ACTIVE:
        (job,) = [job for job in stage.jobs_of(key) if job.state == "active"]
        stage.work(job.type)


def items(stage: Stage, key: int) -> list[Item]:
    pk = table.instance_pk(key)
    return [
        item for name in (LIVE, HISTORY) for item in reading.every(stage.table, Query(name, pk))
    ]


@pytest.mark.rule("R123")
def test_failures_and_all_else_go_with_the_instance() -> None:
    stage = Stage(SETTINGS)
    key = started(stage, "sequence.bpmn", note="x" * 600)
    (first,) = stage.jobs_of(key)
    (job,) = stage.activate(first.type)
    stage.fail(job, retries=2, token=job.delivery_token)
    work_to_its_end(stage, key)
    ended_at = stage.instance(key).root.ended_at
    assert ended_at is not None

    stage.wait(10)

    kept = items(stage, key)
    assert {table.FAILURE, table.JOB, table.VARIABLES, "H#"} <= {str(i["sk"])[:2] for i in kept}
    assert {to_ms(ended_at + KEPT) // 1000} == {item.get("expires_at") for item in kept}


def test_without_a_retention_an_instance_is_kept_for_ever() -> None:
    stage = Stage()
    key = started(stage, "one_task.bpmn")
    stage.work(stage.jobs_of(key)[0].type)

    stage.wait(10)
    retire(stage.ports, key)

    assert {False} == {"expires_at" in item for item in items(stage, key)}


def test_a_running_instance_is_not_retired() -> None:
    stage = Stage(SETTINGS)
    key = started(stage, "one_task.bpmn")

    retire(stage.ports, key)

    assert {False} == {"expires_at" in item for item in items(stage, key)}


def test_more_than_fits_the_time_goes_on_where_it_stopped() -> None:
    stage = Stage(SETTINGS)
    key = started(stage, "sequence.bpmn")
    work_to_its_end(stage, key)
    hurried = replace(stage.ports, clock=Rushing(stage.clock.now()))

    rounds = 0
    while any("expires_at" not in item for item in items(stage, key)):
        with pytest.raises(Conflict):
            retire(hurried, key)
        rounds += 1

    assert 1 < rounds


def test_a_step_that_was_lost_is_found_by_the_sweep_and_taken() -> None:
    stage = Stage(SETTINGS)
    key = started(stage, "sequence.bpmn")
    work_to_its_end(stage, key)
    stage.queues.lose(commands.QUEUE)

    stage.clock.move(290)
    assert Swept() == sweep_all(stage.ports)
    stage.clock.move(20)
    assert Swept(retired=1, mended=1) == sweep_all(stage.ports)
    stage.wait(10)

    assert {True} == {"expires_at" in item for item in items(stage, key)}
    assert Swept() == sweep_all(stage.ports)


def test_what_is_kept_for_ever_is_not_swept() -> None:
    stage = Stage()
    key = started(stage, "one_task.bpmn")
    stage.work(stage.jobs_of(key)[0].type)

    stage.clock.move(1_000)

    assert Swept() == sweep_all(stage.ports)


def test_a_child_that_ended_before_it_began_goes_too() -> None:
    stage = Stage(SETTINGS)
    stage.deploy(named(CHILD, "child"))
    definition = stage.deploy(line(call("c", "child")))
    command = CreateInstance(
        definition.key, definition.version, definition.profile, time_to_live=KEPT
    )
    turn = take_start(stage.ports, definition, command, None)
    assert turn is not None
    (wait,) = [each for each in turn.after.records.values() if isinstance(each, ChildWait)]

    cancel_child(stage.ports, wait.key, turn.after.key, stage.clock.now())
    stage.wait(10)

    assert {True} == {"expires_at" in item for item in items(stage, wait.key)}
    assert Swept() == sweep_all(stage.ports)


@pytest.mark.parametrize(
    ("wanted", "expected"), [(None, KEPT), (timedelta(0), None), (KEPT * 2, KEPT * 2)]
)
def test_a_start_says_how_long_it_is_kept_and_nothing_means_for_ever_as_in_the_setting(
    wanted: timedelta | None, expected: timedelta | None
) -> None:
    stage = Stage(SETTINGS)
    definition = stage.deploy(line())
    start = Start(definition_key=definition.key, profile=definition.profile, time_to_live=wanted)
    key = create_process_instance(stage.ports, start).key

    assert expected == stage.instance(key).root.time_to_live
