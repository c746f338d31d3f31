"""Dates, times and durations as FEEL has them: wider than Python's, and in whole nanoseconds.

Shapes: each is an immutable tuple. A time holds the nanosecond of its day, a duration of days
    and time its nanoseconds, one of years and months its months; the two never mix.
Source: DMN 1.5 sections 10.3.2.3.4 to 10.3.2.3.9.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import NamedTuple

from chalicelib.feel import calendar, zones
from chalicelib.feel.zones import NANOS_PER_DAY, NANOS_PER_SECOND, Zone

_NANOS_PER_MICRO = 1_000


class Date(NamedTuple):
    """A day of the proleptic Gregorian calendar."""

    year: int
    month: int
    day: int

    @property
    def number(self) -> int:
        """The day's number, counted from 1970-01-01."""
        return calendar.day_number(self.year, self.month, self.day)

    @classmethod
    def of_parts(cls, year: int, month: int, day: int) -> Date | None:
        """Make the date of three numbers; None if there is no such day."""
        return cls(year, month, day) if calendar.is_date(year, month, day) else None

    @classmethod
    def of_number(cls, number: int) -> Date | None:
        """Make the date of a day number; None beyond nine-digit years."""
        year, month, day = calendar.date_of(number)
        return cls(year, month, day) if abs(year) <= calendar.YEAR_MAX else None

    def plus_months(self, months: int) -> Date | None:
        """Move by whole months; a day the new month lacks becomes its last one."""
        year, month, day = calendar.add_months(self.year, self.month, self.day, months)
        return Date(year, month, day) if abs(year) <= calendar.YEAR_MAX else None


class Time(NamedTuple):
    """A time of day, local or in a zone."""

    nanos: int
    zone: Zone = None

    @property
    def second(self) -> int:
        """The whole second of the day, on which times compare."""
        return self.nanos // NANOS_PER_SECOND

    @property
    def instant(self) -> int:
        """The nanosecond of the day in UTC, or of the local day without a zone."""
        offset = 0 if self.zone is None else zones.standard_offset(self.zone)
        return self.nanos - offset * NANOS_PER_SECOND


class DateAndTime(NamedTuple):
    """A time on a day, local or in a zone."""

    date: Date
    nanos: int
    zone: Zone = None

    @property
    def local(self) -> int:
        """Nanoseconds from 1970-01-01T00:00:00 on the clock of its own zone."""
        return self.date.number * NANOS_PER_DAY + self.nanos

    @property
    def offset(self) -> int | None:
        """Seconds east of UTC; None without a zone."""
        if self.zone is None:
            return None
        return zones.offset_of_local(self.zone, self.date.number, self.nanos // NANOS_PER_SECOND)

    @property
    def instant(self) -> int:
        """Nanoseconds from the epoch in UTC, or of the local clock without a zone."""
        return self.local - (self.offset or 0) * NANOS_PER_SECOND

    @classmethod
    def of_local(cls, local: int, zone: Zone) -> DateAndTime | None:
        """Make it from its own clock's nanoseconds; None beyond nine-digit years."""
        day, nanos = divmod(local, NANOS_PER_DAY)
        on = Date.of_number(day)
        return None if on is None else cls(on, nanos, zone)

    @classmethod
    def of_instant(cls, instant: int, zone: Zone) -> DateAndTime | None:
        """Make it from nanoseconds in UTC; None beyond nine-digit years."""
        if zone is None:
            return cls.of_local(instant, None)
        day, nanos = divmod(instant, NANOS_PER_DAY)
        offset = zones.offset_of_instant(zone, day, nanos // NANOS_PER_SECOND)
        return cls.of_local(instant + offset * NANOS_PER_SECOND, zone)

    @classmethod
    def of_datetime(cls, moment: datetime) -> DateAndTime:
        """Take over Python's date-time; a zone of the IANA database keeps its name."""
        day = Date(moment.year, moment.month, moment.day)
        return cls(day, _nanos_of(moment.time()), _zone_of(moment))


class DayTimeDuration(NamedTuple):
    """A span of days, hours, minutes and seconds."""

    nanos: int

    def to_timedelta(self) -> timedelta:
        """Give Python's duration, to the microsecond. Raises: OverflowError beyond its range."""
        return timedelta(microseconds=self.nanos // _NANOS_PER_MICRO)

    @classmethod
    def of_timedelta(cls, span: timedelta) -> DayTimeDuration:
        """Take over Python's duration."""
        return cls((span // timedelta(microseconds=1)) * _NANOS_PER_MICRO)


class YearMonthDuration(NamedTuple):
    """A span of years and months, which has no fixed length in days."""

    months: int


Duration = DayTimeDuration | YearMonthDuration
Temporal = Date | Time | DateAndTime | DayTimeDuration | YearMonthDuration


def add_duration(moment: datetime, duration: Duration) -> datetime:
    """Move Python's date-time by a duration of either kind, as a timer does.

    Raises: OverflowError or ValueError if the result is outside of years 1 to 9999.
    """
    if isinstance(duration, DayTimeDuration):
        return moment + duration.to_timedelta()
    year, month, day = calendar.add_months(moment.year, moment.month, moment.day, duration.months)
    return moment.replace(year=year, month=month, day=day)


def of_python(value: date | time | timedelta) -> Temporal:
    """Take over a temporal value of Python's standard library (`datetime` is a `date`)."""
    if isinstance(value, datetime):
        return DateAndTime.of_datetime(value)
    if isinstance(value, date):
        return Date(value.year, value.month, value.day)
    if isinstance(value, time):
        return Time(_nanos_of(value), _zone_of(value))
    return DayTimeDuration.of_timedelta(value)


def _nanos_of(value: time) -> int:
    second = (value.hour * 60 + value.minute) * 60 + value.second
    return second * NANOS_PER_SECOND + value.microsecond * _NANOS_PER_MICRO


def _zone_of(value: datetime | time) -> Zone:
    name = getattr(value.tzinfo, "key", None)
    if isinstance(name, str):
        return 0 if name == "UTC" else name
    offset = value.utcoffset()
    return None if offset is None else offset // timedelta(seconds=1)
