"""The printer of the rules reads the contracts and the marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rules.contracts import CONTRACTS, REASONS, folder, not_applicable, rules
from tests.rules.report import report, strangers

ZENBPM = CONTRACTS[0]
TEXT = """
- R1 complete an active job → 201.
- **P1 [S]** A deadline is a JSON integer.
- R2 complete a completed job → 201 again, and nothing else of what was said before changes at all.
- R17 cluster still forming → 502.
Not applicable to us, and marked so with the reason: R17.
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "zenbpm.md").write_text(TEXT)
    (tmp_path / "priostack.md").write_text(TEXT)
    return tmp_path


def test_rules_are_read_by_the_contracts_own_letter(place: Path) -> None:
    assert ["R1", "R2", "R17"] == list(rules(ZENBPM, place))
    assert {"P1": "A deadline is a JSON integer."} == rules(CONTRACTS[1], place)


def test_what_cannot_apply_has_a_reason(place: Path) -> None:
    assert {"R17": REASONS["R17"]} == not_applicable(ZENBPM, place)


def test_a_report_tells_shown_from_missing(place: Path) -> None:
    lines = list(report({"R1": ["tests/a.py::test_one", "tests/a.py::test_two"]}, place))

    assert "ZenBPM (zenbpm.md): 3 rules, 1 shown by a test, 1 not yet, 1 not applicable" == lines[0]
    assert "    R1    tests/a.py::test_one and 1 more" in lines
    assert any(line.startswith("    R2 ") and line.endswith("…") for line in lines)


def test_a_mark_of_no_rule_is_told(place: Path) -> None:
    assert ["R999"] == list(strangers({"R1": ["a"], "R999": ["b"]}, place))


def test_without_the_contracts_the_marks_are_listed(tmp_path: Path) -> None:
    lines = list(report({"R10": ["b"], "R9": ["a"]}, tmp_path / "none"))
    assert ["    R9    a", "    R10   b"] == lines[1:]


@pytest.mark.skipif(not folder().is_dir(), reason="the contracts are not beside the project")
def test_every_contract_has_its_rules() -> None:
    assert [154, 79, 102, 11] == [len(rules(each, folder())) for each in CONTRACTS]
    assert REASONS.keys() == not_applicable(ZENBPM, folder()).keys()
