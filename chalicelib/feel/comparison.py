"""Equality and order of FEEL values, with null for what does not compare.

Source: DMN 1.5 tables 53 and 54; times compare on the instant, to the whole second, which the
    compatibility kit fixes.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from operator import ge, gt, le, lt

from chalicelib.feel.temporal import (
    Date,
    DateAndTime,
    DayTimeDuration,
    Time,
    YearMonthDuration,
)
from chalicelib.feel.values import Range, Value, free
from chalicelib.feel.zones import NANOS_PER_SECOND

# Kinds that Python compares as FEEL does.
PLAIN = frozenset((Decimal, str, Date, DayTimeDuration, YearMonthDuration))
_DIRECT = PLAIN | {bool}
_MANY = frozenset((list, dict, Range))  # what holds other values, a range its ends
ITEMS_FOUND_PER_STEP = 8  # that are compared

# Counts the steps that a comparison takes; part of an evaluation it is `Evaluation.spend`.
Spend = Callable[[int], None]

ORDERS: dict[str, Callable[[Value, Value], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


def equal(left: Value, right: Value, spend: Spend = free) -> bool | None:
    """Tell whether two values are the same; null if they are of different kinds.

    Raises: as `spend`, if lists or contexts take more steps to compare than are left.
    """
    kind = type(left)
    if left is None or right is None:
        return left is right
    if kind is not type(right):
        return None
    if kind in _DIRECT:
        return bool(left == right)
    if kind in _MANY:
        return _equal_parts(left, right, set(), spend)
    rule = _EQUAL.get(kind)
    return left is right if rule is None else rule(left, right)


def ordered(operator: str, left: Value, right: Value) -> bool | None:
    """Compare with `<`, `<=`, `>` or `>=`; null unless both are of one ordered kind."""
    kind = type(left)
    if kind is not type(right):
        return None
    if kind in PLAIN:
        return ORDERS[operator](left, right)
    if kind is Time or kind is DateAndTime:
        seconds = _seconds(left, right)
        return None if seconds is None else ORDERS[operator](*seconds)
    return None


def is_ordered_kind(value: Value) -> bool:
    """Tell whether values of this kind have an order."""
    return type(value) in PLAIN or type(value) in (Time, DateAndTime)


def make_range(start: Value, end: Value, start_included: bool, end_included: bool) -> Range | None:
    """Make a range; an end may be null, but not both."""
    if start is None and end is None:
        return None
    if start is not None and end is not None and ordered("<=", start, end) is not True:
        return None
    if not is_ordered_kind(end if start is None else start):
        return None
    return Range(start, end, start_included, end_included)


def within(value: Value, span: Range, spend: Spend) -> bool | None:
    """Tell whether a range holds a value; null if that cannot be compared."""
    if span.operator:
        return _compares(value, span, spend)
    after = ordered(">=" if span.start_included else ">", value, span.start)
    before = ordered("<=" if span.end_included else "<", value, span.end)
    if after is None or before is None:
        return None
    return after and before


def satisfies(value: Value, test: Value, spend: Spend) -> bool | None:
    """Tell whether a value passes one test: it equals it, or is in that range or list.

    Source: DMN 1.5 section 10.3.2.8 and table 55 (`in`).
    """
    if type(test) is Range and type(value) is not Range:
        return within(value, test, spend)
    if type(test) is list:
        if type(value) is list and equal(value, test, spend):
            return True
        spend(1 + len(test) // ITEMS_FOUND_PER_STEP)
        return any(_matches_item(value, item, spend) for item in test)
    return equal(value, test, spend)


def same(left: Value, right: Value, spend: Spend) -> bool:
    """Tell whether two values are one to a list: `equal`, with false for what does not compare."""
    return equal(left, right, spend) is True


def _matches_item(value: Value, item: Value, spend: Spend) -> bool:
    if type(item) is Range and type(value) is not Range:
        return within(value, item, spend) is True
    return equal(value, item, spend) is True


def _compares(value: Value, span: Range, spend: Spend) -> bool | None:
    other = span.end if span.operator in ("<", "<=") else span.start
    if span.operator == "=":
        return equal(value, other, spend)
    if span.operator == "!=":
        verdict = equal(value, other, spend)
        return None if verdict is None else not verdict
    return ordered(span.operator, value, other)


def _seconds(left: Time | DateAndTime, right: Time | DateAndTime) -> tuple[int, int] | None:
    """Give both instants in whole seconds; None if only one of them is in a zone."""
    if (left.zone is None) is not (right.zone is None):
        return None
    return left.instant // NANOS_PER_SECOND, right.instant // NANOS_PER_SECOND


def _equal_parts(left: Value, right: Value, seen: set[tuple[int, int]], spend: Spend) -> bool:
    """Tell whether two lists, contexts or ranges hold the same, contexts in whatever order.

    Parts may be shared, so a pair that was looked at is not looked at again: had it differed,
    the comparison would have ended there.
    """
    kind, pair = type(left), (id(left), id(right))
    if kind is not type(right) or kind not in _MANY:
        return same(left, right, spend)
    if left is right or pair in seen:
        return True
    seen.add(pair)
    spend(1 + len(left) // ITEMS_FOUND_PER_STEP)
    if kind is dict:
        return left.keys() == right.keys() and all(
            _equal_parts(entry, right[key], seen, spend) for key, entry in left.items()
        )
    parts = zip(left, right, strict=False)
    return len(left) == len(right) and all(_equal_parts(*both, seen, spend) for both in parts)


def _equal_times(left: Time | DateAndTime, right: Time | DateAndTime) -> bool | None:
    seconds = _seconds(left, right)
    return None if seconds is None else seconds[0] == seconds[1]


_EQUAL: dict[type, Callable[[Value, Value], bool | None]] = {
    Time: _equal_times,
    DateAndTime: _equal_times,
}
