"""When a scheduled job fires: its schedule in AWS's form, and its next firings.

Daylight saving is as EventBridge Scheduler documents it: a local time that the clock skips has no
firing, and one that the clock repeats has one, here at its first occurrence. Intervals are counted
in elapsed time.

Source: EventBridge Scheduler User Guide, "Schedule types".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from importlib import resources
from itertools import islice
from zoneinfo import ZoneInfo

from chalicelib import cron

MINUTE_MS = 60_000
INTERVAL_MAX_MS = 366 * 24 * 60 * MINUTE_MS
YEARS_AHEAD = 41  # from one 29 February on a given weekday to the next, over a year 2100
YEAR_MIN, YEAR_MAX = 1970, 9998  # of a moment, so that any zone's view of it has a year, too
ZONE_MAX = 50  # characters of a ScheduleExpressionTimezone: API reference, CreateSchedule

_SECOND = timedelta(seconds=1)
_UNITS = (("day", 24 * 60), ("hour", 60), ("minute", 1))


@dataclass(frozen=True, slots=True)
class Cron:
    """Firings at the minutes that a Unix cron expression of five fields names, in a zone."""

    expression: str
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Every:
    """Firings at a fixed interval; the first is one interval after the job was created."""

    ms: int


@dataclass(frozen=True, slots=True)
class Once:
    """One firing at a moment (aware); a fraction of a second is rounded up."""

    at: datetime


Schedule = Cron | Every | Once


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a definition is refused: the field as the API spells it (`schedule.cron`), and why."""

    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Expression:
    """A schedule as EventBridge Scheduler takes it: ScheduleExpression and its time zone.

    Shapes: a `rate(…)` also needs the StartDate of its first firing, from `next_firings`: without
        one it fires at once.
    """

    text: str
    timezone: str = "UTC"


def translate(schedule: Schedule) -> Expression | Problem:
    """Write a schedule in EventBridge Scheduler's form, or say why it cannot be."""
    match schedule:
        case Cron():
            return _translate_cron(schedule)
        case Every():
            return _translate_interval(schedule.ms)
        case Once():
            if schedule.at.utcoffset() is None:
                return Problem(
                    "schedule.run_at",
                    f"expected a moment with an offset, such as 2030-01-01T09:00:00Z, "
                    f"found {schedule.at.isoformat()}",
                )
            if not YEAR_MIN <= schedule.at.year <= YEAR_MAX:
                return Problem(
                    "schedule.run_at",
                    f"expected a year from {YEAR_MIN} to {YEAR_MAX}, found {schedule.at.year}",
                )
            return Expression(f"at({_whole_second(schedule.at):%Y-%m-%dT%H:%M:%S})")


def next_firings(
    schedule: Schedule, after: datetime, count: int, created_at: datetime
) -> list[datetime]:
    """Return the next firings after a moment, in order and in UTC; fewer if there are no more.

    Shapes: `created_at` is the anchor of an interval; a schedule that `translate` refuses has no
        firings.
    """
    if isinstance(translate(schedule), Problem):
        return []
    match schedule:
        case Cron():
            firings = _firings_of_cron(schedule, after)
        case Every():
            firings = _firings_of_interval(timedelta(milliseconds=schedule.ms), after, created_at)
        case Once():
            at = _whole_second(schedule.at)
            firings = iter([at] if at > after else [])
    return list(islice(firings, count))


# --- intervals -------------------------------------------------------------------------------


def _translate_interval(ms: int) -> Expression | Problem:
    if not MINUTE_MS <= ms <= INTERVAL_MAX_MS or ms % MINUTE_MS:
        return Problem(
            "schedule.every_ms",
            f"expected whole minutes, a multiple of {MINUTE_MS} from {MINUTE_MS} to "
            f"{INTERVAL_MAX_MS}, found {ms}: EventBridge Scheduler has nothing finer",
        )
    minutes = ms // MINUTE_MS
    unit, length = next((unit, length) for unit, length in _UNITS if minutes % length == 0)
    value = minutes // length
    return Expression(f"rate({value} {unit}{'s' if value > 1 else ''})")


def _firings_of_interval(
    interval: timedelta, after: datetime, created_at: datetime
) -> Iterator[datetime]:
    anchor = _whole_second(created_at)
    passed = max((after - anchor) // interval, 0)
    due = anchor + (passed + 1) * interval
    while True:
        yield due
        due += interval


def _whole_second(moment: datetime) -> datetime:
    """Return the first whole second that is not before a moment, in UTC."""
    moment = moment.astimezone(UTC)
    floor = moment.replace(microsecond=0)
    return floor if floor == moment else floor + _SECOND


# --- cron ------------------------------------------------------------------------------------


def _translate_cron(schedule: Cron) -> Expression | Problem:
    if zone(schedule.timezone) is None:
        return Problem(
            "schedule.timezone",
            f"expected a time zone of the IANA database, such as Europe/Paris, "
            f'found "{schedule.timezone}"',
        )
    try:
        return Expression(cron.parse(schedule.expression).expression, schedule.timezone)
    except cron.InvalidCron as error:
        return Problem("schedule.cron", str(error))


@lru_cache(maxsize=512)
def zone(name: str) -> ZoneInfo | None:
    """Find an IANA zone; None if there is none of that name.

    Shapes: the names are those of the database, whatever else a machine keeps in the folder of its
        zones, such as `right/…` with leap seconds or `localtime`.
    """
    if not 0 < len(name) <= ZONE_MAX or name not in _names():
        return None
    return ZoneInfo(name)


@lru_cache(maxsize=1)
def _names() -> frozenset[str]:
    """Return the names of the database that is installed with us."""
    text = resources.files("tzdata").joinpath("zones").read_text("ascii")
    return frozenset(text.split()) - {"Factory"}


def _firings_of_cron(schedule: Cron, after: datetime) -> Iterator[datetime]:
    times, place = cron.parse(schedule.expression), zone(schedule.timezone)
    assert place is not None
    # Only the first of two equal local times fires, so what is later is later on the clock too.
    start = after.astimezone(place).replace(tzinfo=None)
    for day in _days(times, start.date()):
        for hour in times.hours:
            for minute in times.minutes:
                local = datetime(day.year, day.month, day.day, hour, minute)
                if local < start:
                    continue  # without the cost of its zone
                moment = local.replace(tzinfo=place).astimezone(UTC)
                is_skipped = moment.astimezone(place).replace(tzinfo=None) != local
                if moment > after and not is_skipped:
                    yield moment


def _days(times: cron.Times, start: date) -> Iterator[date]:
    """Yield the dates from one on that an expression names."""
    for year in range(start.year, min(start.year + YEARS_AHEAD, 9998)):
        for month in times.months:
            if (year, month) >= (start.year, start.month):
                found = (date(year, month, day) for day in times.days_of(year, month))
                yield from (day for day in found if day >= start)
