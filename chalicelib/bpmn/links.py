"""Link events: each throw event has one catch event of its name in its scope.

Source: BPMN 2.0.2 section 10.5.1 (intermediate link events).
"""

from __future__ import annotations

from collections.abc import Mapping

from chalicelib.bpmn.found import Found
from chalicelib.bpmn.model import Element, EventType, Kind
from chalicelib.bpmn.refusals import described, refusal
from chalicelib.xml_tree import shown


def check_links(found: Found, elements: Mapping[str, Element]) -> None:
    """Note each link that leads nowhere or to two places, or has flows beside."""
    targets: dict[tuple[str, str | None], str] = {}
    links = [each for each in elements.values() if each.event_type is EventType.LINK]
    for element in links:
        if element.kind is Kind.INTERMEDIATE_CATCH_EVENT:
            found.faults.tried(None, _check_target, found, element, targets)
    for element in links:
        if element.kind is not Kind.INTERMEDIATE_CATCH_EVENT:
            found.faults.tried(None, _check_source, found, element, targets)


def _check_target(
    found: Found, element: Element, targets: dict[tuple[str, str | None], str]
) -> None:
    node = found.elements[element.id].node
    first = targets.setdefault((element.scope, element.link), element.id)
    if first != element.id:
        raise refusal(
            node,
            f"expected one catch event of link {shown(element.link or '')} in its scope, "
            f"found {described(found.elements[first].node)} too",
        )
    if element.incoming:
        raise refusal(node, "expected no flow into the catch event of a link, found one")


def _check_source(
    found: Found, element: Element, targets: Mapping[tuple[str, str | None], str]
) -> None:
    node = found.elements[element.id].node
    if (element.scope, element.link) not in targets:
        raise refusal(
            node, f"failed to find link {shown(element.link or '')}: no catch event beside it"
        )
    if element.outgoing:
        raise refusal(node, "expected no flow out of the throw event of a link, found one")
