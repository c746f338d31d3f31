"""What elements of a process mean to each other, told to their nodes when a plan is made.

Links and where they lead, joins and from where tokens come, event subprocesses and what triggers
them, activities and what undoes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from chalicelib.bpmn.model import EventType, Kind, Process
from chalicelib.engine import conditions
from chalicelib.engine.reachability import reach_of, throws_of

if TYPE_CHECKING:
    from chalicelib.engine.draft import Draft
    from chalicelib.engine.plans import Behaviour, Node

WAITED = frozenset((EventType.TIMER, EventType.MESSAGE, EventType.SIGNAL))
THROWN = frozenset((EventType.ERROR, EventType.ESCALATION))
UNDOING = frozenset((EventType.COMPENSATION, EventType.CANCEL))
PATH_ACTIONS = 3  # the variables of an activation and of what is around it, and what waits
JUDGED = frozenset((Kind.INCLUSIVE_GATEWAY, Kind.COMPLEX_GATEWAY))


def bind_compensation(nodes: Mapping[str, Node]) -> None:
    """Tell activities what undoes them, and transactions how they are left when cancelled."""
    for node in nodes.values():
        element = node.element
        if element.event_type in UNDOING and element.kind is not Kind.BOUNDARY_EVENT:
            node.is_body = element.kind is not Kind.START_EVENT
        elif element.handler is not None and element.attached_to is not None:
            nodes[element.attached_to].handler = element.handler
        elif element.event_type is EventType.CANCEL and element.attached_to is not None:
            nodes[element.attached_to].cancel_event = element.id
        if element.event_type is EventType.COMPENSATION and element.kind is Kind.START_EVENT:
            inside = nodes[element.scope].element.scope
            if inside in nodes:
                nodes[inside].recovery = element.scope
    for node in nodes.values():
        if node.handler or node.recovery:
            node.is_compensable, node.only = True, None


def bind_paths(nodes: Mapping[str, Node]) -> bool:
    """Tell what is over as a path in an ad-hoc subprocess; say whether there are any."""
    around = {node.id: node.ad_hoc for node in nodes.values() if node.ad_hoc is not None}
    for node in nodes.values():
        if node.element.scope in around and node.kind is not Kind.REOPENED:
            node.path_of = around[node.element.scope]
    for plan in around.values():
        for id_ in plan.ids:
            nodes[id_].actions += PATH_ACTIONS
    return bool(around)


def waits_of(events: Iterable[Node]) -> tuple[Node, ...]:
    """Return what is waited for by a record, each definition of an event alone."""
    return tuple(part for part in _alone(events) if part.element.event_type in WAITED)


def conditions_of(events: Iterable[Node]) -> tuple[Node, ...]:
    """Return what is waited for by a condition, each definition of an event alone."""
    return tuple(part for part in _alone(events) if part.condition is not None)


def throws_of_events(events: Iterable[Node]) -> tuple[Node, ...]:
    """Return what is not waited for but thrown at an event, each definition of it alone."""
    return tuple(part for part in _alone(events) if part.element.event_type in THROWN)


def _alone(events: Iterable[Node]) -> Iterator[Node]:
    for event in events:
        yield from event.parts or (event,)


def bind_triggers(nodes: Mapping[str, Node]) -> Mapping[str, tuple[Node, ...]]:
    """Return the start events of event subprocesses by the scope that these stand in."""
    triggers: dict[str, tuple[Node, ...]] = {}
    for node in nodes.values():
        element = node.element
        if element.triggered_by_event and element.start is not None:
            start = nodes[element.start]
            start.is_waited = bool(start.waits or (start.parts and start.conditions))
            triggers[element.scope] = (*triggers.get(element.scope, ()), start)
    return triggers


def bind_jumps(process: Process, nodes: Mapping[str, Node]) -> frozenset[str]:
    """Tell links where they lead and joins from where tokens come; return these joins."""
    throws = throws_of(process)
    judged = [node for node in nodes.values() if node.kind in JUDGED and node.joins]
    for node in judged:
        node.reach = reach_of(process, node.element, throws)
    for node in nodes.values():
        element = node.element
        if element.kind is Kind.INTERMEDIATE_CATCH_EVENT and element.event_type is EventType.LINK:
            for throw in throws.get((element.scope, element.link), ()):
                nodes[throw].link_target = node.id
    return frozenset(node.id for node in judged)


def bind_conditions(nodes: Mapping[str, Node], triggers: Mapping[str, tuple[Node, ...]]) -> bool:
    """Tell elements the conditional events on and in them; say whether there are any."""
    for node in nodes.values():
        if node.kind in (Kind.INTERMEDIATE_CATCH_EVENT, Kind.EVENT_BASED_GATEWAY):
            node.is_watched = bool(node.conditions)
        elif node.element.attached_to is not None and (waited := conditions_of((node,))):
            owner = nodes[node.element.attached_to]
            owner.boundary_conditions = (*owner.boundary_conditions, *waited)
            owner.is_watched = True
    watched = {id_ for id_, starts in triggers.items() if any(start.conditions for start in starts)}
    for id_ in watched & nodes.keys():
        nodes[id_].is_watched = True
    for node in [node for node in nodes.values() if node.is_watched]:
        for each in (node, node.inner):
            if each is not None and each.work is not None:
                each.work = _watched(each.work)
            elif each is not None:
                each.enter = _watched(each.enter)
    return bool(watched) or any(node.is_watched for node in nodes.values())


def _watched(enter: Behaviour) -> Behaviour:
    """Let the conditions on and in an element be looked at when it is entered."""

    def enter_watched(draft: Draft, node: Node, scope: int, key: int) -> None:
        enter(draft, node, scope, key)
        conditions.entered(draft, key)

    return enter_watched
