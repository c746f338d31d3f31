"""What is in a process, scope by scope, found before anything refers to anything.

What cannot be run is set aside, and refused as soon as it turns out to have a part in the process.
What has none (no flow, no boundary event, and nothing that starts it) may be anything: notes,
lanes, data, drafts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from chalicelib.bpmn.attributes import boolean, id_of, resolve
from chalicelib.bpmn.elements import ACTIVITIES, INSTANTIATING, KINDS, unsupported_part
from chalicelib.bpmn.events import is_plain, is_trigger
from chalicelib.bpmn.model import SCOPES, Kind
from chalicelib.bpmn.reading import Reading
from chalicelib.bpmn.refusals import described, refusal, shown, unsupported
from chalicelib.xml_tree import Node


class Placed(NamedTuple):
    """A node of the XML, what kind of element it makes, and the id of the scope it is in."""

    node: Node
    kind: Kind
    scope: str


@dataclass(slots=True)
class Found:
    """The parts of one process.

    Shapes: `elements` by id, in the order of the file; `scopes` the process and its subprocesses
        by id; `flows` and `associations`; `set_aside` by id, with what of it is
        not supported; `ids` everything that has one.
    """

    process: Node
    elements: dict[str, Placed] = field(default_factory=dict)
    scopes: dict[str, Node] = field(default_factory=dict)
    flows: list[Node] = field(default_factory=list)
    associations: list[Node] = field(default_factory=list)
    set_aside: dict[str, tuple[Node, str]] = field(default_factory=dict)
    ids: dict[str, Node] = field(default_factory=dict)

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
        raise refusal(
            owner,
            f"{attribute} {shown(reference)} names no element of {described(self.process)}",
        )


def find(process: Node, reading: Reading) -> Found:
    """Find the parts of a process. Raises: Rejected."""
    found = Found(process)
    id_ = id_of(process)
    found.ids[id_] = process
    _find_in(process, id_, found, reading)
    return found


def starts_of(found: Found) -> Mapping[str, str]:
    """Return the start event without a definition of each scope that has one, and that of each
    event subprocess.

    Raises: Rejected if a scope has several, or a subprocess none; a process may be started by
        what else starts an instance.
    """
    starts: dict[str, str] = {}
    triggered: set[str] = set()
    for id_, (node, kind, scope) in found.elements.items():
        is_process = found.scopes[scope] is found.process
        if kind in INSTANTIATING and boolean(node, "instantiate") and is_process:
            triggered.add(scope)
        if kind is not Kind.START_EVENT:
            continue
        if is_trigger(node):
            _check_trigger(node, starts.setdefault(scope, id_) == id_)
        elif not is_plain(node):
            if not is_process:
                raise refusal(node, "expected no event definition inside a subprocess, found one")
            triggered.add(scope)
        elif starts.setdefault(scope, id_) != id_:
            raise refusal(
                found.scopes[scope],
                f"expected one start event without a definition, found {shown(starts[scope])} "
                f"and {described(node)}",
            )
    for id_, node in found.scopes.items():
        if id_ not in starts and id_ not in triggered:
            raise refusal(node, "expected a start event, found none")
    return starts


def _check_trigger(node: Node, is_first: bool) -> None:
    if is_plain(node) or not is_first:
        found = "one without" if is_first else "more"
        raise refusal(
            node,
            f"expected one start event in an event subprocess, with a definition, found {found}",
        )


def boundary_events_of(found: Found) -> Mapping[str, tuple[str, ...]]:
    """Return the boundary events of each activity. Raises: Rejected for one on nothing."""
    attached: dict[str, list[str]] = {}
    for id_, (node, kind, scope) in found.elements.items():
        if kind is Kind.BOUNDARY_EVENT:
            activity = found.element(node, "attachedToRef")
            placed = found.elements[activity]
            is_beside = placed.kind in ACTIVITIES and placed.scope == scope
            if not is_beside or boolean(placed.node, "triggeredByEvent"):
                raise refusal(
                    node,
                    f"expected attachedToRef to name a task or subprocess beside it, "
                    f"found {described(placed.node)}",
                )
            attached.setdefault(activity, []).append(id_)
    return {activity: tuple(events) for activity, events in attached.items()}


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
        _note_id(node, kind, found)
        part = node.name if kind is None else unsupported_part(node, kind, reading)
        if kind is None or part is not None:
            _set_aside(node, part or node.name, found)
            continue
        found.elements[id_of(node)] = Placed(node, kind, scope)
        if kind in SCOPES:
            _find_in(node, id_of(node), found, reading)


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
