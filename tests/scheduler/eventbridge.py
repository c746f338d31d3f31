"""What a `cron(…)` of EventBridge Scheduler means, read from its documentation alone.

It shares nothing with the translation that it judges: each field is matched against one date as
text. Source: EventBridge User Guide, "Cron expressions reference".
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta

_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_WEEKDAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
_DAY = timedelta(days=1)


def minutes_of(expression: str, first: date, last: date) -> Iterator[datetime]:
    """Yield the local minutes that an expression names, from one date to another."""
    assert expression.startswith("cron(") and expression.endswith(")")
    minute, hour, day, month, weekday, year = expression[5:-1].split(" ")
    assert [day, weekday].count("?") == 1, "one of the day fields is ?"
    times = [
        time(h, m)
        for h in range(24)
        if _matches(hour, h, ",-*/")
        for m in range(60)
        if _matches(minute, m, ",-*/")
    ]
    while first <= last:
        if (
            _matches(year, first.year, ",-*/")
            and _matches(_numbered(month, _MONTHS), first.month, ",-*/")
            and _is_day(day, first)
            and _is_weekday(_numbered(weekday, _WEEKDAYS), first)
        ):
            yield from (datetime.combine(first, each) for each in times)
        first += _DAY


def _matches(field: str, value: int, wildcards: str) -> bool:
    """Say whether a value is in a field that may use some of `, - * /`."""
    assert set(field) <= set("0123456789" + wildcards), f"{field} has more than {wildcards}"
    return any(_is_in(part, value) for part in field.split(","))


def _is_in(part: str, value: int) -> bool:
    if part == "*":
        return True
    if "/" in part:
        start, step = map(int, part.split("/"))
        return value >= start and (value - start) % step == 0
    if "-" in part:
        low, high = map(int, part.split("-"))
        assert low < high
        return low <= value <= high
    return int(part) == value


def _is_day(field: str, day: date) -> bool:
    if field == "?":
        return True
    if field == "L":
        return (day + _DAY).month != day.month
    if field.endswith("W"):
        return day == _nearest(day.replace(day=int(field[:-1])))
    return _matches(field, day.day, ",-*/")


def _nearest(day: date) -> date:
    """Return the weekday nearest to a date within its month."""
    around = [day + n * _DAY for n in (0, -1, 1, -2, 2)]
    return next(each for each in around if each.month == day.month and each.isoweekday() < 6)


def _is_weekday(field: str, day: date) -> bool:
    number = day.isoweekday() % 7 + 1  # 1 is Sunday
    if field == "?":
        return True
    if field.endswith("L"):
        return number == int(field[:-1]) and (day + 7 * _DAY).month != day.month
    if "#" in field:
        weekday, n = map(int, field.split("#"))
        return number == weekday and (day.day - 1) // 7 + 1 == n
    return _matches(field, number, ",-*")


def _numbered(field: str, names: list[str]) -> str:
    for number, name in enumerate(names, start=1):
        field = field.replace(name, str(number))
    return field
