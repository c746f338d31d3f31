"""ZenBPM's spelling of decisions: their definitions, and how they were made.

Source: contracts/zenbpm.md sections 1.2 and 1.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.api.fields import member
from chalicelib.api.schema import (
    Anything,
    Choice,
    Field,
    Flag,
    ListOf,
    Moment,
    Object,
    Text,
    Type,
    Whole,
)
from chalicelib.api.values import AnyValue
from chalicelib.api.zenbpm.shapes import KEY, ORDER, PAGE_QUERY, page_of, partitioned_page_of
from chalicelib.bpmn.model import Binding
from chalicelib.engine.decided import DecisionMade
from chalicelib.json_text import JsonObject
from chalicelib.store.dmn_definitions import DmnDefinitionInfo

TABLE, LITERAL = "DECISION_TABLE", "LITERAL_EXPRESSION"

# --- definitions -------------------------------------------------------------------------------

DEPLOYED = Object("DmnDeployed", {"dmnResourceDefinitionKey": member(KEY, lambda key: key)})


def _definition(of: Callable[[Any], DmnDefinitionInfo]) -> dict[str, Field]:
    return {
        "key": member(KEY, lambda found: of(found).key),
        "version": member(Whole(), lambda found: of(found).version),
        "dmnResourceDefinitionId": member(Text(), lambda found: of(found).resource_id),
        "dmnDefinitionName": member(Text(), lambda found: of(found).name),
    }


DEFINITION_SIMPLE = Object("DmnResourceDefinitionSimple", _definition(lambda info: info))
DEFINITION_DETAIL = Object(  # of a definition and its XML
    "DmnResourceDefinitionDetail",
    {**_definition(lambda found: found[0]), "dmnData": member(Text(), lambda found: found[1])},
)
DEFINITION_PAGE = page_of(DEFINITION_SIMPLE)
DEFINITIONS_QUERY: Mapping[str, Type] = {
    **PAGE_QUERY,
    "onlyLatest": Flag(),
    "sortBy": Choice(("dmnDefinitionName", "dmnResourceDefinitionId", "version", "key")),
    "sortOrder": ORDER,
    "dmnResourceDefinitionId": Text(),
    "dmnDefinitionName": Text(),
    "search": Text(),
}

# --- decisions that were made ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StepView:
    """One decision of an audit, as stored (store/dmn_decisions.py), and what it is part of."""

    step: JsonObject
    order: int
    definition: DmnDefinitionInfo


def steps(made: DecisionMade, definition: DmnDefinitionInfo) -> list[StepView]:
    """Return the decisions that were made on the way, each behind those it requires."""
    return [StepView(step, n, definition) for n, step in enumerate(made.evaluated.audit, 1)]


def _type(view: StepView) -> str:
    return TABLE if view.step["kind"] == "decisionTable" else LITERAL


OUTPUT = Object(
    "EvaluatedOutput",
    {
        "outputId": member(Text(), lambda output: output["id"]),
        "outputName": member(Text(), lambda output: output["name"]),
        "outputValue": member(Anything(), lambda output: {output["name"]: output["value"]}),
    },
)
RULE = Object(
    "MatchedRule",
    {
        "ruleId": member(Text(), lambda rule: rule["id"]),
        "ruleIndex": member(Whole(), lambda rule: rule["number"]),
        "evaluatedOutputs": member(ListOf(OUTPUT), lambda rule: rule["outputs"]),
    },
)
INPUT = Object(
    "EvaluatedInput",
    {
        "inputId": member(Text(), lambda found: found["id"]),
        "inputName": member(Text(), lambda found: found["name"]),
        "inputExpression": member(Text(), lambda found: found["expression"]),
        "inputValue": member(AnyValue(), lambda found: (found["value"],)),
    },
)
_STEP = {
    "decisionId": member(Text(), lambda view: view.step["id"]),
    "decisionName": member(Text(), lambda view: view.step["name"]),
    "decisionType": member(Choice((TABLE, LITERAL)), _type),
}
EVALUATED = Object(
    "EvaluatedDecision",
    {
        **_STEP,
        "decisionDefinitionVersion": member(Whole(), lambda view: view.definition.version),
        "dmnResourceDefinitionKey": member(KEY, lambda view: view.definition.key),
        "dmnResourceDefinitionId": member(Text(), lambda view: view.definition.resource_id),
        "matchedRules": member(ListOf(RULE), lambda view: view.step["rules"]),
        "decisionOutput": member(AnyValue(), lambda view: (view.step["output"],)),
        "evaluatedInputs": member(ListOf(INPUT), lambda view: view.step["inputs"]),
    },
)
EVALUATE = Object(
    "EvaluateDecision",
    {
        "bindingType": Field(Choice(tuple(Binding)), required=True),
        "dmnResourceDefinitionId": Field(Text()),
        "versionTag": Field(Text()),
        "variables": Field(Anything(), nullable=True),
    },
)
EVALUATION = Object(  # of a decision that was made and its definition
    "DecisionEvaluation",
    {
        "decisionInstanceKey": member(KEY, lambda found: found[0].key),
        "evaluatedDecisions": member(ListOf(EVALUATED), lambda found: steps(*found)),
        "decisionOutput": member(AnyValue(), lambda found: (found[0].evaluated.output,)),
    },
)


def _instance(of: Callable[[Any], DecisionMade]) -> dict[str, Field]:
    return {
        "key": member(KEY, lambda found: of(found).key),
        "dmnResourceDefinitionKey": member(KEY, lambda found: of(found).definition_key),
        "processInstanceKey": member(KEY, lambda found: of(found).scope or None, optional=True),
        "flowElementInstanceKey": member(
            KEY, lambda found: of(found).element_key or None, optional=True
        ),
        "evaluatedAt": member(Moment(), lambda found: of(found).at),
    }


def _outputs(view: StepView) -> list[JsonObject] | None:
    """Return what the rules of a table say that matched; nothing else has outputs with names."""
    if _type(view) != TABLE:
        return None
    return [output for rule in view.step["rules"] for output in rule["outputs"]]


STEP = Object(
    "DecisionInstanceStep",
    {
        **_STEP,
        "evaluationOrder": member(Whole(), lambda view: view.order),
        "inputs": member(ListOf(INPUT), lambda view: view.step["inputs"]),
        "outputs": member(ListOf(OUTPUT), _outputs, optional=True),
        "matchedRules": member(ListOf(RULE), lambda view: view.step["rules"]),
    },
)
INSTANCE_SIMPLE = Object("DecisionInstanceSimple", _instance(lambda made: made))
INSTANCE_DETAIL = Object(  # of a decision that was made and its definition
    "DecisionInstanceDetail",
    {
        **_instance(lambda found: found[0]),
        "evaluatedDecisions": member(ListOf(STEP), lambda found: steps(*found)),
        "decisionOutput": member(AnyValue(), lambda found: (found[0].evaluated.output,)),
    },
)
INSTANCE_PAGE = partitioned_page_of(INSTANCE_SIMPLE)
INSTANCES_QUERY: Mapping[str, Type] = {
    **PAGE_QUERY,
    "dmnResourceDefinitionKey": KEY,
    "dmnResourceDefinitionId": Text(),
    "processInstanceKey": KEY,
    "evaluatedFrom": Moment(),
    "evaluatedTo": Moment(),
    "sortBy": Choice(("evaluatedAt", "key")),
    "sortOrder": ORDER,
}
