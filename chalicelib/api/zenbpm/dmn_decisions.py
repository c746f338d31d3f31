"""Decisions: made for a caller, read, listed (contracts/zenbpm.md section 1.3)."""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import logs, wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.zenbpm import dmn_shapes, errors, pages
from chalicelib.api.zenbpm.pages import Order
from chalicelib.bpmn.model import Binding
from chalicelib.operations import dmn_decisions
from chalicelib.operations.dmn_decisions import Asked, Evaluation
from chalicelib.profile import Profile

ORDER = Order({"evaluatedAt": "evaluated_at", "key": "key"}, default="evaluated_at")

routes = Blueprint(__name__)


@routes.route("/decision-definitions/{decision_id}/evaluate", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "evaluateDecision",
    body=dmn_shapes.EVALUATE,
    answers={200: dmn_shapes.EVALUATION},
    refusals=(400, 404, 413, 415),
)
def evaluate_decision(decision_id: str) -> Response:
    """evaluateDecision: 200 with how it was made; 400 if it cannot be, 404, 413, 415.

    Of a decision that no rule decides the output is null.
    """
    body = http.json_body(routes.current_request, dmn_shapes.EVALUATE)
    wanted = Evaluation(
        decision_id=http.path_name(decision_id, "decisionId"),
        profile=Profile.ZENBPM,
        variables=body.get("variables") or {},
        binding=Binding(body["bindingType"]),
        version_tag=body.get("versionTag"),
        resource_id=body.get("dmnResourceDefinitionId"),
    )
    found = dmn_decisions.evaluate_decision(wiring.ports(), wanted)
    logs.about(decision_instance_key=found[0].key)
    return http.answer(200, dmn_shapes.EVALUATION.write(found))


@routes.route("/decision-instances", content_types=[])
@errors_as(errors.error)
@Operation(
    "getDecisionInstances",
    query=dmn_shapes.INSTANCES_QUERY,
    answers={200: dmn_shapes.INSTANCE_PAGE},
    refusals=(400, 413),
)
def get_decision_instances() -> Response:
    """getDecisionInstances: 200 and a page, in descending order; 400."""
    asked = http.query(routes.current_request, dmn_shapes.INSTANCES_QUERY)
    wanted = Asked(
        definition_key=asked.get("dmnResourceDefinitionKey"),
        resource_id=asked.get("dmnResourceDefinitionId"),
        instance_key=asked.get("processInstanceKey"),
        decided_from=asked.get("evaluatedFrom"),
        decided_to=asked.get("evaluatedTo"),
    )
    cut = pages.cut({"sortOrder": "desc", **asked}, ORDER)
    listed = dmn_decisions.get_decision_instances(wiring.ports(), wanted, cut)
    return pages.answer(dmn_shapes.INSTANCE_PAGE, asked, listed)


@routes.route("/decision-instances/{decision_instance_key}", content_types=[])
@errors_as(errors.error)
@Operation(
    "getDecisionInstance",
    answers={200: dmn_shapes.INSTANCE_DETAIL},
    refusals=(400, 404, 413),
)
def get_decision_instance(decision_instance_key: str) -> Response:
    """getDecisionInstance: 200 with how it was made; 400, 404."""
    key = http.path_key(decision_instance_key, "decisionInstanceKey")
    found = dmn_decisions.get_decision_instance(wiring.ports(), key)
    return http.answer(200, dmn_shapes.INSTANCE_DETAIL.write(found))
