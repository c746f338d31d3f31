"""Decisions: a caller has one made. Their files are deployed like those of processes."""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import logs, wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.priostack import errors, task_shapes
from chalicelib.operations import dmn_decisions
from chalicelib.operations.dmn_decisions import Evaluation
from chalicelib.profile import Profile

routes = Blueprint(__name__)


@routes.route("/decisions/{decision_id}/evaluate", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "evaluateDecision",
    body=task_shapes.EVALUATE,
    is_body_optional=True,
    answers={200: task_shapes.DECIDED},
    refusals=(400, 404, 413, 415),
)
def evaluate_decision(decision_id: str) -> Response:
    """evaluateDecision: 200 and what was decided, null if no rule decides; 400, 404, 413."""
    body = http.optional_json_body(routes.current_request, task_shapes.EVALUATE)
    wanted = Evaluation(
        decision_id=http.path_name(decision_id, "decisionId"),
        profile=Profile.PRIOSTACK,
        variables=body.get("variables") or {},
    )
    with errors.called("decision"):
        made, _ = dmn_decisions.evaluate_decision(wiring.ports(), wanted)
    logs.about(decision_instance_key=made.key)
    return http.answer(200, task_shapes.DECIDED.write(made.evaluated))
