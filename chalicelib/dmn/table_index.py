"""Which rules of a long decision table can match at all, told by its cells of plain values.

A column whose cells mostly compare with texts or numbers is kept as a dictionary of them, to bits
of rules; the rules that remain are tested as ever, in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from chalicelib.feel import Expression, Value

ROWS_MIN = 20  # rules from which on looking up is faster than testing them all

# Kinds of which two values are equal in FEEL exactly if they are in Python.
_KINDS = (str, Decimal)


class _Column(NamedTuple):
    """The rules of each value of one kind, as bits, and those whose cells say something else."""

    column: int
    kind: type
    rules: dict[Value, int]
    others: int


class Index:
    """The columns that can be looked up."""

    def __init__(self, columns: Sequence[_Column]) -> None:
        self.columns = columns

    def candidates(self, inputs: Sequence[Value], rows: Sequence[int]) -> Sequence[int]:
        """Give the rules that may match these inputs, in their order."""
        bits = -1
        for column, kind, rules, others in self.columns:
            value = inputs[column]
            if type(value) is kind:
                bits &= rules.get(value, 0) | others
        if bits < 0:
            return rows
        found = []
        while bits:
            lowest = bits & -bits
            found.append(lowest.bit_length() - 1)
            bits ^= lowest
        return found


def build_index(rows: Sequence[Sequence[tuple[int, Expression]]], columns: int) -> Index | None:
    """Index a table by the columns where most rules name plain values; None for a short one.

    Shapes: `rows` are the tests of each rule with their columns; a column without one matches
        all.
    """
    if len(rows) < ROWS_MIN:
        return None
    found = [
        indexed
        for column in range(columns)
        for kind in _KINDS
        if (indexed := _indexed(rows, column, kind)) is not None
    ]
    return Index(found) if found else None


def _indexed(
    rows: Sequence[Sequence[tuple[int, Expression]]], column: int, kind: type
) -> _Column | None:
    rules: dict[Value, int] = {}
    others = 0
    for row, tests in enumerate(rows):
        constants = next((test.constants for place, test in tests if place == column), None)
        if constants is None or not all(type(constant) is kind for constant in constants):
            others |= 1 << row
            continue
        for constant in constants:
            rules[constant] = rules.get(constant, 0) | 1 << row
    is_worth = others.bit_count() * 2 < len(rows)
    return _Column(column, kind, rules, others) if is_worth else None
