"""Whether a value meets the condition of a query.

The value's own type rules the comparison: a string is compared as text, a number with the number
on the right (0 if it is none), and nothing meets a comparison with `null`.
Source: contracts/gjson.md 3.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chalicelib.scheduler.gjson import wildcards
from chalicelib.scheduler.gjson.numerals import to_number
from chalicelib.scheduler.gjson.path import Query
from chalicelib.scheduler.gjson.result import Result, Type, whole
from chalicelib.scheduler.gjson.work import Work

_COMPARE: dict[bytes, Callable[[Any, Any], bool]] = {
    b"=": lambda left, right: bool(left == right),
    b"!=": lambda left, right: bool(left != right),
    b"<": lambda left, right: bool(left < right),
    b"<=": lambda left, right: bool(left <= right),
    b">": lambda left, right: bool(left > right),
    b">=": lambda left, right: bool(left >= right),
}
# Booleans are below or above the other one alone, and `>=` of true and `<=` of false always hold.
_TRUE: dict[bytes, Callable[[bytes], bool]] = {
    b"=": lambda right: right == b"true",
    b"!=": lambda right: right != b"true",
    b">": lambda right: right == b"false",
    b">=": lambda right: True,
}
_FALSE: dict[bytes, Callable[[bytes], bool]] = {
    b"=": lambda right: right == b"false",
    b"!=": lambda right: right != b"false",
    b"<": lambda right: right == b"true",
    b"<=": lambda right: True,
}
_BOOLEANS = {Type.TRUE: _TRUE, Type.FALSE: _FALSE}
_WORDS_TRUE = frozenset((b"1", b"t", b"true"))
_WORDS_FALSE = frozenset((b"0", b"f", b"false"))


def meets(work: Work, query: Query, found: Result) -> bool:
    """Say whether what the query's path leads to is as it asks. Raises: TooMuch."""
    if not query.value.startswith(b"~"):
        return _holds(work, query.operator, found, query.value)
    is_like = _LIKE.get(query.value)
    if is_like is None:
        return False
    like = Type.TRUE if is_like(found) else Type.FALSE
    return _holds(work, query.operator, whole(b"~")._replace(type=like), b"true")


def _holds(work: Work, operator: bytes, left: Result, right: bytes) -> bool:
    """Say whether a value compares so with what stands on the right; without operator it need only
    be there.
    """
    if not operator or not left.exists:
        return left.exists
    if left.type is Type.NUMBER:
        compare = _COMPARE.get(operator)
        return compare is not None and compare(left.number, to_number(right))
    if left.type is Type.STRING:
        if operator in (b"%", b"!%"):
            return wildcards.matches(work, left.string, right) == (operator == b"%")
        compare = _COMPARE.get(operator)
        return compare is not None and compare(left.string, right)
    is_so = _BOOLEANS.get(left.type, {}).get(operator)
    return is_so is not None and is_so(right)


def _is_like_true(found: Result) -> bool:
    if found.type is Type.STRING:
        return found.string.lower() in _WORDS_TRUE
    return found.type is Type.TRUE or (found.type is Type.NUMBER and found.number != 0)


def _is_like_false(found: Result) -> bool:
    if found.type is Type.STRING:
        return found.string.lower() in _WORDS_FALSE
    is_nought = found.type is Type.NUMBER and found.number == 0
    return is_nought or found.type in (Type.FALSE, Type.NULL)


_LIKE: dict[bytes, Callable[[Result], bool]] = {
    b"~true": _is_like_true,
    b"~false": _is_like_false,
    b"~null": lambda found: found.type is Type.NULL,
    b"~*": lambda found: found.exists,
}
