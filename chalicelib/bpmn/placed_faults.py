"""What is wrong with elements of a file, told as what is found while it is read."""

from __future__ import annotations

from collections.abc import Iterable

from chalicelib.bpmn.refusals import Fault, Refused, described
from chalicelib.xml_reader import read
from chalicelib.xml_tree import Node


def located(xml: bytes, problems: Iterable[tuple[str, str, str]]) -> Refused:
    """Return the refusal of elements, each with its id, name and line.

    Shapes: `problems` are the ids of a process and of an element in it, and what is wrong.
    """
    root = read(xml)
    faults = []
    for process_id, element_id, problem in problems:
        process = _find(root, process_id)
        node = _find(process, element_id)
        faults.append(Fault(node.line, f"{described(node)}: {problem}"))
    return Refused(faults)


def _find(around: Node, id_: str) -> Node:
    """Return the element of an id, of several the first; the one around it if there is none."""
    left = [around]
    while left:
        node = left.pop()
        if node.get("id") == id_:
            return node
        left += reversed(node.children)
    return around
