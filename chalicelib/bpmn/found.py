"""What is in a process, scope by scope, found before anything refers to anything.

What cannot be run is set aside, and refused as soon as it turns out to have a part in the process.
What has none (no flow, no boundary event, and nothing that starts it) may be anything: notes,
lanes, data, drafts.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from chalicelib.bpmn.attributes import boolean, id_of, resolve
from chalicelib.bpmn.elements import ACTIVITIES, INSTANTIATING, KINDS, unsupported_part
from chalicelib.bpmn.events import is_plain, is_trigger
from chalicelib.bpmn.model import SCOPES, Kind
from chalicelib.bpmn.reading import Reading
from chalicelib.bpmn.refusals import Faults, described, follows, refusal, unsupported
from chalicelib.xml_tree import Node, shown


class Placed(NamedTuple):
    """A node of the XML, what kind of element it makes, and the id of the scope it is in."""

    node: Node
    kind: Kind
    scope: str


@dataclass(slots=True)
class Found:
    """The parts of one process.

    Shapes: `elements` by id, in the order of the file; `scopes` the process and its subprocesses
        by id; `flows` and `associations`; `data` the names of the data objects of each scope;
        `set_aside` by id, with what of it is not supported; `ids` everything that has one;
        `refused` the ids of elements, and of the scopes around them, in which something was;
        `faults` is what is wrong.
    """

    process: Node
    faults: Faults
    elements: dict[str, Placed] = field(default_factory=dict)
    scopes: dict[str, Node] = field(default_factory=dict)
    flows: list[Node] = field(default_factory=list)
    associations: list[Node] = field(default_factory=list)
    data: dict[str, list[str]] = field(default_factory=dict)
    set_aside: dict[str, tuple[Node, str]] = field(default_factory=dict)
    ids: dict[str, Node] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)

    def element(self, owner: Node, attribute: str) -> str:
        """Return the id of the element that an attribute of another refers to.

        Raises: Rejected if there is none, or if it cannot be run.
        """
        reference = owner.get(attribute)
        if reference is None:
            raise refusal(owner, f"expected an attribute {attribute}, found none")
        id_ = resolve(reference, self.elements)
        if id_ is not None:
            return id_
        aside = resolve(reference, self.set_aside)
        if aside is not None:
            raise unsupported(*self.set_aside[aside])
        if resolve(reference, self.refused) is not None:
            raise follows()
        raise refusal(
            owner,
            f"{attribute} {shown(reference)} names no element of {described(self.process)}",
        )


def find(process: Node, reading: Reading, faults: Faults) -> Found:
    """Find the parts of a process. Raises: Rejected without an id of its own."""
    found = Found(process, faults)
    id_ = id_of(process)
    found.ids[id_] = process
    _find_in(process, id_, found, reading)
    return found


def starts_of(found: Found) -> Mapping[str, str]:
    """Return the start event without a definition of each scope that has one, and that of each
    event subprocess.

    It is a fault if a scope has several, or a subprocess none; a process may be started by what
    else starts an instance.
    """
    starts: dict[str, str] = {}
    triggered: set[str] = set()
    for id_, placed in found.elements.items():
        found.faults.tried(None, _note_start, id_, placed, found, starts, triggered)
    started = starts.keys() | triggered
    for id_, node in found.scopes.items():
        found.faults.tried(None, _check_start, id_, node, found, started)
    return starts


def _note_start(
    id_: str, placed: Placed, found: Found, starts: dict[str, str], triggered: set[str]
) -> None:
    """Note what an element starts, if anything. Raises: Rejected."""
    node, kind, scope = placed
    if _has_no_start(found.scopes[scope]):
        return
    is_process = found.scopes[scope] is found.process
    if kind in INSTANTIATING and boolean(node, "instantiate") and is_process:
        triggered.add(scope)
    if kind is not Kind.START_EVENT:
        return
    if is_trigger(node):
        _check_trigger(node, starts.setdefault(scope, id_) == id_)
    elif not is_plain(node):
        triggered.add(scope)
        if not is_process:
            raise refusal(node, "expected no event definition inside a subprocess, found one")
    elif starts.setdefault(scope, id_) != id_:
        raise refusal(
            found.scopes[scope],
            f"expected one start event without a definition, found {shown(starts[scope])} "
            f"and {described(node)}",
        )


def _check_start(id_: str, node: Node, found: Found, started: Container[str]) -> None:
    if id_ not in started and id_ not in found.refused and not _has_no_start(node):
        raise refusal(node, "expected a start event, found none")


def _has_no_start(scope: Node) -> bool:
    return scope.name == Kind.AD_HOC_SUB_PROCESS


def _check_trigger(node: Node, is_first: bool) -> None:
    if is_plain(node) or not is_first:
        found = "one without" if is_first else "more"
        raise refusal(
            node,
            f"expected one start event in an event subprocess, with a definition, found {found}",
        )


def boundary_events_of(found: Found) -> Mapping[str, tuple[str, ...]]:
    """Return the boundary events of each activity; one on nothing is a fault."""
    attached: dict[str, list[str]] = {}
    for id_, placed in found.elements.items():
        if placed.kind is Kind.BOUNDARY_EVENT:
            activity = found.faults.tried(None, _activity_of, placed, found)
            if activity is not None:
                attached.setdefault(activity, []).append(id_)
    return {activity: tuple(events) for activity, events in attached.items()}


def _activity_of(event: Placed, found: Found) -> str:
    """Return the activity that a boundary event is on. Raises: Rejected."""
    activity = found.element(event.node, "attachedToRef")
    placed = found.elements[activity]
    is_beside = placed.kind in ACTIVITIES and placed.scope == event.scope
    if not is_beside or boolean(placed.node, "triggeredByEvent"):
        raise refusal(
            event.node,
            f"expected attachedToRef to name a task or subprocess beside it, "
            f"found {described(placed.node)}",
        )
    return activity


def _find_in(container: Node, scope: str, found: Found, reading: Reading) -> None:
    """Find the parts of one scope and of those in it, as deep as `xml_reader.DEPTH_MAX` at most."""
    found.scopes[scope] = container
    for node in container.children:
        if node.namespace != container.namespace:
            continue
        kind = KINDS.get(node.name)
        if node.name == "sequenceFlow":
            found.flows.append(node)
        elif node.name == "association":
            found.associations.append(node)
        elif node.name == "dataObject" and (name := node.get("name")) is not None:
            found.data.setdefault(scope, []).append(name)
        if found.faults.tried(None, _place, node, kind, scope, found, reading) is None:
            found.refused |= {scope, node.get("id") or scope}
        elif kind in SCOPES and node.get("id") in found.elements:
            _find_in(node, id_of(node), found, reading)


def _place(node: Node, kind: Kind | None, scope: str, found: Found, reading: Reading) -> bool:
    """Put a part where it belongs; return that it is. Raises: Rejected."""
    _note_id(node, kind, found)
    part = node.name if kind is None else unsupported_part(node, kind, reading)
    if kind is None or part is not None:
        _set_aside(node, part or node.name, found)
    else:
        found.elements[id_of(node)] = Placed(node, kind, scope)
    return True


def _note_id(node: Node, kind: Kind | None, found: Found) -> None:
    id_ = node.get("id") if kind is None else id_of(node)
    if id_ is None:
        return
    other = found.ids.setdefault(id_, node)
    if other is not node:
        raise refusal(node, f"expected an id of its own, found it at {described(other)} too")


def _set_aside(node: Node, part: str, found: Found) -> None:
    """Keep what cannot be run; refuse it if it would run without a flow that leads to it."""
    starts_alone = node.name in (Kind.START_EVENT, Kind.BOUNDARY_EVENT) or (
        node.name == Kind.SUB_PROCESS and boolean(node, "triggeredByEvent")
    )
    if starts_alone:
        raise unsupported(node, part)
    id_ = node.get("id")
    if id_ is not None:
        found.set_aside[id_] = (node, part)
