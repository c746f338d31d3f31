"""Instances by their own key, and by nothing else that lies in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.engine.state import InstanceState
from chalicelib.errors import Reason, Rejected
from chalicelib.operations import instances
from chalicelib.operations.instances import SCOPES_LOOKS_MAX, Start
from chalicelib.operations.jobs import complete_job, get_job, get_process_instance_jobs
from chalicelib.ports import Ports, Settings
from chalicelib.profile import Profile
from chalicelib.store.lists import Cut, WantedInstances
from tests.operations.stage import Stage


def started(stage: Stage, **more: object) -> int:
    definition = stage.deploy("one_task.bpmn")
    wanted = replace(Start(definition_key=definition.key, profile=Profile.ZENBPM), **more)  # type: ignore[arg-type]
    return instances.create_process_instance(stage.ports, wanted).key


def test_a_start_by_id_takes_the_latest_of_its_own_profile() -> None:
    stage = Stage()
    zenbpm = stage.deploy("one_task.bpmn", Profile.ZENBPM)
    stage.deploy("one_task.bpmn", Profile.PRIOSTACK)

    wanted = Start(bpmn_process_id="one_task", profile=Profile.ZENBPM)

    assert zenbpm.key == instances.create_process_instance(stage.ports, wanted).definition.key


def test_a_start_by_key_takes_a_definition_of_any_profile() -> None:
    stage = Stage()
    other = stage.deploy("one_task.bpmn", Profile.PRIOSTACK)

    found = instances.create_process_instance(
        stage.ports, Start(definition_key=other.key, profile=Profile.ZENBPM)
    )

    assert Profile.PRIOSTACK is found.instance.root.profile


@pytest.mark.parametrize(
    ("asked", "setting_s", "kept"),
    [
        (None, 0, None),
        (None, 3_600, timedelta(hours=1)),
        (timedelta(days=2), 3_600, timedelta(days=2)),
    ],
)
def test_history_is_kept_as_asked_else_as_set_else_for_ever(
    asked: timedelta | None, setting_s: int, kept: timedelta | None
) -> None:
    stage = Stage(Settings(history_time_to_live_s=setting_s))

    key = started(stage, time_to_live=asked)

    assert kept == instances.get_process_instance(stage.ports, key).instance.root.time_to_live


CHANGES: tuple[Callable[[Ports, int], None], ...] = (
    instances.cancel_process_instance,
    lambda ports, key: instances.update_process_instance_variables(ports, key, {"a": 1}),
    lambda ports, key: instances.delete_process_instance_variable(ports, key, "a"),
)


@pytest.mark.parametrize("change", CHANGES)
def test_keys_of_things_in_an_instance_change_nothing(change: Callable[[Ports, int], None]) -> None:
    stage = Stage()
    key = started(stage)
    (job,) = get_process_instance_jobs(stage.ports, key, Cut()).items

    for inside in (job.key, key + 1_000, key - 4_096):
        with pytest.raises(Rejected) as rejected:
            change(stage.ports, inside)
        assert Reason.NOT_FOUND is rejected.value.reason

    found = instances.get_process_instance(stage.ports, key).instance
    assert (InstanceState.ACTIVE, 1) == (found.root.state, found.root.version)


def test_a_job_is_read_with_its_large_inputs_and_outputs() -> None:
    stage = Stage()
    key = started(stage, variables={"a": "x" * 10_000})
    (job,) = get_process_instance_jobs(stage.ports, key, Cut()).items

    complete_job(stage.ports, job.key, {"b": "y" * 10_000})

    read = get_job(stage.ports, job.key)
    assert {"a": "x" * 10_000} == read.inputs
    assert {"b": "y" * 10_000} == read.outputs


def test_older_instances_with_children_are_listed_from_the_last_one_on() -> None:
    stage = Stage()
    definition = stage.deploy("subprocess.bpmn")
    keys = []
    for _ in range(SCOPES_LOOKS_MAX + 1):
        keys.append(stage.create(definition))
        stage.clock.move(0.001)

    newest = instances.get_process_instances_with_scopes(stage.ports, WantedInstances(), None)
    assert newest.is_floor
    whole = [found.key for found in newest.items if found.key in keys]
    assert keys[:0:-1] == whole
    last = stage.instance(whole[-1]).root.created_at
    older = instances.get_process_instances_with_scopes(
        stage.ports, WantedInstances(created_to=last), None
    )

    assert not older.is_floor
    assert {*keys[:2]} == {found.instance.key for found in older.items}
