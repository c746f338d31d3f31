"""Event-based gateways: what may stand behind one, since it waits for all of that at once.

Source: BPMN 2.0.2 section 10.6.6; contracts/zenbpm.md 4.3.
"""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.bpmn.flows import Flows
from chalicelib.bpmn.found import Found
from chalicelib.bpmn.model import Element, Kind, SequenceFlow
from chalicelib.bpmn.refusals import described, each, refusal
from chalicelib.xml_tree import Node, shown

TARGETS = frozenset({Kind.INTERMEDIATE_CATCH_EVENT, Kind.RECEIVE_TASK})


def check_event_gateways(found: Found, elements: Mapping[str, Element], flows: Flows) -> None:
    """Note each gateway that waits for what cannot be waited for."""
    for element in elements.values():
        if element.kind is Kind.EVENT_BASED_GATEWAY and (element.incoming or element.outgoing):
            found.faults.tried(None, _check_gateway, element, found, elements, flows)


def _check_gateway(
    element: Element, found: Found, elements: Mapping[str, Element], flows: Flows
) -> None:
    node = found.elements[element.id].node
    if node.get("eventGatewayType") == "Parallel" and not element.instantiates:
        raise refusal(node, 'expected instantiate="true" with eventGatewayType="Parallel"')
    if not element.outgoing:
        raise refusal(node, "expected a flow to an event, found no outgoing flow")
    targets = (flows.by_id[id_] for id_ in element.outgoing)
    each(lambda flow: _check_target(node, flow, found, elements), targets)
    if element.instantiates:
        each(lambda id_: _check_starter(node, flows.by_id[id_], found, elements), element.outgoing)


def _check_starter(
    gateway: Node, flow: SequenceFlow, found: Found, elements: Mapping[str, Element]
) -> None:
    if elements[flow.target].event_name is None:
        target = found.elements[flow.target].node
        raise refusal(
            gateway,
            f"expected a message or signal to start an instance, found {described(target)}",
        )


def _check_target(
    gateway: Node, flow: SequenceFlow, found: Found, elements: Mapping[str, Element]
) -> None:
    target = elements[flow.target]
    if flow.condition is not None:
        raise refusal(gateway, f"expected no condition on flow {shown(flow.id)}, found one")
    if target.kind not in TARGETS:
        node = found.elements[target.id].node
        raise refusal(
            gateway,
            "expected a catch event or a receive task behind an event-based gateway, "
            f"found {described(node)}",
        )
    if len(target.incoming) > 1:
        raise refusal(
            gateway, f"expected no other flow into {shown(target.id)}, found {len(target.incoming)}"
        )
    if target.boundary_events:
        raise refusal(
            gateway,
            f"expected no boundary event on {shown(target.id)}, "
            f"found {shown(target.boundary_events[0])}",
        )
