"""Compensation and cancellation in a model: which activity undoes which, and who asks for it.

Source: BPMN 2.0.2 sections 10.3.1 (isForCompensation), 10.5.6, 10.7 (compensation), 10.3.5
(transaction).
"""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.bpmn.attributes import resolve
from chalicelib.bpmn.found import Found
from chalicelib.bpmn.model import END, Element, EventType, Kind
from chalicelib.bpmn.refusals import described, refusal
from chalicelib.xml_tree import shown


def handlers_of(found: Found) -> Mapping[str, str]:
    """Return the compensation handler of each element that an association leads to one from."""
    handlers: dict[str, str] = {}
    for association in found.associations:
        ends = [
            resolve(association.get(name) or "", found.elements)
            for name in ("sourceRef", "targetRef")
        ]
        for one, other in (ends, ends[::-1]):
            if one and other and found.elements[one].kind is Kind.BOUNDARY_EVENT:
                handlers[one] = other
    return handlers


def check_compensation(found: Found, elements: Mapping[str, Element]) -> None:
    """Note what undoes nothing, is not there, or could not be left."""
    for element in elements.values():
        found.faults.tried(None, _check, found, elements, element)


def _check(found: Found, elements: Mapping[str, Element], element: Element) -> None:
    if element.is_for_compensation and (element.incoming or element.outgoing):
        raise refusal(
            found.elements[element.id].node,
            'expected no flow of an activity with isForCompensation="true", found one',
        )
    if element.event_type is EventType.COMPENSATION:
        _check_event(found, elements, element)
    elif element.event_type is EventType.CANCEL:
        _check_cancel(found, elements, element)


def _check_event(found: Found, elements: Mapping[str, Element], element: Element) -> None:
    node, reference = found.elements[element.id].node, element.activity_ref
    if element.kind is not Kind.BOUNDARY_EVENT:
        if reference is not None and reference not in elements:
            raise refusal(node, f"activityRef {shown(reference)} names no activity of the process")
        if element.goes_ahead and any(listener.event == END for listener in element.listeners):
            raise refusal(
                node,
                'expected no listener of its end with waitForCompletion="false": its token goes on '
                "before it has ended",
            )
        return
    if element.outgoing:
        raise refusal(node, "expected no flow out of a compensation event, found one")
    handler = elements.get(element.handler or "")
    if handler is None or not handler.is_for_compensation or handler.scope != element.scope:
        raise refusal(
            node,
            "expected an association with an activity beside it that has "
            f'isForCompensation="true", found {shown(handler.id) if handler else "none"}',
        )


def _check_cancel(found: Found, elements: Mapping[str, Element], element: Element) -> None:
    node = found.elements[element.id].node
    owner = element.attached_to if element.kind is Kind.BOUNDARY_EVENT else element.scope
    transaction = elements.get(owner or "")
    if transaction is None or transaction.kind is not Kind.TRANSACTION:
        place = found.elements[transaction.id].node if transaction else found.process
        raise refusal(
            node,
            "expected a cancel event to belong to a transaction, found it to belong to "
            f"{described(place)}",
        )
    events = [elements[id_].event_type for id_ in transaction.boundary_events]
    if EventType.CANCEL not in events:
        raise refusal(
            node,
            f"expected a cancel boundary event on transaction {shown(transaction.id)}, found none",
        )
