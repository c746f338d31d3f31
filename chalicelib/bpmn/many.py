"""Multi-instance activities: what is done for each of many.

The standard names a cardinality and a condition; the collections are an extension element of Zeebe
and ZenBPM. Source: BPMN 2.0.2 section 13.3.7; contracts/bpmn.md 3.2; contracts/zenbpm.md 4.2.
"""

from __future__ import annotations

from functools import partial

from chalicelib.bpmn.attributes import boolean
from chalicelib.bpmn.expressions import expression
from chalicelib.bpmn.extensions import extensions_of
from chalicelib.bpmn.model import ManyDefinition, Value
from chalicelib.bpmn.refusals import Faults, each, refusal, refuse
from chalicelib.xml_tree import Node

_CHARACTERISTICS = "loopCharacteristics"
_PARTS = ("inputCollection", "outputCollection", "outputElement")


def many_of(node: Node) -> ManyDefinition | None:
    """Read how an activity is done several times; None if it is done once. Raises: Rejected."""
    loop = node.first("multiInstanceLoopCharacteristics")
    if loop is None:
        return None
    if boolean(node, "triggeredByEvent"):
        raise refusal(node, f"expected no {loop.name} on an event subprocess, found one")
    extension = extensions_of(loop).get(_CHARACTERISTICS)
    results = None if extension is None else extension.get("outputCollection") or None
    faults = Faults()
    faults.tried(None, _check, node, loop, extension)
    many = ManyDefinition(
        is_sequential=faults.tried(None, boolean, loop, "isSequential", node) is True,
        input_collection=faults.tried(None, _attribute, node, extension, "inputCollection"),
        input_element=None if extension is None else extension.get("inputElement") or None,
        output_collection=results,
        output_element=faults.tried(None, _attribute, node, extension, "outputElement"),
        cardinality=faults.tried(None, _child, node, loop, "loopCardinality"),
        completion=faults.tried(None, _child, node, loop, "completionCondition"),
    )
    faults.check()
    return many


def _check(node: Node, loop: Node, extension: Node | None) -> None:
    """Refuse what does not go together. Raises: Rejected, with all of it."""
    wrong: list[str] = []
    if node.first("standardLoopCharacteristics") is not None:
        wrong.append(f"expected one way to repeat, found two: {loop.name} is one")
    said = {name for name in _PARTS if extension is not None and extension.get(name)}
    if "inputCollection" not in said and loop.first("loopCardinality") is None:
        wrong.append(
            f"{loop.name}: expected an attribute inputCollection of {_CHARACTERISTICS}, or a "
            "loopCardinality, found neither"
        )
    alone = said & {"outputCollection", "outputElement"}
    if len(alone) == 1:
        wrong.append(
            f"{_CHARACTERISTICS}: expected outputCollection and outputElement together, "
            f"found only {alone.pop()}"
        )
    each(partial(refuse, node), wrong)


def _attribute(node: Node, extension: Node | None, name: str) -> Value | None:
    text = None if extension is None else extension.get(name)
    if not text:
        return None
    return expression(text, node, f"attribute {name} of loopCharacteristics")


def _child(node: Node, loop: Node, name: str) -> Value | None:
    child = loop.first(name)
    return None if child is None else expression(child.text, node, name)
