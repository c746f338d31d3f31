"""The standard loop marker: an activity that repeats while a condition holds.

Source: BPMN 2.0.2 section 10.3.8 (standard loop characteristics).
"""

from __future__ import annotations

from chalicelib.bpmn.attributes import boolean
from chalicelib.bpmn.expressions import expression
from chalicelib.bpmn.model import Loop, Value
from chalicelib.bpmn.refusals import Faults, refusal
from chalicelib.xml_tree import Node, shown

MAXIMUM = 2**31 - 1


def loop_of(node: Node) -> Loop | None:
    """Read the loop marker of an activity.

    Raises: Rejected, also if nothing ever ended the loop.
    """
    marker = node.first("standardLoopCharacteristics")
    if marker is None:
        return None
    if boolean(node, "triggeredByEvent"):
        raise refusal(
            node, "expected no standardLoopCharacteristics on an event subprocess, found one"
        )
    faults = Faults()
    loop = Loop(
        faults.tried(None, _condition, node, marker),
        faults.tried(None, _maximum, node, marker.get("loopMaximum")),
        faults.tried(None, boolean, marker, "testBefore", node) is True,
    )
    faults.check()
    return loop


def _condition(node: Node, marker: Node) -> Value | None:
    condition = marker.first("loopCondition")
    if condition is not None:
        return expression(condition.text, node, "loopCondition")
    if marker.get("loopMaximum") is None:
        raise refusal(
            node,
            "standardLoopCharacteristics: expected a loopCondition or a loopMaximum, found neither",
        )
    return None


def _maximum(node: Node, text: str | None) -> int | None:
    if text is None:
        return None
    if text.isascii() and text.isdigit() and len(text) < 11 and 1 <= int(text) <= MAXIMUM:
        return int(text)
    raise refusal(
        node, f"loopMaximum: expected a whole number from 1 to {MAXIMUM}, found {shown(text)}"
    )
