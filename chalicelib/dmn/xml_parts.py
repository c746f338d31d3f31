"""Small parts of DMN XML that every reader of it asks for."""

from __future__ import annotations

from chalicelib.dmn.model import Variable
from chalicelib.feel.names import normalized
from chalicelib.xml_tree import Node as Element

__all__ = ["Element", "boolean", "text_of", "type_ref_of", "variable_of"]


def variable_of(node: Element) -> Variable:
    """Read a name and a type."""
    return Variable(normalized(node.get("name") or ""), type_ref_of(node))


def type_ref_of(node: Element) -> str | None:
    """Read a type, which an attribute or a child names.

    Returns: the name without the prefix of a namespace, which DMN 1.1 writes: `feel:string`.
    """
    inner = node.first("typeRef")
    written = inner.text if inner is not None else node.get("typeRef") or ""
    name = normalized(written)
    prefix, colon, rest = name.partition(":")
    return (rest if colon and prefix.isidentifier() else name) or None


def text_of(node: Element | None) -> str | None:
    """Read the `text` in an element; None if there is none, or it is blank."""
    inner = None if node is None else node.first("text")
    text = "" if inner is None else inner.text.strip()
    return text or None


def boolean(node: Element, attribute: str) -> bool:
    """Read an attribute of `xsd:boolean`, which is false where it is missing."""
    return node.get(attribute) in ("true", "1")
