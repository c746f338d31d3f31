"""What the plan of an element is made of where it is done for many, or calls another process."""

from __future__ import annotations

import re
from dataclasses import dataclass

from chalicelib.bpmn.model import Binding, CalledElement, ManyDefinition, Value
from chalicelib.engine.expressions import Compute, compile_value

_NAME = re.compile(r"[^\W\d]\w*(?=\s*(\.|$))")  # at the start of a path of names


@dataclass(frozen=True, slots=True)
class ManyPlan:
    """How an activity is done for many.

    Shapes: `item` and `results` are names of variables; `result_name` is the one that the result
        is computed from first of all.
    """

    is_sequential: bool
    items: Compute | None
    item: str | None
    results: str | None
    result: Compute | None
    result_name: str | None
    cardinality: Compute | None
    completion: Compute | None


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What a call activity calls, each value computable."""

    process_id: Compute
    binding: Binding
    version_tag: Compute | None
    hands_down_all: bool
    hands_up_all: bool
    business_key: Compute | None


def many_plan(definition: ManyDefinition) -> ManyPlan:
    """Resolve how an activity is done for many."""
    result = definition.output_element
    name = None if result is None else _NAME.match(result.text)
    return ManyPlan(
        is_sequential=definition.is_sequential,
        items=_optional(definition.input_collection),
        item=definition.input_element,
        results=definition.output_collection,
        result=_optional(result),
        result_name=None if name is None else name[0],
        cardinality=_optional(definition.cardinality),
        completion=_optional(definition.completion),
    )


def call_plan(called: CalledElement) -> CallPlan:
    """Resolve what a call activity calls."""
    return CallPlan(
        compile_value(called.process_id),
        called.binding,
        _optional(called.version_tag),
        called.hands_down_all,
        called.hands_up_all,
        _optional(called.business_key),
    )


def _optional(value: Value | None) -> Compute | None:
    return None if value is None else compile_value(value)
