"""Warnings of flows and conditions: what no variable can make true, and what is never taken.

A default flow has no say: it is taken when nothing else is, whatever condition it has; nor do the
flows out of a parallel gateway, which are all taken. Of several flows without a condition an
exclusive gateway takes none, as nobody could say which.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from chalicelib import feel
from chalicelib.bpmn.model import Element, Kind, Process, SequenceFlow, Value
from chalicelib.xml_tree import shown

_READS_CLOCK = ("now", "today", "random")
_MOMENT = datetime(2000, 1, 1, tzinfo=UTC)  # nothing that is looked at reads it


def flow_warnings(process: Process) -> Iterator[tuple[str, str]]:
    """Yield what is to be told of conditions, each by the id of its element or flow."""
    for element in process.elements.values():
        for name, condition in _conditions(element):
            if _constant(condition) is False:
                yield element.id, f"its {name} can never be true"
        if element.kind is Kind.PARALLEL_GATEWAY:
            continue
        flows = [process.flows[id_] for id_ in element.outgoing if id_ != element.default]
        chosen = [flow for flow in flows if flow.condition is not None]
        yield from _never_true(chosen)
        if element.kind is Kind.EXCLUSIVE_GATEWAY:
            yield from _hidden(chosen)
            yield from _undecided(element, [flow for flow in flows if flow.condition is None])


def _conditions(element: Element) -> Iterator[tuple[str, Value]]:
    """Yield the conditions of an element by what they are called in a model."""
    for event in element.parts or (element,):
        if event.condition is not None:
            yield "condition", event.condition.value
    for marked in (element.ad_hoc, element.many):
        if marked is not None and marked.completion is not None:
            yield "completionCondition", marked.completion
    if element.loop is not None and element.loop.condition is not None:
        yield "loopCondition", element.loop.condition
    if element.activation is not None:
        yield "activationCondition", element.activation


def names_in(text: str) -> frozenset[str]:
    """Return the variables that an expression reads; none of one that is wrong."""
    parsed = _parsed(text)
    return frozenset() if parsed is None else parsed.names


def _never_true(flows: Sequence[SequenceFlow]) -> Iterator[tuple[str, str]]:
    for flow in flows:
        if flow.condition is not None and _constant(flow.condition) is False:
            yield flow.id, f"its condition {shown(flow.condition.text)} can never be true"


def _hidden(flows: Sequence[SequenceFlow]) -> Iterator[tuple[str, str]]:
    """Yield the flows behind one that is always taken."""
    taken: SequenceFlow | None = None
    for flow in flows:
        if taken is not None:
            yield flow.id, f"it is never taken: {shown(taken.id)} before it always is"
        elif flow.condition is not None and _constant(flow.condition) is True:
            taken = flow


def _undecided(gateway: Element, free: Sequence[SequenceFlow]) -> Iterator[tuple[str, str]]:
    """Yield the flows without a condition, but for one that is taken when no condition is true."""
    if gateway.default is None and len(free) < 2:
        return
    because = "another flow has no condition either"
    if gateway.default is not None:
        because = f"{shown(gateway.default)} is the default"
    for flow in free:
        yield (
            flow.id,
            "it is never taken: expected a condition, or that it is the default, as " + because,
        )


def is_fixed(value: Value) -> bool:
    """Say whether a value is the same whatever the variables, and whenever."""
    parsed = _parsed(value.text)
    is_of_now = any(word in value.text for word in _READS_CLOCK)
    return parsed is not None and not parsed.names and not is_of_now


def _constant(value: Value) -> bool | None:
    """Say whether a condition is true or not whatever the variables; None if they decide."""
    parsed = _parsed(value.text)
    if parsed is None or not is_fixed(value):
        return None
    try:
        return parsed.evaluate({}, now=_MOMENT) is True
    except feel.FeelError:
        return False


def _parsed(text: str) -> feel.Expression | None:
    try:
        return feel.parse(text, profile=feel.Profile.ZEEBE)
    except feel.FeelSyntaxError:
        return None
