"""Decisions between jobs: made once with their turn, made again, or cancelled; and deployed."""

from __future__ import annotations

from decimal import Decimal
from functools import partial

from chalicelib.json_text import JsonObject
from chalicelib.operations.incidents import Mended
from tests.simulation import expectations, operators
from tests.simulation.clients import one_start
from tests.simulation.scenario import Scenario
from tests.simulation.stage import Stage
from tests.simulation.workers import hire

DIAGRAM, DECISIONS = "dmn/rule_task.bpmn", "dmn/discount.dmn"
ENOUGH: JsonObject = {"amount": Decimal(550)}
TOO_LITTLE: JsonObject = {"amount": Decimal(5)}  # no rule matches


def _play(stage: Stage, given: JsonObject) -> None:
    one_start(stage, variables=given)
    hire(stage, "weigher", "before")
    hire(stage, "shipper", "after")


def _decided(stage: Stage) -> None:
    """A decision is made in the turn that completes a job, and makes the next."""
    _play(stage, ENOUGH)


def _decided_again(stage: Stage) -> None:
    """Two operators mend what a decision could not be made of, and it is made again, once."""
    _play(stage, TOO_LITTLE)
    mended = Mended(variables=ENOUGH)
    for number in range(2):
        resolve = partial(operators.resolve_incidents, stage, mended)
        stage.world.spawn(f"resolver {number}", resolve, 3 * number)


def _decided_or_cancelled(stage: Stage) -> None:
    """A decision is made again at the moment its instance is cancelled."""
    _play(stage, TOO_LITTLE)
    mended = Mended(variables=ENOUGH)
    stage.world.spawn("resolver", lambda: operators.resolve_incidents(stage, mended))
    stage.world.spawn("canceller", lambda: operators.cancel_what_is_stuck(stage), 4)


def _two_deployments(stage: Stage) -> None:
    """Two clients deploy two texts of one DMN file at once: each is a version of its own."""
    for number in range(2):
        deploy = partial(operators.deploy_dmn, stage, DECISIONS, f"Discounts {number}")
        stage.client(f"client {number}", deploy)
    _play(stage, ENOUGH)


SCENARIOS = tuple(
    Scenario(name, DIAGRAM, act, decisions=DECISIONS, expect=expect)
    for name, act, expect in (
        ("decided", _decided, expectations.decided_once),
        ("decided-again", _decided_again, expectations.decided_once),
        ("decided-or-cancelled", _decided_or_cancelled, expectations.decided_once),
        ("two-dmn-deployments", _two_deployments, expectations.dmn_versions),
    )
)
