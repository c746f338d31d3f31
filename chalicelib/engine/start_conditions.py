"""Conditional start events: which of a process start an instance, for the variables given.

There is no instance yet whose changes could let them be evaluated: whoever has the variables asks.
So the filter of changes says nothing here. What cannot be evaluated is not true.

Source: BPMN 2.0.2 section 10.5.2 (start events); contracts/bpmn.md 3.1 ("root starts by API call").
"""

from __future__ import annotations

from chalicelib.bpmn.model import EventType, Process
from chalicelib.engine.expressions import extract
from chalicelib.engine.plans import plan_of
from chalicelib.engine.stuck import Stuck
from chalicelib.feel.moment import Moment
from chalicelib.json_text import JsonObject


def that_hold(process: Process, variables: JsonObject, moment: Moment) -> list[str]:
    """Return the ids of the start events of which a condition holds, in the order of the model."""
    nodes = plan_of(process).nodes
    seen = {**dict.fromkeys(process.data), **variables}
    found: dict[str, None] = {}
    for element in process.starters(EventType.CONDITIONAL):
        for condition in nodes[element.id].conditions:
            assert condition.condition is not None
            try:
                holds = extract(condition.condition.compute, seen, moment, element.id) is True
            except Stuck:
                holds = False
            if holds:
                found[element.id] = None
    return list(found)
