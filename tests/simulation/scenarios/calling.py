"""Instances of instances: calls and their ends, errors from below, bodies of many."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta

from chalicelib.engine import parts
from tests.simulation.clients import cancelling, one_start
from tests.simulation.replacing import replaced
from tests.simulation.scenario import Edit, Scenario
from tests.simulation.stage import Stage
from tests.simulation.workers import Habits, hire

THREE = Edit("=[1, 2]", "=[1, 2, 3]")
ENOUGH = Edit(
    "</bpmn:multiInstance",
    "<bpmn:completionCondition>=numberOfCompletedInstances = 1</bpmn:completionCondition>"
    "</bpmn:multiInstance",
)
LONG = Habits(lock=timedelta(seconds=60), work_ms=30_985)
NO_TIMER = Edit("PT30S", "PT2H")
ENDS_IN_ERROR = Edit(
    '<bpmn:endEvent id="charged" />',
    '<bpmn:endEvent id="charged"><bpmn:errorEventDefinition errorRef="no_stock" /></bpmn:endEvent>',
)


def _call(stage: Stage) -> None:
    """A call whose child is worked on, and nothing else."""
    one_start(stage)
    hire(stage, "worker of charge", "charge")


def _call_and_cancel(stage: Stage) -> None:
    """The instance is cancelled while its child starts, or is worked on."""
    one_start(stage, cancelling(stage, 0))
    hire(stage, "worker of charge", "charge")


def _child_end_and_timer(stage: Stage) -> None:
    """The child's job is completed at the second in which the call is interrupted: row 49 of the
    known ways to get it wrong."""
    one_start(stage)
    hire(stage, "worker of charge", "charge", LONG)
    hire(stage, "worker of remind", "remind")


def _many(stage: Stage) -> None:
    """Each parcel is a job of its own."""
    one_start(stage)
    hire(stage, "worker of pack", "pack")


def _many_interrupted(stage: Stage) -> None:
    """A job of the body is completed at the second in which the body is interrupted."""
    one_start(stage)
    hire(stage, "worker of pack", "pack", LONG)
    hire(stage, "another worker of pack", "pack", LONG)


def _parts_of_two() -> AbstractContextManager[None]:
    return replaced(parts, AT_ONCE=2)


def _parts_of_one() -> AbstractContextManager[None]:
    return replaced(parts, AT_ONCE=1)


def _parts(stage: Stage) -> None:
    """One parcel more than an instance does alone, so that children do them."""
    one_start(stage)
    hire(stage, "worker of pack", "pack", Habits(jobs_max=3))


PARTED = "calls/many.bpmn"
SCENARIOS = (
    Scenario("call", "calls/call.bpmn", _call, (NO_TIMER,)),
    Scenario("call-and-cancel", "calls/call.bpmn", _call_and_cancel, (NO_TIMER,)),
    Scenario("child-end-and-timer", "calls/call.bpmn", _child_end_and_timer),
    Scenario("error-from-child", "calls/call.bpmn", _call, (NO_TIMER, ENDS_IN_ERROR)),
    Scenario("many-interrupted", "calls/many.bpmn", _many_interrupted),
    Scenario("many-at-once", "calls/many.bpmn", _many, (NO_TIMER,), under=_parts_of_two),
    Scenario("many-in-parts", PARTED, _parts, (NO_TIMER, THREE), under=_parts_of_two),
    Scenario("parts-enough", PARTED, _parts, (NO_TIMER, ENOUGH), under=_parts_of_one),
    Scenario("parts-interrupted", PARTED, _many_interrupted, under=_parts_of_one),
)
