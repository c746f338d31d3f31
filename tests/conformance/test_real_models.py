"""Models that others drew run from start to end, their jobs completed by a worker."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from chalicelib.engine.state import InstanceState
from tests.operations.stage import Stage

SHARED = Path(os.environ.get("HEADRACE_SHARED", Path(__file__).parents[3] / "shared"))
MODELS = SHARED / "bpmn"
MINUTE = 60

needs_models = pytest.mark.skipif(
    not MODELS.is_dir(), reason=f"needs the models of {MODELS} (HEADRACE_SHARED)"
)


def model(name: str) -> bytes:
    return (MODELS / f"{name}.bpmn").read_bytes()


@needs_models
def test_the_typical_process_runs_through_ten_tasks_and_two_timers() -> None:
    stage = Stage()
    key = stage.create(
        model("016_camunda-8-benchmark_typical-process"), benchmark_starter_id="one", var2=True
    )

    done = [stage.work("benchmark-task-one").element_id for _ in range(3)]
    assert [] == stage.activate("benchmark-task-one")
    stage.wait(MINUTE + 1)
    done += [stage.work("benchmark-task-one").element_id for _ in range(3)]
    assert [] == stage.activate("benchmark-task-one")
    stage.wait(MINUTE + 1)
    done += [stage.work("benchmark-task-one").element_id for _ in range(3)]
    done += [stage.work("benchmark-task-one-completed").element_id]

    assert [f"task{number}" for number in range(1, 11)] == done
    assert InstanceState.COMPLETED == stage.instance(key).root.state


@needs_models
def test_the_typical_process_of_ten_job_types_runs_to_its_end() -> None:
    stage = Stage()
    key = stage.create(model("017_camunda-8-benchmark_typical-process-10-jobtypes"), var2=True)

    done = []
    for _ in range(30):
        queues = stage.queues.names()
        types = {job.type for job in stage.jobs_of(key) if job.state == "active"}
        done += [stage.work(type_).element_id for type_ in sorted(types)]
        if not types:
            stage.wait(MINUTE + 1)
        if stage.instance(key).root.state is InstanceState.COMPLETED:
            break

    assert InstanceState.COMPLETED == stage.instance(key).root.state
    assert 10 == len(done) == len(queues)


@needs_models
@pytest.mark.parametrize(
    ("total", "task"), [("99", "ServiceTask_12sd1st"), ("101", "ServiceTask_1gi4zqn")]
)
def test_shipping_a_parcel_insures_what_costs_more_than_a_hundred(total: str, task: str) -> None:
    stage = Stage()
    key = stage.create(model("020_zeebe-simple-monitor_ship-parcel"), totalPrice=int(total))

    job = stage.work("ship-parcel")

    assert task == job.element_id
    assert {"transport-insurance": "true" if total == "101" else "false"} == dict(job.headers)
    assert InstanceState.COMPLETED == stage.instance(key).root.state
