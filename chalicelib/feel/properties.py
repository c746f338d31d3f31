"""The properties of FEEL's own values, as a path reads them.

Source: DMN 1.5 section 10.3.2.6 and table 56.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from chalicelib.feel import calendar, temporal_text, zones
from chalicelib.feel.temporal import (
    Date,
    DateAndTime,
    DayTimeDuration,
    Time,
    YearMonthDuration,
)
from chalicelib.feel.values import Range, Value
from chalicelib.feel.zones import NANOS_PER_DAY, NANOS_PER_SECOND

_Reads = dict[str, Callable[[Value], Value]]


def _second_of(nanos: int) -> Decimal:
    whole, rest = divmod(nanos, NANOS_PER_SECOND)
    return Decimal(f"{whole % 60}.{rest:09}") if rest else Decimal(whole % 60)


def _offset(value: Time | DateAndTime) -> DayTimeDuration | None:
    if value.zone is None:
        return None
    if type(value) is DateAndTime:
        return DayTimeDuration((value.offset or 0) * NANOS_PER_SECOND)
    return DayTimeDuration(zones.standard_offset(value.zone) * NANOS_PER_SECOND)


def _timezone(value: Time | DateAndTime) -> str | None:
    return None if value.zone is None else temporal_text.format_zone(value.zone).lstrip("@")


def _part(nanos: int, unit: int, size: int) -> Decimal:
    """Give one unit of a duration, with the duration's sign."""
    amount = Decimal(abs(nanos) // unit % size)
    return amount.copy_negate() if nanos < 0 and amount else amount


def _seconds(value: DayTimeDuration) -> Decimal:
    amount = _second_of(abs(value.nanos))
    return amount.copy_negate() if value.nanos < 0 and amount else amount


_HOUR = 3600 * NANOS_PER_SECOND
_MINUTE = 60 * NANOS_PER_SECOND

_DATE: _Reads = {
    "year": lambda value: Decimal(value.year),
    "month": lambda value: Decimal(value.month),
    "day": lambda value: Decimal(value.day),
    "weekday": lambda value: Decimal(calendar.weekday(value.number)),
}
_TIME: _Reads = {
    "hour": lambda value: Decimal(value.nanos // _HOUR),
    "minute": lambda value: Decimal(value.nanos // _MINUTE % 60),
    "second": lambda value: _second_of(value.nanos),
    "time offset": _offset,
    "timezone": _timezone,
}
_DAY_TIME: _Reads = {
    "days": lambda value: _part(value.nanos, NANOS_PER_DAY, 10**12),
    "hours": lambda value: _part(value.nanos, _HOUR, 24),
    "minutes": lambda value: _part(value.nanos, _MINUTE, 60),
    "seconds": _seconds,
}
_YEAR_MONTH: _Reads = {
    "years": lambda value: _part(value.months, 12, 10**12),
    "months": lambda value: _part(value.months, 1, 12),
}


def _nothing(value: Value) -> None:
    return None


def _of_date(read: Callable[[Value], Value]) -> Callable[[Value], Value]:
    return lambda value: read(value.date)


PROPERTIES: dict[type, _Reads] = {
    Date: _DATE,
    Time: _TIME,
    DateAndTime: {
        **{name: _of_date(read) for name, read in _DATE.items()},
        **_TIME,
    },
    DayTimeDuration: {**_DAY_TIME, **dict.fromkeys(_YEAR_MONTH, _nothing)},
    YearMonthDuration: {**_YEAR_MONTH, **dict.fromkeys(_DAY_TIME, _nothing)},
    Range: {
        "start": lambda value: value.start,
        "end": lambda value: value.end,
        "start included": lambda value: value.start_included,
        "end included": lambda value: value.end_included,
    },
}
