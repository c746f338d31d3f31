"""Whether two BPMN files say the same, however they are laid out."""

from __future__ import annotations

from hashlib import sha256

from chalicelib.bpmn.xml_tree import Node, read


def fingerprint(xml: bytes) -> str:
    """Return a hash of an XML file that indentation, comments, encoding, the order of attributes,
    the way of quoting and the names of declared prefixes do not change.

    Raises: NotXml; whoever asks has parsed the file before.
    """
    digest = sha256()
    open_nodes = [read(xml)]
    while open_nodes:
        node = open_nodes.pop()
        digest.update(repr(_said(node)).encode())
        open_nodes.extend(reversed(node.children))
    return digest.hexdigest()


def _said(node: Node) -> tuple[object, ...]:
    """Return what one element says by itself; the count of its children fixes its place."""
    attributes = sorted(
        (name, value) for name, value in node.attributes.items() if not name.startswith("xmlns")
    )
    family = node.prefix if node.namespace is None else node.namespace
    return family, node.name, attributes, node.text.strip(), len(node.children)
