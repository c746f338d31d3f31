"""Time zones: none, a fixed offset, or a name of the IANA database.

Shapes: `None` is local, an `int` an offset in seconds east of UTC, a `str` an IANA name, which
    is kept as it was written because FEEL prints it back.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache

from chalicelib.feel import calendar

Zone = int | str | None

OFFSET_MAX_S = 18 * 3600  # as java.time has it, which all published engines follow
NANOS_PER_SECOND = 1_000_000_000
SECONDS_PER_DAY = 86_400
NANOS_PER_DAY = SECONDS_PER_DAY * NANOS_PER_SECOND


@lru_cache(maxsize=512)
def named(name: str) -> tzinfo | None:
    """Find an IANA zone; None if there is none of that name."""
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - few expressions name a zone, and it costs 5 ms

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, KeyError):
        return None


def offset_of_local(zone: int | str, day: int, second: int) -> int:
    """Give the offset in seconds that a zone has at a local time (day number, second of day)."""
    if isinstance(zone, int):
        return zone
    known = named(zone)
    offset = known.utcoffset(_within_python(day, second)) if known else None
    return _seconds(offset)


def offset_of_instant(zone: int | str, day: int, second: int) -> int:
    """Give the offset in seconds that a zone has at a time in UTC."""
    if isinstance(zone, int):
        return zone
    known = named(zone)
    moment = _within_python(day, second).replace(tzinfo=UTC)
    return _seconds(moment.astimezone(known).utcoffset() if known else None)


def standard_offset(zone: int | str) -> int:
    """Give the offset that a time without a date has in a zone: that of its winter.

    A named zone has no one offset without a date; the standard does not say which to take.
    """
    if isinstance(zone, int):
        return zone
    known = named(zone)
    if known is None:
        return 0
    moment = datetime(2000, 1, 1)  # local time of that zone
    return _seconds(known.utcoffset(moment)) - _seconds(known.dst(moment))


def _within_python(day: int, second: int) -> datetime:
    """Map a time to the same one of a 400-year cycle that `datetime` has."""
    year, month, day_of_month = calendar.date_of(day)
    if not 2 <= year <= 9998:
        year = 2000 + year % calendar.YEARS_PER_CYCLE
    hour, rest = divmod(second, 3600)
    return datetime(year, month, day_of_month, hour, rest // 60, rest % 60)


def _seconds(offset: timedelta | None) -> int:
    return 0 if offset is None else offset.days * SECONDS_PER_DAY + offset.seconds
