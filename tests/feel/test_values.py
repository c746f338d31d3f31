"""Values on their way in and out."""

from __future__ import annotations

import decimal
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib import feel
from tests.feel.evaluating import value

_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.text(max_size=5)
    | st.decimals(-(10**30), 10**30, places=3),  # FEEL's 34 digits hold them
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 * 3", "6"),
        ("10 / 4", "2.5"),
        ("1e3", "1000"),
        ("100 * 100", "10000"),
        ("1.50 + 1.50", "3"),
        ("0.000001 * 0.1", "1E-7"),
        ("0 * -1", "0"),
        ("1e20", "100000000000000000000"),
    ],
)
def test_numbers_leave_without_trailing_zeros(text: str, expected: str) -> None:
    assert expected == str(feel.to_json(value(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('@"2024-02-29"', "2024-02-29"),
        ('@"10:00:00Z"', "10:00:00Z"),
        ('@"P1D"', "P1D"),
        ('@"P1Y"', "P1Y"),
        ('@"2024-07-01T10:00:00@Europe/Paris"', "2024-07-01T10:00:00+02:00"),
        ("[1..2]", None),
        ("function(a) a", None),
        ("null", None),
        ("true", True),
        ('{a: [@"P1D", {b: function() 1}]}', {"a": ["P1D", {"b": None}]}),
    ],
)
def test_values_leave_as_json(text: str, expected: Any) -> None:
    assert expected == feel.to_json(value(text))


@given(_JSON)
def test_json_comes_in_as_it_is(document: Any) -> None:
    assert document is feel.from_python(document)
    assert document == feel.to_json(feel.from_python(document))


@given(_JSON)
def test_a_value_equals_itself_and_its_json_text_reads_back(document: Any) -> None:
    assert value("x = x", {"x": document}) is True
    assert value("from json(to json(x)) = x", {"x": document}) is True


def test_pythons_values_come_in_as_feels() -> None:
    assert feel.Date(2024, 2, 29) == feel.from_python(date(2024, 2, 29))
    assert feel.DayTimeDuration(10**9) == feel.from_python(timedelta(seconds=1))
    assert [Decimal(1), Decimal("0.1")] == feel.from_python([1, 0.1])
    moment = feel.from_python(datetime(2024, 2, 29, tzinfo=UTC))
    assert feel.DateAndTime(feel.Date(2024, 2, 29), 0, 0) == moment


_NUMBERS = st.decimals(
    min_value=-(10**12), max_value=10**12, allow_nan=False, allow_infinity=False, places=4
)


@given(_NUMBERS, _NUMBERS)
def test_arithmetic_agrees_with_fractions(left: Decimal, right: Decimal) -> None:
    variables = {"a": left, "b": right}

    assert Fraction(left) + Fraction(right) == Fraction(value("a + b", variables))
    assert Fraction(left) * Fraction(right) == Fraction(value("a * b", variables))
    assert (left < right) is value("a < b", variables)
    if right:
        quotient = Fraction(left) / Fraction(right)
        error = abs(Fraction(value("a / b", variables)) - quotient)
        assert error <= abs(quotient) * Fraction(1, 10**33)


@given(_NUMBERS)
def test_a_number_is_read_back_as_written(number: Decimal) -> None:
    assert value("number(string(x)) = x", {"x": number}) is True


def test_an_expression_cannot_be_changed() -> None:
    expression = feel.parse("1")

    with pytest.raises(AttributeError):
        expression.text = "2"


def test_the_callers_decimal_context_is_left_alone() -> None:
    with decimal.localcontext() as context:
        context.prec = 5
        value("1 / 3")
        assert Decimal("30.123456789") == value('@"10:20:30.123456789".second')
        assert Decimal("1234567") == value("x", {"x": 1234567})
        value("1 / 0")

        assert Decimal("0.33333") == Decimal(1) / Decimal(3)


def test_data_as_deep_as_json_may_be_passes_through() -> None:
    deep: Any = []
    for _ in range(500):
        deep = [deep]

    assert deep is value("x", {"x": deep})
    assert deep == feel.to_json(value("x", {"x": deep}))


def test_what_is_too_deep_is_an_error_of_feel() -> None:
    deep: Any = []
    for _ in range(5_000):
        deep = {"a": [deep]}

    with pytest.raises(feel.FeelError):
        feel.to_json(deep)
    with pytest.raises(feel.FeelError):
        value("flatten(x) = x or string(x) = to json(x)", {"x": deep})


def test_a_context_with_other_keys_than_text_is_refused() -> None:
    with pytest.raises(feel.FeelError):
        value("x", {"x": {1: 2}})


_MOMENTS = st.datetimes(datetime(1, 1, 2), datetime(9998, 12, 30)).map(
    lambda moment: f'date and time("{moment.isoformat()}")'
)
_SPANS = st.integers(-(10**9), 10**9).map(lambda seconds: f'duration("{_iso(seconds)}")')
_MONTHS = st.integers(-100_000, 100_000).map(
    lambda months: f'duration("{"-" if months < 0 else ""}P{abs(months)}M")'
)
_DATES = st.dates().map(lambda day: f'date("{day.isoformat()}")')


def _iso(seconds: int) -> str:
    return f"{'-' if seconds < 0 else ''}PT{abs(seconds)}S"


@given(_MOMENTS, _SPANS)
def test_a_duration_that_is_added_and_taken_away_changes_nothing(moment: str, span: str) -> None:
    assert value(f"{moment} + {span} - {span} = {moment}") is True


@given(_MOMENTS | _SPANS | _MONTHS | _DATES)
def test_a_time_is_read_back_from_its_text(text: str) -> None:
    read = text.partition("(")[0]

    assert value(f"{read}(string({text})) = {text}") is True
