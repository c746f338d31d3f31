"""Compiled processes as JSON text and back, so that what runs never reads XML.

Shapes: one object with the `format` it is written in; what has its default value is left out.
    `elements` is a list in the order of the model and `flows` a list of [id, source, target] with
    the condition as a fourth item where there is one. A value is a string, with a leading `=` if
    it is FEEL; static text that itself begins with `=` or `'` gets a leading `'`.
"""

from __future__ import annotations

from typing import Any

from chalicelib import json_text
from chalicelib.bpmn.ad_hoc_codec import ad_hoc_from, ad_hoc_to
from chalicelib.bpmn.codec_values import optional_from as _optional_from
from chalicelib.bpmn.codec_values import optional_to as _optional_to
from chalicelib.bpmn.codec_values import value_from as _value_from
from chalicelib.bpmn.codec_values import value_to as _value_to
from chalicelib.bpmn.model import (
    Binding,
    CalledElement,
    ConditionDefinition,
    DecisionCall,
    Element,
    EventName,
    EventType,
    IoMapping,
    JobDefinition,
    Kind,
    Loop,
    ManyDefinition,
    Process,
    Script,
    SequenceFlow,
    TimerDefinition,
)
from chalicelib.bpmn.reopened import with_reopened
from chalicelib.bpmn.task_codec import listener_from, listener_to, task_from, task_to

FORMAT = 2  # rises with every change that an older reader would misread

_Json = dict[str, Any]


class UnknownFormat(ValueError):
    """The text was written by another version: compile the XML again."""


def to_json(process: Process) -> str:
    """Write a process as JSON text."""
    return json_text.dumps(
        json_text.without_nulls(
            format=FORMAT,
            id=process.id,
            name=process.name,
            start=process.start,
            versionTag=process.version_tag,
            data=list(process.data) or None,
            listeners=[listener_to(each) for each in process.listeners] or None,
            elements=[
                _element_to(element)
                for element in process.elements.values()
                if element.kind is not Kind.REOPENED  # which follows from the others
            ],
            flows=[_flow_to(flow) for flow in process.flows.values()],
        )
    )


def from_json(text: str) -> Process:
    """Read a process that `to_json` wrote.

    Raises: UnknownFormat for the text of another version.
    """
    data = json_text.loads(text)
    found = data.get("format") if isinstance(data, dict) else None
    if not isinstance(data, dict) or found != FORMAT:
        raise UnknownFormat(f"expected a process in format {FORMAT}, found {found}")
    return Process(
        id=data["id"],
        name=data.get("name"),
        elements=with_reopened({row["id"]: _element_from(row) for row in data["elements"]}),
        flows={row[0]: _flow_from(row) for row in data["flows"]},
        start=data.get("start"),
        version_tag=data.get("versionTag"),
        data=tuple(data.get("data", ())),
        listeners=tuple(map(listener_from, data.get("listeners", ()))),
    )


def _element_to(element: Element) -> _Json:
    return json_text.without_nulls(
        id=element.id,
        kind=element.kind.value,
        scope=element.scope,
        name=element.name,
        event=None if element.event_type is EventType.NONE else element.event_type.value,
        incoming=list(element.incoming) or None,
        outgoing=list(element.outgoing) or None,
        default=element.default,
        inputs=[_mapping_to(mapping) for mapping in element.inputs] or None,
        outputs=[_mapping_to(mapping) for mapping in element.outputs] or None,
        job=None if element.job is None else _job_to(element.job),
        script=None
        if element.script is None
        else [element.script.expression, element.script.result_variable],
        decision=None if element.decision is None else _decision_to(element.decision),
        timer=None
        if element.timer is None
        else [element.timer.kind, _value_to(element.timer.value)],
        eventName=None if element.event_name is None else _event_name_to(element.event_name),
        errorCode=element.error_code,
        attachedTo=element.attached_to,
        cancelActivity=None if element.cancel_activity else False,
        boundaryEvents=list(element.boundary_events) or None,
        start=element.start,
        escalationCode=element.escalation_code,
        triggeredByEvent=element.triggered_by_event or None,
        isForCompensation=element.is_for_compensation or None,
        handler=element.handler,
        activityRef=element.activity_ref,
        goesAhead=element.goes_ahead or None,
        condition=None if element.condition is None else _condition_to(element.condition),
        parts=[_element_to(part) for part in element.parts] or None,
        isParallel=element.is_parallel or None,
        loop=None if element.loop is None else _loop_to(element.loop),
        many=None if element.many is None else _many_to(element.many),
        called=None if element.called is None else _called_to(element.called),
        link=element.link,
        activation=_optional_to(element.activation),
        instantiates=element.instantiates or None,
        waitsForAll=element.waits_for_all or None,
        listeners=[listener_to(each) for each in element.listeners] or None,
        data=list(element.data) or None,
        adHoc=None if element.ad_hoc is None else ad_hoc_to(element.ad_hoc),
    )


def _element_from(row: _Json) -> Element:
    timer, script, job = row.get("timer"), row.get("script"), row.get("job")
    decision = row.get("decision")
    return Element(
        id=row["id"],
        kind=Kind(row["kind"]),
        scope=row["scope"],
        name=row.get("name"),
        event_type=EventType(row.get("event", EventType.NONE)),
        incoming=tuple(row.get("incoming", ())),
        outgoing=tuple(row.get("outgoing", ())),
        default=row.get("default"),
        inputs=tuple(map(_mapping_from, row.get("inputs", ()))),
        outputs=tuple(map(_mapping_from, row.get("outputs", ()))),
        job=None if job is None else _job_from(job),
        script=None if script is None else Script(*script),
        decision=None if decision is None else _decision_from(decision),
        timer=None if timer is None else TimerDefinition(timer[0], _value_from(timer[1])),
        event_name=_event_name_from(row["eventName"]) if "eventName" in row else None,
        error_code=row.get("errorCode"),
        attached_to=row.get("attachedTo"),
        cancel_activity=row.get("cancelActivity", True),
        boundary_events=tuple(row.get("boundaryEvents", ())),
        start=row.get("start"),
        escalation_code=row.get("escalationCode"),
        triggered_by_event=row.get("triggeredByEvent", False),
        is_for_compensation=row.get("isForCompensation", False),
        handler=row.get("handler"),
        activity_ref=row.get("activityRef"),
        goes_ahead=row.get("goesAhead", False),
        condition=_condition_from(row["condition"]) if "condition" in row else None,
        parts=tuple(map(_element_from, row.get("parts", ()))),
        is_parallel=row.get("isParallel", False),
        loop=_loop_from(row["loop"]) if "loop" in row else None,
        many=_many_from(row["many"]) if "many" in row else None,
        called=_called_from(row["called"]) if "called" in row else None,
        link=row.get("link"),
        activation=_optional_from(row.get("activation")),
        instantiates=row.get("instantiates", False),
        waits_for_all=row.get("waitsForAll", False),
        listeners=tuple(map(listener_from, row.get("listeners", ()))),
        data=tuple(row.get("data", ())),
        ad_hoc=ad_hoc_from(row["adHoc"]) if "adHoc" in row else None,
    )


def _event_name_to(name: EventName) -> list[str]:
    """Write the name, then the correlation key where there is one."""
    row = [_value_to(name.name)]
    return row if name.correlation_key is None else [*row, _value_to(name.correlation_key)]


def _event_name_from(row: list[str]) -> EventName:
    return EventName(_value_from(row[0]), _value_from(row[1]) if len(row) > 1 else None)


def _condition_to(condition: ConditionDefinition) -> list[Any]:
    """Write the condition, the names or null, and which changes count."""
    names = None if condition.names is None else list(condition.names)
    return [_value_to(condition.value), names, condition.creates, condition.updates]


def _condition_from(row: list[Any]) -> ConditionDefinition:
    text, names, creates, updates = row
    return ConditionDefinition(
        _value_from(text), None if names is None else tuple(names), creates, updates
    )


def _loop_to(loop: Loop) -> list[Any]:
    """Write the condition, the maximum, and whether it is tested before."""
    return [_optional_to(loop.condition), loop.maximum, loop.test_before]


def _loop_from(row: list[Any]) -> Loop:
    condition, maximum, test_before = row
    return Loop(_optional_from(condition), None if maximum is None else int(maximum), test_before)


def _many_to(many: ManyDefinition) -> _Json:
    return json_text.without_nulls(
        sequential=True if many.is_sequential else None,
        items=_optional_to(many.input_collection),
        item=many.input_element,
        results=many.output_collection,
        result=_optional_to(many.output_element),
        cardinality=_optional_to(many.cardinality),
        completion=_optional_to(many.completion),
    )


def _many_from(row: _Json) -> ManyDefinition:
    return ManyDefinition(
        is_sequential=row.get("sequential", False),
        input_collection=_optional_from(row.get("items")),
        input_element=row.get("item"),
        output_collection=row.get("results"),
        output_element=_optional_from(row.get("result")),
        cardinality=_optional_from(row.get("cardinality")),
        completion=_optional_from(row.get("completion")),
    )


def _called_to(called: CalledElement) -> _Json:
    return json_text.without_nulls(
        process=_value_to(called.process_id),
        binding=None if called.binding is Binding.LATEST else called.binding.value,
        tag=_optional_to(called.version_tag),
        down=None if called.hands_down_all else False,
        up=None if called.hands_up_all else False,
        businessKey=_optional_to(called.business_key),
    )


def _called_from(row: _Json) -> CalledElement:
    return CalledElement(
        process_id=_value_from(row["process"]),
        binding=Binding(row.get("binding", Binding.LATEST)),
        version_tag=_optional_from(row.get("tag")),
        hands_down_all=row.get("down", True),
        hands_up_all=row.get("up", True),
        business_key=_optional_from(row.get("businessKey")),
    )


def _flow_to(flow: SequenceFlow) -> list[str]:
    row = [flow.id, flow.source, flow.target]
    return row if flow.condition is None else [*row, _value_to(flow.condition)]


def _flow_from(row: list[str]) -> SequenceFlow:
    id_, source, target, *condition = row
    return SequenceFlow(id_, source, target, _value_from(condition[0]) if condition else None)


def _mapping_to(mapping: IoMapping) -> list[str]:
    """Write the target, then the source where there is one."""
    if mapping.source is None:
        return [mapping.target]
    return [mapping.target, _value_to(mapping.source)]


def _mapping_from(row: list[str]) -> IoMapping:
    return IoMapping(_value_from(row[1]) if len(row) > 1 else None, row[0])


def _job_to(job: JobDefinition) -> _Json:
    return json_text.without_nulls(
        type=_value_to(job.type),
        retries=_optional_to(job.retries),
        retryBackoff=_optional_to(job.retry_backoff),
        headers=dict(job.headers) or None,
        assignee=_optional_to(job.assignee),
        candidate_groups=_optional_to(job.candidate_groups),
        managed=job.managed or None,
        task=None if job.task is None else task_to(job.task),
        priority=_optional_to(job.priority),
    )


def _job_from(row: _Json) -> JobDefinition:
    return JobDefinition(
        type=_value_from(row["type"]),
        retries=_optional_from(row.get("retries")),
        retry_backoff=_optional_from(row.get("retryBackoff")),
        headers=row.get("headers", {}),
        assignee=_optional_from(row.get("assignee")),
        candidate_groups=_optional_from(row.get("candidate_groups")),
        managed=row.get("managed", False),
        task=task_from(row["task"]) if "task" in row else None,
        priority=_optional_from(row.get("priority")),
    )


def _decision_to(decision: DecisionCall) -> list[str]:
    """Write what is called, where its result goes, the binding, then the tag where there is one."""
    row = [_value_to(decision.decision_id), decision.result_variable, decision.binding.value]
    return row if decision.version_tag is None else [*row, decision.version_tag]


def _decision_from(row: list[str]) -> DecisionCall:
    called, result_variable, binding, *tag = row
    return DecisionCall(_value_from(called), result_variable, Binding(binding), *tag)
