"""What starts instances, and the versions it belongs to: conditions that are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import partial

from chalicelib.engine.turn import Entered
from chalicelib.store import history
from tests.simulation import operators
from tests.simulation.clients import evaluate
from tests.simulation.scenario import Scenario
from tests.simulation.stage import Stage
from tests.simulation.workers import hire

EVENTS = ("large", "urgent")  # of the model; the condition of each holds


def _asked_while_deployed(stage: Stage) -> None:
    """Conditions are evaluated, again without an answer, while a new version comes."""
    stage.client("asker", lambda: evaluate(stage, {"amount": Decimal(250), "urgent": True}, "e-1"))
    again = partial(operators.deploy, stage, "conditional_start.bpmn", "Conditional start, again")
    stage.client("other deployer", again, after_ms=20)
    hire(stage, "worker of charge", "charge")


def started_once(stage: Stage) -> Iterator[str]:
    """Each start event whose condition held started one instance, whoever was asked how often."""
    started = [
        event.element_id
        for key in stage.watch.roots
        for _, event in history.events(stage.inner, key)
        if isinstance(event, Entered) and event.element_id in EVENTS
    ]
    if sorted(set(started)) != sorted(started):
        yield f"an evaluation started {sorted(started)}"
    if stage.ledger.starts and len(stage.ledger.starts) != len(EVENTS):
        yield f"{stage.ledger.starts} were answered, expected one of each of {EVENTS}"


SCENARIOS = (
    Scenario(
        "asked-while-deployed",
        "conditional_start.bpmn",
        _asked_while_deployed,
        expect=started_once,
    ),
)
