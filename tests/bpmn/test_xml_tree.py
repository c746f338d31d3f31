"""XML is read in every encoding and with every prefix, and refused where it could do harm."""

from __future__ import annotations

import time

import pytest

from chalicelib.bpmn import parse
from chalicelib.bpmn.xml_tree import BYTES_MAX, DEPTH_MAX, NotXml, read
from chalicelib.errors import Reason, Rejected
from chalicelib.profile import Profile
from tests.bpmn.models import END, START, extended, flow, line, model, parsed, refusal_of

TEXT = (
    '<?xml version="1.0" encoding="{}"?>'
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">'
    '<process id="größe" name="Grüße"><startEvent id="prüfen"/></process></definitions>'
)


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("UTF-8", "utf-8"),
        ("UTF-8", "utf-8-sig"),
        ("UTF-16", "utf-16"),
        ("UTF-16", "utf-16-be"),
        ("ISO-8859-1", "latin-1"),
        ("windows-1252", "cp1252"),
    ],
)
def test_text_is_read_in_the_encoding_it_is_in(declared: str, encoding: str) -> None:
    process = parsed(TEXT.format(declared).encode(encoding))

    assert ("größe", "Grüße", "prüfen") == (process.id, process.name, process.start)


@pytest.mark.parametrize("declared", ["UTF-16", "UTF-32", "shift_jis", "zlib", "nonsense", "idna"])
def test_an_encoding_that_is_not_read_is_refused(declared: str) -> None:
    assert refusal_of(TEXT.format(declared).encode()).startswith("expected XML")


@pytest.mark.parametrize(
    "bytes_",
    [
        b"",
        b" ",
        b"hello",
        b"{}",
        b"\x00\x01\x02",
        b"<definitions",
        b"<definitions></process>",
        b"<definitions/><definitions/>",
        b"<definitions>&bomb;</definitions>",
        b'<definitions id="1" id="2"/>',
        "<definitions>\udcff</definitions>".encode("utf-8", "surrogateescape"),
        b"<definitions>&#xD800;</definitions>",
        b"%PDF-1.7",
    ],
)
def test_what_is_no_xml_is_refused_with_its_position(bytes_: bytes) -> None:
    message = refusal_of(bytes_)

    assert message.startswith("expected XML, found an error at line 1, column")


@pytest.mark.parametrize(
    "doctype",
    [
        '<!DOCTYPE definitions [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>',
        '<!DOCTYPE definitions [<!ENTITY file SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE definitions SYSTEM "http://example.com/bpmn.dtd">',
        '<!DOCTYPE definitions [<!ENTITY % more SYSTEM "http://example.com/more"> %more;]>',
        "<!DOCTYPE definitions>",
    ],
)
def test_a_document_type_is_refused_before_it_is_read(doctype: str) -> None:
    message = refusal_of(doctype.encode() + b"<definitions>&c;&file;</definitions>")

    assert message.startswith("expected no DOCTYPE, found one at line 1")


def test_a_doctype_that_is_only_text_does_no_harm() -> None:
    body = "<documentation><![CDATA[<!DOCTYPE html>]]></documentation><!-- <!DOCTYPE x> -->"

    assert "start" == parsed(model(body + START)).start


def test_a_model_of_too_many_bytes_is_too_large() -> None:
    with pytest.raises(Rejected) as refused:
        parse(b"<definitions>" + b" " * 2 * BYTES_MAX, Profile.ZENBPM)

    assert Reason.TOO_LARGE == refused.value.reason


@pytest.mark.parametrize("levels", [DEPTH_MAX, 5_000, 100_000])
def test_subprocesses_nested_too_deeply_are_refused(levels: int) -> None:
    message = refusal_of(model('<subProcess id="s">' * levels + "</subProcess>" * levels))

    assert f"expected at most {DEPTH_MAX} levels of elements, found subProcess deeper" in message


def test_subprocesses_nested_a_hundred_deep_are_read() -> None:
    body = START
    for level in range(100):
        names = f'<startEvent id="start{level}"/>', f'id="level{level}"'
        inner = body.replace('id="start"', f'id="inner{level}"', 1)
        body = START + f"<subProcess {names[1]}>{inner}</subProcess>"

    assert 201 == len(parsed(model(body)).elements)


def test_a_text_is_what_stands_beside_comments_and_in_cdata() -> None:
    root = read(b"<a>PT<!-- not -->1<![CDATA[0<]]><?pi not?>&amp;<b>x</b>S</a>")

    assert "PT10<&S" == root.text


def test_a_prefix_means_the_innermost_namespace() -> None:
    root = read(b'<p:a xmlns:p="one"><p:b xmlns:p="two"><p:c/></p:b><p:d/><q:e/></p:a>')

    b, d, e = root.children

    assert ["one", "two", "two", "one", None] == [
        node.namespace for node in (root, b, b.children[0], d, e)
    ]


def test_carriage_returns_and_blanks_before_the_document_do_not_count() -> None:
    declaration = b'<?xml version="1.0" encoding="UTF-8"?>'
    file = declaration + model(START + END + flow("start", "end"))
    xml = b"\r\n \t" + file.replace(b"><", b">\r\n<")

    assert "start" == parsed(xml).start


def test_an_error_is_found_behind_thousands_of_undeclared_prefixes() -> None:
    task = extended("serviceTask", '<x:a/><x:b/><x:taskDefinition type="t"/>' * 1_000)
    whole = line(task)

    assert parsed(whole).elements["a"].job is not None
    with pytest.raises(NotXml):
        read(whole[:-20])


@pytest.mark.parametrize(
    "part",
    [
        '<task id="t{0}"/>',
        '<zeebe:unknown xmlns:n{0}="urn:{0}"/>',
        '<dataObject id="d{0}"/>',
        '<boundaryEvent id="b{0}" attachedToRef="a"><timerEventDefinition><timeDuration>PT1S'
        "</timeDuration></timerEventDefinition></boundaryEvent>",
        '<sequenceFlow sourceRef="a" targetRef="end"/>',
    ],
    ids=["tasks", "namespaces", "data", "boundary events", "flows without ids"],
)
def test_a_large_model_is_read_in_linear_time(part: str) -> None:
    def seconds(parts: int) -> float:
        xml = line('<task id="a"/>', beside="".join(part.format(n) for n in range(parts)))
        before = time.process_time()
        parse(xml, Profile.ZENBPM)
        return time.process_time() - before

    few = min(seconds(2_000) for _ in range(3))
    many = min(seconds(16_000) for _ in range(2))

    assert many < 32 * max(few, 0.01)  # 8 times the parts; squared it would be 64 times
