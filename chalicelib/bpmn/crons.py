"""Cron expressions of timers: five fields in the Unix sense, seconds before them, a year behind.

    [second]  minute  hour  day of month  month  day of week  [year]

Six fields begin with the second, as Spring and Zeebe write them, unless the last one names years.
The five in the middle are read by `chalicelib.cron`, which scheduled jobs share; here a step may
start at a number (`0/15`) and the usual names (`@daily`) are known. All is in UTC.

Source: contracts/bpmn.md 3.1 (timer catch), contracts/zenbpm.md 4.3 (timers).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from chalicelib import cron
from chalicelib.bpmn.durations import InvalidTime

YEARS_AHEAD = 41  # from one 29 February on a given weekday to the next, over a year 2100
YEAR_MIN, YEAR_MAX = 1970, 9999
TEXT_MAX = cron.EXPRESSION_MAX
KEPT_MAX = 256  # expressions that a process keeps as read

NAMES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}

_YEARS = r"(?:\*|[0-9]{4}(?:-[0-9]{4})?(?:/[0-9]+)?(?:,[0-9]{4}(?:-[0-9]{4})?(?:/[0-9]+)?)*)"
_NAMES_A_YEAR = r"[0-9]{4}.*"
_HIGHEST = (59, 23, 31, 12, 7)  # of the five fields


@dataclass(frozen=True, slots=True)
class Cron:
    """The moments that an expression names; `years` None are all."""

    seconds: Sequence[int]
    times: cron.Times
    years: frozenset[int] | None = None

    def after(self, moment: datetime) -> datetime | None:
        """Return the first moment it names after another; None if there is none any more."""
        moment = moment.astimezone(UTC)
        for day in self._days(moment.date()):
            of_day = (moment - datetime(day.year, day.month, day.day, tzinfo=UTC)).total_seconds()
            second = self._second_after(of_day)
            if second is not None:
                return datetime(day.year, day.month, day.day, tzinfo=UTC) + second
        return None

    def _second_after(self, of_day: float) -> timedelta | None:
        """Return the first time of a day that is named and after so many seconds of it."""
        for hour in self.times.hours:
            if (hour + 1) * 3600 <= of_day:
                continue
            for minute in self.times.minutes:
                start = hour * 3600 + minute * 60
                if start + 60 <= of_day:
                    continue
                place = bisect_left(self.seconds, int(of_day // 1) - start + 1)
                if place < len(self.seconds):
                    return timedelta(seconds=start + self.seconds[place])
        return None

    def _days(self, start: date) -> Iterator[date]:
        for year in range(start.year, min(start.year + YEARS_AHEAD, YEAR_MAX) + 1):
            if self.years is not None and year not in self.years:
                continue
            for month in self.times.months:
                if (year, month) >= (start.year, start.month):
                    days = (date(year, month, day) for day in self.times.days_of(year, month))
                    yield from (day for day in days if day >= start)


@lru_cache(maxsize=KEPT_MAX)
def parse_cron(text: str) -> Cron:
    """Read an expression of five to seven fields, or one of NAMES. Raises: InvalidTime."""
    if len(text) > TEXT_MAX:
        raise InvalidTime(f"expected at most {TEXT_MAX} characters, found {len(text)}")
    fields = NAMES.get(text.strip().lower(), text).split()
    if not 5 <= len(fields) <= 7:
        raise InvalidTime(
            "expected a cron expression of five to seven fields ([second] minute hour "
            f'day-of-month month day-of-week [year]), found "{text.strip()}"'
        )
    years = None
    if len(fields) == 7 or (len(fields) == 6 and re.fullmatch(_NAMES_A_YEAR, fields[5])):
        years = _years(fields.pop())
    second = fields.pop(0) if len(fields) == 6 else "0"
    try:
        seconds = cron.parse(f"{_stepped(second, 59)} * * * *").minutes
    except cron.InvalidCron as error:
        raise InvalidTime(str(error).replace("a minute", "a second", 1)) from error
    stepped = map(_stepped, fields, _HIGHEST)
    try:
        return Cron(seconds, cron.parse(" ".join(stepped)), years)
    except cron.InvalidCron as error:
        raise InvalidTime(str(error)) from error


def is_cron(text: str) -> bool:
    """Say whether a cycle is meant as a cron expression: it has fields, or is a name for some."""
    text = text.strip()
    return text.startswith("@") or (" " in text and not re.match(r"R[0-9]*/", text))


def _stepped(field: str, highest: int) -> str:
    """Write a step that starts at a number as one of the range from there."""
    return ",".join(re.sub(r"^([0-9]+)/", rf"\g<1>-{highest}/", part) for part in field.split(","))


def _years(field: str) -> frozenset[int] | None:
    """Read the years. Raises: InvalidTime."""
    if not re.fullmatch(_YEARS, field):
        raise InvalidTime(f'expected years, such as 2030, 2030-2035 or *, found "{field}"')
    if field == "*":
        return None
    years: set[int] = set()
    for part in field.split(","):
        span, _, step = part.partition("/")
        first, dash, last = span.partition("-")
        end = int(last) if dash else (YEAR_MAX if step else int(first))
        if not YEAR_MIN <= int(first) <= end or (step and int(step) == 0):
            raise InvalidTime(f'expected years from {YEAR_MIN} that rise, found "{field}"')
        years.update(range(int(first), end + 1, int(step or 1)))
    return frozenset(years)
