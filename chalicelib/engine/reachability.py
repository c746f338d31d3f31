"""From where a token can still come to a join, and by which of its incoming flows.

The sets are computed once per process, backwards from the join and not through it. Where a token
is, it may go on by a sequence flow, by a boundary event on it, or by a link; into a subprocess and
out of it again it stays at the subprocess as far as the scope around is concerned. What may come
by a boundary event is waited for, but is no way to go in place of another: an activity that can be
tried again from before the split is mostly done.

Source: BPMN 2.0.2 section 13.4.3 (inclusive gateway).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from chalicelib.bpmn.model import Element, EventType, Kind, Process

Links = Mapping[tuple[str, str | None], list[str]]


def throws_of(process: Process) -> Links:
    """Return the throw events of each link, by scope and name."""
    throws: dict[tuple[str, str | None], list[str]] = {}
    for element in process.elements.values():
        if element.event_type is EventType.LINK and element.kind is Kind.INTERMEDIATE_THROW_EVENT:
            throws.setdefault((element.scope, element.link), []).append(element.id)
    return throws


class Ways(NamedTuple):
    """The incoming flows of a gateway that a token can still take: by any way, and without the help
    of a boundary event. Bit n stands for the n-th."""

    any: int
    unhelped: int


NONE = Ways(0, 0)


def reach_of(process: Process, gateway: Element, throws: Links) -> Mapping[str, Ways]:
    """Return, by element, the incoming flows of a gateway that a token there can still take.

    Shapes: an element from which there is no way to the gateway is left out.
    """
    unhelped = _reach(process, gateway, throws, helped=False)
    by_any = _reach(process, gateway, throws, helped=True)
    return {id_: Ways(flows, unhelped.get(id_, 0)) for id_, flows in by_any.items()}


def _reach(process: Process, gateway: Element, throws: Links, *, helped: bool) -> Mapping[str, int]:
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
        for before in _before(process, process.elements[id_], throws, helped=helped):
            note(before, reach[id_])
    return reach


def _before(process: Process, element: Element, throws: Links, *, helped: bool) -> Iterator[str]:
    """Yield the elements from which a token comes to an element in one step."""
    for flow in element.incoming:
        yield process.flows[flow].source
    if element.attached_to is not None and helped:
        yield element.attached_to
    if element.event_type is EventType.LINK and element.kind is Kind.INTERMEDIATE_CATCH_EVENT:
        yield from throws.get((element.scope, element.link), ())
