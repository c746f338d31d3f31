"""Conditional start events: evaluated with the variables of who calls, alike in every dialect.

Source: contracts/bpmn.md section 3.1 ("root starts by API call").
"""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import wiring
from chalicelib.api import http, repeats
from chalicelib.api.fields import member
from chalicelib.api.http import ErrorShape, errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.schema import Anything, Field, ListOf, Object, Whole
from chalicelib.operations import conditionals

KEY = Whole()
EVALUATE = Object(
    "EvaluateConditionals",
    {
        "processDefinitionKey": Field(KEY, nullable=True),
        "variables": Field(Anything(), required=True),
    },
)
STARTED = Object(
    "ConditionallyStarted",
    {
        "processDefinitionKey": member(KEY, lambda each: each.definition_key),
        "processInstanceKey": member(KEY, lambda each: each.instance_key),
    },
)
EVALUATED = Object(
    "ConditionalsEvaluated",
    {"processInstances": member(ListOf(STARTED), lambda started: started)},
)


def routes_with(error: ErrorShape) -> Blueprint:
    """Return the route of a dialect; `error` words what goes wrong in the dialect's own shape."""
    routes = Blueprint(__name__)

    @routes.route("/conditionals/evaluation", methods=["POST"], content_types=[])
    @errors_as(error)
    @Operation(
        "evaluateConditionals",
        headers={repeats.HEADER: repeats.KEY},
        body=EVALUATE,
        answers={200: EVALUATED},
        refusals=(400, 404, 409, 413, 415),
    )
    def evaluate_conditionals() -> Response:
        """evaluateConditionals: 200 and the instances it started; 400, 404 for a definition that
        is not there, 409, 413.

        A repeat under the same `Idempotency-Key` starts nothing more.
        """
        body = http.json_body(routes.current_request, EVALUATE)
        started = conditionals.evaluate_conditionals(
            wiring.ports(),
            body["variables"],
            body.get("processDefinitionKey"),
            repeats.once(routes.current_request),
        )
        return http.answer(200, EVALUATED.write(started))

    return routes
