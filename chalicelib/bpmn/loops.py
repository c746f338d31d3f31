"""The standard loop marker: an activity that repeats while a condition holds.

Source: BPMN 2.0.2 section 10.3.8 (standard loop characteristics).
"""

from __future__ import annotations

from chalicelib.bpmn.attributes import boolean
from chalicelib.bpmn.expressions import expression
from chalicelib.bpmn.model import Loop
from chalicelib.bpmn.refusals import refusal
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
    condition = marker.first("loopCondition")
    maximum = marker.get("loopMaximum")
    if condition is None and maximum is None:
        raise refusal(
            node,
            "standardLoopCharacteristics: expected a loopCondition or a loopMaximum, found neither",
        )
    return Loop(
        None if condition is None else expression(condition.text, node, "loopCondition"),
        None if maximum is None else _maximum(node, maximum),
        boolean(marker, "testBefore") is True,
    )


def _maximum(node: Node, text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) < 11 and 1 <= int(text) <= MAXIMUM:
        return int(text)
    raise refusal(
        node, f"loopMaximum: expected a whole number from 1 to {MAXIMUM}, found {shown(text)}"
    )
