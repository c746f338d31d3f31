"""Timers are due when they say; cycles stay on their grid, and what was missed fires once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.bpmn.durations import Duration, InvalidTime
from chalicelib.bpmn.timers import (
    Cycle,
    Firing,
    first_firing,
    next_firing,
    parse_cycle,
    parse_date,
)

NOW = datetime(2024, 1, 31, 12, 0, 0, tzinfo=UTC)
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))
INTERVALS = st.sampled_from(
    ["PT1S", "PT1.5S", "PT7S", "PT1H", "P1D", "P1W", "P1M", "P1Y", "P1M1D", "P1Y2M3DT4H5M6S"]
)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def due(kind: str, text: str, now: datetime = NOW) -> datetime | None:
    firing = first_firing(kind, text, now)
    return None if firing is None else firing.due


def firings(text: str, count: int, now: datetime = NOW) -> list[datetime]:
    """Return up to so many firings, each of them seen 30 ms after it was due."""
    found: list[datetime] = []
    fired = first_firing("cycle", text, now)
    while fired is not None and len(found) < count:
        found.append(fired.due)
        fired = next_firing(text, fired, fired.due + timedelta(milliseconds=30))
    return found


# --- dates -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2030-10-01T12:00:00Z", "2030-10-01T12:00:00"),
        ("2030-10-01t12:00:00z", "2030-10-01T12:00:00"),
        ("2030-10-01T12:00:00+02:00", "2030-10-01T10:00:00"),
        ("2030-10-01T12:00:00-00:30", "2030-10-01T12:30:00"),
        ("2030-10-01T12:00:00+02", "2030-10-01T10:00:00"),
        ("2030-10-01T12:00Z", "2030-10-01T12:00:00"),
        ("2030-10-01T12:00:00.5Z", "2030-10-01T12:00:00.500000"),
        ("2030-10-01T12:00:00.123456789Z", "2030-10-01T12:00:00.123456"),
        ("2030-10-01T12:00:00+02:00[Europe/Berlin]", "2030-10-01T10:00:00"),
        ("2030-10-01T12:00:00[Europe/Berlin]", "2030-10-01T10:00:00"),
        ("2030-12-01T12:00:00@Europe/Paris", "2030-12-01T11:00:00"),
        ("2030-10-01T12:00:00", "2030-10-01T12:00:00"),
        ("2030-10-01", "2030-10-01T00:00:00"),
        (" 2030-10-01T12:00:00Z\n", "2030-10-01T12:00:00"),
    ],
)
def test_a_date_is_read_with_an_offset_a_zone_or_neither(text: str, expected: str) -> None:
    assert at(expected) == parse_date(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tomorrow",
        "2030-10-01 12:00:00Z",
        "2030-13-01",
        "2030-02-30",
        "2030-10-01T24:00:00Z",
        "2030-10-01T12:00:60Z",
        "2030-10-01T12:00:00+19:00",
        "2030-10-01T12:00:00+02:99",
        "2030-10-01T12:00:00[Europe/Nowhere]",
        "2030-10-01T12:00:00@../../etc/passwd",
        "10000-01-01",
        "0000-01-01",
        "9999-12-31T23:59:59-05:00",
        "0001-01-01T00:00:00+05:00",
        "203\N{FULLWIDTH DIGIT ZERO}-10-01",
        "2" * 10_000,
    ],
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(InvalidTime):
        parse_date(text)


# --- single timers -----------------------------------------------------------------------------


def test_a_duration_counts_from_the_moment_the_timer_is_armed() -> None:
    assert NOW + timedelta(seconds=30) == due("duration", "PT30S")
    assert at("2024-02-29T12:00:00") == due("duration", "P1M")


def test_a_timer_is_due_at_a_whole_second_that_is_not_early() -> None:
    half_past = NOW + timedelta(milliseconds=500)

    assert at("2024-01-31T12:00:03") == due("duration", "PT2S", half_past)
    assert at("2030-01-01T00:00:01") == due("date", "2030-01-01T00:00:00.1Z")


@pytest.mark.parametrize(
    ("kind", "text"), [("duration", "PT0S"), ("duration", "-P1M"), ("date", "2020-01-01T00:00:00Z")]
)
def test_what_is_past_is_due_at_once(kind: str, text: str) -> None:
    assert Firing(NOW, 0, NOW) == first_firing(kind, text, NOW)


@pytest.mark.parametrize(
    ("kind", "text"), [("duration", "P9000Y"), ("cycle", "R/P9000Y"), ("duration", "P9999Y")]
)
def test_a_timer_beyond_the_year_9999_is_explained(kind: str, text: str) -> None:
    with pytest.raises(InvalidTime, match="9999"):
        first_firing(kind, text, NOW)


# --- cycles ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("R/PT1H", Cycle(None, Duration(rest=timedelta(hours=1)))),
        ("R5/P1M", Cycle(5, Duration(1))),
        ("R3/2030-01-01T00:00:00Z/P1D", Cycle(3, Duration(rest=timedelta(1)), at("2030-01-01"))),
        (
            "R/P1D/2030-01-01T00:00:00Z",
            Cycle(None, Duration(rest=timedelta(1)), None, at("2030-01-01")),
        ),
        (
            "R2/2030-01-01T00:00:00Z/2030-01-03T00:00:00Z",
            Cycle(2, Duration(rest=timedelta(2)), at("2030-01-01")),
        ),
        (
            "R/2030-01-01T01:00:00@Europe/Paris/PT1H",
            Cycle(None, Duration(rest=timedelta(hours=1)), at("2030-01-01")),
        ),
        (
            "R/2030-01-01T01:00:00+01:00[Europe/Paris]/PT1H",
            Cycle(None, Duration(rest=timedelta(hours=1)), at("2030-01-01")),
        ),
        (" R/PT1S ", Cycle(None, Duration(rest=timedelta(seconds=1)))),
    ],
)
def test_a_cycle_is_read_in_each_of_its_four_forms(text: str, expected: Cycle) -> None:
    assert expected == parse_cycle(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "R",
        "R/",
        "R5",
        "PT1H",
        "R/PT1H/",
        "R/PT1H/PT1H",
        "R0/PT1H",
        "R-1/PT1H",
        "R2147483648/PT1H",
        "R/PT0S",
        "R/PT0.5S",
        "R/-PT1H",
        "R/-P1M",
        "R/2030-01-02T00:00:00Z/2030-01-01T00:00:00Z",
        "R/2030-01-01T00:00:00Z",
        "R/P999999Y",
        "r/PT1H",
        "*/5 * * *",
        "R" + "9" * 100_000 + "/PT1S",
    ],
)
def test_what_is_no_cycle_is_refused(text: str) -> None:
    with pytest.raises(InvalidTime):
        parse_cycle(text)


def test_a_cycle_fires_as_often_as_it_says() -> None:
    seconds = [NOW + timedelta(seconds=n) for n in (10, 20, 30)]

    assert seconds == firings("R3/PT10S", 10)
    assert seconds == firings("R/PT10S", 3)


def test_a_cycle_with_a_start_fires_first_at_the_start() -> None:
    days = [at("2030-01-01"), at("2030-01-02"), at("2030-01-03")]

    assert days == firings("R3/2030-01-01T00:00:00Z/P1D", 10)
    assert days == firings("R3/2030-01-01T00:00:00Z/2030-01-02T00:00:00Z", 10)


def test_a_cycle_whose_start_is_past_stays_on_its_grid() -> None:
    expected = [at("2024-01-31T12:30:00"), at("2024-01-31T13:30:00")]

    assert expected == firings("R/2020-05-05T00:30:00Z/PT1H", 2)
    assert [NOW] == firings("R1/2024-01-01T12:00:00Z/P1D", 2)


def test_a_cycle_ends_at_its_end() -> None:
    assert [at("2024-01-31T13:00:00"), at("2024-01-31T14:00:00")] == (
        firings("R/PT1H/2024-01-31T14:00:00Z", 10)
    )
    assert [] == firings("R/PT1H/2024-01-31T12:30:00Z", 10)


def test_a_cycle_of_months_does_not_drift_from_the_end_of_the_month() -> None:
    assert [at("2024-02-29"), at("2024-03-31"), at("2024-04-30"), at("2024-05-31")] == (
        firings("R/2024-01-31T00:00:00Z/P1M", 4)
    )


def test_missed_firings_come_once_and_do_not_shift_the_grid() -> None:
    fired = first_firing("cycle", "R9/PT1H", NOW)
    assert fired is not None

    late = next_firing("R9/PT1H", fired, NOW + timedelta(hours=4, minutes=30))

    assert Firing(NOW + timedelta(hours=5), 7, NOW) == late


def test_a_firing_exactly_at_a_point_of_the_grid_is_followed_by_the_next() -> None:
    fired = Firing(NOW, None, NOW - timedelta(hours=1))

    following = next_firing("R/PT1H", fired, NOW)

    assert following is not None
    assert NOW + timedelta(hours=1) == following.due


def test_the_last_firing_has_none_after_it() -> None:
    assert next_firing("R1/PT1S", Firing(NOW, 0, NOW), NOW) is None
    assert next_firing("R/P9000Y", Firing(NOW, None, NOW), NOW) is None


@given(MOMENTS, INTERVALS, st.timedeltas(timedelta(0), timedelta(days=36_525)))
def test_the_next_firing_is_the_first_point_of_the_grid_after_now(
    anchor: datetime, interval: str, passed: timedelta
) -> None:
    fired = first_firing("cycle", f"R/{interval}", anchor)
    assert fired is not None
    now = fired.due + passed

    following = next_firing(f"R/{interval}", fired, now)

    assert following is not None
    cycle = parse_cycle(f"R/{interval}")
    assert isinstance(cycle, Cycle)
    length = cycle.interval
    earlier = [length.times(n).after(anchor) for n in (0, 1, 2)]
    assert following.due > now
    assert following.due - now <= earlier[1] - earlier[0] + timedelta(days=4)
    assert following == next_firing(f"R/{interval}", fired, following.due - timedelta.resolution)


@given(st.text(max_size=40) | st.from_regex(r"\AR[0-9]{0,3}/[-+0-9TZP:YMWDHS./@]{0,40}\Z"))
def test_any_text_is_a_timer_or_is_refused(text: str) -> None:
    for kind in ("date", "duration", "cycle"):
        try:
            firing = first_firing(kind, text, NOW)
        except InvalidTime:
            continue
        assert firing is None or firing.due >= NOW
