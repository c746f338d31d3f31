"""Durations: two grammars, exact arithmetic, and no overflow that is not explained."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.bpmn.durations import (
    FIXED_MAX,
    POLICY_MAX,
    Duration,
    InvalidTime,
    parse_duration,
    parse_fixed_duration,
    parse_retry_policy,
    whole_second,
)

MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("PT0S", 0),
        ("PT30S", 30),
        ("PT1M", 60),
        ("PT1H1M1S", 3661),
        ("P1D", 86_400),
        ("P1W", 604_800),
        ("P1W2DT3H", 788_400),
        ("PT90M", 5_400),
        ("  PT5S\n", 5),
        ("P0D", 0),
        ("PT000001S", 1),
    ],
)
def test_a_fixed_duration_has_weeks_days_hours_minutes_and_seconds(text: str, seconds: int) -> None:
    """R114."""
    assert timedelta(seconds=seconds) == parse_fixed_duration(text)


@pytest.mark.parametrize("text", ["P999999999999D", "PT99999999999999999999S", f"P{'9' * 190}W"])
def test_a_huge_fixed_duration_saturates(text: str) -> None:
    """R114: huge values saturate, and are capped by whoever asks."""
    assert FIXED_MAX == parse_fixed_duration(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "P",
        "PT",
        "P1DT",
        "P1Y",
        "P1M",
        "P1Y2M",
        "PT1.5S",
        "PT1,5S",
        "-PT1S",
        "+PT1S",
        "P-1D",
        "pt1s",
        "PT1S PT2S",
        "1S",
        "T1S",
        "PT1S1M",
        "P1D1W",
        "PT\N{FULLWIDTH DIGIT FIVE}S",
        "5 minutes",
        "PT" + "1" * 200 + "S",
    ],
)
def test_what_is_no_fixed_duration_is_refused(text: str) -> None:
    """R114: years, months, fractions and signs are refused."""
    with pytest.raises(InvalidTime, match=r"^expected (an ISO 8601 duration|at most 200)"):
        parse_fixed_duration(text)


def test_a_retry_policy_is_a_comma_list() -> None:
    """R111."""
    second, minute = timedelta(seconds=1), timedelta(minutes=1)

    assert (second,) == parse_retry_policy("PT1S")
    assert (second, minute) == parse_retry_policy("PT1S, PT1M")
    assert POLICY_MAX == len(parse_retry_policy(",".join(["PT1S"] * POLICY_MAX)))


@pytest.mark.parametrize(
    "text", ["", ",", "PT1S,", ",PT1S", "PT1S;PT2S", "PT1S,P1M", "PT1S," * 101]
)
def test_a_retry_policy_with_a_bad_entry_is_refused(text: str) -> None:
    with pytest.raises(InvalidTime, match="expected"):
        parse_retry_policy(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PT30S", Duration(0, timedelta(seconds=30))),
        ("P1Y2M3W4DT5H6M7S", Duration(14, timedelta(days=25, hours=5, minutes=6, seconds=7))),
        ("P1M", Duration(1)),
        ("PT0.25S", Duration(0, timedelta(milliseconds=250))),
        ("PT0.0000001S", Duration(0, timedelta(microseconds=1))),
        ("-P1M", Duration(-1)),
        ("-PT5S", Duration(0, timedelta(seconds=-5))),
        (" P1D ", Duration(0, timedelta(days=1))),
    ],
)
def test_a_calendar_duration_has_years_months_fractions_and_a_sign(
    text: str, expected: Duration
) -> None:
    assert expected == parse_duration(text)


@pytest.mark.parametrize(
    "text", ["", "P", "PT", "P1YT", "--PT1S", "P1.5D", "1 hour", "P1S", "R/P1D"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(InvalidTime, match="expected an ISO 8601 duration"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["P999999Y", "P9999999M", "P99999999D", "PT999999999999999S"])
def test_a_duration_longer_than_the_calendar_is_refused(text: str) -> None:
    with pytest.raises(InvalidTime, match=r"^expected a duration of at most 9999 years, found"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("start", "text", "end"),
    [
        ("2024-01-31", "P1M", "2024-02-29"),
        ("2023-01-31", "P1M", "2023-02-28"),
        ("2024-02-29", "P1Y", "2025-02-28"),
        ("2024-12-31", "P2M", "2025-02-28"),
        ("2024-01-31", "P1M1D", "2024-03-01"),
        ("2024-03-31", "-P1M", "2024-02-29"),
        ("2024-01-15", "-P13M", "2022-12-15"),
        ("9998-12-31", "P1Y", "9999-12-31"),
    ],
)
def test_a_month_later_is_the_same_day_or_the_last_of_its_month(
    start: str, text: str, end: str
) -> None:
    assert datetime.fromisoformat(end) == parse_duration(text).after(datetime.fromisoformat(start))


@pytest.mark.parametrize("text", ["P1D", "P1M", "P9000Y", "PT24H", "-P9999Y"])
def test_a_moment_beyond_the_calendar_is_refused(text: str) -> None:
    with pytest.raises(InvalidTime, match="is not in the years 1 to 9999"):
        parse_duration(text).after(datetime(9999, 12, 31, 12, tzinfo=UTC))


def test_too_many_times_a_duration_is_refused() -> None:
    with pytest.raises(InvalidTime, match="over 9999 years"):
        Duration(rest=timedelta(days=1)).times(10**12)


@given(MOMENTS)
def test_a_whole_second_is_never_early_and_less_than_one_late(moment: datetime) -> None:
    late = whole_second(moment) - moment

    assert 0 == whole_second(moment).microsecond
    assert timedelta(0) <= late < timedelta(seconds=1)


def test_the_last_moment_of_the_calendar_has_no_next_second() -> None:
    with pytest.raises(InvalidTime, match="has no next second"):
        whole_second(datetime.max.replace(tzinfo=UTC))


@given(st.text(max_size=30) | st.from_regex(r"\A[-+]?P[0-9YMWDTHS.,]{0,20}\Z"))
def test_any_text_is_a_duration_or_is_refused(text: str) -> None:
    for parse in (parse_duration, parse_fixed_duration, parse_retry_policy):
        try:
            parse(text)
        except InvalidTime as error:
            assert str(error).startswith("expected")


@given(MOMENTS, st.integers(0, 400), st.integers(0, 10**9))
def test_a_longer_duration_never_ends_earlier(moment: datetime, months: int, seconds: int) -> None:
    shorter = Duration(months, timedelta(seconds=seconds))
    longer = Duration(months + 1, timedelta(seconds=seconds))

    assert moment <= shorter.after(moment) <= longer.after(moment)
