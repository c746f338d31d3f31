"""Arithmetic of FEEL: numbers, strings with `+`, and dates, times and durations.

Every operation gives null for kinds that it does not join, and for results out of range.
Source: DMN 1.5 tables 57 to 61.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal

from chalicelib.feel.errors import FeelError
from chalicelib.feel.limits import STRING_MAX
from chalicelib.feel.temporal import (
    Date,
    DateAndTime,
    DayTimeDuration,
    Time,
    YearMonthDuration,
)
from chalicelib.feel.values import Value
from chalicelib.feel.zones import NANOS_PER_DAY

_MONTHS_MAX = 12 * 10**9
_NANOS_MAX = 366 * 10**9 * NANOS_PER_DAY


def add(left: Value, right: Value) -> Value:
    """Add numbers, join strings, move temporal values by durations."""
    if type(left) is Decimal and type(right) is Decimal:
        return left + right
    if type(left) is str and type(right) is str:
        return join(left, right)
    rule = _ADD.get((type(left), type(right)))
    if rule is not None:
        return rule(left, right)
    rule = _ADD.get((type(right), type(left)))
    return rule(right, left) if rule is not None else None


def subtract(left: Value, right: Value) -> Value:
    """Subtract numbers, move temporal values back, or give the duration between two."""
    if type(left) is Decimal and type(right) is Decimal:
        return left - right
    if type(right) in (DayTimeDuration, YearMonthDuration):
        return add(left, negate(right)) if type(left) is not str else None
    rule = _BETWEEN.get((type(left), type(right)))
    return rule(left, right) if rule is not None else None


def multiply(left: Value, right: Value) -> Value:
    """Multiply numbers, or a duration by a number."""
    if type(left) is Decimal:
        if type(right) is Decimal:
            return left * right
        left, right = right, left
    return _scale(left, right) if type(right) is Decimal else None


def divide(left: Value, right: Value) -> Value:
    """Divide numbers, a duration by a number, or one duration by another of its kind."""
    if type(left) is Decimal and type(right) is Decimal:
        return left / right if right else None
    if type(right) is Decimal:
        return _shrink(left, right) if right else None
    if type(left) is type(right) and type(left) in (DayTimeDuration, YearMonthDuration):
        return Decimal(left[0]) / Decimal(right[0]) if right[0] else None
    return None


def power(left: Value, right: Value) -> Value:
    """Raise a number to a power."""
    if type(left) is Decimal and type(right) is Decimal:
        return left**right
    return None


def negate(value: Value) -> Value:
    """Give the negative of a number or duration."""
    if type(value) is Decimal:
        return -value
    if type(value) is DayTimeDuration:
        return DayTimeDuration(-value.nanos)
    return YearMonthDuration(-value.months) if type(value) is YearMonthDuration else None


def join(left: str, right: str) -> str:
    """Join two strings. Raises: FeelError if the result is longer than STRING_MAX."""
    if len(left) + len(right) > STRING_MAX:
        raise FeelError(f"a string would have more than {STRING_MAX} characters")
    return left + right


OPERATIONS: dict[str, Callable[[Value, Value], Value]] = {
    "+": add,
    "-": subtract,
    "*": multiply,
    "/": divide,
    "**": power,
}


# What numbers alone need; a division by zero, which is null, raises as what is out of range does.
NUMERIC: dict[str, Callable[[Decimal, Decimal], Decimal]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def _days(nanos: int) -> DayTimeDuration | None:
    return DayTimeDuration(nanos) if abs(nanos) <= _NANOS_MAX else None


def _months(months: int) -> YearMonthDuration | None:
    return YearMonthDuration(months) if abs(months) <= _MONTHS_MAX else None


def _scale(span: Value, factor: Decimal) -> Value:
    """Multiply a duration: to the nearest nanosecond, or to whole months toward zero."""
    if type(span) is DayTimeDuration:
        return _days(int((span.nanos * factor).to_integral_value(ROUND_HALF_EVEN)))
    return _months(int(span.months * factor)) if type(span) is YearMonthDuration else None


def _shrink(span: Value, divisor: Decimal) -> Value:
    if type(span) is DayTimeDuration:
        return _days(int((span.nanos / divisor).to_integral_value(ROUND_HALF_EVEN)))
    return _months(int(span.months / divisor)) if type(span) is YearMonthDuration else None


def _date_plus_days(day: Date, span: DayTimeDuration) -> Date | None:
    """Move a date as the midnight it begins with, and drop the time of day again."""
    return Date.of_number((day.number * NANOS_PER_DAY + span.nanos) // NANOS_PER_DAY)


def _moment_plus_days(moment: DateAndTime, span: DayTimeDuration) -> DateAndTime | None:
    return DateAndTime.of_instant(moment.instant + span.nanos, moment.zone)


def _moment_plus_months(moment: DateAndTime, span: YearMonthDuration) -> DateAndTime | None:
    day = moment.date.plus_months(span.months)
    return None if day is None else moment._replace(date=day)


def _time_plus_days(at: Time, span: DayTimeDuration) -> Time:
    return at._replace(nanos=(at.nanos + span.nanos) % NANOS_PER_DAY)


def _between_moments(left: DateAndTime, right: DateAndTime) -> DayTimeDuration | None:
    if (left.zone is None) is not (right.zone is None):
        return None
    return _days(left.instant - right.instant)


def _between_times(left: Time, right: Time) -> DayTimeDuration | None:
    if (left.zone is None) is not (right.zone is None):
        return None
    return DayTimeDuration(left.instant - right.instant)


def _moment_minus_date(left: DateAndTime, right: Date) -> DayTimeDuration | None:
    """Subtract a date as midnight in UTC, which a local date-time has no distance to."""
    return _between_moments(left, DateAndTime(right, 0, 0))


def _date_minus_moment(left: Date, right: DateAndTime) -> DayTimeDuration | None:
    return _between_moments(DateAndTime(left, 0, 0), right)


_Rule = Callable[[Value, Value], Value]

_ADD: dict[tuple[type, type], _Rule] = {
    (DayTimeDuration, DayTimeDuration): lambda left, right: _days(left.nanos + right.nanos),
    (YearMonthDuration, YearMonthDuration): lambda left, right: _months(left[0] + right[0]),
    (Date, DayTimeDuration): _date_plus_days,
    (Date, YearMonthDuration): lambda day, span: day.plus_months(span.months),
    (DateAndTime, DayTimeDuration): _moment_plus_days,
    (DateAndTime, YearMonthDuration): _moment_plus_months,
    (Time, DayTimeDuration): _time_plus_days,
}

_BETWEEN: dict[tuple[type, type], _Rule] = {
    (Date, Date): lambda left, right: _days((left.number - right.number) * NANOS_PER_DAY),
    (Time, Time): _between_times,
    (DateAndTime, DateAndTime): _between_moments,
    (DateAndTime, Date): _moment_minus_date,
    (Date, DateAndTime): _date_minus_moment,
}
