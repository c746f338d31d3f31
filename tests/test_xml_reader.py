"""XML is read in every encoding and with every prefix, and refused where it could do harm."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from chalicelib import xml_reader
from chalicelib.bpmn import parse
from chalicelib.bpmn.model import FILE_BYTES_MAX
from chalicelib.errors import Reason, Rejected
from chalicelib.profile import Profile
from chalicelib.xml_reader import DEPTH_MAX, NotXml, canonical, read
from tests.bpmn.models import END, START, extended, flow, line, model, parsed, refusal_of

TEXT = (
    '<?xml version="1.0" encoding="{}"?>'
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">'
    '<process id="größe" name="Grüße"><startEvent id="start"/></process></definitions>'
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
        ("Shift_JIS", "shift_jis"),
        ("UTF-8", "utf-16"),  # what the bytes say wins
    ],
)
def test_text_is_read_in_the_encoding_it_is_in(declared: str, encoding: str) -> None:
    name = "größe" if encoding != "shift_jis" else "大きさ"
    process = parsed(
        TEXT.replace("größe", name).format(declared).encode(encoding, "xmlcharrefreplace")
    )

    assert (name, "Grüße", "start") == (process.id, process.name, process.start)


@pytest.mark.parametrize("declared", ["zlib", "nonsense", "idna", "rot13"])
def test_an_encoding_that_is_not_known_is_refused_by_name(declared: str) -> None:
    message = refusal_of(TEXT.format(declared).encode())

    assert message.startswith("expected XML, found an error at line 1, column")
    assert message.endswith(f"Unsupported encoding: {declared}")


@pytest.mark.parametrize("declared", ["UTF-16", "UTF-32", "UTF-7"])
def test_an_encoding_that_the_bytes_are_not_in_is_refused(declared: str) -> None:
    assert refusal_of(TEXT.format(declared).encode()).startswith("expected XML, found an error")


@pytest.mark.parametrize(
    "bytes_",
    [
        b" ",
        b"\xef\xbb\xbf",
        b"hello",
        b"{}",
        b"\x00\x01\x02",
        b"<definitions",
        b"<definitions></process>",
        b"<definitions/><definitions/>",
        b"<definitions/>more",
        b"<a:b:c/>",
        b"<definitions xmlns:p='u' xmlns:q='u' p:x='' q:x=''/>",
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


def test_an_empty_file_is_refused() -> None:
    assert "expected XML, found an empty file" == refusal_of(b"")


def test_what_is_wrong_is_said_with_its_line_and_not_at_length() -> None:
    name = "x" * 40_000

    assert (
        "expected XML, found an error at line 2, column 9: "
        "Opening and ending tag mismatch: b line 2 and c"
    ) == refusal_of(b"<a>\n <b></c>\n</a>")
    assert len(refusal_of(f"<{name}></y>".encode())) < 300


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

    assert message.startswith("expected no DOCTYPE, found one of definitions")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-16-le"])
def test_a_document_type_is_refused_in_every_encoding(encoding: str) -> None:
    declared = "utf-8" if encoding == "utf-8-sig" else "utf-16"
    text = f'<?xml version="1.0" encoding="{declared}"?><!-- a --><?b?>\n<!DOCTYPE c [ ]><c/>'

    assert refusal_of(text.encode(encoding)).startswith("expected no DOCTYPE, found one of c")


BOMBS = {
    "laughter": """b'<!DOCTYPE d [<!ENTITY e0 "ha">' + b''.join(
        b'<!ENTITY e%d "%s">' % (n, b'&e%d;' % (n - 1) * 10) for n in range(1, 30)
    ) + b']><d a="&e29;">&e29;</d>'""",
    "one long entity": """b'<!DOCTYPE d [<!ENTITY e "' + b'x' * 4_000_000 + b'">]><d a="'
    + b'&e;' * 900_000 + b'">' + b'&e;' * 900_000 + b'</d>'""",
    "parameter entities": """b"<!DOCTYPE d [<!ENTITY % a '" + b'x' * 100_000
    + b"'><!ENTITY % b '&#37;a;'>" + b'%b;' * 100_000 + b']><d/>'""",
    "default attributes": """b'<!DOCTYPE d [<!ATTLIST b ' + b' '.join(
        b'a%d CDATA "x"' % n for n in range(100_000)
    ) + b']><d>' + b'<b/>' * 1_000_000 + b'</d>'""",
    "undeclared entities": """b'<d>' + b'&x;' * 3_000_000 + b'</d>'""",
    "declarations": """b'<!DOCTYPE d [' + b'<!ELEMENT a (b,c)>' * 400_000 + b']><d/>'""",
    "endless document type": """b'<!DOCTYPE d [' + b'<!--' * 2_000_000""",
    "attributes of one element": """b'<d ' + b' '.join(
        b'x:a%d=""' % n for n in range(500_000)
    ) + b'></e>'""",
}
READ_BOMB = """
import resource
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (10, 10))
from chalicelib.xml_reader import NotXml, read
try:
    read({})
except NotXml as error:
    print(error)
"""


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
def test_a_bomb_does_not_go_off(bomb: str) -> None:
    """It is refused within 10 seconds of the processor's time and 1 GB, by the system's limits."""
    done = subprocess.run(
        [sys.executable, "-c", READ_BOMB.format(bomb)], capture_output=True, text=True, check=False
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith("expected no DOCTYPE" if "DOCTYPE" in bomb else "expected XML")


def test_a_doctype_that_is_only_text_does_no_harm() -> None:
    body = "<documentation><![CDATA[<!DOCTYPE html>]]></documentation><!-- <!DOCTYPE x> -->"

    assert "start" == parsed(model(body + START)).start


def test_a_model_of_too_many_bytes_is_too_large() -> None:
    with pytest.raises(Rejected) as refused:
        parse(b"<definitions>" + b" " * 2 * FILE_BYTES_MAX, Profile.ZENBPM)

    assert Reason.TOO_LARGE == refused.value.reason


@pytest.mark.parametrize("levels", [DEPTH_MAX, 5_000, 100_000])
def test_subprocesses_nested_too_deeply_are_refused(levels: int) -> None:
    message = refusal_of(model('<subProcess id="s">' * levels + "</subProcess>" * levels))

    assert (
        f"expected at most {DEPTH_MAX} levels of elements, found element subProcess deeper"
        in message
    )


def test_subprocesses_nested_a_hundred_deep_are_read() -> None:
    body = START
    for level in range(100):
        names = f'<startEvent id="start{level}"/>', f'id="level{level}"'
        inner = body.replace('id="start"', f'id="inner{level}"', 1)
        body = START + f"<subProcess {names[1]}>{inner}</subProcess>"

    assert 201 == len(parsed(model(body)).elements)


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


@pytest.mark.parametrize("after", [b"<b/>", b"more", b"\x00", b"\xc3", b"<!DOCTYPE a>", b"<!--"])
def test_what_follows_the_root_is_an_error_behind_undeclared_prefixes_too(after: bytes) -> None:
    whole = b"<a><x:b/></a>\n<!-- end -->"

    assert "a" == read(whole).name
    with pytest.raises(NotXml, match=r"^expected XML"):
        read(whole + after)


def test_a_namespace_that_is_no_uri_is_a_name_all_the_same() -> None:
    assert "{{ our }}" == read(b'<a xmlns="{{ our }}"/>').namespace


def test_a_file_is_the_same_in_steps_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    text = 'größe &#228;<![CDATA[]] <]]><x:b c="&lt;ä">x</x:b>\r\n' * 300
    xml = f"<a>{text}</a>".encode()
    whole = canonical(xml)

    for step in (1, 7, 64):
        monkeypatch.setattr(xml_reader, "STEP_BYTES", step)
        assert whole == canonical(xml)


def test_a_model_as_large_as_may_be_is_read() -> None:
    filler = b"<!-- " + b"x" * 1_000_000 + b" -->"
    xml = model(START + "{}").replace(b"{}", filler * 10)
    xml += b" " * (FILE_BYTES_MAX - len(xml))

    assert "start" == parsed(xml).start


@pytest.mark.parametrize(
    "part",
    [
        '<task id="t{0}"/>',
        '<zeebe:unknown xmlns:n{0}="urn:{0}"/>',
        '<dataObject id="d{0}"/>',
        '<boundaryEvent id="b{0}" attachedToRef="a"><escalationEventDefinition/></boundaryEvent>',
        '<sequenceFlow sourceRef="a" targetRef="end"/>',
    ],
    ids=["tasks", "namespaces", "data", "boundary events", "flows without ids"],
)
def test_a_large_model_is_read_in_linear_time(part: str) -> None:
    def seconds(parts: int) -> float:
        xml = line('<task id="a"/>', beside="".join(part.format(n) for n in range(parts)))
        before = time.thread_time()  # other threads of this process may serve an emulated AWS
        parse(xml, Profile.ZENBPM)
        return time.thread_time() - before

    few = min(seconds(2_000) for _ in range(3))
    many = min(seconds(16_000) for _ in range(2))

    assert many < 32 * max(few, 0.01)  # 8 times the parts; squared it would be 64 times
