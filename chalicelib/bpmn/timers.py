"""When timers are due: dates, durations and cycles, and the next firing of a cycle.

A cycle counts on a *grid*: its anchor and every whole number of intervals after it. A firing that
comes late does not shift the grid, and those that were missed meanwhile do not come after it.
A cycle may be a cron expression as well: the moments that it names are its grid.
Moments are aware, in UTC; calendar arithmetic is done in UTC; what is due is due at a whole second.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple

from chalicelib.bpmn.crons import Cron, is_cron, parse_cron
from chalicelib.bpmn.durations import (
    TEXT_MAX,
    Duration,
    InvalidTime,
    parse_duration,
    whole_second,
)
from chalicelib.feel import zones

REPETITIONS_MAX = 2**31 - 1  # what every published engine's integer holds
INTERVAL_MIN = timedelta(seconds=1)  # timers have a precision of one second

_DATE = (
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[Tt]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]+))?)?"
    r"([Zz]|[+-][0-9]{2}(?::[0-9]{2})?)?(?:\[([\w+\-/]+)\]|@([\w+\-/]+))?)?"
)
# A slash, but not one inside of a zone's name: what follows is a duration or a date.
_SLASH = r"/(?=-?P[0-9T]|[0-9]{4}-)"


@dataclass(frozen=True, slots=True)
class Cycle:
    """How often, how far apart, and between which moments a timer fires.

    Shapes: `repetitions` None is endless; with a `start` the first firing is at the start,
        without it one interval after the timer is armed; none is after the `end`.
    """

    repetitions: int | None
    interval: Duration
    start: datetime | None = None
    end: datetime | None = None


class Firing(NamedTuple):
    """One firing of a timer: when, how many come after it (None: endless), and its grid."""

    due: datetime
    remaining: int | None
    anchor: datetime


def first_firing(kind: str, text: str, now: datetime) -> Firing | None:
    """Say when a timer that is armed now fires first; what is past is due at once.

    Returns None if it never fires: a cycle whose end is past.
    Shapes: `kind` is "date", "duration" or "cycle" as in `TimerDefinition`.
    Raises: InvalidTime.
    """
    match kind:
        case "date":
            return Firing(whole_second(max(parse_date(text), now)), 0, now)
        case "duration":
            duration = parse_duration(text)
            due = duration.after(now) if duration.is_positive else now
            return Firing(whole_second(due), 0, now)
        case _:
            cycle = parse_cycle(text)
            if isinstance(cycle, Cron):
                return _next_of_cron(cycle, now, now)
            return _first_of_cycle(cycle, now)


def next_firing(text: str, fired: Firing, now: datetime) -> Firing | None:
    """Say when a cycle fires after a firing: on its grid, after that one and after now.

    Returns None if it was the last.
    Raises: InvalidTime if the text is no cycle.
    """
    cycle = parse_cycle(text)
    if fired.remaining == 0:
        return None
    if isinstance(cycle, Cron):
        return _next_of_cron(cycle, max(fired.due, now), fired.anchor)
    due = _on_grid(cycle.interval, fired.anchor, 1, max(fired.due, now) + timedelta.resolution)
    if due is None or (cycle.end is not None and due > cycle.end):
        return None
    remaining = None if fired.remaining is None else fired.remaining - 1
    return Firing(due, remaining, fired.anchor)


def parse_date(text: str) -> datetime:
    """Read an ISO 8601 date and time: with an offset, a zone's name (`[Europe/Paris]` as Java
    writes it, `@Europe/Paris` as FEEL does) or, without either, in UTC; a date is its midnight.

    Raises: InvalidTime.
    """
    text = text.strip()
    found = re.fullmatch(_DATE, text) if len(text) <= TEXT_MAX else None
    if found is None:
        raise InvalidTime(
            f"expected an ISO 8601 date and time, such as 2030-10-01T12:00:00Z, "
            f'found "{text[:TEXT_MAX]}"'
        )
    year, month, day, hour, minute, second = (int(digits or 0) for digits in found.groups()[:6])
    microsecond = int((found[7] or "")[:6].ljust(6, "0"))
    zone = _zone(found[8], found[9] or found[10])
    try:
        local = datetime(year, month, day, hour, minute, second, microsecond, tzinfo=zone)
        return local.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidTime(f'"{text}" is no date in UTC: {error}') from error


def parse_cycle(text: str) -> Cycle | Cron:
    """Read `R[n]/duration`, `R[n]/start/duration`, `R[n]/duration/end`, `R[n]/start/end`, or a
    cron expression of five to seven fields.

    Raises: InvalidTime, also for an interval of less than INTERVAL_MIN.
    """
    text = text.strip()
    if is_cron(text):
        return parse_cron(text)
    found = re.fullmatch(r"R([0-9]*)", text.partition("/")[0])
    parts = re.split(_SLASH, text, maxsplit=3)[1:] if len(text) <= TEXT_MAX else []
    if found is None or not 1 <= len(parts) <= 2:
        raise InvalidTime(
            f"expected a repeating interval, such as R/PT1H, R5/PT10S or "
            f"R3/2030-01-01T00:00:00Z/P1D, or a cron expression of five to seven fields, "
            f'such as 0 9 * * MON, found "{text[:TEXT_MAX]}"'
        )
    interval, start, end = _interval(*parts)
    if interval.months < 0 or (interval.months == 0 and interval.rest < INTERVAL_MIN):
        raise InvalidTime(f'expected an interval of at least one second, found "{text}"')
    return Cycle(_repetitions(found[1], text), interval, start, end)


def _interval(
    first: str, second: str | None = None
) -> tuple[Duration, datetime | None, datetime | None]:
    """Return what lies between two firings, then the start and the end that are named."""
    if second is None:
        return parse_duration(first), None, None
    if first.lstrip("-").startswith("P"):
        return parse_duration(first), None, parse_date(second)
    start = parse_date(first)
    if second.lstrip("-").startswith("P"):
        return parse_duration(second), start, None
    return Duration(rest=parse_date(second) - start), start, None


def _repetitions(digits: str, text: str) -> int | None:
    if not digits:
        return None
    count = int(digits)
    if not 1 <= count <= REPETITIONS_MAX:
        raise InvalidTime(f'expected 1 to {REPETITIONS_MAX} repetitions, found "{text}"')
    return count


def _next_of_cron(cycle: Cron, after: datetime, anchor: datetime) -> Firing | None:
    due = cycle.after(after)
    return None if due is None else Firing(due, None, anchor)


def _first_of_cycle(cycle: Cycle, now: datetime) -> Firing | None:
    anchor, count = (now, 1) if cycle.start is None else (cycle.start, 0)
    due = _on_grid(cycle.interval, anchor, count, now)
    if due is None:
        raise InvalidTime(f"no firing before the end of the year 9999, counted from {anchor}")
    if cycle.end is not None and due > cycle.end:
        return None
    remaining = None if cycle.repetitions is None else cycle.repetitions - 1
    return Firing(due, remaining, anchor)


def _on_grid(
    interval: Duration, anchor: datetime, count: int, earliest: datetime
) -> datetime | None:
    """Return the first point of a grid, not before its `count`-th, that is due not before
    `earliest`; None if the calendar ends first.

    Starts below the answer (no month is longer than 31 days), then doubles its steps, then
    halves: some 80 steps at worst, mostly three.
    """
    longest = interval.rest + timedelta(days=31) * interval.months
    low = max(count, (earliest - anchor) // longest - 1)
    high, step = low, 1
    while (due := _point(interval, anchor, high)) is not None and due < earliest:
        low, high, step = high, high + step, step * 2
    while low < high:
        middle = (low + high) // 2
        due = _point(interval, anchor, middle)
        low, high = (middle + 1, high) if due is not None and due < earliest else (low, middle)
    return _point(interval, anchor, low)


def _point(interval: Duration, anchor: datetime, count: int) -> datetime | None:
    try:
        return whole_second(interval.times(count).after(anchor))
    except InvalidTime:
        return None


def _zone(offset: str | None, name: str | None) -> tzinfo:
    """Return the zone of a moment; an offset beside a name is the more exact of the two."""
    if offset is not None and offset not in "Zz":
        hours, _, minutes = offset[1:].partition(":")
        seconds = int(hours) * 3600 + int(minutes or 0) * 60
        if seconds > zones.OFFSET_MAX_S or int(minutes or 0) > 59:
            raise InvalidTime(f'expected an offset of at most 18 hours, found "{offset}"')
        return timezone(timedelta(seconds=-seconds if offset[0] == "-" else seconds))
    if offset is None and name is not None:
        zone = zones.named(name)
        if zone is None:
            raise InvalidTime(f'expected the name of a time zone, found "{name}"')
        return zone
    return UTC
