"""JSON as text and as values, with no number ever changed on the way.

Numbers are read as `Decimal` and written as they were read, so what a client sends comes back
digit for digit. What JSON or our limits cannot carry is refused with a clear message.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import simplejson

DEPTH_MAX = 500  # levels of nesting; far above real data, far below Python's recursion limit
DIGITS_MAX = (
    34  # significant digits of a number: decimal128, IEEE 754-2008 and DMN 1.5 section 10.3.2.1
)
EXPONENT_MAX = 6144  # decimal128's largest adjusted exponent, and its negative the smallest

JsonValue = None | bool | Decimal | str | list[Any] | dict[str, Any]
JsonObject = dict[str, Any]


def loads(text: str | bytes) -> JsonValue:
    """Read one JSON text.

    Raises: ValueError, saying what was expected and found: no JSON, NaN or Infinity, a number
        of more than DIGITS_MAX digits or beyond EXPONENT_MAX, more than DEPTH_MAX levels, a
        lone surrogate, bytes that are not UTF-8.
    """
    try:
        text = text.decode("utf-8") if isinstance(text, bytes) else text
        value: JsonValue = _DECODER.decode(text)
    except UnicodeDecodeError as error:
        raise ValueError(f"expected UTF-8, found byte {error.object[error.start]:#04x}") from error
    except RecursionError as error:
        raise ValueError(f"JSON nested deeper than {DEPTH_MAX} levels") from error
    if _depth_bound(text) > DEPTH_MAX:
        _check_depth(value)
    if "\\u" in text or not text.isascii():
        _check_surrogates(text, value)
    return value


def dumps(value: JsonValue) -> str:
    """Write a value as compact JSON, its numbers digit for digit as they were read."""
    return _ENCODER.encode(value)


def canonical(value: JsonValue) -> str:
    """Write a value so that equal values are equal texts: with the members of objects sorted."""
    return _SORTING_ENCODER.encode(value)


def is_integer(value: object) -> bool:
    """Say whether a JSON value is a whole number (`2` and `2.0` are, `true` is not)."""
    return isinstance(value, Decimal) and value == value.to_integral_value()


def without_nulls(**members: Any) -> JsonObject:
    """Return an object of the members that are not null: these are left out."""
    return {name: value for name, value in members.items() if value is not None}


def _number(digits: str) -> Decimal:
    if len(digits) <= DIGITS_MAX and digits.isdigit():  # most are small whole numbers
        return Decimal(digits)
    mantissa, _, exponent = digits.lower().partition("e")
    figures = mantissa.replace(".", "").lstrip("-0").rstrip("0")
    if len(figures) > DIGITS_MAX:
        raise ValueError(
            f"expected a number of at most {DIGITS_MAX} digits, found {len(figures)}: {digits[:50]}"
        )
    too_far = f"expected an exponent of at most {EXPONENT_MAX}, found {digits[:50]}"
    # Checked as text first: Decimal cannot hold every exponent that JSON can write.
    if len(exponent.lstrip("+-0")) > len(str(EXPONENT_MAX)) or len(mantissa) > 2 * EXPONENT_MAX:
        raise ValueError(too_far)
    number = Decimal(digits)
    if abs(number.adjusted()) > EXPONENT_MAX:
        raise ValueError(too_far)
    return number


def _refuse_constant(name: str) -> Decimal:
    raise ValueError(f"expected a JSON number, found {name}")


def _depth_bound(text: str) -> int:
    """Return an upper bound of the nesting that costs less than walking the value."""
    return text.count("[") + text.count("{")


def _check_depth(value: JsonValue) -> None:
    level, depth = [value], 0
    while level := [container for container in level if isinstance(container, list | dict)]:
        depth += 1
        if depth > DEPTH_MAX:
            raise ValueError(f"JSON nested deeper than {DEPTH_MAX} levels")
        level = [
            child
            for container in level
            for child in (container.values() if isinstance(container, dict) else container)
        ]


def _check_surrogates(text: str, value: JsonValue) -> None:
    try:
        text.encode("utf-8")
        if "\\ud" in text.lower():
            dumps(value).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError("expected Unicode text, found a lone surrogate") from error


# Made once: `loads` and `dumps` of both libraries would make theirs anew for every text.
_DECODER = json.JSONDecoder(parse_float=_number, parse_int=_number, parse_constant=_refuse_constant)
_ENCODER = simplejson.JSONEncoder(use_decimal=True, separators=(",", ":"), ensure_ascii=False)
_SORTING_ENCODER = simplejson.JSONEncoder(
    use_decimal=True, separators=(",", ":"), ensure_ascii=False, sort_keys=True
)
