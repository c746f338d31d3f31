"""Lengths of time as models and requests write them, in two grammars.

A *fixed* duration has one length: weeks, days, hours, minutes, seconds. Retry policies, locks and
waits are made of them (R114). A *calendar* duration may have years and months besides, whose
length depends on where it starts, and may be negative; timers are made of them.
"""

from __future__ import annotations

import calendar
import re
from datetime import datetime, timedelta
from typing import NamedTuple

TEXT_MAX = 200  # characters; the longest sensible cycle has about 80
YEARS_MAX = 9999  # the last year of `datetime`, so nothing longer can ever be due
FIXED_MAX = timedelta(days=36_525)  # R114: what is longer saturates, far above any cap of ours
POLICY_MAX = 100  # entries; no job has more retries (jobs.maxRetries)

_FIXED = (
    r"P(?=[0-9T])(?:([0-9]+)W)?(?:([0-9]+)D)?"
    r"(?:T(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+)S)?)?"
)
_CALENDAR = (
    r"(-?)P(?=[0-9T])(?:([0-9]+)Y)?(?:([0-9]+)M)?(?:([0-9]+)W)?(?:([0-9]+)D)?"
    r"(?:T(?=[0-9])(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+)(?:\.([0-9]+))?S)?)?"
)
_ONE_SECOND = timedelta(seconds=1)


class InvalidTime(ValueError):
    """The text is no such time, or it leads beyond what a calendar holds."""


class Duration(NamedTuple):
    """A calendar duration: whole months and a fixed rest, both of one sign."""

    months: int = 0
    rest: timedelta = timedelta(0)

    @property
    def is_positive(self) -> bool:
        """Whether it leads into the future at all."""
        return self.months > 0 or self.rest > timedelta(0)

    def times(self, count: int) -> Duration:
        """Return the duration `count` times over. Raises: InvalidTime."""
        try:
            return Duration(self.months * count, self.rest * count)
        except OverflowError as error:
            raise InvalidTime(f"a duration of over {YEARS_MAX} years") from error

    def after(self, moment: datetime) -> datetime:
        """Return the moment this long after another; a month later is the same day, or the
        last of its month.

        Raises: InvalidTime if that is no year from 1 to 9999.
        """
        try:
            return _months_after(moment, self.months) + self.rest
        except (OverflowError, ValueError) as error:
            raise InvalidTime(
                f"{moment.isoformat()} and {self.months} months and {self.rest} after it "
                f"is not in the years 1 to {YEARS_MAX}"
            ) from error


def parse_fixed_duration(text: str) -> timedelta:
    """Read `P[nW][nD][T[nH][nM][nS]]`; blanks around it do not count.

    Returns at most FIXED_MAX, however much more the text says.
    Raises: InvalidTime for anything else, such as years, months, fractions and signs.
    Source: R114 of contracts/zenbpm.md.
    """
    found = re.fullmatch(_FIXED, _bounded(text))
    if found is None:
        raise InvalidTime(
            f"expected an ISO 8601 duration of weeks, days, hours, minutes and seconds, "
            f"such as PT30S or P1DT12H, found {_quoted(text)}"
        )
    weeks, days, hours, minutes, seconds = (int(digits or 0) for digits in found.groups())
    total = ((weeks * 7 + days) * 24 + hours) * 3600 + minutes * 60 + seconds
    return timedelta(seconds=min(total, FIXED_MAX // _ONE_SECOND))


def parse_retry_policy(text: str) -> tuple[timedelta, ...]:
    """Read a comma list of fixed durations: what the first, second, … failure waits (R111).

    Raises: InvalidTime.
    """
    entries = text.split(",", maxsplit=POLICY_MAX)
    if len(entries) > POLICY_MAX:
        raise InvalidTime(f"expected at most {POLICY_MAX} durations, found more")
    return tuple(parse_fixed_duration(entry) for entry in entries)


def parse_duration(text: str) -> Duration:
    """Read `[-]P[nY][nM][nW][nD][T[nH][nM][n[.n]S]]`; blanks around it do not count.

    Raises: InvalidTime, also for what is longer than any calendar.
    """
    found = re.fullmatch(_CALENDAR, _bounded(text))
    if found is None:
        raise InvalidTime(
            f"expected an ISO 8601 duration, such as PT30S, P1DT12H or P1M, found {_quoted(text)}"
        )
    years, months, weeks, days, hours, minutes, seconds = (
        int(digits or 0) for digits in found.groups()[1:8]
    )
    months += years * 12
    total = ((weeks * 7 + days) * 24 + hours) * 3600 + minutes * 60 + seconds
    if months > YEARS_MAX * 12 or total > YEARS_MAX * 366 * 86_400:
        raise InvalidTime(
            f"expected a duration of at most {YEARS_MAX} years, found {_quoted(text)}"
        )
    rest = timedelta(seconds=total, microseconds=_microseconds(found[9] or ""))
    return Duration(-months, -rest) if found[1] else Duration(months, rest)


def whole_second(moment: datetime) -> datetime:
    """Return the first whole second that is not before a moment; timers are due at such.

    Raises: InvalidTime after the last second of the year 9999.
    """
    if moment.microsecond == 0:
        return moment
    try:
        return moment.replace(microsecond=0) + _ONE_SECOND
    except OverflowError as error:
        raise InvalidTime(f"{moment.isoformat()} has no next second") from error


def _months_after(moment: datetime, months: int) -> datetime:
    if months == 0:
        return moment
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    if not 1 <= year <= YEARS_MAX:
        raise OverflowError
    last_day = calendar.monthrange(year, month + 1)[1]
    return moment.replace(year=year, month=month + 1, day=min(moment.day, last_day))


def _microseconds(fraction: str) -> int:
    """Round a fraction of a second up, so that nothing is ever due early."""
    return -(-int(fraction[:9].ljust(9, "0")) // 1000)


def _bounded(text: str) -> str:
    text = text.strip()
    if len(text) > TEXT_MAX:
        raise InvalidTime(f"expected at most {TEXT_MAX} characters, found {len(text)}")
    return text


def _quoted(text: str) -> str:
    return f'"{text.strip()}"'
