"""Built-in functions on dates, times and durations.

Source: DMN 1.5 sections 10.3.4.1, 10.3.4.6 to 10.3.4.8; Camunda's documentation for the last day
    of a month and for moving a date-time to a zone.
"""

from __future__ import annotations

from decimal import Decimal

from chalicelib.feel import calendar, temporal_text, zones
from chalicelib.feel.builtins.signature import Builtin
from chalicelib.feel.comparison import equal
from chalicelib.feel.evaluation import Evaluation
from chalicelib.feel.temporal import (
    Date,
    DateAndTime,
    DayTimeDuration,
    Duration,
    Time,
    YearMonthDuration,
)
from chalicelib.feel.values import Value
from chalicelib.feel.zones import NANOS_PER_SECOND, OFFSET_MAX_S, Zone


def date_from(source: str | Date | DateAndTime) -> Date | None:
    """Read a date, or take it from a date-time."""
    if isinstance(source, str):
        return temporal_text.parse_date(source)
    return source.date if isinstance(source, DateAndTime) else source


def date_of(year: Decimal, month: Decimal, day: Decimal) -> Date | None:
    """Make a date of three numbers; null if there is no such day."""
    return Date.of_parts(int(year), int(month), int(day))


def moment_from(source: str | Date | DateAndTime) -> DateAndTime | None:
    """Read a date-time; a date is its midnight."""
    if isinstance(source, str):
        return temporal_text.parse_date_and_time(source)
    return DateAndTime(source, 0) if isinstance(source, Date) else source


def moment_of(date: Date | DateAndTime, time: Time) -> DateAndTime:
    """Put a date and a time, with its zone, together."""
    day = date.date if isinstance(date, DateAndTime) else date
    return DateAndTime(day, time.nanos, time.zone)


def moment_in_zone(date: DateAndTime, timezone: str) -> DateAndTime | None:
    """Move a date-time to a zone: the same instant there, or a local time said to be there."""
    zone = _zone_named(timezone)
    if zone is None:
        return None
    if date.zone is None:
        return date._replace(zone=zone)
    return DateAndTime.of_instant(date.instant, zone)


def time_from(source: str | Time | DateAndTime | Date) -> Time | None:
    """Read a time, or take it from a date-time; a date is midnight in UTC."""
    if isinstance(source, str):
        return temporal_text.parse_time(source)
    if isinstance(source, DateAndTime):
        return Time(source.nanos, source.zone)
    return Time(0, 0) if isinstance(source, Date) else source


def time_of(
    hour: Decimal, minute: Decimal, second: Decimal, offset: DayTimeDuration | None = None
) -> Time | None:
    """Make a time of three numbers and an offset; null if there is no such time."""
    if not (0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60):
        return None
    zone: Zone = None
    if offset is not None:
        zone = int(Decimal(offset.nanos) / NANOS_PER_SECOND)
        if abs(zone) > OFFSET_MAX_S:
            return None
    whole = (int(hour) * 60 + int(minute)) * 60
    return Time(whole * NANOS_PER_SECOND + int(second * NANOS_PER_SECOND), zone)


def duration(source: str | Duration) -> Duration | None:
    """Read a duration of either kind."""
    return temporal_text.parse_duration(source) if isinstance(source, str) else source


def months_between(start: Date | DateAndTime, end: Date | DateAndTime) -> YearMonthDuration:
    """Count the whole months from one day to another, negative if that is earlier."""
    first = start.date if isinstance(start, DateAndTime) else start
    last = end.date if isinstance(end, DateAndTime) else end
    months = (last.year - first.year) * 12 + last.month - first.month
    if months > 0 and last.day < first.day:
        months -= 1
    elif months < 0 and last.day > first.day:
        months += 1
    return YearMonthDuration(months)


def is_same(run: Evaluation, left: Value = None, right: Value = None) -> bool:
    """Tell whether two values are one, down to the spelling of their zones."""
    if type(left) is not type(right):
        return False
    if isinstance(left, Time | DateAndTime):
        return bool(left == right)
    return equal(left, right, run.spend) is True


def day_of_year(date: Date | DateAndTime) -> Decimal:
    """Count the days of the year up to this one."""
    day = _day(date)
    return Decimal(day.number - calendar.day_number(day.year, 1, 1) + 1)


def week_of_year(date: Date | DateAndTime) -> Decimal:
    """Give the ISO 8601 week."""
    return Decimal(calendar.week_of_year(*_day(date)))


def day_of_week(date: Date | DateAndTime) -> str:
    """Give the English name of the day."""
    return calendar.WEEKDAYS[calendar.weekday(_day(date).number) - 1]


def month_of_year(date: Date | DateAndTime) -> str:
    """Give the English name of the month."""
    return calendar.MONTHS[_day(date).month - 1]


def last_day_of_month(date: Date | DateAndTime) -> Date:
    """Give the last day of the month."""
    day = _day(date)
    return day._replace(day=calendar.days_in_month(day.year, day.month))


def now(run: Evaluation) -> DateAndTime | None:
    """Give the moment that the evaluation was told; null if it was told none."""
    return run.now


def today(run: Evaluation) -> Date | None:
    """Give the day of the moment that the evaluation was told."""
    return None if run.now is None else run.now.date


def _day(date: Date | DateAndTime) -> Date:
    return date.date if isinstance(date, DateAndTime) else date


def _zone_named(text: str) -> Zone:
    if text[:1] in ("+", "-") or text == "Z":
        moment = temporal_text.parse_time(f"00:00:00{text}")
        return None if moment is None else moment.zone
    return text if zones.named(text) is not None else None


_DATE = "date|date and time"
_SPAN = "days and time duration|years and months duration"

FUNCTIONS = (
    Builtin(f"date(from: string|{_DATE})", date_from),
    Builtin("date(year: number, month: number, day: number)", date_of),
    Builtin(f"date and time(from: string|{_DATE})", moment_from),
    Builtin(f"date and time(date: {_DATE}, time: time)", moment_of),
    Builtin(
        "date and time(date: date and time, timezone: string)", moment_in_zone, only_zeebe=True
    ),
    Builtin(f"time(from: string|time|{_DATE})", time_from),
    Builtin(
        "time(hour: number, minute: number, second: number, offset?: days and time duration?)",
        time_of,
    ),
    Builtin(f"duration(from: string|{_SPAN})", duration),
    Builtin(f"years and months duration(from: {_DATE}, to: {_DATE})", months_between),
    Builtin("is(value1?: any, value2?: any)", is_same, needs_run=True),
    Builtin(f"day of year(date: {_DATE})", day_of_year),
    Builtin(f"week of year(date: {_DATE})", week_of_year),
    Builtin(f"day of week(date: {_DATE})", day_of_week),
    Builtin(f"month of year(date: {_DATE})", month_of_year),
    Builtin(f"last day of month(date: {_DATE})", last_day_of_month),
    Builtin("now()", now, needs_run=True),
    Builtin("today()", today, needs_run=True),
)
