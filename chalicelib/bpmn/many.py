"""Multi-instance activities: what is done for each of many.

The standard names a cardinality and a condition; the collections are an extension element of Zeebe
and ZenBPM. Source: BPMN 2.0.2 section 13.3.7; contracts/bpmn.md 3.2; contracts/zenbpm.md 4.2.
"""

from __future__ import annotations

from chalicelib.bpmn.attributes import boolean
from chalicelib.bpmn.expressions import expression
from chalicelib.bpmn.extensions import extensions_of
from chalicelib.bpmn.model import ManyDefinition, Value
from chalicelib.bpmn.refusals import refusal
from chalicelib.xml_tree import Node

_CHARACTERISTICS = "loopCharacteristics"


def many_of(node: Node) -> ManyDefinition | None:
    """Read how an activity is done several times; None if it is done once. Raises: Rejected."""
    loop = node.first("multiInstanceLoopCharacteristics")
    if loop is None:
        return None
    if node.first("standardLoopCharacteristics") is not None:
        raise refusal(node, f"expected one way to repeat, found two: {loop.name} is one")
    if boolean(node, "triggeredByEvent"):
        raise refusal(node, f"expected no {loop.name} on an event subprocess, found one")
    extension = extensions_of(loop).get(_CHARACTERISTICS)
    items = _attribute(node, extension, "inputCollection")
    result = _attribute(node, extension, "outputElement")
    results = None if extension is None else extension.get("outputCollection") or None
    cardinality = _child(node, loop, "loopCardinality")
    if items is None and cardinality is None:
        raise refusal(
            node,
            "multiInstanceLoopCharacteristics: expected an attribute inputCollection of "
            "loopCharacteristics, or a loopCardinality, found neither",
        )
    if (result is None) != (results is None):
        found = "outputCollection" if result is None else "outputElement"
        raise refusal(
            node,
            "loopCharacteristics: expected outputCollection and outputElement together, "
            f"found only {found}",
        )
    return ManyDefinition(
        is_sequential=boolean(loop, "isSequential") is True,
        input_collection=items,
        input_element=None if extension is None else extension.get("inputElement") or None,
        output_collection=results,
        output_element=result,
        cardinality=cardinality,
        completion=_child(node, loop, "completionCondition"),
    )


def _attribute(node: Node, extension: Node | None, name: str) -> Value | None:
    text = None if extension is None else extension.get(name)
    if not text:
        return None
    return expression(text, node, f"attribute {name} of loopCharacteristics")


def _child(node: Node, loop: Node, name: str) -> Value | None:
    child = loop.first(name)
    return None if child is None else expression(child.text, node, name)
