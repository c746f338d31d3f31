"""The elements of an XML file as the readers of a model ask for them: lxml's, thinly wrapped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml import etree

SHOWN_MAX = 100  # characters of the model's own text that a message repeats


class Node:
    """One element.

    Shapes: `name` is without its prefix; `namespace` None if there is none or the prefix was
        never declared. Unlike lxml's, it is true without children and has one spelling of a name.
    """

    __slots__ = ("element", "name", "namespace", "prefix")

    def __init__(self, element: etree._Element) -> None:
        self.element = element
        namespace, declared, name = element.tag.rpartition("}")
        prefix, _, self.name = ("", "", name) if declared else name.rpartition(":")
        self.prefix: str = element.prefix or "" if declared else prefix
        self.namespace = namespace[1:] or None

    @property
    def line(self) -> int:
        """Return the line on which the start tag ends."""
        return self.element.sourceline or 0  # type: ignore[return-value] # the stubs say `...`

    @property
    def parent(self) -> Node | None:
        """Return the element it is in, None for the outermost."""
        parent = self.element.getparent()
        return None if parent is None else Node(parent)

    @property
    def children(self) -> list[Node]:
        """Return the elements in it, in order."""
        return [Node(child) for child in self.element]

    @property
    def text(self) -> str:
        """Return what stands directly in the element, CDATA too, comments not."""
        return (self.element.text or "") + "".join(child.tail or "" for child in self.element)

    def raw(self, attribute: str) -> str | None:
        """Return an attribute as it is written; None if it is missing."""
        return self.element.get(attribute)

    def get(self, attribute: str) -> str | None:
        """Return an attribute without the blanks around it; None if it is missing or blank."""
        return self.element.get(attribute, "").strip() or None

    def all(self, name: str) -> Iterator[Node]:
        """Return the children of that name, in the node's own namespace."""
        return (
            child
            for child in self.children
            if child.name == name and child.namespace == self.namespace
        )

    def first(self, name: str) -> Node | None:
        """Return the first child of that name, in the node's own namespace."""
        return next(self.all(name), None)


def shown(text: str) -> str:
    """Return a text of the model in quotes, cut short, on one line."""
    text = " ".join(text.split())
    return f'"{text}"' if len(text) <= SHOWN_MAX else f'"{text[:SHOWN_MAX]}…"'
