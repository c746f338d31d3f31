"""Built-in functions that tell how points and ranges lie to each other.

A point is treated as a range that begins and ends with it. An end that a range leaves out lies
just inside of it, and an open end lies beyond all values: so each end is a position of value and
side, and every relation is a comparison of positions.
Source: DMN 1.5 section 10.3.4.9 and table 78.
"""

from __future__ import annotations

from collections.abc import Callable

from chalicelib.feel import comparison
from chalicelib.feel.builtins.signature import Builtin
from chalicelib.feel.values import Range, Value


class _Bounds:
    """The ends of a point or range; an end is unbounded if it has no value."""

    __slots__ = ("end", "ends_in", "start", "starts_in")

    def __init__(self, start: Value, end: Value, starts_in: bool, ends_in: bool) -> None:
        self.start = start
        self.end = end
        self.starts_in = starts_in
        self.ends_in = ends_in


_Relation = Callable[[_Bounds, _Bounds], bool]


class _NoOrder(ArithmeticError):
    """Two ends do not compare, so no relation holds or fails to: the call makes null."""


def _bounds(value: Value) -> _Bounds | None:
    if type(value) is not Range:
        return _Bounds(value, value, True, True) if comparison.is_ordered_kind(value) else None
    if value.operator == "!=" or (value.start is None and value.end is None):
        return None
    return _Bounds(value.start, value.end, value.start_included, value.end_included)


def _compare(left: Value, right: Value) -> int:
    if comparison.ordered("<", left, right) is True:
        return -1
    if comparison.equal(left, right) is True:
        return 0
    if comparison.ordered(">", left, right) is True:
        return 1
    raise _NoOrder


def _starts(left: _Bounds, right: _Bounds) -> int:
    """Compare two starts: an unbounded one comes first, an included one before one left out."""
    if left.start is None or right.start is None:
        return (left.start is not None) - (right.start is not None)
    return _compare(left.start, right.start) or right.starts_in - left.starts_in


def _ends(left: _Bounds, right: _Bounds) -> int:
    """Compare two ends: an unbounded one comes last, an included one after one left out."""
    if left.end is None or right.end is None:
        return (left.end is None) - (right.end is None)
    return _compare(left.end, right.end) or left.ends_in - right.ends_in


def _is_before(left: _Bounds, right: _Bounds) -> bool:
    if left.end is None or right.start is None:
        return False
    order = _compare(left.end, right.start)
    return order < 0 or (order == 0 and not (left.ends_in and right.starts_in))


def _meets(left: _Bounds, right: _Bounds) -> bool:
    if left.end is None or right.start is None or not (left.ends_in and right.starts_in):
        return False
    return _compare(left.end, right.start) == 0


def _overlaps(left: _Bounds, right: _Bounds) -> bool:
    return not _is_before(left, right) and not _is_before(right, left)


def _overlaps_before(left: _Bounds, right: _Bounds) -> bool:
    return _overlaps(left, right) and _starts(left, right) < 0 and _ends(left, right) <= 0


def _finishes(left: _Bounds, right: _Bounds) -> bool:
    return _ends(left, right) == 0 and _starts(left, right) >= 0


def _includes(left: _Bounds, right: _Bounds) -> bool:
    return _starts(left, right) <= 0 and _ends(left, right) >= 0


def _begins(left: _Bounds, right: _Bounds) -> bool:
    return _starts(left, right) == 0 and _ends(left, right) <= 0


def _coincides(left: _Bounds, right: _Bounds) -> bool:
    return _starts(left, right) == 0 and _ends(left, right) == 0


def _swapped(relation: _Relation) -> _Relation:
    return lambda left, right: relation(right, left)


def _rows(name: str, relation: _Relation, *forms: tuple[str, str]) -> list[Builtin]:
    def relate(left: Value, right: Value) -> bool | None:
        first, second = _bounds(left), _bounds(right)
        return None if first is None or second is None else relation(first, second)

    return [
        Builtin(f"{name}({left}: {_TYPES[left]}, {right}: {_TYPES[right]})", relate)
        for left, right in forms
    ]


_POINT = "number|string|date|time|date and time|days and time duration|years and months duration"
_TYPES = {
    "point": _POINT,
    "point1": _POINT,
    "point2": _POINT,
    "range": "range",
    "range1": "range",
    "range2": "range",
}
_POINTS = ("point1", "point2")
_POINT_RANGE = ("point", "range")
_RANGE_POINT = ("range", "point")
_RANGES = ("range1", "range2")
_ALL = (_POINTS, _POINT_RANGE, _RANGE_POINT, _RANGES)

FUNCTIONS = (
    *_rows("before", _is_before, *_ALL),
    *_rows("after", _swapped(_is_before), *_ALL),
    *_rows("meets", _meets, _RANGES),
    *_rows("met by", _swapped(_meets), _RANGES),
    *_rows("overlaps", _overlaps, _RANGES),
    *_rows("overlaps before", _overlaps_before, _RANGES),
    *_rows("overlaps after", _swapped(_overlaps_before), _RANGES),
    *_rows("finishes", _finishes, _POINT_RANGE, _RANGES),
    *_rows("finished by", _swapped(_finishes), _RANGE_POINT, _RANGES),
    *_rows("includes", _includes, _RANGE_POINT, _RANGES),
    *_rows("during", _swapped(_includes), _POINT_RANGE, _RANGES),
    *_rows("starts", _begins, _POINT_RANGE, _RANGES),
    *_rows("started by", _swapped(_begins), _RANGE_POINT, _RANGES),
    *_rows("coincides", _coincides, _POINTS, _RANGES),
)
