"""FEEL's numbers: decimals of 34 digits, and how they meet other kinds of number.

Source: DMN 1.5 section 10.3.2.3.1 (IEEE 754-2008 decimal128).
"""

from __future__ import annotations

from decimal import (
    ROUND_HALF_EVEN,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)

DIGITS_MAX = 34
EXPONENT_MIN = -6143
EXPONENT_MAX = 6144

# The one context of every evaluation. What it traps becomes null where the operation stands.
CONTEXT = Context(
    prec=DIGITS_MAX,
    rounding=ROUND_HALF_EVEN,
    Emin=EXPONENT_MIN,
    Emax=EXPONENT_MAX,
    capitals=1,
    clamp=0,
    traps=[InvalidOperation, DivisionByZero, Overflow],
)

ZERO = Decimal(0)
ONE = Decimal(1)


def read_number(text: str) -> Decimal | None:
    """Read digits, fraction and exponent, rounded to 34 digits; None if out of range."""
    try:
        return CONTEXT.create_decimal(text)
    except ArithmeticError:
        return None


def of_float(value: float) -> Decimal | None:
    """Take over a float as its shortest text says it; None for infinities and NaN."""
    number = Decimal(repr(value))
    return number if number.is_finite() else None


def plain(value: Decimal) -> Decimal:
    """Give the same number with neither trailing zeros nor an exponent.

    A number whose magnitude no FEEL arithmetic can make is left as it is.
    """
    if not value:
        return ZERO  # there is no negative zero in FEEL
    exponent = value.as_tuple().exponent
    if exponent == 0 or not isinstance(exponent, int):
        return value
    if exponent < 0:
        value = value.normalize(_WIDE)
        exponent = value.as_tuple().exponent
    if isinstance(exponent, int) and exponent > 0 and value.adjusted() <= EXPONENT_MAX:
        return Decimal(int(value))
    return value


# For numbers that came in with more digits than ours: nothing is rounded away at the border.
_WIDE = Context(prec=100_000, Emin=-999_999, Emax=999_999, traps=[])


def format_number(value: Decimal) -> str:
    """Write a number without an exponent and without trailing zeros.

    One whose magnitude no FEEL arithmetic can make keeps its exponent: it may have billions of
    digits without.
    """
    if abs(value.adjusted()) > EXPONENT_MAX + DIGITS_MAX:
        return str(value)
    return format(plain(value), "f")
