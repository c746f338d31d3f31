"""Attributes of BPMN elements: ids, references to them, and truth values."""

from __future__ import annotations

from collections.abc import Container

from chalicelib.bpmn.model import NAME_MAX
from chalicelib.bpmn.refusals import refusal
from chalicelib.xml_tree import Node, shown

_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


def id_of(node: Node) -> str:
    """Return an element's id. Raises: Rejected without one, and above NAME_MAX characters."""
    id_ = node.get("id")
    if id_ is None:
        raise refusal(node, "expected an attribute id, found none")
    if len(id_) > NAME_MAX:
        raise refusal(node, f"expected an id of at most {NAME_MAX} characters, found {len(id_)}")
    return id_


def boolean(node: Node, attribute: str, owner: Node | None = None) -> bool | None:
    """Return a truth value, None where nothing is said. Raises: Rejected, which names the element
    that owns the node, where it is none itself."""
    text = node.get(attribute)
    if text is None:
        return None
    value = _BOOLEANS.get(text.lower())
    if value is None:
        what = attribute if owner is None else f"{attribute} of {node.name}"
        problem = f"attribute {what}: expected true or false, found {shown(text)}"
        raise refusal(owner or node, problem)
    return value


def resolve(reference: str, ids: Container[str]) -> str | None:
    """Return the id that a reference means; by the standard it may have a prefix (a QName)."""
    if reference in ids:
        return reference
    local = reference.rpartition(":")[2]
    return local if local in ids else None
