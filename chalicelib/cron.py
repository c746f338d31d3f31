"""Cron expressions of five fields in the Unix sense: what they name, and EventBridge's six fields.

Scheduled jobs fire by them, and so do timers of models (`bpmn/crons.py`).

An expression is read into sets of numbers; both the translation and the firings come from these,
so they cannot mean different things. The days of a month are given by one of the two day fields;
the other must be `*` (or `?`), as EventBridge Scheduler cannot say "the 1st or any Monday".

    minute  hour  day of month  month  day of week
    0-59    0-23  1-31          1-12   0-7 (0 and 7 are Sunday)

Each field is `*` or a comma list of numbers, ranges (`1-5`) and stepped ranges (`*/15`, `1-31/2`);
months and weekdays also go by name (`JAN`, `SUN`). Of EventBridge's own wildcards the documented
forms are taken, each alone in its field: `L` (last day) and `15W` (the weekday nearest to the
15th) for the day of the month, `5L` (the last Friday) and `5#2` (the second Friday) for the day of
the week, the weekday numbered as Unix does.

Source: POSIX crontab; EventBridge User Guide, "Cron expressions reference".
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

EXPRESSION_MAX = 256  # characters of a ScheduleExpression, and of what we read; ours needs fewer
WEEKDAY_NEAREST_MAX = 28  # every month has that day; what 31W means elsewhere is not documented

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")

_ANY = frozenset({"*", "?", "*/1"})


class InvalidCron(ValueError):
    """The text is no cron expression, or none that EventBridge Scheduler can express."""


@dataclass(frozen=True, slots=True)
class Days:
    """The days of a month by one of the day fields.

    Shapes: `of` gives the days of a month from its first weekday (0 is Monday) and its length;
        `fields` are EventBridge's day of month and day of week.
    """

    of: Callable[[int, int], Iterable[int]]
    fields: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Times:
    """What an expression names: sorted numbers, and the days of a month."""

    minutes: Sequence[int]
    hours: Sequence[int]
    months: Sequence[int]
    days: Days

    def days_of(self, year: int, month: int) -> list[int]:
        """Return the days of a month on which it fires, in order; none in another month."""
        if month not in self.months:
            return []
        first, length = monthrange(year, month)
        return sorted(day for day in self.days.of(first, length) if day <= length)

    @property
    def can_fire(self) -> bool:
        """Whether there is such a day in any year: 30 February has none."""
        # The weekdays and leap days of 28 years in a row come in every combination, so a fifth
        # Monday in February is found too.
        return any(self.days_of(year, month) for year in range(2000, 2028) for month in self.months)

    @property
    def expression(self) -> str:
        """The six fields of EventBridge Scheduler, as `cron(…)`."""
        day, weekday = self.days.fields
        minutes, hours = _written(self.minutes, 0, 59), _written(self.hours, 0, 23)
        months = _written(self.months, 1, 12)
        return f"cron({minutes} {hours} {day} {months} {weekday} *)"


@dataclass(frozen=True, slots=True)
class _Field:
    """One field: its name and its numbers."""

    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    def number(self, text: str) -> int:
        """Read one number or name. Raises: InvalidCron."""
        if text.upper() in self.names:
            return self.low + self.names.index(text.upper())
        if re.fullmatch(r"[0-9]{1,2}", text) and self.low <= int(text) <= self.high:
            return int(text)
        named = f" or {self.names[0]} to {self.names[-1]}" if self.names else ""
        raise InvalidCron(
            f'expected {self.name} from {self.low} to {self.high}{named}, found "{text}"'
        )

    def numbers(self, text: str) -> list[int]:
        """Read a comma list, each number once and in order. Raises: InvalidCron."""
        return sorted({number for part in text.split(",") for number in self._part(part)})

    def _part(self, text: str) -> Iterable[int]:
        span, slash, step_text = text.partition("/")
        if slash and not re.fullmatch(r"[1-9][0-9]?", step_text):
            raise InvalidCron(f'expected a step from 1 to 99 in {self.name}, found "{text}"')
        step = int(step_text) if slash else 1
        if span == "*":
            return range(self.low, self.high + 1, step)
        first, dash, last = span.partition("-")
        if not dash:
            if slash:
                raise InvalidCron(
                    f"expected a range before the step in {self.name}, "
                    f'such as {first}-{self.high}/{step}, found "{text}"'
                )
            return [self.number(first)]
        low, high = self.number(first), self.number(last)
        if self.names is WEEKDAYS and high == 0 < low:
            high = 7  # a range that ends on Sunday
        if high < low:
            raise InvalidCron(f'expected a range that rises in {self.name}, found "{text}"')
        return range(low, high + 1, step)


_MINUTE = _Field("a minute", 0, 59)
_HOUR = _Field("an hour", 0, 23)
_DAY = _Field("a day of the month", 1, 31)
_MONTH = _Field("a month", 1, 12, MONTHS)
_WEEKDAY = _Field("a day of the week", 0, 7, WEEKDAYS)


def parse(expression: str) -> Times:
    """Read an expression. Raises: InvalidCron, saying what was expected and found."""
    fields = expression.split() if len(expression) <= EXPRESSION_MAX else []
    if len(fields) != 5:
        raise InvalidCron(
            "expected five fields (minute, hour, day of month, month, day of week), "
            f'found "{expression[:EXPRESSION_MAX]}"'
        )
    minute, hour, day, month, weekday = fields
    times = Times(
        _MINUTE.numbers(minute), _HOUR.numbers(hour), _MONTH.numbers(month), _days(day, weekday)
    )
    if not times.can_fire:
        raise InvalidCron(f'"{expression}" names a day that no month of it has')
    return times


# --- days ------------------------------------------------------------------------------------


def _days(day: str, weekday: str) -> Days:
    if day not in _ANY and weekday not in _ANY:
        raise InvalidCron(
            "EventBridge Scheduler cannot restrict both days: expected * for the day of the month "
            f'or the day of the week, found "{day}" and "{weekday}"'
        )
    return _by_weekday(weekday.upper()) if weekday not in _ANY else _by_day(day.upper())


def _by_day(text: str) -> Days:
    if text in _ANY:
        return Days(lambda first, length: range(1, length + 1), ("*", "?"))
    if text == "L":
        return Days(lambda first, length: [length], ("L", "?"))
    if nearest := re.fullmatch(r"([0-9]{1,2})W", text):
        day = _DAY.number(nearest[1])
        if day > WEEKDAY_NEAREST_MAX:
            raise InvalidCron(
                f'expected a day before W that every month has, up to 28, found "{text}"'
            )
        return Days(lambda first, length: [_nearest_weekday(day, first, length)], (f"{day}W", "?"))
    days = _DAY.numbers(text)
    return Days(lambda first, length: days, (_written(days, 1, 31), "?"))


def _by_weekday(text: str) -> Days:
    if last := re.fullmatch(r"([0-9]|[A-Z]{3})L", text):
        weekday = _WEEKDAY.number(last[1]) % 7
        return Days(
            lambda first, length: _dated(weekday, first, length)[-1:], ("?", f"{weekday + 1}L")
        )
    if nth := re.fullmatch(r"([0-9]|[A-Z]{3})#([1-5])", text):
        weekday, n = _WEEKDAY.number(nth[1]) % 7, int(nth[2])
        return Days(
            lambda first, length: _dated(weekday, first, length)[n - 1 : n],
            ("?", f"{weekday + 1}#{n}"),
        )
    weekdays = sorted({number % 7 for number in _WEEKDAY.numbers(text)})
    if len(weekdays) == 7:
        return _by_day("*")
    return Days(
        lambda first, length: [d for weekday in weekdays for d in _dated(weekday, first, length)],
        # EventBridge has no step here, and counts from 1 for Sunday.
        ("?", _ranges([weekday + 1 for weekday in weekdays])),
    )


def _dated(weekday: int, first: int, length: int) -> list[int]:
    """Return the days of a month that fall on a weekday (0 is Sunday)."""
    return list(range((weekday - 1 - first) % 7 + 1, length + 1, 7))


def _nearest_weekday(day: int, first: int, length: int) -> int:
    """Return the day from Monday to Friday that is nearest to one, in the same month."""
    match (first + day - 1) % 7:
        case 5:  # Saturday
            return day - 1 if day > 1 else day + 2
        case 6:  # Sunday
            return day + 1 if day < length else day - 2
        case _:
            return day


# --- EventBridge's form ----------------------------------------------------------------------


def _written(numbers: Sequence[int], low: int, high: int) -> str:
    """Write a field: `*`, `start/step` where it says the same, or a list of ranges."""
    if len(numbers) == high - low + 1:
        return "*"
    if len(numbers) > 2:
        step = numbers[1] - numbers[0]
        if step > 1 and list(numbers) == list(range(numbers[0], high + 1, step)):
            return f"{numbers[0]}/{step}"
    return _ranges(numbers)


def _ranges(numbers: Sequence[int]) -> str:
    """Write numbers as a comma list in which three or more in a row are a range."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs
    )
