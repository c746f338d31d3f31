"""Every case run by our engine, and its results judged as the kit's own runners do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path

from chalicelib.dmn import DecisionWarning, DmnError, Model, evaluate, parse
from chalicelib.feel import Function, Value
from chalicelib.feel.comparison import equal
from tests.conformance.tck.cases import Case, Wanted, cases

# Some expected numbers are rounded to fifteen digits; the kit's runners all allow for that.
TOLERANCE = Decimal("1e-8")
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


@dataclass(frozen=True)
class Verdict:
    """What came of one result of a case; `reason` is empty if it is as expected."""

    case: Case
    wanted: Wanted
    reason: str

    @property
    def name(self) -> str:
        return f"{self.case.name}/{self.wanted.name}"


def verdicts(kit: Path) -> Iterator[Verdict]:
    """Run all cases of a kit, and judge every result."""
    for case in cases(kit):
        for wanted in case.wanted:
            yield Verdict(case, wanted, _judge(case, wanted))


def _judge(case: Case, wanted: Wanted) -> str:
    try:
        model = model_of(case.model)
        result = evaluate(model, case.invocable or wanted.name, case.given, now=NOW)
    except DmnError as error:
        return "" if wanted.is_error else f"refused: {error}"
    except Exception as error:
        return f"raised {type(error).__name__}: {error}"
    value = result.value
    if case.invocable is not None and isinstance(value, dict) and wanted.name in value:
        value = value[wanted.name]
    if wanted.is_error:
        return "" if value is None else f"expected an error, found {value!r}"
    if is_as_expected(value, wanted.value):
        return ""
    return f"expected {wanted.value!r}, found {value!r}{_why(result.warnings)}"


def _why(warnings: tuple[DecisionWarning, ...]) -> str:
    return f" ({warnings[0].message} at {warnings[0].element})" if warnings else ""


@cache
def model_of(file: Path) -> Model:
    """Read a model, with the other models of its folder for it to import."""
    return _model_of(file, {})


def _model_of(file: Path, within: Mapping[Path, None]) -> Model:
    text = file.read_text(encoding="utf-8")
    if "<import" not in text and ":import" not in text:
        return parse(text.encode())
    others = [other for other in sorted(file.parent.glob("*.dmn")) if other != file]
    imports = [_model_of(other, {**within, file: None}) for other in others if other not in within]
    return parse(text.encode(), imports)


def is_as_expected(value: Value, wanted: Value) -> bool:
    """Compare a value as the kit does: numbers nearly, all else exactly."""
    if isinstance(value, Decimal) and isinstance(wanted, Decimal):
        return abs(value - wanted) <= TOLERANCE
    if isinstance(value, list) and isinstance(wanted, list):
        return len(value) == len(wanted) and all(map(is_as_expected, value, wanted))
    if isinstance(value, dict) and isinstance(wanted, dict):
        return value.keys() == wanted.keys() and all(
            is_as_expected(entry, wanted[key]) for key, entry in value.items()
        )
    if isinstance(value, Function):
        return False
    return equal(value, wanted) is True
