"""Ad-hoc subprocesses: what is activated in them at once, and when they are complete.

Source: BPMN 2.0.2 section 13.3.5 (ad-hoc subprocess); contracts/bpmn.md 3.1 and 3.2 (adHoc).
"""

from __future__ import annotations

from chalicelib.bpmn.attributes import boolean
from chalicelib.bpmn.expressions import expression
from chalicelib.bpmn.extensions import Extensions
from chalicelib.bpmn.model import NAME_MAX, AdHocDefinition, Value
from chalicelib.bpmn.refusals import Faults, refusal
from chalicelib.xml_tree import Node, shown

ACTIVATION = "#innerInstance"  # behind the id of the ad-hoc subprocess; Zeebe names it so
ORDERINGS = {None: False, "Parallel": False, "Sequential": True}


def ad_hoc_of(node: Node, extensions: Extensions) -> AdHocDefinition:
    """Read what an ad-hoc subprocess activates; what is inside is read later. Raises: Rejected."""
    faults = Faults()
    extension = extensions.get("adHoc")
    result = faults.tried(None, _attribute, node, extension, "outputElement")
    results = None if extension is None else extension.get("outputCollection") or None
    made = AdHocDefinition(
        active_elements=faults.tried(None, _attribute, node, extension, "activeElementsCollection"),
        output_collection=results,
        output_element=result,
        completion=faults.tried(None, _completion, node),
        cancels_remaining=faults.tried(None, boolean, node, "cancelRemainingInstances")
        is not False,
        is_sequential=faults.tried(False, _is_sequential, node),
    )
    faults.tried(None, _check, node, extension, results)
    faults.check()
    return made


def _attribute(node: Node, extension: Node | None, name: str) -> Value | None:
    text = None if extension is None else extension.get(name)
    return expression(text, node, f"attribute {name} of adHoc") if text else None


def _completion(node: Node) -> Value | None:
    child = node.first("completionCondition")
    return None if child is None else expression(child.text, node, "completionCondition")


def _is_sequential(node: Node) -> bool:
    ordering = node.get("ordering")
    if ordering not in ORDERINGS:
        raise refusal(
            node,
            f"attribute ordering: expected Parallel or Sequential, found {shown(ordering or '')}",
        )
    return ORDERINGS[ordering]


def _check(node: Node, extension: Node | None, results: str | None) -> None:
    has_result = extension is not None and bool(extension.get("outputElement"))
    if has_result != (results is not None):
        found = "outputElement" if has_result else "outputCollection"
        raise refusal(
            node,
            f"adHoc: expected outputCollection and outputElement together, found only {found}",
        )
    if boolean(node, "triggeredByEvent"):
        raise refusal(node, "expected no ad-hoc subprocess that is triggered by an event")
    longest = NAME_MAX - len(ACTIVATION)
    length = len(node.get("id") or "")
    if length > longest:
        raise refusal(node, f"expected an id of at most {longest} characters, found {length}")
