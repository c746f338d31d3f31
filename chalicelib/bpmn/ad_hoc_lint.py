"""What an ad-hoc subprocess that can be run may still be wrong about (see `lint.py`)."""

from __future__ import annotations

from collections.abc import Iterator

from chalicelib.bpmn.model import AdHocDefinition, Element, Kind, Process
from chalicelib.xml_tree import shown


def ad_hoc_warnings(process: Process, item_bytes: int) -> Iterator[tuple[str, str]]:
    """Yield what to look at again in the ad-hoc subprocesses of a process, by the element's id."""
    for element in process.elements.values():
        if element.ad_hoc is not None:
            yield from _of_one(element, element.ad_hoc, item_bytes)
            yield from _never_joined(process, element.ad_hoc)


def _of_one(
    element: Element, definition: AdHocDefinition, item_bytes: int
) -> Iterator[tuple[str, str]]:
    listed, until = definition.active_elements, definition.completion
    if element.job is None and listed is None:
        yield (
            element.id,
            "nothing in it is activated by itself: expected an activeElementsCollection, a "
            "taskDefinition, or a caller that activates elements",
        )
    unread = {"activeElementsCollection": listed, "completionCondition": until}
    for name, value in unread.items() if element.job is not None else ():
        if value is not None:
            yield element.id, f"its {name} does not count: the worker of its taskDefinition decides"
    if definition.output_collection is not None:
        yield (
            element.id,
            f"every path adds to {shown(definition.output_collection)}: the variables of one scope "
            f"may have {item_bytes} bytes at most",
        )


def _never_joined(process: Process, definition: AdHocDefinition) -> Iterator[tuple[str, str]]:
    """Yield the parallel joins to which no single activation leads by all flows."""
    inside = [e for e in process.elements.values() if e.scope == definition.activation]
    joins = [e for e in inside if e.kind is Kind.PARALLEL_GATEWAY and len(e.incoming) > 1]
    if not joins:
        return
    taken = [_flows_from(process, str(each["elementId"])) for each in definition.activatable]
    for join in joins:
        if not any(flows.issuperset(join.incoming) for flows in taken):
            yield (
                join.id,
                "it waits for ever: tokens of one activation only meet, and none comes by all of "
                "its flows",
            )


def _flows_from(process: Process, element_id: str) -> frozenset[str]:
    """Return the flows that a token which was put at an element may take, in its scope."""
    todo, seen, flows = [element_id], {element_id}, set[str]()
    while todo:
        element = process.elements[todo.pop()]
        flows |= set(element.outgoing)
        ahead = [process.flows[id_].target for id_ in element.outgoing]
        for id_ in (*ahead, *element.boundary_events):
            if id_ not in seen:
                seen.add(id_)
                todo.append(id_)
    return frozenset(flows)
