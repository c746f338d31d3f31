"""Which decision a business rule task makes, with what names it computable."""

from __future__ import annotations

from typing import NamedTuple

from chalicelib.bpmn.model import Binding, DecisionCall
from chalicelib.engine.expressions import Compute, compile_value


class DecisionPlan(NamedTuple):
    """What is called, and the variable that its result goes to."""

    decision_id: Compute
    result_variable: str
    binding: Binding
    version_tag: str | None


def plan_decision(called: DecisionCall | None) -> DecisionPlan | None:
    """Return the plan of a call; None where nothing is called."""
    if called is None:
        return None
    compute = compile_value(called.decision_id)
    return DecisionPlan(compute, called.result_variable, called.binding, called.version_tag)
