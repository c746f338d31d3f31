"""The conditions of conditional events, and which changes of variables they ask for.

Source: contracts/bpmn.md section 3.2 (`conditionalFilter`).
"""

from __future__ import annotations

from chalicelib.bpmn.expressions import expression
from chalicelib.bpmn.extensions import extensions_of
from chalicelib.bpmn.model import ConditionDefinition
from chalicelib.bpmn.refusals import refusal
from chalicelib.xml_tree import Node, shown

CHANGES = frozenset({"create", "update"})


def condition_of(node: Node, definition: Node) -> ConditionDefinition:
    """Read the definition of a conditional event. Raises: Rejected."""
    condition = definition.first("condition")
    if condition is None:
        raise refusal(node, "conditionalEventDefinition: expected a condition, found none")
    value = expression(condition.text, node, "condition")
    only = extensions_of(definition).get("conditionalFilter")
    if only is None:
        return ConditionDefinition(value)
    names = _listed(only.get("variableNames"))
    changes = _listed(only.get("variableEvents")) or tuple(CHANGES)
    for change in changes:
        if change not in CHANGES:
            raise refusal(
                node, f"variableEvents: expected create, update or both, found {shown(change)}"
            )
    return ConditionDefinition(value, names or None, "create" in changes, "update" in changes)


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in (text or "").split(","))))
