"""What a run over the kit says: per level and folder, what fails, the totals, the results file."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from tests.conformance.tck.cases import Case
from tests.conformance.tck.running import Verdict

REASON_MAX = 200  # characters of one


def lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the report's lines; the last three are the totals."""
    for level, of_level in groupby(verdicts, lambda verdict: verdict.case.level):
        found = list(of_level)
        yield f"{level}: {_counts(found)}"
        for folder, of_folder in groupby(found, lambda verdict: verdict.case.folder):
            yield f"  {folder}: {_counts(list(of_folder))}"
    failed = [verdict for verdict in verdicts if verdict.reason]
    yield f"failed: {len(failed)}"
    yield from (f"  {verdict.name}: {verdict.reason[:REASON_MAX]}" for verdict in failed)
    yield "cases {} of {}".format(*_cases(verdicts))
    yield "nodes {} of {}".format(*_nodes(verdicts))
    yield "value-bearing {} of {}".format(*_nodes([v for v in verdicts if _bears_value(v)]))


def write_results(verdicts: Iterable[Verdict], file: Path) -> None:
    """Write the results as the kit publishes them: one row per case, in `tck_results.csv`.

    Shapes: folder with its level, test file without its ending, case, SUCCESS or ERROR, detail.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for case, of_case in _by_case(verdicts):
            reasons = [verdict.reason for verdict in of_case if verdict.reason]
            result = "ERROR" if reasons else "SUCCESS"
            detail = reasons[0][:REASON_MAX] if reasons else ""
            writer.writerow(
                (f"{case.level}/{case.folder}", case.file.stem, case.id, result, detail)
            )


def _by_case(verdicts: Iterable[Verdict]) -> Iterator[tuple[Case, list[Verdict]]]:
    for _, found in groupby(verdicts, lambda verdict: id(verdict.case)):
        of_case = list(found)
        yield of_case[0].case, of_case


def _counts(verdicts: Sequence[Verdict]) -> str:
    nodes, cases = _nodes(verdicts), _cases(verdicts)
    return f"nodes {nodes[0]} of {nodes[1]}, cases {cases[0]} of {cases[1]}"


def _nodes(verdicts: Sequence[Verdict]) -> tuple[int, int]:
    return sum(not verdict.reason for verdict in verdicts), len(verdicts)


def _cases(verdicts: Sequence[Verdict]) -> tuple[int, int]:
    passed = [not any(v.reason for v in of_case) for _, of_case in _by_case(verdicts)]
    return sum(passed), len(passed)


def _bears_value(verdict: Verdict) -> bool:
    return not verdict.wanted.is_error and verdict.wanted.value is not None
