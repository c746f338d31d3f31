"""An element is asked for its name, text and attributes without knowing lxml."""

from __future__ import annotations

from chalicelib.xml_reader import read


def test_a_text_is_what_stands_beside_comments_and_in_cdata() -> None:
    root = read(b"<a>PT<!-- not -->1<![CDATA[0<]]><?pi not?>&amp;<b>x</b>S</a>")

    assert "PT10<&S" == root.text


def test_a_prefix_means_the_innermost_namespace() -> None:
    root = read(b'<p:a xmlns:p="one"><p:b xmlns:p="two"><p:c/></p:b><p:d/><q:e/></p:a>')

    b, d, e = root.children

    assert ["one", "two", "two", "one", None] == [
        node.namespace for node in (root, b, b.children[0], d, e)
    ]


def test_a_name_is_apart_from_its_prefix_declared_or_not() -> None:
    root = read(b'<a xmlns:p="one"><b/><p:b/><q:b/></a>')

    assert [("", "b"), ("p", "b"), ("q", "b")] == [(n.prefix, n.name) for n in root.children]


def test_children_of_a_name_are_those_in_the_same_namespace() -> None:
    root = read(b'<a xmlns="one" xmlns:p="two"><b n="1"/><p:b n="2"/><c/><b n="3"/></a>')

    assert ["1", "3"] == [node.get("n") for node in root.all("b")]
    assert root.first("d") is None


def test_an_attribute_is_read_with_its_blanks_or_without() -> None:
    node = read(b'<a b=" x " c=" "/>')

    assert (" x ", "x") == (node.raw("b"), node.get("b"))
    assert (" ", None) == (node.raw("c"), node.get("c"))
    assert (None, None) == (node.raw("d"), node.get("d"))
