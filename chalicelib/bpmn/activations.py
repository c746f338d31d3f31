"""What can be activated in ad-hoc subprocesses, and the scope that each activation is.

Elements that no flow leads to can be activated, any number of times and in any order. Each
activation is a scope of its own, which no tag of the model stands for: an element is made for it,
in the ad-hoc subprocess, and all others but event subprocesses stand in that.

Source: BPMN 2.0.2 section 13.3.5; Camunda 8 documentation, "Ad-hoc sub-processes".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from chalicelib import feel
from chalicelib.bpmn.ad_hoc import ACTIVATION
from chalicelib.bpmn.extensions import extensions_of
from chalicelib.bpmn.found import Found
from chalicelib.bpmn.model import Element, EventType, IoMapping, Kind
from chalicelib.bpmn.refusals import described, refusal
from chalicelib.json_text import JsonObject, JsonValue
from chalicelib.xml_tree import Node

WITHOUT = frozenset({Kind.START_EVENT, Kind.END_EVENT})
FROM_AI, PARAMETERS = "fromAi", ("value", "description", "type", "schema", "options")


def with_activations(found: Found, elements: Mapping[str, Element]) -> dict[str, Element]:
    """Tell ad-hoc subprocesses what can be activated in them, and put all else into a scope of
    each activation. It is a fault if nothing can be, or what is inside has no place there."""
    made, inside = dict(elements), defaultdict[str, list[str]](list)
    for element in elements.values():
        inside[element.scope].append(element.id)
    for element in elements.values():
        if element.ad_hoc is not None:
            found.faults.tried(None, _fill, found, made, made[element.id], inside[element.id])
    return made


def _fill(found: Found, elements: dict[str, Element], around: Element, ids: Sequence[str]) -> None:
    assert around.ad_hoc is not None
    node, id_ = found.elements[around.id].node, around.id + ACTIVATION
    inside = [elements[each] for each in ids]
    for each in inside:
        if each.kind in WITHOUT:
            misplaced = found.elements[each.id].node
            found.faults.tried(None, _refuse, misplaced, node)
    told = tuple(_told(found, each) for each in inside if _can_be_activated(each))
    if not told and around.id not in found.refused:
        raise refusal(
            node, "expected an element inside that no flow leads to, to be activated; found none"
        )
    definition = replace(around.ad_hoc, activatable=told, activation=id_)
    itself = elements[around.id]  # it may be in a scope of an activation by now
    elements[around.id] = replace(itself, ad_hoc=definition)
    elements[id_] = Element(id_, Kind.AD_HOC_ACTIVATION, around.id, name=around.name)
    for each in inside:
        if not each.triggered_by_event:
            elements[each.id] = replace(each, scope=id_)


def _refuse(node: Node, around: Node) -> None:
    raise refusal(
        node, f"expected neither a start nor an end event directly in {described(around)}"
    )


def _can_be_activated(element: Element) -> bool:
    is_beside = element.kind in WITHOUT or element.kind is Kind.BOUNDARY_EVENT
    is_reached = bool(element.incoming) or (
        element.event_type is EventType.LINK and element.kind is Kind.INTERMEDIATE_CATCH_EVENT
    )
    called_for = element.triggered_by_event or element.is_for_compensation
    return not (is_beside or is_reached or called_for)


# --- what is told of it ------------------------------------------------------------------------


def _told(found: Found, element: Element) -> JsonObject:
    """Return what is told of an element that can be activated, without what it does not have."""
    node = found.elements[element.id].node
    documentation = node.first("documentation")
    told: dict[str, JsonValue] = {
        "elementId": element.id,
        "elementName": element.name,
        "documentation": None if documentation is None else documentation.text.strip() or None,
        "properties": _properties(node),
        "parameters": list(_parameters(element)),
    }
    return {name: value for name, value in told.items() if value}


def _properties(node: Node) -> JsonObject:
    container = extensions_of(node).get("properties")
    if container is None:
        return {}
    return {
        name: each.raw("value") or ""
        for each in container.children
        if each.name == "property" and (name := each.get("name"))
    }


def _parameters(element: Element) -> Iterator[JsonObject]:
    """Yield what the element's mappings ask of who activates it, by `fromAi`."""
    for mapping in (*element.inputs, *element.outputs):
        for call in _calls(mapping):
            told = {"name": call.pop("value"), **call}
            if told["name"] is not None:
                yield {
                    name: feel.to_json(value) for name, value in told.items() if value is not None
                }


def _calls(mapping: IoMapping) -> list[dict[str, feel.Value]]:
    source = mapping.source
    if source is None or not source.is_feel or FROM_AI not in source.text:
        return []
    try:
        return feel.calls_of(source.text, FROM_AI, PARAMETERS)
    except feel.FeelSyntaxError:
        return []  # refused where the mapping was read
