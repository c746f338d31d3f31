"""`headrace feel` and `headrace dmn`, as a person sees them."""

from __future__ import annotations

from pathlib import Path

from tests.dmn.models import DISCOUNT
from tests.local.serving import run


def test_an_expression_is_printed_as_json(tmp_path: Path) -> None:
    ended = run("feel", "Monthly Fee * 12", "--context", '{"Monthly Fee": 9.90}', folder=tmp_path)
    assert (0, "118.8\n", "") == (ended.returncode, ended.stdout, ended.stderr)


def test_what_made_a_null_is_told_beside_it(tmp_path: Path) -> None:
    ended = run("feel", "1 + total", folder=tmp_path)

    assert (0, "null\n") == (ended.returncode, ended.stdout)
    assert "warning: NO_VARIABLE_FOUND at character 5: no variable 'total'" in ended.stderr


def test_what_is_no_expression_is_refused_in_one_line(tmp_path: Path) -> None:
    ended = run("feel", "1 +", folder=tmp_path)

    assert (1, "") == (ended.returncode, ended.stdout)
    assert "headrace: line 1, column 4: expected an expression" in ended.stderr


def test_a_decision_is_printed_as_json(tmp_path: Path) -> None:
    (tmp_path / "discount.dmn").write_bytes(DISCOUNT)
    options = ("discount.dmn", "--decision", "discount", "--input", '{"total": 250}')
    ended = run("dmn", *options, folder=tmp_path)
    audited = run("dmn", *options, "--audit", folder=tmp_path)

    assert (0, "0.1\n", "") == (ended.returncode, ended.stdout, ended.stderr)
    assert '"inputs":{"total":250},"rules":[2]' in audited.stdout


def test_a_decision_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "discount.dmn").write_bytes(DISCOUNT)
    ended = run("dmn", "discount.dmn", "--decision", "none", folder=tmp_path)

    assert (1, "") == (ended.returncode, ended.stdout)
    assert "headrace: expected a decision of Discount, found 'none'" in ended.stderr
