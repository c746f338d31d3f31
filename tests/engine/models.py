"""Small processes, put together for one test each.

    process(start(), service("a"), end(), flows="start > a > end")
    flows="x > a: i < 3; x > b"     a flow's condition stands after its colon

A flow is named after its ends (`x-a`). Values are written as in XML: FEEL starts with `=`.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any
from xml.sax.saxutils import escape, quoteattr

NAMESPACES = (
    'xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
)


def process(
    *parts: str,
    flows: str,
    errors: Mapping[str, str] | None = None,
    messages: Mapping[str, str | None] | None = None,
    signals: Mapping[str, str] | None = None,
) -> bytes:
    """Return a file of one process.

    Shapes: `errors` are codes by the ids of errors and escalations (those begin so), `messages`
        correlation keys by a name that is the id
        too, `signals` names by id.
    """
    definitions = "".join(
        f"<{tag} id={quoteattr(id_)} {tag}Code={quoteattr(code)}/>"
        for id_, code in (errors or {}).items()
        for tag in ("escalation" if id_.startswith("escalation") else "error",)
    )
    definitions += "".join(_message(name, key) for name, key in (messages or {}).items())
    definitions += "".join(
        f"<signal id={quoteattr(id_)} name={quoteattr(name)}/>"
        for id_, name in (signals or {}).items()
    )
    body = "".join(parts) + _flows(flows)
    return (
        f'<definitions {NAMESPACES}>{definitions}<process id="p" isExecutable="true">'
        f"{body}</process></definitions>"
    ).encode()


def _message(name: str, key: str | None) -> str:
    row = "" if key is None else f"<zeebe:subscription correlationKey={quoteattr(key)}/>"
    return f"<message id={quoteattr(name)} name={quoteattr(name)}>{_extensions(row)}</message>"


def line(*parts: str, **known: Any) -> bytes:
    """Return a file of one process: a start event, the parts one after the other, an end event.

    Parts that are boundary events stand beside; they end there.
    """
    ids = [part.split('id="')[1].split('"')[0] for part in parts if "<boundaryEvent" not in part]
    flows = " > ".join(["start", *ids, "end"])
    return process(start(), *parts, end(), flows=flows, **known)


def _flows(text: str) -> str:
    made = []
    for chain in filter(None, (part.strip() for part in text.split(";"))):
        path, _, condition = chain.partition(":")
        ids = [id_.strip() for id_ in path.split(">")]
        inner = ""
        if condition.strip():
            inner = f"<conditionExpression>={escape(condition.strip())}</conditionExpression>"
        made += [
            f'<sequenceFlow id="{a}-{b}" sourceRef="{a}" targetRef="{b}">{inner}</sequenceFlow>'
            for a, b in pairwise(ids)
        ]
    return "".join(made)


# --- events ------------------------------------------------------------------------------------


def start(id_: str = "start") -> str:
    return f'<startEvent id="{id_}"/>'


def end(id_: str = "end") -> str:
    return f'<endEvent id="{id_}"/>'


def terminate(id_: str) -> str:
    return f'<endEvent id="{id_}"><terminateEventDefinition/></endEvent>'


def error_end(id_: str, error: str) -> str:
    return f'<endEvent id="{id_}"><errorEventDefinition errorRef="{error}"/></endEvent>'


def catch(id_: str, **timer: str) -> str:
    """Return a timer catch event: `duration`, `date` or `cycle`."""
    return f'<intermediateCatchEvent id="{id_}">{_timer(**timer)}</intermediateCatchEvent>'


def boundary(id_: str, on: str, *, interrupting: bool = True, **timer: str) -> str:
    """Return a boundary timer."""
    return _boundary(id_, on, _timer(**timer), interrupting=interrupting)


def boundary_error(id_: str, on: str, error: str | None = None, *, extensions: str = "") -> str:
    """Return a boundary error event; without an error it catches all."""
    reference = "" if error is None else f' errorRef="{error}"'
    return _boundary(id_, on, f"<errorEventDefinition{reference}/>", extensions=extensions)


def message_event(tag: str, id_: str, message: str, *, extensions: str = "") -> str:
    """Return an event of any tag that is about a message."""
    return _event(tag, id_, f'<messageEventDefinition messageRef="{message}"/>', extensions)


def signal_event(tag: str, id_: str, signal: str, *, extensions: str = "") -> str:
    """Return an event of any tag that is about a signal."""
    return _event(tag, id_, f'<signalEventDefinition signalRef="{signal}"/>', extensions)


def message_catch(id_: str, message: str, *, extensions: str = "") -> str:
    return message_event("intermediateCatchEvent", id_, message, extensions=extensions)


def boundary_message(id_: str, on: str, message: str, *, interrupting: bool = True) -> str:
    definition = f'<messageEventDefinition messageRef="{message}"/>'
    return _boundary(id_, on, definition, interrupting=interrupting)


def boundary_signal(id_: str, on: str, signal: str, *, interrupting: bool = True) -> str:
    definition = f'<signalEventDefinition signalRef="{signal}"/>'
    return _boundary(id_, on, definition, interrupting=interrupting)


def _event(tag: str, id_: str, definition: str, extensions: str) -> str:
    return f'<{tag} id="{id_}">{_extensions(extensions)}{definition}</{tag}>'


def _boundary(
    id_: str, on: str, definition: str, *, interrupting: bool = True, extensions: str = ""
) -> str:
    cancels = "" if interrupting else ' cancelActivity="false"'
    return (
        f'<boundaryEvent id="{id_}" attachedToRef="{on}"{cancels}>'
        f"{_extensions(extensions)}{definition}</boundaryEvent>"
    )


def _timer(**timer: str) -> str:
    ((kind, text),) = timer.items()
    tag = f"time{kind.capitalize()}"
    return f"<timerEventDefinition><{tag}>{escape(text)}</{tag}></timerEventDefinition>"


# --- activities --------------------------------------------------------------------------------


def io(inputs: Mapping[str, str] | None = None, outputs: Mapping[str, str] | None = None) -> str:
    """Return mappings: target to source."""
    rows = [
        f"<zeebe:{tag} source={quoteattr(source)} target={quoteattr(target)}/>"
        for tag, mappings in (("input", inputs), ("output", outputs))
        for target, source in (mappings or {}).items()
    ]
    return f"<zeebe:ioMapping>{''.join(rows)}</zeebe:ioMapping>" if rows else ""


def service(id_: str, type_: str | None = None, /, *, extensions: str = "", **more: str) -> str:
    """Return a service task; `more` are attributes of its task definition."""
    attributes = {"type": type_ or id_, **more}
    written = " ".join(f"{name}={quoteattr(value)}" for name, value in attributes.items())
    return _element("serviceTask", id_, f"<zeebe:taskDefinition {written}/>{extensions}")


def task(id_: str, *, extensions: str = "") -> str:
    return _element("task", id_, extensions)


def receive(id_: str, message: str, *, instantiates: bool = False, extensions: str = "") -> str:
    """Return a receive task."""
    more = ' instantiate="true"' if instantiates else ""
    inner = _extensions(extensions)
    return f'<receiveTask id="{id_}" messageRef="{message}"{more}>{inner}</receiveTask>'


def user(id_: str, *, extensions: str = "") -> str:
    return _element("userTask", id_, extensions)


def script(id_: str, result: str, expression: str, *, extensions: str = "") -> str:
    row = (
        f"<zeebe:script expression={quoteattr('=' + expression)} "
        f"resultVariable={quoteattr(result)}/>"
    )
    return _element("scriptTask", id_, row + extensions)


def rule(id_: str, decision: str, /, *, extensions: str = "", **more: str) -> str:
    """Return a business rule task whose `result` is a decision; `more` are further attributes."""
    attributes = {"decisionId": decision, "resultVariable": "result", **more}
    written = " ".join(f"{name}={quoteattr(value)}" for name, value in attributes.items())
    return _element("businessRuleTask", id_, f"<zeebe:calledDecision {written}/>{extensions}")


def call(id_: str, process_id: str, /, *, extensions: str = "", **more: str) -> str:
    """Return a call activity; `more` are attributes of its called element."""
    attributes = {"processId": process_id, **more}
    written = " ".join(f"{name}={quoteattr(value)}" for name, value in attributes.items())
    return _element("callActivity", id_, f"<zeebe:calledElement {written}/>{extensions}")


def sub(id_: str, *parts: str, flows: str, extensions: str = "") -> str:
    """Return an embedded subprocess."""
    body = "".join(parts) + _flows(flows)
    return f'<subProcess id="{id_}">{_extensions(extensions)}{body}</subProcess>'


def ad_hoc(
    id_: str,
    *parts: str,
    flows: str = "",
    active: str | None = None,
    results: tuple[str, str] | None = None,
    until: str | None = None,
    job: str | None = None,
    attributes: str = "",
    extensions: str = "",
) -> str:
    """Return an ad-hoc subprocess.

    Shapes: `active` and `until`, the completion condition, are FEEL; `results` the output
        collection and the element, which is FEEL; `job` is the type of its worker's jobs.
    """
    rows = {
        "activeElementsCollection": None if active is None else f"={active}",
        "outputCollection": None if results is None else results[0],
        "outputElement": None if results is None else f"={results[1]}",
    }
    written = " ".join(f"{name}={quoteattr(text)}" for name, text in rows.items() if text)
    inner = f"<zeebe:adHoc {written}/>" if written else ""
    inner += f'<zeebe:taskDefinition type="{job}"/>' if job else ""
    condition = "" if until is None else f"={escape(until)}"
    body = "".join(parts) + _flows(flows)
    body += f"<completionCondition>{condition}</completionCondition>" if condition else ""
    return (
        f'<adHocSubProcess id="{id_}" {attributes}>{_extensions(inner + extensions)}{body}'
        "</adHocSubProcess>"
    )


def transaction(id_: str, *parts: str, flows: str) -> str:
    inner = sub(id_, *parts, flows=flows)
    return (
        f"<transaction{inner.removeprefix('<subProcess').removesuffix('subProcess>')}transaction>"
    )


def event_sub(
    id_: str, trigger: str, *parts: str, flows: str, interrupting: bool = True, extensions: str = ""
) -> str:
    """Return an event subprocess; its start event `{id}_start` is about what `trigger` says."""
    how = "" if interrupting else ' isInterrupting="false"'
    first = f'<startEvent id="{id_}_start"{how}>{_extensions(extensions)}{trigger}</startEvent>'
    body = first + "".join(parts) + _flows(flows)
    return f'<subProcess id="{id_}" triggeredByEvent="true">{body}</subProcess>'


def looped(
    element: str, condition: str | None = None, maximum: int | None = None, *, before: bool = False
) -> str:
    """Return an activity with a standard loop marker; the condition is FEEL."""
    attributes = "" if maximum is None else f' loopMaximum="{maximum}"'
    attributes += ' testBefore="true"' if before else ""
    inner = "" if condition is None else f"<loopCondition>={escape(condition)}</loopCondition>"
    marker = f"<standardLoopCharacteristics{attributes}>{inner}</standardLoopCharacteristics>"
    head, end_tag, _ = element.rpartition("</")
    return f"{head}{marker}{end_tag}{element[len(head) + 2 :]}"


def default(element: str, flow: str) -> str:
    """Return an element with a default flow."""
    head, _, rest = element.partition('id="')
    return f'{head}default="{flow}" id="{rest}'


def _element(tag: str, id_: str, extensions: str) -> str:
    return f'<{tag} id="{id_}">{_extensions(extensions)}</{tag}>'


def _extensions(inner: str) -> str:
    return f"<extensionElements>{inner}</extensionElements>" if inner else ""


# --- gateways ----------------------------------------------------------------------------------


def exclusive(id_: str, default: str | None = None) -> str:
    attribute = "" if default is None else f' default="{default}"'
    return f'<exclusiveGateway id="{id_}"{attribute}/>'


def event_gateway(id_: str) -> str:
    return f'<eventBasedGateway id="{id_}"/>'


def parallel(id_: str) -> str:
    return f'<parallelGateway id="{id_}"/>'


def inclusive(id_: str, default: str | None = None) -> str:
    attribute = "" if default is None else f' default="{default}"'
    return f'<inclusiveGateway id="{id_}"{attribute}/>'


def complex_(id_: str, activation: str | None = None) -> str:
    """Return a complex gateway; `activation` is FEEL."""
    inner = "" if activation is None else f"={escape(activation)}"
    condition = f"<activationCondition>{inner}</activationCondition>" if inner else ""
    return f'<complexGateway id="{id_}">{condition}</complexGateway>'


# --- many instances ----------------------------------------------------------------------------


def many(
    activity: str, *, sequential: bool = False, each: Mapping[str, str] | None = None, **more: str
) -> str:
    """Make an activity multi-instance: `items`, `item`, `results`, `result`, or `cardinality`;
    `enough` is the completion condition."""
    named = {**(each or {}), **more}
    names = {
        "items": "inputCollection",
        "item": "inputElement",
        "results": "outputCollection",
        "result": "outputElement",
    }
    attributes = " ".join(f"{names[k]}={quoteattr(v)}" for k, v in named.items() if k in names)
    parts = f"<zeebe:loopCharacteristics {attributes}/>" if attributes else ""
    body = _extensions(parts)
    if "cardinality" in named:
        body += f"<loopCardinality>{escape(named['cardinality'])}</loopCardinality>"
    if "enough" in named:
        body += f"<completionCondition>{escape(named['enough'])}</completionCondition>"
    flag = ' isSequential="true"' if sequential else ""
    loop = f"<multiInstanceLoopCharacteristics{flag}>{body}</multiInstanceLoopCharacteristics>"
    head, closing, tail = activity.rpartition("</")
    return f"{head}{loop}{closing}{tail}"
