"""What starts instances of a process, and what waits in them, once all its elements are known.

An event behind an event-based gateway that instantiates starts an instance when it comes. Behind a
parallel one the others are waited for then, so their messages need a correlation key, as those of
everything else do that waits in an instance.

Source: BPMN 2.0.2 sections 10.6.6 and 13.4.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from chalicelib.bpmn.found import Found
from chalicelib.bpmn.model import Element, EventType, Kind, SequenceFlow
from chalicelib.bpmn.names import check_static
from chalicelib.bpmn.refusals import described, refusal
from chalicelib.xml_tree import shown

WAITING = frozenset({Kind.INTERMEDIATE_CATCH_EVENT, Kind.BOUNDARY_EVENT, Kind.RECEIVE_TASK})


def with_starters(
    found: Found, elements: Mapping[str, Element], flows: Mapping[str, SequenceFlow]
) -> dict[str, Element]:
    """Mark the events that start an instance from behind a gateway; check what each waits for.

    A name that would have to be computed, a key that is missing, and a message that starts two of
    them, are faults.
    """
    behind = {
        flows[id_].target: gateway
        for gateway in elements.values()
        if gateway.kind is Kind.EVENT_BASED_GATEWAY and gateway.instantiates
        for id_ in gateway.outgoing
    }
    marked = dict(elements)
    for id_ in behind:
        name = elements[id_].event_name
        if name is not None:
            found.faults.tried(None, check_static, found.elements[id_].node, name)
            marked[id_] = replace(elements[id_], instantiates=True)
    starters: dict[str, str] = {}
    for id_, element in marked.items():
        for event in element.parts or (element,):
            if _waits(found, element, behind.get(id_)):
                found.faults.tried(None, _check_key, found, event)
            if _starts(found, element):
                found.faults.tried(None, _check_own, found, event, starters)
    return marked


def _starts(found: Found, element: Element) -> bool:
    """Say whether an element starts instances of the process."""
    is_start = element.kind is Kind.START_EVENT or element.instantiates
    return is_start and found.scopes[element.scope] is found.process


def _check_own(found: Found, event: Element, starters: dict[str, str]) -> None:
    """Refuse the second event that a message would start an instance at: it starts one."""
    if event.event_type is not EventType.MESSAGE or event.event_name is None:
        return
    name = event.event_name.name.text
    first = starters.setdefault(name, event.id)
    if first != event.id:
        raise refusal(
            found.elements[event.id].node,
            f"expected a message of its own to start an instance by, found {shown(name)}, which "
            f"starts one at {described(found.elements[first].node)} already",
        )


def _waits(found: Found, element: Element, gateway: Element | None) -> bool:
    """Say whether an element may wait in an instance for what it is about."""
    if element.instantiates:
        return gateway is not None and gateway.waits_for_all
    is_in_process = found.scopes[element.scope] is found.process
    is_start = element.kind is Kind.START_EVENT
    return element.kind in WAITING or (is_start and (element.is_parallel or not is_in_process))


def _check_key(found: Found, element: Element) -> None:
    name = element.event_name
    if (
        element.event_type is EventType.MESSAGE
        and name is not None
        and name.correlation_key is None
    ):
        raise refusal(
            found.elements[element.id].node,
            "expected a subscription with a correlationKey at message "
            f"{shown(name.name.text)}, found none",
        )
