"""Cron expressions of timers name the moments that Unix, Spring and ZenBPM mean by them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.bpmn.crons import parse_cron
from chalicelib.bpmn.durations import InvalidTime
from chalicelib.bpmn.timers import Firing, first_firing, next_firing

NOW = datetime(2024, 1, 31, 12, 0, 0, tzinfo=UTC)  # a Wednesday
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))


def after(text: str, count: int = 3, moment: datetime = NOW) -> list[str]:
    found: list[str] = []
    for _ in range(count):
        following = parse_cron(text).after(moment)
        if following is None:
            break
        found.append(following.isoformat()[:19])
        moment = following
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30 9 * * *", ["2024-02-01T09:30:00", "2024-02-02T09:30:00"]),
        ("0 9 * * MON", ["2024-02-05T09:00:00", "2024-02-12T09:00:00"]),
        ("*/20 12 * * *", ["2024-01-31T12:20:00", "2024-01-31T12:40:00"]),
        ("5/20 * * * *", ["2024-01-31T12:05:00", "2024-01-31T12:25:00"]),
        ("*/30 * * * * *", ["2024-01-31T12:00:30", "2024-01-31T12:01:00"]),
        ("0 0 9-17 * * MON-FRI", ["2024-01-31T13:00:00", "2024-01-31T14:00:00"]),
        ("15,45 0 12 * * *", ["2024-01-31T12:00:15", "2024-01-31T12:00:45"]),
        ("0 0 12 L * ?", ["2024-02-29T12:00:00", "2024-03-31T12:00:00"]),
        ("0 9 1 1 * 2030", ["2030-01-01T09:00:00"]),
        ("0 0 9 1 1 ? 2026-2030/2", ["2026-01-01T09:00:00", "2028-01-01T09:00:00"]),
        ("0 0 9 1 1 ? *", ["2025-01-01T09:00:00", "2026-01-01T09:00:00"]),
        ("0 0 29 2 *", ["2024-02-29T00:00:00", "2028-02-29T00:00:00"]),
        ("@daily", ["2024-02-01T00:00:00", "2024-02-02T00:00:00"]),
        ("@HOURLY", ["2024-01-31T13:00:00", "2024-01-31T14:00:00"]),
        ("0 0 1 1 * 2020", []),
    ],
)
def test_an_expression_names_moments(text: str, expected: list[str]) -> None:
    assert expected == after(text, len(expected) or 1)


@pytest.mark.parametrize(
    "text",
    [
        "* * * *",
        "* * * * * * * *",
        "60 * * * *",
        "60 * * * * *",
        "* 24 * * *",
        "0 0 30 2 *",
        "0 9 1 * MON",
        "0 0 9 * * * 1969",
        "0 0 9 * * * 2030-2020",
        "0 0 9 * * * 2030/0",
        "@never",
        "a b c d e",
        "* " * 5_000,
    ],
)
def test_what_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(InvalidTime):
        parse_cron(text)


def test_a_refusal_names_the_second_as_such() -> None:
    with pytest.raises(InvalidTime, match="a second from 0 to 59"):
        parse_cron("61 * * * * *")


@given(MOMENTS)
def test_the_next_moment_is_the_first_that_is_named(moment: datetime) -> None:
    found = parse_cron("10/25 */7 * * * *").after(moment)

    assert found is not None and found > moment
    wanted = [
        second
        for second in range(1, 3_700)
        for at in [moment.replace(microsecond=0) + timedelta(seconds=second)]
        if at.second in (10, 35) and at.minute % 7 == 0
    ]
    assert moment.replace(microsecond=0) + timedelta(seconds=wanted[0]) == found


def test_missed_moments_fire_once() -> None:
    """Row 41 of the known ways to get it wrong."""
    fired = first_firing("cycle", "0 * * * *", NOW)

    assert fired == Firing(NOW + timedelta(hours=1), None, NOW)
    late = next_firing("0 * * * *", fired, NOW + timedelta(hours=5, minutes=30))
    assert late == Firing(NOW + timedelta(hours=6), None, NOW)


def test_an_expression_ends_with_its_last_year() -> None:
    fired = first_firing("cycle", "0 0 9 1 1 ? 2025", NOW)

    assert fired is not None
    assert next_firing("0 0 9 1 1 ? 2025", fired, fired.due) is None
