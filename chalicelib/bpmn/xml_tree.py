"""XML bytes to a tree of elements, strict about all but undeclared prefixes.

Expat reads without its namespace pass, and namespaces are resolved here: models in the wild use
`zeebe:` without declaring it, which leaves them well-formed XML (1.0) but not namespace-well-formed
(Namespaces in XML 1.0 section 5). Such a prefix simply has no namespace. A DOCTYPE ends the
reading where it begins, so there are no entities but XML's own five, hence no bombs and no files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

BYTES_MAX = 10_485_760  # httpServer.maxRequestBodyBytes (contracts/zenbpm.md section 5.1)
DEPTH_MAX = 120  # levels; models need a dozen, and what walks the tree may recurse

_UTF8_BLANKS = b" \t\r\n"


class NotXml(ValueError):
    """The bytes are no XML document that we read; the message says what and where."""


@dataclass(slots=True, eq=False)
class Node:
    """One element.

    Shapes: `name` is without its prefix; `namespace` None if the prefix was never declared;
        `attributes` by name as written, prefix included; `text` is what stands directly in it,
        CDATA too, comments not.
    """

    name: str
    namespace: str | None
    prefix: str
    attributes: dict[str, str]
    line: int
    children: list[Node] = field(default_factory=list)
    text: str = ""

    def get(self, attribute: str) -> str | None:
        """Return an attribute without the blanks around it; None if it is missing or blank."""
        return self.attributes.get(attribute, "").strip() or None

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


def read(xml: bytes) -> Node:
    """Return the root element.

    Raises: NotXml.
    """
    builder = _Builder()
    trimmed = xml.lstrip(_UTF8_BLANKS)
    try:
        builder.parser.Parse(trimmed if trimmed.startswith(b"<?xml") else xml, True)
    except expat.ExpatError as error:
        raise NotXml(f"expected XML, found an error at {_position(error)}") from error
    except (ValueError, LookupError) as error:
        if isinstance(error, NotXml):
            raise
        raise NotXml(
            f"expected XML in UTF-8, UTF-16 or a single-byte encoding, found: {error}"
        ) from error
    return builder.root


def _position(error: expat.ExpatError) -> str:
    problem = expat.ErrorString(error.code) or "unknown error"
    return f"line {error.lineno}, column {error.offset + 1}: {problem}"


class _Builder:
    """Expat's handlers: they grow the tree and keep which prefix means what."""

    def __init__(self) -> None:
        self.root = Node("", None, "", {}, 0)
        self.path: list[Node] = []
        self.texts: list[list[str]] = []
        self.bindings: dict[str, list[str]] = {}  # prefix -> its namespaces, the innermost last
        self.bound: list[list[str]] = []  # prefixes that each open element declares
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self.refuse_doctype
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters

    def refuse_doctype(self, *_: object) -> None:
        raise NotXml(
            f"expected no DOCTYPE, found one at line {self.parser.CurrentLineNumber}: "
            "document types and entities are not read"
        )

    def start(self, qualified: str, attributes: dict[str, str]) -> None:
        line = self.parser.CurrentLineNumber
        if len(self.path) == DEPTH_MAX:
            raise NotXml(
                f"expected at most {DEPTH_MAX} levels of elements, found {qualified} deeper "
                f"at line {line}"
            )
        self.bound.append(self.bind(attributes) if attributes else [])
        prefix, name = _split(qualified)
        known = self.bindings.get(prefix)
        node = Node(name, (known[-1] or None) if known else None, prefix, attributes, line)
        if self.path:
            self.path[-1].children.append(node)
        else:
            self.root = node
        self.path.append(node)
        self.texts.append([])

    def bind(self, attributes: dict[str, str]) -> list[str]:
        """Enter the namespaces that an element declares; return their prefixes."""
        prefixes = []
        for name, value in attributes.items():
            if name == "xmlns" or name.startswith("xmlns:"):
                prefixes.append(name[6:])
                self.bindings.setdefault(name[6:], []).append(value)
        return prefixes

    def end(self, _: str) -> None:
        for prefix in self.bound.pop():
            self.bindings[prefix].pop()
        self.path.pop().text = "".join(self.texts.pop())

    def characters(self, text: str) -> None:
        self.texts[-1].append(text)


def _split(qualified: str) -> tuple[str, str]:
    """Split a qualified name; all before the first colon is the prefix."""
    prefix, colon, name = qualified.partition(":")
    return (prefix, name) if colon else ("", prefix)
