"""Sequence flows: where they come from and lead to, and in which order they are tried."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from chalicelib.bpmn.attributes import boolean, id_of, resolve
from chalicelib.bpmn.expressions import expression
from chalicelib.bpmn.found import Found, Placed
from chalicelib.bpmn.model import Kind, SequenceFlow, Value
from chalicelib.bpmn.refusals import Faults, described, follows, refusal
from chalicelib.xml_tree import Node, shown

WITHOUT_INCOMING = frozenset({Kind.START_EVENT, Kind.BOUNDARY_EVENT})
WITHOUT_OUTGOING = frozenset({Kind.END_EVENT})


@dataclass(slots=True)
class Flows:
    """All flows of a process by id, and by the elements they leave and reach.

    Shapes: `refused` are the ids of those that are wrong.
    """

    by_id: dict[str, SequenceFlow] = field(default_factory=dict)
    outgoing: dict[str, dict[str, None]] = field(default_factory=dict)
    incoming: dict[str, dict[str, None]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)

    def leaving(self, id_: str, node: Node) -> tuple[str, ...]:
        """Return an element's outgoing flows in the order of its `outgoing` children, which need
        not be there; the others follow in the order of the file.

        Raises: Rejected if a child names no flow that leaves the element.
        """
        return _ordered(node, "outgoing", self.outgoing.get(id_, {}), self.refused)

    def reaching(self, id_: str, node: Node) -> tuple[str, ...]:
        """Return an element's incoming flows, likewise."""
        return _ordered(node, "incoming", self.incoming.get(id_, {}), self.refused)


def compile_flows(found: Found) -> Flows:
    """Compile the flows of a process; what is wrong with them is noted."""
    flows = Flows()
    unnamed: dict[tuple[str, str], int] = {}
    for node in found.flows:
        if found.faults.tried(None, _compile_flow, node, found, flows, unnamed) is None:
            flows.refused |= {node.get("id") or ""}
    return flows


def _compile_flow(
    node: Node, found: Found, flows: Flows, unnamed: dict[tuple[str, str], int]
) -> SequenceFlow:
    """Compile a flow. Raises: Rejected."""
    faults = Faults()
    source = faults.tried("", found.element, node, "sourceRef")
    target = faults.tried("", found.element, node, "targetRef")
    condition = faults.tried(None, _condition, node)
    if not (source and target):
        faults.check()
        raise follows()
    faults.tried(None, _check_ends, node, found.elements[source], found.elements[target])
    id_ = faults.tried("", _flow_id, node, source, target, found.ids, unnamed)
    faults.check()
    flows.by_id[id_] = flow = SequenceFlow(id_, source, target, condition)
    flows.outgoing.setdefault(source, {})[id_] = None
    flows.incoming.setdefault(target, {})[id_] = None
    return flow


def _check_ends(node: Node, source: Placed, target: Placed) -> None:
    if source.scope != target.scope:
        raise refusal(
            node,
            f"expected both ends in one scope, found {described(source.node)} in "
            f"{shown(source.scope)} and {described(target.node)} in {shown(target.scope)}",
        )
    for end, way in ((source, "outgoing"), (target, "incoming")):
        if end.kind is Kind.SUB_PROCESS and boolean(end.node, "triggeredByEvent"):
            raise refusal(
                end.node, f"expected no {way} flow of an event subprocess, found {described(node)}"
            )
    if source.kind in WITHOUT_OUTGOING:
        raise refusal(source.node, f"expected no outgoing flow, found {described(node)}")
    if target.kind in WITHOUT_INCOMING:
        raise refusal(target.node, f"expected no incoming flow, found {described(node)}")


def _flow_id(
    node: Node,
    source: str,
    target: str,
    ids: Mapping[str, Node],
    unnamed: dict[tuple[str, str], int],
) -> str:
    """Return the flow's id, or one made of its ends: the same each time the file is read."""
    if node.get("id") is not None:
        return id_of(node)
    id_, count = "", unnamed.get((source, target), 0)
    while not id_ or id_ in ids:
        count += 1
        id_ = f"{source}_to_{target}" + (f"_{count}" if count > 1 else "")
    unnamed[source, target] = count
    return id_


def _condition(node: Node) -> Value | None:
    """Return the condition, which is FEEL with a leading `=` or without it.

    As static text it could never be true or false, so no profile takes it for one.
    """
    condition = node.first("conditionExpression")
    if condition is None:
        return None
    language = condition.get("language")
    if language is not None and "feel" not in language.lower():
        raise refusal(node, f"condition: expected FEEL, found language {shown(language)}")
    return expression(condition.text, node, "condition")


def _ordered(
    node: Node, name: str, flows: dict[str, None], refused: Container[str]
) -> tuple[str, ...]:
    ordered: dict[str, None] = {}
    for child in node.all(name):
        reference = child.text.strip()
        if resolve(reference, refused) is not None:
            continue
        id_ = resolve(reference, flows)
        if id_ is None:
            raise refusal(
                node,
                f"{name} {shown(reference)} names no sequence flow that "
                f"{'leaves' if name == 'outgoing' else 'reaches'} it",
            )
        ordered[id_] = None
    return tuple(ordered | flows)
