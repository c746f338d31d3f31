"""Two files have one fingerprint if they say the same, and only then."""

from __future__ import annotations

from pathlib import Path

import pytest

from chalicelib.bpmn.fingerprint import fingerprint
from tests.bpmn.models import END, START, flow, line, model

MODEL = line('<task id="a" name="Ship"><zeebe:x/></task>')


@pytest.mark.parametrize(
    "other",
    [
        MODEL.replace(b"><", b">\r\n\t<"),
        MODEL.replace(b"<task", b"<!-- ship --><task"),
        MODEL.replace(b'id="a" name="Ship"', b"name='Ship'  id='a'"),
        MODEL.replace(b"zeebe:x/>", b"zeebe:x></zeebe:x>"),
        MODEL.replace(b"zeebe:x/", b"z:x/").replace(b"xmlns:zeebe", b"xmlns:z"),
        MODEL.replace(b"Ship", b"&#83;hip"),
        MODEL.decode().encode("utf-16"),
        b'<?xml version="1.0"?>\n' + MODEL,
    ],
    ids=["blanks", "comment", "quotes", "empty element", "prefix", "reference", "utf-16", "head"],
)
def test_the_layout_of_a_file_does_not_count(other: bytes) -> None:
    assert fingerprint(MODEL) == fingerprint(other)


@pytest.mark.parametrize(
    "other",
    [
        MODEL.replace(b"Ship", b"ship"),
        MODEL.replace(b"<task ", b"<manualTask ").replace(b"</task>", b"</manualTask>"),
        MODEL.replace(b"<zeebe:x/>", b""),
        MODEL.replace(b"zeebe:x", b"zenbpm:x"),
        MODEL.replace(b"<zeebe:x/>", b"<zeebe:x/>text"),
        MODEL.replace(b"<zeebe:x/></task>", b"</task><zeebe:x/>"),
        model(START + END + flow("start", "end")),
    ],
)
def test_whatever_a_file_says_counts(other: bytes) -> None:
    assert fingerprint(MODEL) != fingerprint(other)


def test_a_prefix_that_is_never_declared_counts_by_its_name() -> None:
    spaced = b"<a>\n  <x:b/>\n</a>"

    assert fingerprint(b"<a><x:b/></a>") == fingerprint(spaced)
    assert fingerprint(b"<a><x:b/></a>") != fingerprint(b"<a><y:b/></a>")


def test_no_two_diagrams_are_alike() -> None:
    diagrams = list((Path(__file__).parent.parent / "diagrams").glob("*.bpmn"))

    assert len(diagrams) == len({fingerprint(path.read_bytes()) for path in diagrams})
