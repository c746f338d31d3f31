"""Temporal values as text and back: ISO 8601, with FEEL's `@Zone/Name` and nine-digit years.

Every `parse_` function gives None for what it cannot read.
Source: DMN 1.5 section 10.3.2.3 (lexical forms), XML Schema 1.1 part 2.
"""

from __future__ import annotations

import re
from functools import lru_cache

from chalicelib.feel import zones
from chalicelib.feel.temporal import (
    Date,
    DateAndTime,
    DayTimeDuration,
    Duration,
    Temporal,
    Time,
    YearMonthDuration,
)
from chalicelib.feel.zones import NANOS_PER_DAY, NANOS_PER_SECOND, OFFSET_MAX_S, Zone

_DATE = r"(-?(?:[1-9]\d{4,8}|\d{4}))-(\d\d)-(\d\d)"
_TIME = r"(\d\d):(\d\d):(\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d(?::\d\d)?|@[\w+\-/]+)?"
_MINUTE = 60 * NANOS_PER_SECOND
_HOUR = 60 * _MINUTE
_ASCII_DIGITS = re.ASCII


@lru_cache(maxsize=16)
def _pattern(text: str) -> re.Pattern[str]:
    """Compile on first use: most processes never read a date."""
    return re.compile(text, _ASCII_DIGITS)


def parse_date(text: str) -> Date | None:
    """Read `YYYY-MM-DD`; a year has four to nine digits and may be negative."""
    found = _pattern(_DATE).fullmatch(text)
    return None if found is None else Date.of_parts(int(found[1]), int(found[2]), int(found[3]))


def parse_time(text: str) -> Time | None:
    """Read `hh:mm:ss`, with a fraction and a zone if present."""
    found = _pattern(_TIME).fullmatch(text)
    if found is None:
        return None
    return _time(*found.groups())


def parse_date_and_time(text: str) -> DateAndTime | None:
    """Read a date, `T` and a time; a date alone is its midnight."""
    found = _pattern(_DATE + "(?:T" + _TIME + ")?").fullmatch(text)
    if found is None:
        return None
    day = Date.of_parts(int(found[1]), int(found[2]), int(found[3]))
    if day is None or found[4] is None:
        return None if day is None else DateAndTime(day, 0)
    at = _time(*found.groups()[3:])
    if at is None:
        return None
    if found[4] == "24":
        return DateAndTime.of_local((day.number + 1) * NANOS_PER_DAY, at.zone)
    return DateAndTime(day, at.nanos, at.zone)


def parse_duration(text: str) -> Duration | None:
    """Read an ISO 8601 duration of either kind, such as `P1Y6M` or `-P1DT2H30M0.5S`."""
    found = _pattern(r"(-?)P(?=\d)(?:(\d{1,18})Y)?(?:(\d{1,18})M)?").fullmatch(text)
    if found is not None:
        months = int(found[2] or 0) * 12 + int(found[3] or 0)
        return YearMonthDuration(-months if found[1] else months)
    found = _pattern(
        r"(-?)P(?=[\dT])(?:(\d{1,18})D)?"
        r"(?:T(?=\d)(?:(\d{1,18})H)?(?:(\d{1,18})M)?(?:(\d{1,18})(?:\.(\d*))?S)?)?"
    ).fullmatch(text)
    if found is None or not any(found.groups()[1:]):
        return None
    sign, days, hours, minutes, seconds, fraction = found.groups()
    nanos = (
        int(days or 0) * NANOS_PER_DAY
        + int(hours or 0) * _HOUR
        + int(minutes or 0) * _MINUTE
        + int(seconds or 0) * NANOS_PER_SECOND
        + _nanos(fraction)
    )
    return DayTimeDuration(-nanos if sign else nanos)


def parse_temporal(text: str) -> Temporal | None:
    """Read whichever temporal value the text is, as `@"…"` does."""
    if text[:1] == "P" or text[:2] == "-P":
        return parse_duration(text)
    if "T" in text.partition("@")[0]:
        return parse_date_and_time(text)
    return parse_time(text) if ":" in text else parse_date(text)


def format_temporal(value: Temporal) -> str:
    """Write any temporal value; reading it back gives the same one."""
    match value:
        case Date():
            return _format_date(value)
        case Time():
            return _format_clock(value.nanos) + format_zone(value.zone)
        case DateAndTime():
            clock = _format_clock(value.nanos)
            return f"{_format_date(value.date)}T{clock}{format_zone(value.zone)}"
        case DayTimeDuration():
            return _format_day_time(value.nanos)
        case YearMonthDuration():
            return _format_year_month(value.months)


def format_zone(zone: Zone) -> str:
    """Write a zone as it follows a time: nothing, `Z`, `+01:00` or `@Europe/Paris`."""
    if zone is None:
        return ""
    if isinstance(zone, str):
        return "@" + zone
    if zone == 0:
        return "Z"
    minutes, second = divmod(abs(zone), 60)
    rest = f":{second:02}" if second else ""
    return f"{'-' if zone < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}{rest}"


def _time(
    hour: str, minute: str, second: str, fraction: str | None, zone_text: str | None
) -> Time | None:
    clock = int(hour), int(minute), int(second)
    nanos = _nanos(fraction)
    if clock == (24, 0, 0) and nanos == 0:
        clock = 0, 0, 0
    if clock[0] > 23 or clock[1] > 59 or clock[2] > 59:
        return None
    zone: Zone = None
    if zone_text is not None:
        zone = parse_zone(zone_text)
        if zone is None:
            return None
    return Time(clock[0] * _HOUR + clock[1] * _MINUTE + clock[2] * NANOS_PER_SECOND + nanos, zone)


def parse_zone(text: str) -> Zone:
    """Read `Z`, an offset such as `+05:30`, or `@` and an IANA name."""
    if text == "Z":
        return 0
    if text[:1] == "@":
        return text[1:] if zones.named(text[1:]) is not None else None
    parts = text[1:].split(":")
    if int(parts[1]) > 59 or (len(parts) == 3 and int(parts[2]) > 59):
        return None
    seconds = int(parts[0]) * 3600 + int(parts[1]) * 60 + (int(parts[2]) if parts[2:] else 0)
    if seconds > OFFSET_MAX_S:
        return None
    return -seconds if text[0] == "-" else seconds


def _nanos(fraction: str | None) -> int:
    return int((fraction + "000000000")[:9]) if fraction else 0


def _format_date(value: Date) -> str:
    sign = "-" if value.year < 0 else ""
    return f"{sign}{abs(value.year):04}-{value.month:02}-{value.day:02}"


def _format_clock(nanos: int) -> str:
    second, rest = divmod(nanos, NANOS_PER_SECOND)
    fraction = f".{rest:09}".rstrip("0") if rest else ""
    return f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}{fraction}"


def _format_day_time(nanos: int) -> str:
    second, rest = divmod(abs(nanos), NANOS_PER_SECOND)
    days, second = divmod(second, 86_400)
    fraction = f".{rest:09}".rstrip("0") if rest else ""
    parts = [f"{days}D"] if days else []
    clock = [
        f"{amount}{unit}"
        for amount, unit in ((second // 3600, "H"), (second // 60 % 60, "M"))
        if amount
    ]
    if second % 60 or rest:
        clock.append(f"{second % 60}{fraction}S")
    if clock or not parts:
        parts.append("T" + "".join(clock or ["0S"]))
    return f"{'-' if nanos < 0 else ''}P{''.join(parts)}"


def _format_year_month(months: int) -> str:
    years, rest = divmod(abs(months), 12)
    text = (f"{years}Y" if years else "") + (f"{rest}M" if rest or not years else "")
    return f"{'-' if months < 0 else ''}P{text}"
