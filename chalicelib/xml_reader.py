"""XML bytes to elements by lxml, strict about all but undeclared prefixes.

Models in the wild use `zeebe:` without declaring it, which leaves them well-formed XML (1.0) but
not namespace-well-formed (Namespaces in XML 1.0 section 5). So lxml reads as far as it can, and
what it read is taken only if its log has nothing worse. After such a prefix libxml2 no longer says
whether anything follows the root element (2.14, `xmlParserCheckEOF`), and its log ends at a
hundred errors; so of these files expat, which knows no namespaces, says whether they are XML.

A DOCTYPE is refused where it begins, by a reader of its own that goes no further than the first
element: libxml2 bounds what entities expand to, but not the work of default attributes.

Only a deployment needs this module, so it is imported inside functions alone.
"""

from __future__ import annotations

from typing import Any, Never, cast
from xml.parsers import expat

from lxml import etree

from chalicelib.xml_tree import Node

DEPTH_MAX = 120  # levels; models need a dozen, and what walks the tree may recurse
STEP_BYTES = 4_096  # read at once: so much of a DOCTYPE at most
SHOWN_MAX = 200  # characters of an error; libxml2 repeats names, which may be long

# Errors that leave the tree as the file says: a prefix is not declared, a namespace is no URI.
HARMLESS = frozenset({"NS_ERR_UNDEFINED_NAMESPACE", "WAR_NS_URI"})

_TOO_DEEP = f"({'/*' * (DEPTH_MAX + 1)})[1]"
_UTF8_BLANKS = b" \t\r\n"


class NotXml(ValueError):
    """The bytes are no XML document that we read; the message says what and where.

    Shapes: `line` is where it is noticed, 0 if nobody knows.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


def read(xml: bytes) -> Node:
    """Return the root element. Nothing outside the file is loaded, no entity is expanded.

    Raises: NotXml.
    """
    if not xml:
        raise NotXml("expected XML, found an empty file")
    trimmed = xml.lstrip(_UTF8_BLANKS)
    if trimmed.startswith(b"<?xml"):
        xml = trimmed
    _read_prolog(xml)
    parser = _parser(recover=True)
    root = _fed(parser, xml)
    _check_depth(root)
    errors = parser.feed_error_log.filter_from_errors()
    for error in errors:
        if error.type_name not in HARMLESS:
            raise NotXml(_worded(error), error.line)
    if len(errors) > 0:
        _check_without_namespaces(xml)
    return Node(root)


def canonical(xml: bytes) -> str:
    """Return what a file says in Canonical XML 2.0, blanks trimmed and prefixes rewritten.

    Raises: NotXml.
    """
    text: str = etree.canonicalize(read(xml).element, strip_text=True, rewrite_prefixes=True)
    return text


class _RootReached(Exception):
    """The first element begins, and there was no DOCTYPE."""


class _Prolog:
    """What lxml is to tell of a file: how it begins."""

    def doctype(self, name: str, *_: object) -> Never:
        raise NotXml(
            f"expected no DOCTYPE, found one of {name[:SHOWN_MAX]}: "
            "document types and entities are not read"
        )

    def start(self, *_: object) -> Never:
        raise _RootReached

    def close(self) -> None:
        """Do nothing; lxml asks for it."""


def _read_prolog(xml: bytes) -> None:
    """Read up to the first element. Raises: NotXml, also if there is none."""
    parser = _parser(target=_Prolog())
    try:
        _fed(parser, xml)
    except _RootReached:
        return
    except etree.XMLSyntaxError as error:
        first = parser.feed_error_log.filter_from_errors()[0]
        raise NotXml(_worded(first), first.line) from error


def _fed(parser: etree.XMLParser, xml: bytes) -> etree._Element:
    for start in range(0, len(xml), STEP_BYTES):
        parser.feed(xml[start : start + STEP_BYTES])
    return parser.close()


def _check_depth(root: etree._Element) -> None:
    """Refuse deep nesting, which is also what libxml2 stops at, a little deeper."""
    for element in cast("list[etree._Element]", root.getroottree().xpath(_TOO_DEEP)):
        node = Node(element)
        raise NotXml(
            f"expected at most {DEPTH_MAX} levels of elements, found element {node.name} "
            f"deeper at line {node.line}",
            node.line,
        )


def _check_without_namespaces(xml: bytes) -> None:
    try:
        expat.ParserCreate().Parse(xml, True)
    except (expat.ExpatError, ValueError, LookupError) as error:  # the latter: of the encoding
        line = error.lineno if isinstance(error, expat.ExpatError) else 0
        expected = "expected XML, or all prefixes declared"
        raise NotXml(f"{expected}, found an error: {error}", line) from error


def _parser(**more: Any) -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        load_dtd=False,
        no_network=True,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        **more,
    )


def _worded(error: Any) -> str:
    """Word an entry of lxml's log, for which there is no public type."""
    message = " ".join(error.message.split())[:SHOWN_MAX]
    return f"expected XML, found an error at line {error.line}, column {error.column}: {message}"
