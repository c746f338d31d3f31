"""Built-in functions on numbers.

Source: DMN 1.5 section 10.3.4.5; Camunda's documentation for `decimal` with a rounding mode.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from decimal import Decimal

from chalicelib.feel import arithmetic
from chalicelib.feel.builtins.signature import Builtin
from chalicelib.feel.evaluation import Evaluation
from chalicelib.feel.numbers import EXPONENT_MAX, ONE, ZERO
from chalicelib.feel.values import Value

SCALE_MIN = -6111  # the scales that a decimal128 can have
SCALE_MAX = 6176

_MODES = {
    "UP": decimal.ROUND_UP,
    "DOWN": decimal.ROUND_DOWN,
    "CEILING": decimal.ROUND_CEILING,
    "FLOOR": decimal.ROUND_FLOOR,
    "HALF_UP": decimal.ROUND_HALF_UP,
    "HALF_DOWN": decimal.ROUND_HALF_DOWN,
    "HALF_EVEN": decimal.ROUND_HALF_EVEN,
}
_RANDOM_BITS = 53


def round_to(n: Decimal, scale: Decimal, mode: str) -> Decimal | None:
    """Round to so many digits after the point; null for a scale no decimal128 can have."""
    digits = int(scale)
    if not SCALE_MIN <= digits <= SCALE_MAX:
        return None
    exponent = n.as_tuple().exponent
    if isinstance(exponent, int) and exponent >= -digits and digits >= 0:
        return n
    if n.adjusted() < -digits - 1:
        n = ONE.copy_sign(n).scaleb(-digits - 2) if n else ZERO
    return n.quantize(ONE.scaleb(-digits), rounding=mode)


def _rounding(mode: str) -> Callable[..., Decimal | None]:
    def round_it(n: Decimal, scale: Decimal = ZERO) -> Decimal | None:
        return round_to(n, scale, mode)

    return round_it


def decimal_in_mode(n: Decimal, scale: Decimal, mode: str) -> Decimal | None:
    """Round in a mode named as Java names it."""
    known = _MODES.get(mode.upper())
    return None if known is None else round_to(n, scale, known)


def absolute(n: Value) -> Value:
    """Give a number or duration without its sign."""
    if type(n) is Decimal:
        return abs(n)
    return n if n[0] >= 0 else arithmetic.negate(n)


def modulo(dividend: Decimal, divisor: Decimal) -> Decimal | None:
    """Give what a division to whole numbers leaves, with the sign of the divisor."""
    if not divisor:
        return None
    rest = dividend % divisor
    return rest + divisor if rest and (rest < 0) is not (divisor < 0) else rest


def square_root(number: Decimal) -> Decimal | None:
    """Give the square root; null below zero."""
    return number.sqrt() if number >= 0 else None


def logarithm(number: Decimal) -> Decimal | None:
    """Give the natural logarithm; null unless the number is positive."""
    return number.ln() if number > 0 else None


def odd(number: Decimal) -> bool:
    """Tell whether the whole part cannot be halved."""
    return _is_whole(number) and int(number) % 2 == 1


def even(number: Decimal) -> bool:
    """Tell whether the whole part can be halved."""
    return _is_whole(number) and int(number) % 2 == 0


def random_number(run: Evaluation) -> Decimal | None:
    """Draw a number from 0 to just below 1; null without a source of randomness."""
    if run.random_bits is None:
        return None
    return Decimal(run.random_bits(_RANDOM_BITS)) / (1 << _RANDOM_BITS)


def _is_whole(number: Decimal) -> bool:
    return number.adjusted() <= EXPONENT_MAX and number == number.to_integral_value()


def _round_row(name: str, mode: str, scale: str = "scale: number") -> Builtin:
    return Builtin(f"{name}(n: number, {scale})", _rounding(mode))


FUNCTIONS = (
    _round_row("decimal", decimal.ROUND_HALF_EVEN),
    Builtin("decimal(n: number, scale: number, mode: string)", decimal_in_mode, only_zeebe=True),
    _round_row("floor", decimal.ROUND_FLOOR, "scale?: number"),
    _round_row("ceiling", decimal.ROUND_CEILING, "scale?: number"),
    _round_row("round up", decimal.ROUND_UP),
    _round_row("round down", decimal.ROUND_DOWN),
    _round_row("round half up", decimal.ROUND_HALF_UP),
    _round_row("round half down", decimal.ROUND_HALF_DOWN),
    Builtin("abs(n: number|days and time duration|years and months duration)", absolute),
    Builtin("abs(number: number)", absolute, only_zeebe=True),
    Builtin("modulo(dividend: number, divisor: number)", modulo),
    Builtin("sqrt(number: number)", square_root),
    Builtin("log(number: number)", logarithm),
    Builtin("exp(number: number)", Decimal.exp),
    Builtin("odd(number: number)", odd),
    Builtin("even(number: number)", even),
    Builtin("random number()", random_number, needs_run=True),
)
