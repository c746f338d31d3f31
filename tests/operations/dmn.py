"""A stage on which DMN files are deployed, too."""

from __future__ import annotations

from typing import Any

from chalicelib.bpmn.model import Binding
from chalicelib.engine.decided import DecisionMade
from chalicelib.operations.dmn_decisions import (
    Asked,
    Evaluation,
    evaluate_decision,
    get_decision_instances,
)
from chalicelib.operations.dmn_definitions import create_dmn_resource_definition
from chalicelib.profile import Profile
from chalicelib.store.dmn_definitions import DmnDefinitionInfo
from chalicelib.store.lists import Cut, Listed
from tests.operations.stage import Stage
from tests.play import DIAGRAMS, to_json

DISCOUNT, RULE_TASK = "dmn/discount.dmn", "dmn/rule_task.bpmn"


def deploy_dmn(stage: Stage, source: str | bytes = DISCOUNT) -> DmnDefinitionInfo:
    """Deploy a file of tests/diagrams, or XML."""
    xml = source if isinstance(source, bytes) else (DIAGRAMS / source).read_bytes()
    return create_dmn_resource_definition(stage.ports, xml, Profile.ZENBPM)[0]


def evaluate(stage: Stage, decision_id: str = "discount", **variables: Any) -> DecisionMade:
    """Make a decision as a caller of the API does."""
    wanted = Evaluation(decision_id, Profile.ZENBPM, to_json(variables), Binding.LATEST)
    return evaluate_decision(stage.ports, wanted)[0]


def decisions(stage: Stage, cut: Cut | None = None, **asked: Any) -> Listed[DecisionMade]:
    """List the decisions that were made, the latest first."""
    return get_decision_instances(stage.ports, Asked(**asked), cut or Cut())
