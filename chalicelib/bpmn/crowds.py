"""How much an element waits for at once, which one transaction has to take.

All events that something waits for are armed in the turn that enters it, or none is: boundary
events with their activity, what is behind an event-based gateway with that, event subprocesses
with the scope they are in. What does not fit could never be entered, so it is refused; what fits
only if little else is written with it is warned of. Source: docs/adr/0010, docs/adr/0008.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from chalicelib.bpmn.flows import Flows
from chalicelib.bpmn.found import Found
from chalicelib.bpmn.model import Element, EventType, Kind, SequenceFlow
from chalicelib.bpmn.refusals import refusal

WRITES_MAX = 88  # the 90 of a turn, less its root and its history (engine.limits.ACTIONS_MAX)
WRITES_SURE = 78  # whatever else entering an element writes: its job, variables, an alias, …
WEIGHTS: Mapping[EventType, int] = {
    EventType.MESSAGE: 2,  # a subscription, and itself under what it waits for
    EventType.SIGNAL: 2,
    EventType.TIMER: 1,
}


class Crowd(NamedTuple):
    """What is written to wait in one place.

    Shapes: `id` is that of an element or of the process; `least` leaves out timers that may turn
        out never to fire, `most` does not.
    """

    id: str
    least: int
    most: int


def check_crowds(found: Found, elements: Mapping[str, Element], flows: Flows, process: str) -> None:
    """Note each place whose events could never be waited for all at once."""
    for crowd in crowds(elements, flows.by_id, process):
        if crowd.least > WRITES_MAX:
            found.faults.tried(None, _refuse, found, crowd)


def crowds(
    elements: Mapping[str, Element], flows: Mapping[str, SequenceFlow], process: str
) -> Iterator[Crowd]:
    """Yield the places where something is waited for by a timer, a message or a signal."""
    inside: dict[str, list[Element]] = {}
    for element in elements.values():
        if element.triggered_by_event and element.start is not None:
            inside.setdefault(element.scope, []).append(elements[element.start])
    yield from _crowd(process, inside.get(process, ()))
    for element in elements.values():
        beside = [elements[id_] for id_ in element.boundary_events if id_ in elements]
        within = inside.get(element.id, [])
        if element.kind is Kind.EVENT_BASED_GATEWAY:
            within = [elements[flows[id_].target] for id_ in element.outgoing]
        elif element.kind in (Kind.INTERMEDIATE_CATCH_EVENT, Kind.RECEIVE_TASK):
            within = [element]
        if element.many is None and element.loop is None:
            yield from _crowd(element.id, [*beside, *within], 0 if element.job is None else 1)
        else:  # its events are armed once, what is within in each round
            yield from _crowd(element.id, beside)
            yield from _crowd(element.id, within)


def counted(writes: int) -> str:
    """Return what is to be known of the writes that a place takes."""
    return f"found {writes}: a message or signal takes 2, a timer or a job 1"


def _crowd(id_: str, events: Iterable[Element], own: int = 0) -> Iterator[Crowd]:
    """Yield the writes of a place, if it waits for anything; `own` are those beside the events."""
    parts = [part for event in events for part in event.parts or (event,)]
    most = sum(WEIGHTS.get(part.event_type, 0) for part in parts)
    if most:
        yield Crowd(id_, own + most - sum(map(_may_never_fire, parts)), own + most)


def _may_never_fire(event: Element) -> bool:
    return event.timer is not None and event.timer.kind == "cycle"


def _refuse(found: Found, crowd: Crowd) -> None:
    placed = found.elements.get(crowd.id)
    raise refusal(
        found.process if placed is None else placed.node,
        f"expected at most {WRITES_MAX} writes to wait for all its events at once, "
        + counted(crowd.least),
    )
