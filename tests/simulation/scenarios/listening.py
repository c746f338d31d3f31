"""Listeners that hold something up: of a process, and of user tasks, which they may deny."""

from __future__ import annotations

from functools import partial

from chalicelib.engine.job_results import TaskResult
from chalicelib.engine.state import Job
from tests.simulation import expectations, people
from tests.simulation.clients import cancelling, one_start
from tests.simulation.scenario import Edit, Scenario
from tests.simulation.stage import Stage
from tests.simulation.workers import Habits, hire

PROCESS = '<bpmn:process id="one_task" name="One task" isExecutable="true">'


def _of_process(*events: str) -> Edit:
    """Give the process listeners, each with a job type named after its event."""
    listeners = "".join(
        f'<zeebe:executionListener eventType="{event}" type="{event}" />' for event in events
    )
    extensions = f"<zeebe:executionListeners>{listeners}</zeebe:executionListeners>"
    return Edit(PROCESS, f"{PROCESS}<bpmn:extensionElements>{extensions}</bpmn:extensionElements>")


def _of_task(*events: str) -> tuple[Edit, ...]:
    """Make of the task one that people do, with listeners."""
    listeners = "".join(
        f'<zeebe:taskListener eventType="{event}" type="{event}" />' for event in events
    )
    extensions = f"<zeebe:userTask /><zeebe:taskListeners>{listeners}</zeebe:taskListeners>"
    return (
        Edit("bpmn:serviceTask", "bpmn:userTask"),
        Edit('<zeebe:taskDefinition type="charge" />', extensions),
    )


def _decide(job: Job) -> TaskResult:
    if job.inputs.get("sure") is False:
        return TaskResult(denied=True, reason="be sure")
    return TaskResult()


CHECKING = Habits(work_ms=120, orders=_decide)
AGREEING = Habits(work_ms=120, orders=lambda _: TaskResult())


def _process_end(stage: Stage) -> None:
    """The listeners of a process's end and cancellation; it is cancelled at about its end."""
    one_start(stage, cancelling(stage, 428))
    for type_ in ("charge", "end", "cancel"):
        hire(stage, f"worker of {type_}", type_)


def _process_cancel(stage: Stage) -> None:
    """An instance is cancelled at the moment its job is completed, and its process hears it."""
    one_start(stage, cancelling(stage, 216))
    for type_ in ("start", "charge", "cancel"):
        hire(stage, f"worker of {type_}", type_)


def _denied(stage: Stage) -> None:
    """Two people complete a user task, and a listener denies it to who is not sure."""
    one_start(stage)
    for name in ("ann", "bob"):
        stage.world.spawn(name, partial(people.complete_surely, stage, name), 20)
    hire(stage, "listener", "completing", CHECKING)
    hire(stage, "other listener", "completing", CHECKING, delay_ms=3)


def _ended(stage: Stage) -> None:
    """A user task is cancelled while its completion is decided: its listeners hear that first."""
    one_start(stage, cancelling(stage, 150))
    stage.world.spawn("ann", partial(people.complete_surely, stage, "ann"), 20)
    hire(stage, "listener", "completing", AGREEING)
    hire(stage, "listener of the end", "canceling", AGREEING)


SCENARIOS = (
    Scenario(
        "heard-at-its-end",
        "one_task.bpmn",
        _process_end,
        (_of_process("end", "cancel"),),
        expect=expectations.heard_out,
    ),
    Scenario(
        "heard-at-its-cancel",
        "one_task.bpmn",
        _process_cancel,
        (_of_process("start", "cancel"),),
        expect=expectations.heard_out,
    ),
    Scenario(
        "denied", "one_task.bpmn", _denied, _of_task("completing"), expect=expectations.surely_done
    ),
    Scenario(
        "ended-and-heard",
        "one_task.bpmn",
        _ended,
        _of_task("completing", "canceling"),
        expect=expectations.ended_heard,
    ),
)
