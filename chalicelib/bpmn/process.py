"""One process: its parts found, its flows tied to them, and all of it compiled."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from chalicelib.bpmn.activations import with_activations
from chalicelib.bpmn.attributes import id_of
from chalicelib.bpmn.compensation import check_compensation, handlers_of
from chalicelib.bpmn.crowds import check_crowds
from chalicelib.bpmn.elements import Links, Surroundings, compile_element
from chalicelib.bpmn.event_gateways import check_event_gateways
from chalicelib.bpmn.execution_listeners import listeners_of_process
from chalicelib.bpmn.extensions import PRIORITY, extensions_of, version_tag_of
from chalicelib.bpmn.flows import compile_flows
from chalicelib.bpmn.found import boundary_events_of, find, starts_of
from chalicelib.bpmn.links import check_links
from chalicelib.bpmn.model import Process
from chalicelib.bpmn.names import Definitions
from chalicelib.bpmn.reading import Reading
from chalicelib.bpmn.refusals import Faults, refuse
from chalicelib.bpmn.reopened import with_reopened
from chalicelib.bpmn.starters import with_starters
from chalicelib.xml_tree import Node

# What else is wrong with a process: the ids of elements, or its own, and what is with each.
Judge = Callable[[Process], Iterable[tuple[str, str]]]


def compile_process(
    process: Node, reading: Reading, known: Definitions, judge: Judge | None = None
) -> Process:
    """Compile a process. Raises: Rejected, with all that is wrong.

    Shapes: what is refused already stands for the `judge` as if left away.
    """
    faults = Faults()
    found = find(process, reading, faults)
    starts = starts_of(found)
    flows = compile_flows(found)
    boundary_events = boundary_events_of(found)
    own = extensions_of(process)
    around = Surroundings(
        reading=reading,
        known=known,
        faults=faults,
        refused_flows=flows.refused,
        starts=starts,
        boundary_events=boundary_events,
        handlers=handlers_of(found),
        data=found.data,
        inherited={name: each for name, each in own.items() if name == PRIORITY},
        attached_to={id_: task for task, events in boundary_events.items() for id_ in events},
    )
    elements = {
        id_: compile_element(
            node,
            kind,
            scope,
            Links(
                faults.tried((), flows.reaching, id_, node),
                faults.tried((), flows.leaving, id_, node),
            ),
            around,
        )
        for id_, (node, kind, scope) in found.elements.items()
    }
    check_links(found, elements)
    check_compensation(found, elements)
    check_event_gateways(found, elements, flows)
    check_crowds(found, elements, flows, process.get("id") or "")
    elements = with_activations(found, with_starters(found, elements, flows.by_id))
    elements = with_reopened(elements)
    listeners = faults.tried((), listeners_of_process, process, reading)
    id_ = id_of(process)
    compiled = Process(
        id=id_,
        name=process.get("name"),
        elements=elements,
        flows=flows.by_id,
        start=starts.get(id_),
        version_tag=version_tag_of(own),
        data=tuple(found.data.get(id_, ())),
        listeners=listeners,
    )
    for element_id, problem in () if judge is None else judge(compiled):
        placed = found.elements.get(element_id)
        faults.tried(None, refuse, process if placed is None else placed.node, problem)
    faults.check()
    return compiled
