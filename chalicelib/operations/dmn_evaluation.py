"""One decision made of a DMN model, and how it was made, as JSON.

Loading it loads DMN, which few requests need; so it is loaded with the first decision.
"""

from __future__ import annotations

from collections.abc import Sequence

from chalicelib import dmn, feel
from chalicelib.dmn.model import Decision, DecisionTable
from chalicelib.engine.decided import Evaluated
from chalicelib.engine.expressions import REASONS_MAX, cut
from chalicelib.feel.moment import Moment
from chalicelib.json_text import JsonObject
from chalicelib.ports import Ports
from chalicelib.store.dmn_definitions import DmnDefinition


def for_caller(
    ports: Ports, definition: DmnDefinition, decision_id: str, given: JsonObject, moment: Moment
) -> Evaluated:
    """Make a decision for a caller of the API, who sees by the audit why there is no output."""
    return _evaluated(ports, definition, decision_id, given, moment)[0]


def for_process(
    ports: Ports, definition: DmnDefinition, decision_id: str, given: JsonObject, moment: Moment
) -> Evaluated:
    """Make a decision for a process, which cannot go on with nothing: that no rule matches is a
    problem."""
    evaluated, warnings = _evaluated(ports, definition, decision_id, given, moment)
    if evaluated.problem is None and evaluated.output is None:
        undecided = _undecided(definition, decision_id, warnings)
        return evaluated._replace(problem=undecided, missing=_missing(warnings))
    return evaluated


def _evaluated(
    ports: Ports, definition: DmnDefinition, decision_id: str, given: JsonObject, moment: Moment
) -> tuple[Evaluated, tuple[dmn.DecisionWarning, ...]]:
    """Make a decision, with what it warns of."""
    began = ports.clock.now()
    now, random_bits, deadline = moment
    try:
        result = dmn.evaluate(
            definition.model,
            decision_id,
            given,
            now=now,
            random_bits=random_bits,
            deadline=deadline,
        )
        output = feel.to_json(result.value)
        audit = tuple(_audited(each, deadline) for each in result.audit)
    except (dmn.DmnError, feel.FeelError) as error:
        return Evaluated(lasted=ports.clock.now() - began, problem=str(error)), ()
    return Evaluated(output, audit, ports.clock.now() - began), result.warnings


def _missing(warnings: Sequence[dmn.DecisionWarning]) -> str | None:
    """Return what tells of a variable that is not there."""
    type_ = feel.WarningType.NO_VARIABLE_FOUND.value
    return next(
        (f"{each.element}: {each.message}" for each in warnings if each.type == type_), None
    )


def _undecided(
    definition: DmnDefinition, decision_id: str, warnings: Sequence[dmn.DecisionWarning]
) -> str | None:
    """Return why a decision table itself decided nothing: no rule matches, or rules contradict.

    A null that a rule or a default says is a result like any other.
    """
    nodes = definition.model.definitions[0].nodes
    tables = (
        node.expression
        for node in nodes
        if node.id == decision_id
        and isinstance(node, Decision)
        and isinstance(node.expression, DecisionTable)
    )
    for table in tables:
        parts = {table.id, *(clause.id for clause in table.inputs)}
        reason = next((each.message for each in warnings if each.element in parts), None)
        others = [each for each in warnings if each.element not in parts][:REASONS_MAX]
        told = "; ".join(f"{each.element}: {each.message}" for each in others)
        return f"{reason} ({cut(told)})" if reason and told else reason
    return None


def _audited(decision: dmn.EvaluatedDecision, deadline: feel.Deadline) -> JsonObject:
    """Return one decision of an audit as it is stored. Raises: FeelError at the deadline."""
    deadline.check()
    return {
        "id": decision.id,
        "name": decision.name,
        "kind": decision.kind,
        "output": feel.to_json(decision.value),
        "inputs": [
            {
                "id": each.id,
                "name": each.name,
                "expression": each.expression,
                "value": feel.to_json(each.value),
            }
            for each in decision.inputs
        ],
        "rules": [
            {
                "id": rule.id,
                "number": rule.number,
                "outputs": [
                    {"id": each.id, "name": each.name, "value": feel.to_json(each.value)}
                    for each in rule.outputs
                ],
            }
            for rule in decision.rules
        ],
    }
