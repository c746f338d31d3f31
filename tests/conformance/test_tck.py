"""The compatibility kit of DMN passes, but for what is listed by name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conformance.tck.report import lines, write_results
from tests.conformance.tck.running import Verdict, model_of, verdicts

SHARED = Path(os.environ.get("HEADRACE_SHARED", Path(__file__).parents[3] / "shared"))
KIT = SHARED / "tck"
KNOWN = Path(__file__).parent / "tck" / "known_failures.txt"

needs_kit = pytest.mark.skipif(
    not KIT.is_dir(), reason=f"needs the compatibility kit in {KIT} (HEADRACE_SHARED)"
)


@pytest.fixture(scope="module")
def judged() -> list[Verdict]:
    return list(verdicts(KIT))


def known() -> list[str]:
    """Return the results that are known to fail: one a line, behind `#` why."""
    rows = KNOWN.read_text(encoding="utf-8").splitlines()
    return [row for row in rows if row and not row.startswith("#")]


@needs_kit
def test_every_case_of_the_kit_passes_but_those_known_to_fail(judged: list[Verdict]) -> None:
    failed = [f"{verdict.name}: {verdict.reason}" for verdict in judged if verdict.reason]
    listed = set(known())

    assert [] == [row for row in failed if row.partition(": ")[0] not in listed]


@needs_kit
def test_what_is_listed_as_failing_fails(judged: list[Verdict]) -> None:
    failed = {verdict.name for verdict in judged if verdict.reason}
    assert set() == set(known()) - failed


@needs_kit
def test_the_report_ends_with_the_totals(judged: list[Verdict], tmp_path: Path) -> None:
    cases, nodes, values = list(lines(judged))[-3:]
    file = tmp_path / "tck_results.csv"
    write_results(judged, file)
    rows = file.read_text(encoding="utf-8").splitlines()

    assert f"nodes {len(judged) - len(known())} of {len(judged)}" == nodes
    assert f"of {len(rows)}" == cases[-len(f"of {len(rows)}") :]
    assert values.startswith("value-bearing ")
    assert '"compliance-level-2/0001-input-data-string"' == rows[0].split(",")[0]


@needs_kit
def test_no_model_of_the_kit_is_refused_but_for_a_function_in_java() -> None:
    problems = {
        problem.message
        for file in sorted(KIT.glob("*/*/*.dmn"))
        for problem in model_of(file).problems
    }
    assert {"expected a function of kind FEEL, found Java, which nothing here can call"} == problems
