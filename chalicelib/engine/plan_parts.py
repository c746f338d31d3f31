"""What the plan of an element is made of where it is done for many, or calls another process."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from chalicelib.bpmn.model import Binding, CalledElement, Element, ManyDefinition, Process
from chalicelib.engine.expressions import Compute, compile_optional, compile_value

_NAME = re.compile(r"[^\W\d]\w*(?=\s*(\.|$))")  # at the start of a path of names


@dataclass(frozen=True, slots=True)
class ManyPlan:
    """How an activity is done for many.

    Shapes: `item` and `results` are names of variables; `result_name` is the one that the result
        is computed from first of all; `hides` the variable that holds the input collection, if
        no expression of the activity names it.
    """

    is_sequential: bool
    items: Compute | None
    item: str | None
    results: str | None
    result: Compute | None
    result_name: str | None
    cardinality: Compute | None
    completion: Compute | None
    completion_text: str
    hides: str | None


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What a call activity calls, each value computable."""

    process_id: Compute
    binding: Binding
    version_tag: Compute | None
    hands_down_all: bool
    hands_up_all: bool
    business_key: Compute | None


def many_plan(process: Process, element: Element, definition: ManyDefinition) -> ManyPlan:
    """Resolve how an activity is done for many."""
    result = definition.output_element
    name = None if result is None else _NAME.match(result.text)
    return ManyPlan(
        is_sequential=definition.is_sequential,
        items=compile_optional(definition.input_collection),
        item=definition.input_element,
        results=definition.output_collection,
        result=compile_optional(result),
        result_name=None if name is None else name[0],
        cardinality=compile_optional(definition.cardinality),
        completion=compile_optional(definition.completion),
        completion_text="" if definition.completion is None else definition.completion.text,
        hides=_hidden(process, element, definition),
    )


def _hidden(process: Process, element: Element, definition: ManyDefinition) -> str | None:
    """Return the variable that is the input collection, unless something inside may ask for it."""
    items = definition.input_collection
    if items is None or not re.fullmatch(r"[^\W\d]\w*", items.text):
        return None
    inside = {element.id}
    for each in process.elements.values():
        if each.scope in inside:
            inside.add(each.id)
    parts = [each for each in process.elements.values() if each.id in inside - {element.id}]
    flows = [flow for flow in process.flows.values() if flow.source in inside]
    alone = replace(element, many=replace(definition, input_collection=None))
    text = repr((alone, parts, flows))
    return None if re.search(rf"\b{re.escape(items.text)}\b", text) else items.text


def call_plan(called: CalledElement) -> CallPlan:
    """Resolve what a call activity calls."""
    return CallPlan(
        compile_value(called.process_id),
        called.binding,
        compile_optional(called.version_tag),
        called.hands_down_all,
        called.hands_up_all,
        compile_optional(called.business_key),
    )
