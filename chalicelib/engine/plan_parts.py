"""What the plan of an element is made of where it is a job, waits, is done several times, activates
others or calls another process."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from chalicelib.bpmn.model import (
    AdHocDefinition,
    Binding,
    CalledElement,
    Element,
    EventName,
    EventType,
    IoMapping,
    JobDefinition,
    Kind,
    ManyDefinition,
    Process,
    Script,
    SequenceFlow,
    TimerDefinition,
    Value,
)
from chalicelib.engine.expressions import (
    Compute,
    compile_feel,
    compile_optional,
    compile_policy,
    compile_value,
)
from chalicelib.engine.user_tasks import TaskPlan, plan_task
from chalicelib.json_text import JsonObject

_NAME = re.compile(r"[^\W\d]\w*(?=\s*(\.|$))")  # at the start of a path of names


class Flow(NamedTuple):
    """A sequence flow: where it leads, what its condition computes, and how messages name that."""

    id: str
    target: str
    condition: Compute | None
    where: str


class IoPlan(NamedTuple):
    """An input or output mapping; `path` is the target's names from the outside in."""

    compute: Compute
    path: tuple[str, ...]


class ScriptPlan(NamedTuple):
    """What a script computes, the variable that it is for, and how messages name the script."""

    compute: Compute
    result_variable: str
    where: str


@dataclass(frozen=True, slots=True)
class JobPlan:
    """What makes a job of an element, each value computable."""

    type: Compute
    retries: Compute | None
    retry_backoff: Compute | None
    assignee: Compute | None
    candidate_groups: Compute | None
    is_managed: bool
    headers: Mapping[str, str]
    task: TaskPlan | None = None
    priority: Compute | None = None


@dataclass(frozen=True, slots=True)
class TimerPlan:
    """When a timer event fires: how to read the text, and what computes it."""

    kind: str
    compute: Compute


@dataclass(frozen=True, slots=True)
class NamePlan:
    """What computes the name of a message or signal, and the key of a message that has one."""

    name: Compute
    correlation_key: Compute | None


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """How often an activity is done: while the condition holds, and at most so often."""

    condition: Compute | None
    maximum: int | None
    test_before: bool


@dataclass(frozen=True, slots=True)
class ManyPlan:
    """How an activity is done for many.

    Shapes: `item` and `results` are names of variables; `result_name` is the one that the result
        is computed from first of all; `hides` the variable that holds the input collection, if
        no expression of the activity names it. What was done inside may have to be undone one by
        one if it `is_undone_inside`. What is computed when an iteration is over `asks` for these
        variables.
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
    is_undone_inside: bool
    asks: frozenset[str]


@dataclass(frozen=True, slots=True)
class CallPlan:
    """What a call activity calls, each value computable."""

    process_id: Compute
    binding: Binding
    version_tag: Compute | None
    hands_down_all: bool
    hands_up_all: bool
    business_key: Compute | None


@dataclass(frozen=True, slots=True)
class AdHocPlan:
    """How an ad-hoc subprocess runs.

    Shapes: `active` are the ids of what is activated at once; `results` is the name of a variable,
        `result_name` the one that a result is computed from first of all; `activatable` is what
        is told of the elements that can be activated, `ids` theirs; `activation` that of the
        element which stands for one activation.
    """

    id: str
    active: Compute | None
    results: str | None
    result: Compute | None
    result_name: str | None
    completion: Compute | None
    cancels_remaining: bool
    is_sequential: bool
    activatable: tuple[JsonObject, ...]
    ids: frozenset[str]
    activation: str


def flow_plan(flow: SequenceFlow) -> Flow:
    """Resolve a sequence flow."""
    condition = None if flow.condition is None else compile_feel(flow.condition.text)
    return Flow(flow.id, flow.target, condition, f"condition of flow {flow.id}")


def mapping_plan(mapping: IoMapping) -> IoPlan:
    """Compile a mapping; one without a source gives null (bpmn.md 3.2)."""
    source = mapping.source
    compute = (lambda variables, moment: None) if source is None else compile_value(source)
    return IoPlan(compute, tuple(mapping.target.split(".")))


def script_plan(id_: str, script: Script) -> ScriptPlan:
    """Compile the script of an element."""
    compute = compile_feel(script.expression)
    return ScriptPlan(compute, script.result_variable, f"script of {id_}")


def name_plan(name: EventName) -> NamePlan:
    """Resolve what a message or signal is called."""
    return NamePlan(compile_value(name.name), compile_optional(name.correlation_key))


def timer_plan(timer: TimerDefinition) -> TimerPlan:
    """Resolve when a timer event fires."""
    return TimerPlan(timer.kind, compile_value(timer.value))


def job_plan(job: JobDefinition) -> JobPlan:
    """Resolve what makes a job of an element."""
    return JobPlan(
        compile_value(job.type),
        compile_optional(job.retries),
        None if job.retry_backoff is None else compile_policy(job.retry_backoff),
        compile_optional(job.assignee),
        compile_optional(job.candidate_groups),
        job.managed,
        job.headers,
        plan_task(job.task),
        compile_optional(job.priority),
    )


def many_plan(
    process: Process, element: Element, definition: ManyDefinition, late: Iterable[IoPlan]
) -> ManyPlan:
    """Resolve how an activity is done for many; `late` are its mappings that read the results."""
    result = definition.output_element
    computed = compile_optional(result)
    completion = compile_optional(definition.completion)
    ends = (computed, completion, *(mapping.compute for mapping in late))
    return ManyPlan(
        is_sequential=definition.is_sequential,
        items=compile_optional(definition.input_collection),
        item=definition.input_element,
        results=definition.output_collection,
        result=computed,
        result_name=_first_name(result),
        cardinality=compile_optional(definition.cardinality),
        completion=completion,
        completion_text="" if definition.completion is None else definition.completion.text,
        hides=_hidden(process, element, definition),
        is_undone_inside=any(map(_undoes, _inside(process, element))),
        asks=frozenset().union(*(getattr(each, "names", ()) for each in ends)),
    )


def _first_name(result: Value | None) -> str | None:
    """Return the name that a result is computed from first of all."""
    name = None if result is None else _NAME.match(result.text)
    return None if name is None else name[0]


def ad_hoc_plan(id_: str, definition: AdHocDefinition) -> AdHocPlan:
    """Resolve how an ad-hoc subprocess runs."""
    result = definition.output_element
    return AdHocPlan(
        id=id_,
        active=compile_optional(definition.active_elements),
        results=definition.output_collection,
        result=compile_optional(result),
        result_name=_first_name(result),
        completion=compile_optional(definition.completion),
        cancels_remaining=definition.cancels_remaining,
        is_sequential=definition.is_sequential,
        activatable=definition.activatable,
        ids=frozenset(str(each["elementId"]) for each in definition.activatable),
        activation=definition.activation,
    )


def _inside(process: Process, element: Element) -> list[Element]:
    """Return the elements inside of one, those around others first."""
    by_scope: dict[str, list[Element]] = {}
    for each in process.elements.values():
        by_scope.setdefault(each.scope, []).append(each)
    found, todo = [], [element.id]
    while todo:
        inside = by_scope.get(todo.pop(), [])
        found += inside
        todo += [each.id for each in inside]
    return found


def _undoes(element: Element) -> bool:
    """Say whether an event is there for an activity, or the one around it, to be undone."""
    if element.kind is Kind.BOUNDARY_EVENT:
        return element.handler is not None
    is_start, type_ = element.kind is Kind.START_EVENT, element.event_type
    return type_ is EventType.CANCEL or (is_start and type_ is EventType.COMPENSATION)


def _shows_all(element: Element) -> bool:
    """Say whether an element lets something see its variables whose expressions are elsewhere."""
    is_handed_down = element.called is not None and element.called.hands_down_all
    return is_handed_down or element.decision is not None


def _hidden(process: Process, element: Element, definition: ManyDefinition) -> str | None:
    """Return the variable that is the input collection, unless something inside may ask for it, be
    it a decision or a process that is called and sees all that is there."""
    items = definition.input_collection
    if items is None or not re.fullmatch(r"[^\W\d]\w*", items.text):
        return None
    parts = _inside(process, element)
    if any(map(_shows_all, (element, *parts))):
        return None
    ids = {element.id, *(each.id for each in parts)}
    flows = [flow for flow in process.flows.values() if flow.source in ids]
    alone = replace(element, many=replace(definition, input_collection=None))
    text = repr((alone, parts, flows))
    return None if re.search(rf"\b{re.escape(items.text)}\b", text) else items.text


def code_plan(element: Element) -> Compute | None:
    """Compile the code of the error or escalation that an event throws, if that is FEEL."""
    code = element.error_code or element.escalation_code or ""
    return compile_feel(code.removeprefix("=")) if code.startswith("=") else None


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
