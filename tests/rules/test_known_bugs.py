"""Every row of "Known ways to get it wrong" (contracts/bpmn.md) has a test that names it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.house.source import ROOT
from tests.rules.contracts import folder

CONTRACT = folder() / "bpmn.md"
HEADING = "## Known ways to get it wrong"
_ROW = re.compile(r"^\| (\d+) \|", re.MULTILINE)
_NAMED = re.compile(r"[Rr]ows? ((?:\d+(?:, | and )?)+) of the\s+known ways to get it wrong")


def named(text: str) -> set[int]:
    """Return the rows that a text names."""
    return {int(row) for rows in _NAMED.findall(text) for row in re.findall(r"\d+", rows)}


def sources() -> list[Path]:
    return [path for path in (ROOT / "tests").rglob("*.py") if path != Path(__file__)]


def test_rows_are_found_where_they_are_named() -> None:
    assert {1, 11} == named("Rows 1 and 11 of the known ways to get it wrong, for the join.")
    assert {49} == named("interrupted: row 49 of the\n    known ways to get it wrong")
    assert set() == named("Row 3 of a table")


@pytest.mark.skipif(not CONTRACT.is_file(), reason="the contracts are not here (HEADRACE_SHARED)")
def test_every_row_has_a_test_that_names_it() -> None:
    _, _, table = CONTRACT.read_text(encoding="utf-8").partition(HEADING)
    shown = {row for path in sources() for row in named(path.read_text(encoding="utf-8"))}

    assert {int(row) for row in _ROW.findall(table)} == shown
