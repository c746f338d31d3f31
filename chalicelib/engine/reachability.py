"""From where a token can still come to a join, and by which of its incoming flows.

The sets are computed once per process, backwards from the join and not through it. Where a token
is, it may go on by a sequence flow, by a boundary event on it, or by a link; into a subprocess and
out of it again it stays at the subprocess as far as the scope around is concerned.

Source: BPMN 2.0.2 section 13.4.3 (inclusive gateway).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from chalicelib.bpmn.model import Element, EventType, Kind, Process

Links = Mapping[tuple[str, str | None], list[str]]


def throws_of(process: Process) -> Links:
    """Return the throw events of each link, by scope and name."""
    throws: dict[tuple[str, str | None], list[str]] = {}
    for element in process.elements.values():
        if element.event_type is EventType.LINK and element.kind is Kind.INTERMEDIATE_THROW_EVENT:
            throws.setdefault((element.scope, element.link), []).append(element.id)
    return throws


def reach_of(process: Process, gateway: Element, throws: Links) -> Mapping[str, int]:
    """Return, by element, the incoming flows of a gateway that a token there can still take.

    Shapes: bit n stands for the n-th incoming flow; an element from which there is no way to the
        gateway is left out.
    """
    reach: dict[str, int] = {}
    todo: deque[str] = deque()
    waiting: set[str] = set()

    def note(id_: str, flows: int) -> None:
        known = reach.get(id_, 0)
        if known | flows != known:
            reach[id_] = known | flows
            if id_ not in waiting and id_ != gateway.id:
                waiting.add(id_)
                todo.append(id_)

    for number, flow in enumerate(gateway.incoming):
        note(process.flows[flow].source, 1 << number)
    while todo:
        id_ = todo.popleft()
        waiting.discard(id_)
        for before in _before(process, process.elements[id_], throws):
            note(before, reach[id_])
    return reach


def _before(process: Process, element: Element, throws: Links) -> Iterator[str]:
    """Yield the elements from which a token comes to an element in one step."""
    for flow in element.incoming:
        yield process.flows[flow].source
    if element.attached_to is not None:
        yield element.attached_to
    if element.event_type is EventType.LINK and element.kind is Kind.INTERMEDIATE_CATCH_EVENT:
        yield from throws.get((element.scope, element.link), ())
