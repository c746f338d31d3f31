"""Schedules: what they are for EventBridge, when they fire, and that both mean the same.

A cron library and an evaluator of EventBridge's form each judge a year of firings.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from cronsim import CronSim
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib.scheduler.schedules import (
    Cron,
    Every,
    Expression,
    Once,
    Problem,
    Schedule,
    next_firings,
    translate,
)
from tests.scheduler.eventbridge import minutes_of

CREATED = datetime(2025, 12, 31, 23, 30, 0, 250_000, tzinfo=UTC)
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)

EXPRESSIONS = {
    "*/15 * * * *": "cron(0/15 * * * ? *)",
    "7-59/10 */3 * * *": "cron(7/10 0/3 * * ? *)",
    "0 */2 * * *": "cron(0 0/2 * * ? *)",
    "5,35 8-10 * * MON-FRI": "cron(5,35 8-10 ? * 2-6 *)",
    "0 9 * * 1-5": "cron(0 9 ? * 2-6 *)",
    "0 9 * * 0": "cron(0 9 ? * 1 *)",
    "0 9 * * 7": "cron(0 9 ? * 1 *)",
    "0 9 * * 0,7": "cron(0 9 ? * 1 *)",
    "0 9 * * 5-7": "cron(0 9 ? * 1,6,7 *)",
    "0 9 * * */2": "cron(0 9 ? * 1,3,5,7 *)",
    "0 9 * * 0-7": "cron(0 9 * * ? *)",
    "0 9-9,20-23 * * *": "cron(0 9,20-23 * * ? *)",
    "30 4 1,15 * *": "cron(30 4 1,15 * ? *)",
    "30 4 */2 * *": "cron(30 4 1/2 * ? *)",
    "30 4 31 * *": "cron(30 4 31 * ? *)",
    "0 0 1-7 JAN-MAR,DEC *": "cron(0 0 1-7 1-3,12 ? *)",
    "0 0 1 */3 *": "cron(0 0 1 1/3 ? *)",
    "0 0 29 feb *": "cron(0 0 29 2 ? *)",
    "0 12 L * *": "cron(0 12 L * ? *)",
    "0 12 * * 5L": "cron(0 12 ? * 6L *)",
    "0 12 * * 1#1": "cron(0 12 ? * 2#1 *)",
    "0 12 * * fri#5": "cron(0 12 ? * 6#5 *)",
    "59 23 ? 12 *": "cron(59 23 * 12 ? *)",
}
UNKNOWN_TO_THE_LIBRARY = {
    "0 9 * * FRI-SUN": "cron(0 9 ? * 1,6,7 *)",
    "0 9 * * SUN-SUN": "cron(0 9 ? * 1 *)",
    "0 9 * * sun-tue": "cron(0 9 ? * 1-3 *)",
    "0 12 15W * *": "cron(0 12 15W * ? *)",
    "0 12 1W * *": "cron(0 12 1W * ? *)",
    "0 12 28w 2,8 *": "cron(0 12 28W 2,8 ? *)",
}


def written(schedule: Schedule) -> Expression:
    translated = translate(schedule)
    assert isinstance(translated, Expression), translated
    return translated


def refused(schedule: Schedule) -> Problem:
    translated = translate(schedule)
    assert isinstance(translated, Problem), translated
    assert [] == next_firings(schedule, NEW_YEAR, 5, CREATED)
    return translated


def firings_of(schedule: Schedule, after: datetime, until: datetime) -> list[datetime]:
    """Return the firings from one moment to before another."""
    minutes = (until - after) // timedelta(minutes=1)
    firings = next_firings(schedule, after - SECOND, minutes // 5, CREATED)
    assert firings[-1] >= until or len(firings) < minutes // 5
    return [each for each in firings if each < until]


# --- against a cron library, and against what the translation means --------------------------


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_year_of_firings_is_a_cron_librarys(expression: str) -> None:
    until = NEW_YEAR + timedelta(days=366 if "29" not in expression else 3 * 366)
    library = []
    for moment in CronSim(expression.replace("?", "*"), NEW_YEAR - SECOND):
        if moment >= until:
            break
        library.append(moment)
    assert library == firings_of(Cron(expression), NEW_YEAR, until)
    assert library


@pytest.mark.parametrize(
    ("expression", "translated"), (EXPRESSIONS | UNKNOWN_TO_THE_LIBRARY).items()
)
def test_a_year_of_firings_is_what_the_translation_means(expression: str, translated: str) -> None:
    assert Expression(translated) == written(Cron(expression))

    is_dense = "* * *" in expression
    last = date(2026 if is_dense else 2028, 12, 31)
    meant = list(minutes_of(translated, NEW_YEAR.date(), last))
    until = datetime(last.year + 1, 1, 1, tzinfo=UTC)
    firings = firings_of(Cron(expression), NEW_YEAR, until)
    assert meant == [moment.replace(tzinfo=None) for moment in firings]


@pytest.mark.parametrize("expression", ["30 4 * * *", "*/30 2-20/6 * * 1-5", "15 2 1-28 * *"])
@pytest.mark.parametrize(
    "zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata"]
)
def test_a_year_in_a_zone_is_a_cron_librarys_but_for_the_days_of_change(
    zone: str, expression: str
) -> None:
    place = ZoneInfo(zone)
    start, until = datetime(2026, 1, 1, tzinfo=place), datetime(2027, 1, 1, tzinfo=place)
    library = []
    for moment in CronSim(expression, start - SECOND):
        if moment >= until:
            break
        library.append(moment.astimezone(UTC))
    ours = firings_of(Cron(expression, zone), start.astimezone(UTC), until.astimezone(UTC))

    def is_plain(moment: datetime) -> bool:
        midnight = moment.astimezone(place).replace(hour=0, minute=0)
        return midnight.utcoffset() == (midnight + timedelta(days=1)).utcoffset()

    assert list(filter(is_plain, library)) == list(filter(is_plain, ours))


def test_a_day_that_comes_once_in_decades_is_found() -> None:
    due = datetime(2044, 2, 29, 9, tzinfo=UTC)
    assert [due] == next_firings(Cron("0 9 * 2 1#5"), NEW_YEAR, 1, CREATED)


def fields(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    # CronSim reads the step of a range of one, 5-5/2, as if the range had no end.
    pair = st.lists(number, min_size=2, max_size=2, unique=True).map(sorted)
    span = pair.map(lambda ends: f"{ends[0]}-{ends[1]}")
    step = st.tuples(st.one_of(span, st.just("*")), st.integers(1, 20)).map(
        lambda stepped: f"{stepped[0]}/{stepped[1]}"
    )
    part = st.one_of(number.map(str), span, step)
    return st.one_of(st.just("*"), st.lists(part, min_size=1, max_size=3).map(",".join))


@given(
    st.tuples(fields(0, 59), fields(0, 23), fields(1, 28), fields(1, 12), fields(0, 7)),
    st.booleans(),
    st.datetimes(datetime(2026, 1, 1), datetime(2029, 1, 1), timezones=st.just(UTC)),
)
@settings(deadline=None)
def test_any_expression_fires_when_a_library_and_its_translation_say(
    parts: tuple[str, ...], by_weekday: bool, after: datetime
) -> None:
    minute, hour, day, month, weekday = parts
    day, weekday = ("*", weekday) if by_weekday else (day, "*")
    schedule = Cron(f"{minute} {hour} {day} {month} {weekday}")
    firings = next_firings(schedule, after, 10, CREATED)

    library = CronSim(schedule.expression, after)
    assert [next(library) for _ in range(10)] == firings

    naive, last = after.replace(tzinfo=None), firings[-1].replace(tzinfo=None)
    meant = minutes_of(written(schedule).text, naive.date(), last.date())
    assert [each.replace(tzinfo=None) for each in firings] == [
        each for each in meant if naive < each <= last
    ]


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("0 9 * *", "expected five fields"),
        ("0 9 * * * *", "expected five fields"),
        ("@daily", "expected five fields"),
        ("* " * 500, "expected five fields"),
        ("60 * * * *", 'a minute from 0 to 59, found "60"'),
        ("0 24 * * *", 'an hour from 0 to 23, found "24"'),
        ("0 9 0 * *", 'a day of the month from 1 to 31, found "0"'),
        ("0 9 * 13 *", 'a month from 1 to 12 or JAN to DEC, found "13"'),
        ("0 9 * * 8", 'a day of the week from 0 to 7 or SUN to SAT, found "8"'),
        ("0 9 * * MONDAY", 'found "MONDAY"'),
        ("-1 * * * *", 'found ""'),
        ("1,,2 * * * *", 'found ""'),
        ("٣ * * * *", 'found "٣"'),
        ("5/15 * * * *", "such as 5-59/15"),
        ("*/0 * * * *", "expected a step from 1 to 99"),
        ("*/x * * * *", "expected a step from 1 to 99"),
        ("30-10 * * * *", "expected a range that rises"),
        ("0 9 1 * 1", "cannot restrict both days"),
        ("0 9 */2 * 1", "cannot restrict both days"),
        ("0 9 L * 5#2", "cannot restrict both days"),
        ("0 9 30 2 *", "names a day that no month of it has"),
        ("0 9 31 4,6 *", "names a day that no month of it has"),
        ("0 9 31W * *", "that every month has"),
        ("0 9 LW * *", 'found "LW"'),
        ("0 9 L-3 * *", 'found "L"'),
        ("0 9 * * L", 'found "L"'),
        ("0 9 * * 1#6", 'found "1#6"'),
        ("0 9 * * 1#1,3#1", 'found "1#1"'),
    ],
)
def test_a_cron_expression_that_cannot_be_is_refused_with_the_reason(
    expression: str, reason: str
) -> None:
    problem = refused(Cron(expression))
    assert "schedule.cron" == problem.field
    assert reason in problem.message


def test_the_longest_translation_is_one_that_scheduler_takes() -> None:
    longest = "1-59/3,2-59/3 1-23/3,2-23/3 10-31/3,11-31/3,1-8/3,2-8/3 1-12/3,2-12/3 *"
    assert 230 < len(written(Cron(longest)).text) <= 256


@pytest.mark.parametrize(
    "zone",
    [
        *("", "Mars/Olympus", "../../etc/passwd", "/etc/localtime", "+01"),
        *("right/Europe/Paris", "posix/Europe/Paris", "localtime", "Factory"),
    ],
)
def test_a_zone_that_is_not_known_is_refused(zone: str) -> None:
    assert "schedule.timezone" == refused(Cron("0 9 * * *", zone)).field


@pytest.mark.parametrize("ms", [0, -60_000, 59_999, 30_000, 90_000, 60_001, 10**15])
def test_an_interval_that_is_no_whole_minutes_is_refused(ms: int) -> None:
    assert "schedule.every_ms" == refused(Every(ms)).field


def test_a_moment_without_an_offset_is_refused() -> None:
    assert "schedule.run_at" == refused(Once(datetime(2030, 1, 1))).field


# --- intervals and one-offs ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("minutes", "text"),
    [
        (1, "rate(1 minute)"),
        (90, "rate(90 minutes)"),
        (60, "rate(1 hour)"),
        (180, "rate(3 hours)"),
        (1_440, "rate(1 day)"),
        (20_160, "rate(14 days)"),
    ],
)
def test_an_interval_is_a_rate_in_its_largest_unit(minutes: int, text: str) -> None:
    assert Expression(text) == written(Every(minutes * 60_000))


def test_the_first_firing_of_an_interval_is_one_interval_after_the_job_was_made() -> None:
    interval = timedelta(minutes=10)
    anchor = datetime(2025, 12, 31, 23, 30, 1, tzinfo=UTC)
    expected = [anchor + n * interval for n in (1, 2, 3)]
    assert expected == next_firings(Every(600_000), CREATED, 3, CREATED)
    assert expected[1:] == next_firings(Every(600_000), expected[0], 2, CREATED)
    assert [anchor + interval] == next_firings(Every(600_000), NEW_YEAR - interval * 9, 1, CREATED)


def test_a_one_off_fires_once_at_its_moment_in_utc() -> None:
    once = Once(datetime.fromisoformat("2026-03-02T10:00:00.5+01:00"))
    at = datetime(2026, 3, 2, 9, 0, 1, tzinfo=UTC)

    assert Expression("at(2026-03-02T09:00:01)") == written(once)
    assert [at] == next_firings(once, NEW_YEAR, 5, CREATED)
    assert [] == next_firings(once, at, 5, CREATED)


# --- daylight saving -------------------------------------------------------------------------


def local_firings(expression: str, zone: str, day: str, count: int) -> list[str]:
    """Return the next firings after the midnight of a day, as local time with offset."""
    midnight = datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(zone))
    after = midnight.astimezone(UTC) - SECOND
    firings = next_firings(Cron(expression, zone), after, count, CREATED)
    return [f"{each.astimezone(midnight.tzinfo):%d %H:%M %z}" for each in firings]


def test_a_time_that_the_clock_skips_has_no_firing() -> None:
    assert ["28 02:30 +0100", "30 02:30 +0200"] == local_firings(
        "30 2 * * *", "Europe/Berlin", "2026-03-28", 2
    )
    assert ["29 01:30 +0100", "29 03:00 +0200", "29 03:30 +0200"] == local_firings(
        "*/30 1-3 * * *", "Europe/Berlin", "2026-03-29", 4
    )[1:]


def test_a_time_that_the_clock_repeats_has_one_firing() -> None:
    assert ["25 02:30 +0200", "26 02:30 +0100"] == local_firings(
        "30 2 * * *", "Europe/Berlin", "2026-10-25", 2
    )
    assert ["25 02:00 +0200", "25 02:30 +0200", "25 03:00 +0100"] == local_firings(
        "*/30 2-3 * * *", "Europe/Berlin", "2026-10-25", 3
    )


def test_a_midnight_that_the_clock_skips_has_no_firing() -> None:
    assert ["23 00:00 +0200", "25 00:00 +0300"] == local_firings(
        "0 0 * * *", "Africa/Cairo", "2026-04-23", 2
    )


def test_the_next_firing_is_found_in_the_hour_that_is_repeated() -> None:
    again = datetime(2026, 10, 25, 1, 15, tzinfo=UTC)  # 02:15 for the second time
    after = next_firings(Cron("30 * * * *", "Europe/Berlin"), again, 1, CREATED)
    assert [datetime(2026, 10, 25, 2, 30, tzinfo=UTC)] == after


def test_an_interval_of_a_day_is_24_hours_also_when_the_clock_changes() -> None:
    created = datetime(2026, 3, 28, 12, tzinfo=UTC)
    assert [created + timedelta(hours=24), created + timedelta(hours=48)] == next_firings(
        Every(86_400_000), created, 2, created
    )
