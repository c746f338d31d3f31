"""Dates, times and durations: text, arithmetic, order, properties, and Python's own."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib import feel
from chalicelib.feel import calendar
from tests.feel.evaluating import shown, value

TEXTS = [
    ('date("2024-02-29")', "2024-02-29"),
    ('date("2023-02-29")', "null"),
    ('date("-2017-12-31")', "-2017-12-31"),
    ('date("999999999-12-31")', "999999999-12-31"),
    ('date("9999999999-12-31")', "null"),
    ('date("01211-12-31")', "null"),
    ('date("2017-1-1")', "null"),
    ('date("٢٠١٧-01-01")', "null"),
    ("date(2024, 2, 29)", "2024-02-29"),
    ("date(2023, 2, 29)", "null"),
    ("date(-999999999, 1, 1)", "-999999999-01-01"),
    ('date(date and time("2024-02-29T10:00:00Z"))', "2024-02-29"),
    ('time("10:00:00")', "10:00:00"),
    ('time("24:00:00")', "00:00:00"),
    ('time("24:00:01")', "null"),
    ('time("10:00")', "null"),
    ('time("10:00:00.5+01:00")', "10:00:00.5+01:00"),
    ('time("10:00:00+00:00")', "10:00:00Z"),
    ('time("10:00:00+19:00")', "null"),
    ('time("10:00:00-05:30:15")', "10:00:00-05:30:15"),
    ('time("10:00:00@Europe/Paris")', "10:00:00@Europe/Paris"),
    ('time("10:00:00@Nowhere/Town")', "null"),
    ('time("10:00:00@../etc")', "null"),
    ('time(10, 30, 15.5, @"PT1H")', "10:30:15.5+01:00"),
    ("time(10, 30, 0, null)", "10:30:00"),
    ("time(24, 30, 0)", "null"),
    ('time(date("2024-01-01"))', "00:00:00Z"),
    ('date and time("2024-01-01")', "2024-01-01T00:00:00"),
    ('date and time("2024-01-01T24:00:00")', "2024-01-02T00:00:00"),
    ('date and time("2024-01-01T10:00:00.123456789Z")', "2024-01-01T10:00:00.123456789Z"),
    ('date and time("2024-01-01T10:00:00+01:00@Europe/Paris")', "null"),
    ('date and time(date("2024-01-01"), time("10:00:00Z"))', "2024-01-01T10:00:00Z"),
    (
        'date and time(date and time("2024-07-01T10:00:00Z"), "Europe/Paris")',
        "2024-07-01T12:00:00@Europe/Paris",
    ),
    (
        'date and time(date and time("2024-07-01T10:00:00Z"), "-05:00")',
        "2024-07-01T05:00:00-05:00",
    ),
    ('duration("P1DT2H3M4.5S")', "P1DT2H3M4.5S"),
    ('duration("PT26H")', "P1DT2H"),
    ('duration("-PT90M")', "-PT1H30M"),
    ('duration("P0D")', "PT0S"),
    ('duration("P14M")', "P1Y2M"),
    ('duration("-P1Y")', "-P1Y"),
    ('duration("P0Y")', "P0M"),
    ('duration("P1Y1D")', "null"),
    ('duration("P")', "null"),
    ('duration("PT")', "null"),
    ('duration("P1H")', "null"),
    ('duration("P99999999999999999999D")', "null"),
    ('years and months duration(date("2011-12-22"), date("2013-08-24"))', "P1Y8M"),
    ('years and months duration(date("2013-08-24"), date("2011-12-22"))', "-P1Y8M"),
    ("now()", "2024-02-29T12:30:15Z"),
    ("today()", "2024-02-29"),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_temporal_values_are_read_and_written(text: str, expected: str) -> None:
    assert expected == shown(text)


ARITHMETIC = [
    ('@"2024-01-31" + @"P1M"', "2024-02-29"),
    ('@"2024-02-29" + @"P1Y"', "2025-02-28"),
    ('@"2024-02-28" + @"P2D"', "2024-03-01"),
    ('@"2024-01-02" - @"PT1H"', "2024-01-01"),
    ('@"2024-01-02" - @"2024-01-01"', "P1D"),
    ('@"P1D" + @"2024-01-01"', "2024-01-02"),
    ('@"2024-01-01T23:30:00" + @"PT1H"', "2024-01-02T00:30:00"),
    ('@"2024-01-01T10:00:00+02:00" - @"2024-01-01T09:00:00Z"', "-PT1H"),
    ('@"2024-01-01T10:00:00" - @"2024-01-01T09:00:00Z"', "null"),
    ('@"2024-03-30T12:00:00@Europe/Paris" + @"P1D"', "2024-03-31T13:00:00@Europe/Paris"),
    ('@"2024-03-30T12:00:00@Europe/Paris" + @"P1M"', "2024-04-30T12:00:00@Europe/Paris"),
    ('@"23:30:00" + @"PT1H"', "00:30:00"),
    ('@"10:00:00" - @"09:00:00"', "PT1H"),
    ('@"10:00:00" + @"P1Y"', "null"),
    ('@"P1D" + @"PT1H"', "P1DT1H"),
    ('@"P1D" + @"P1M"', "null"),
    ('@"P1D" - @"PT36H"', "-PT12H"),
    ('@"P1D" * 2.5', "P2DT12H"),
    ('2 * @"P1Y6M"', "P3Y"),
    ('@"P1D" / 2', "PT12H"),
    ('@"P1D" / @"PT6H"', "4"),
    ('@"P1Y" / @"P3M"', "4"),
    ('@"P1D" / 0', "null"),
    ('-@"P1D"', "-P1D"),
    ('abs(@"-P1Y")', "P1Y"),
    ('@"P1D" * @"P1D"', "null"),
    ('@"999999999-12-31" + @"P1D"', "null"),
    ('@"P1D" * 1e30', "null"),
]


@pytest.mark.parametrize(("text", "expected"), ARITHMETIC)
def test_temporal_values_move_by_durations(text: str, expected: str) -> None:
    assert expected == shown(text)


COMPARISONS = [
    ('@"2024-01-01" < @"2024-01-02"', "true"),
    ('@"2024-01-01" = @"2024-01-01T00:00:00"', "null"),
    ('@"P1D" = @"PT24H"', "true"),
    ('@"P1Y" > @"P11M"', "true"),
    ('@"P1Y" > @"P11D"', "null"),
    ('@"10:00:00Z" = @"11:00:00+01:00"', "true"),
    ('@"10:00:00.1" = @"10:00:00.2"', "true"),
    ('@"10:00:00.1" < @"10:00:00.2"', "false"),
    ('@"10:00:00" = @"10:00:00Z"', "null"),
    ('@"2024-07-01T12:00:00@Europe/Paris" = @"2024-07-01T10:00:00Z"', "true"),
    ('@"2024-01-01T12:00:00@Europe/Paris" = @"2024-01-01T11:00:00Z"', "true"),
    ('is(@"2024-07-01T12:00:00@Europe/Paris", @"2024-07-01T10:00:00Z")', "false"),
    ('is(@"10:00:00Z", @"10:00:00+00:00")', "true"),
    ('is(@"10:00:00", @"10:00:00Z")', "false"),
    ("is(1, 1.0)", "true"),
    ('is(1, "1")', "false"),
    ('@"2024-01-01" in [@"2023-12-31"..@"2024-01-02"]', "true"),
    ('max([@"2024-01-01", @"2024-01-02"])', "2024-01-02"),
]


@pytest.mark.parametrize(("text", "expected"), COMPARISONS)
def test_times_compare_on_the_instant(text: str, expected: str) -> None:
    assert expected == shown(text)


PROPERTIES = [
    ('@"2024-02-29".year', "2024"),
    ('@"2024-02-29".month', "2"),
    ('@"2024-02-29".day', "29"),
    ('@"2024-02-29".weekday', "4"),
    ('@"2024-02-29".hour', "null"),
    ('@"2024-02-29T10:20:30.5+01:00".second', "30.5"),
    ('@"2024-02-29T10:20:30.5+01:00".hour', "10"),
    ('@"2024-02-29T10:20:30.5+01:00".time offset', "PT1H"),
    ('@"2024-07-01T10:20:30@Europe/Paris".time offset', "PT2H"),
    ('@"2024-07-01T10:20:30@Europe/Paris".timezone', '"Europe/Paris"'),
    ('@"10:20:30".minute', "20"),
    ('@"10:20:30".timezone', "null"),
    ('@"P1DT2H3M4S".days', "1"),
    ('@"P1DT2H3M4S".seconds', "4"),
    ('@"-P1DT2H3M4S".hours', "-2"),
    ('@"P1Y2M".years', "1"),
    ('@"P1Y2M".months', "2"),
    ('@"P1Y2M".days', "null"),
    ('day of week(@"2024-02-29")', '"Thursday"'),
    ('month of year(@"2024-02-29T10:00:00")', '"February"'),
    ('day of year(@"2024-03-01")', "61"),
    ('week of year(@"2005-01-01")', "53"),
    ('week of year(@"2024-12-30")', "1"),
    ('last day of month(@"2024-02-01")', "2024-02-29"),
]


@pytest.mark.parametrize(("text", "expected"), PROPERTIES)
def test_temporal_values_have_properties(text: str, expected: str) -> None:
    assert expected == shown(text)


@given(st.dates())
def test_the_calendar_agrees_with_pythons(day: date) -> None:
    number = calendar.day_number(day.year, day.month, day.day)

    assert day.toordinal() - date(1970, 1, 1).toordinal() == number
    assert (day.year, day.month, day.day) == calendar.date_of(number)
    assert day.isoweekday() == calendar.weekday(number)
    assert day.isocalendar()[1] == calendar.week_of_year(day.year, day.month, day.day)


@given(st.integers(-365_000_000_000, 365_000_000_000))
def test_day_numbers_are_dates_and_back(number: int) -> None:
    assert number == calendar.day_number(*calendar.date_of(number))


_DURATIONS = st.integers(-(10**20), 10**20).map(feel.DayTimeDuration) | st.integers(
    -(10**6), 10**6
).map(feel.YearMonthDuration)


@given(_DURATIONS)
def test_a_duration_is_read_back_as_written(duration: feel.Duration) -> None:
    assert duration == feel.parse_duration(feel.format_temporal(duration))


@given(st.datetimes(timezones=st.sampled_from([UTC, ZoneInfo("Europe/Paris"), None])))
def test_a_date_and_time_is_read_back_as_written(moment: datetime) -> None:
    taken = feel.DateAndTime.of_datetime(moment)

    assert taken == feel.parse_date_and_time(feel.format_temporal(taken))
    assert taken.zone in (None, 0, "Europe/Paris")


@given(
    st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2100, 1, 1)),
    st.timedeltas(min_value=timedelta(days=-9000), max_value=timedelta(days=9000)),
)
def test_adding_and_subtracting_a_duration_gives_back_the_moment(
    moment: datetime, span: timedelta
) -> None:
    variables = {"a": moment.replace(tzinfo=UTC), "b": span}

    assert value("a + b - b = a", variables) is True
    assert value("(a + b) - a = b", variables) is True


def test_timers_move_pythons_date_times_by_durations() -> None:
    start = datetime(2024, 1, 31, 12, tzinfo=UTC)
    month, hours = feel.parse_duration("P1M"), feel.parse_duration("PT36H")
    assert month is not None
    assert hours is not None

    assert datetime(2024, 2, 29, 12, tzinfo=UTC) == feel.add_duration(start, month)
    assert datetime(2024, 2, 2, 0, tzinfo=UTC) == feel.add_duration(start, hours)


def test_a_duration_leaves_as_python_has_it() -> None:
    duration = feel.DayTimeDuration(86_400_000_001_000)

    assert timedelta(days=1, microseconds=1) == duration.to_timedelta()


def test_the_clock_is_the_one_that_is_given() -> None:
    warnings: list[feel.FeelWarning] = []

    assert feel.parse("now()").evaluate({}, warnings=warnings) is None
    assert [feel.WarningType.FUNCTION_INVOCATION_FAILURE] == [found.type for found in warnings]


@pytest.mark.parametrize("year", [-999_999_999, -2021, 0, 2024, 12_024, 999_999_999])
def test_a_named_zone_has_an_offset_in_every_year(year: int) -> None:
    moment = feel.DateAndTime(feel.Date(year, 7, 1), 0, "Europe/Paris")

    assert moment.offset in (561, 3600, 7200)
    assert moment == feel.DateAndTime.of_instant(moment.instant, "Europe/Paris")
