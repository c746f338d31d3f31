"""By which of its sequence flows a token leaves an element.

Source: BPMN 2.0.2 section 13.2.1; contracts/zenbpm.md section 9.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.engine import variables
from chalicelib.engine.draft import Draft
from chalicelib.engine.expressions import extract_condition
from chalicelib.engine.state import Stage
from chalicelib.engine.stuck import ErrorType, Stuck
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plan_parts import Flow
    from chalicelib.engine.plans import Node


def choose(draft: Draft, node: Node, scope: int) -> list[Flow]:
    """Choose the flows out of an activity: those without a condition and those whose is true;
    the default if no condition is.

    Raises: Stuck, at the stage of leaving.
    Source: BPMN 2.0.2 section 13.2.1; zenbpm.md section 9.
    """
    seen = variables.visible(draft, scope)
    chosen, is_any_true = [], False
    for flow in node.outgoing:
        if flow is node.default:
            continue
        if flow.condition is None:
            chosen.append(flow)
        elif is_true(draft, flow, seen):
            chosen.append(flow)
            is_any_true = True
    if not is_any_true and node.default is not None:
        chosen.append(node.default)
    if not chosen:
        raise no_flow(node)
    return chosen


def is_true(draft: Draft, flow: Flow, seen: JsonObject) -> bool:
    """Evaluate the condition of a flow. Raises: Stuck(EXTRACT_VALUE_ERROR), when leaving."""
    assert flow.condition is not None
    return extract_condition(draft, flow.condition, seen, flow.where, Stage.LEAVING)


def no_flow(node: Node) -> Stuck:
    """Return what stops an element of whose flows none can be taken."""
    flows = ", ".join(flow.id for flow in node.outgoing)
    return Stuck(
        ErrorType.CONDITION_ERROR,
        "No default flow, nor matching expressions found, for flow elements: "
        f"{node.id} (flows {flows})",
        Stage.LEAVING,
    )
