"""JSON text goes in and out with nothing changed, or is refused with a clear message."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib import json_text

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(10**34) + 1, max_value=10**34 - 1).map(Decimal)
    | st.decimals(
        allow_nan=False, allow_infinity=False, places=6, min_value=-(10**9), max_value=10**9
    )
    | st.text(),
    lambda children: (
        st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4)
    ),
    max_leaves=20,
)


@given(JSON)
def test_a_value_comes_back_as_it_was_written(value: json_text.JsonValue) -> None:
    assert value == json_text.loads(json_text.dumps(value))


@pytest.mark.parametrize(
    "digits",
    [
        "0",
        "-0",
        "1.10",
        "9007199254740993",
        "0.1000000000000000055511151231257827",
        "1234567890123456789012345678901234",
        "1E+400",
        "1" + "0" * 40,
        "1E-6144",
    ],
)
def test_a_number_keeps_every_digit(digits: str) -> None:
    assert digits == json_text.dumps(json_text.loads(digits))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("NaN", "expected a JSON number, found NaN"),
        ("[-Infinity]", "found -Infinity"),
        ("12345678901234567890123456789012345", "at most 34 digits, found 35"),
        ("9" * 1_000_000, "at most 34 digits, found 1000000"),
        ("1e6145", "exponent of at most 6144"),
        ("1e-6145", "exponent of at most 6144"),
        ("1e99999999999999999999", "exponent of at most 6144"),
        ("-1E-99999999999999999999", "exponent of at most 6144"),
        ("0e99999", "exponent of at most 6144"),
        ("1" + "0" * 1_000_000, "exponent of at most 6144"),
        ("0." + "0" * 1_000_000 + "1", "exponent of at most 6144"),
    ],
)
def test_a_number_that_cannot_be_kept_exact_is_refused(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        json_text.loads(text)


@pytest.mark.parametrize(
    "text", ["", " ", "{", '{"a":}', "{'a':1}", "[1,]", "01", "+1", "\ufeff{}", "nul"]
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        json_text.loads(text)


def test_bytes_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(ValueError, match="expected UTF-8, found byte 0xff"):
        json_text.loads(b'"\xff"')


def test_nesting_up_to_the_limit_is_read_and_written() -> None:
    text = "[" * 500 + "]" * 500

    assert text == json_text.dumps(json_text.loads(text))


@pytest.mark.parametrize("depth", [501, 2_000, 200_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_beyond_the_limit_is_refused(depth: int, opening: str, closing: str) -> None:
    with pytest.raises(ValueError, match="nested deeper than 500 levels"):
        json_text.loads(opening * depth + "1" + closing * depth)


def test_brackets_in_text_are_not_nesting() -> None:
    text = '"' + "[" * 1_000 + '"'

    assert text == json_text.dumps(json_text.loads(text))


@pytest.mark.parametrize("text", [r'"\ud800"', r'{"a\uDFFF":1}', r'["\ude00\ud83d"]', '"\ud800"'])
def test_a_lone_surrogate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="found a lone surrogate"):
        json_text.loads(text)


def test_a_pair_of_surrogates_is_one_character() -> None:
    assert "😀" == json_text.loads(r'"\ud83d\ude00"')


def test_the_last_of_two_equal_names_counts() -> None:
    assert {"a": 2} == json_text.loads('{"a":1,"a":2}')


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2", True), ("2.0", True), ("2.5", False), ("true", False), ('"2"', False)],
)
def test_whole_numbers_are_told_from_others(text: str, expected: bool) -> None:
    assert expected is json_text.is_integer(json_text.loads(text))
