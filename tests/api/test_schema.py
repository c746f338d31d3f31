"""Shapes read what fits, refuse what does not in OpenAPI's words, and write our records."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib import json_text
from chalicelib.api import schema
from chalicelib.api.schema import (
    Anything,
    Choice,
    Field,
    Flag,
    ListOf,
    Mismatch,
    Moment,
    Number,
    Object,
    OneOf,
    Period,
    Text,
    Type,
    Variant,
    Whole,
)

REQUEST = Object(
    "Request",
    {
        "name": Field(Text(1, 5), required=True),
        "count": Field(Whole(1, 9)),
        "variables": Field(Anything(), nullable=True),
        "steps": Field(ListOf(Object("Step", {"at": Field(Moment())}))),
    },
)


def test_an_object_gives_its_members_as_our_values() -> None:
    text = (
        '{"name":"a","count":2.0,"variables":null,"x":1,'
        '"steps":[{"at":"2026-01-02T03:04:05+01:00"}]}'
    )

    read = REQUEST.read(json_text.loads(text))

    at = datetime(2026, 1, 2, 2, 4, 5, tzinfo=UTC)
    assert {"name": "a", "count": 2, "variables": None, "steps": [{"at": at}]} == read


@pytest.mark.parametrize(
    ("text", "pointer", "words"),
    [
        ("[]", "", "value must be an object"),
        ("{}", "/name", 'property "name" is missing'),
        ('{"name":1}', "/name", "value must be a string"),
        ('{"name":""}', "/name", "minimum string length is 1"),
        ('{"name":"abcdef"}', "/name", "maximum string length is 5"),
        ('{"name":null}', "/name", "Value is not nullable"),
        ('{"name":"a","count":0}', "/count", "number must be at least 1"),
        ('{"name":"a","count":10}', "/count", "number must be at most 9"),
        ('{"name":"a","count":1.5}', "/count", "value must be an integer"),
        ('{"name":"a","count":true}', "/count", "value must be an integer"),
        ('{"name":"a","count":1e6000}', "/count", "number must be at most 9"),
        ('{"name":"a","variables":[1]}', "/variables", "value must be an object"),
        ('{"name":"a","steps":{}}', "/steps", "value must be an array"),
        ('{"name":"a","steps":[{},{"at":1}]}', "/steps/1/at", "value must be a string"),
        ('{"name":"a","steps":[{"at":"now"}]}', "/steps/0/at", "expected an RFC 3339 date-time"),
    ],
)
def test_what_does_not_fit_is_refused_where_it_is(text: str, pointer: str, words: str) -> None:
    with pytest.raises(Mismatch, match=words) as refused:
        REQUEST.read(json_text.loads(text))

    assert pointer == refused.value.pointer


def test_a_mismatch_names_its_field_with_dots() -> None:
    seen = Mismatch("no").under("a~/b").under(0).under("sinks")

    assert ("/sinks/0/a~0~1b", "sinks.0.a~/b") == (seen.pointer, seen.field)
    assert Mismatch("no").field is None


def test_a_number_keeps_its_digits() -> None:
    assert "1.50" == str(Number().write(Number().read(json_text.loads("1.50"))))
    for other in ('"1.5"', "true"):
        with pytest.raises(Mismatch, match="value must be a number"):
            Number().read(json_text.loads(other))
    for far, words in (("1e6000", "at most 9"), ("-1e6000", "at least 1"), ("0.9", "at least 1")):
        with pytest.raises(Mismatch, match=f"number must be {words}"):
            Number(1, 9).read(json_text.loads(far))


MEASURED = OneOf(
    (
        Variant("name", str, Object("Named", {"name": Field(Text(), str)}, closed=True)),
        Variant("size", int, Object("Sized", {"size": Field(Whole(), int)}, closed=True)),
    )
)


def test_a_variant_is_told_by_the_member_that_it_alone_has() -> None:
    assert {"size": 2} == MEASURED.read(json_text.loads('{"size":2}'))
    assert [{"size": 2}, {"name": "a"}] == [MEASURED.write(2), MEASURED.write("a")]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "value must be an object"),
        ("{}", 'expected exactly one of "name", "size", found 0'),
        ('{"name":"a","size":1}', 'expected exactly one of "name", "size", found 2'),
        ('{"name":"a","x":1}', 'property "x" is unsupported'),
    ],
)
def test_what_is_no_variant_is_refused(text: str, words: str) -> None:
    with pytest.raises(Mismatch, match=words):
        MEASURED.read(json_text.loads(text))


def test_a_closed_object_refuses_what_it_does_not_know() -> None:
    closed = Object("Closed", {"a": Field(Text())}, closed=True)

    with pytest.raises(Mismatch, match='property "b/c" is unsupported') as refused:
        closed.read({"b/c": Decimal(1)})

    assert "/b~1c" == refused.value.pointer


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        (Whole(), "-9223372036854775808", None),
        (Whole(), "9223372036854775807", 2**63 - 1),
        (Whole(), "9223372036854775808", None),
        (Whole(), "9" * 5_000, None),
        (Whole(), "+7", 7),
        (Whole(), "٣", None),
        (Whole(), "1_0", None),
        (Whole(), " 1", None),
        (Whole(), "0x10", None),
        (Whole(1), "0", None),
        (Flag(), "true", True),
        (Flag(), "0", False),
        (Flag(), "yes", None),
        (Choice(("asc", "desc")), "asc", "asc"),
        (Choice(("asc", "desc")), "ASC", None),
        (Moment(), "2026-01-02T03:04:05.123456789Z", datetime(2026, 1, 2, 3, 4, 5, 123456, UTC)),
        (Moment(), "2026-01-02", None),
        (Moment(), "2026-01-02T03:04:05", None),
        (Moment(), "2026-13-02T03:04:05Z", None),
        (Moment(), "0001-01-01T00:00:00+10:00", None),
        (Period(), "PT1M30S", timedelta(seconds=90)),
        (Period(), "5 minutes", None),
        (Period(timedelta(seconds=20)), "PT20S", timedelta(seconds=20)),
        (Period(timedelta(seconds=20)), "PT21S", None),
    ],
)
def test_a_parameter_is_read_from_its_text(kind: Type, text: str, expected: Any) -> None:
    if expected is None:
        with pytest.raises(Mismatch):
            kind.parse(text)
    else:
        assert expected == kind.parse(text)


def test_an_answer_leaves_out_what_has_no_value() -> None:
    answer = Object(
        "Answer",
        {
            "key": Field(Whole(), lambda record: record["key"], required=True),
            "at": Field(Moment(), lambda record: record.get("at")),
        },
    )

    assert {"key": Decimal(1)} == answer.write({"key": 1})


def test_moments_are_written_in_utc_with_milliseconds() -> None:
    at = datetime(2026, 1, 2, 3, 4, 5, 6_999, tzinfo=UTC)

    assert "2026-01-02T03:04:05.006Z" == Moment().write(at)


@pytest.mark.parametrize(
    ("period", "expected"),
    [
        (timedelta(0), "PT0S"),
        (timedelta(seconds=90), "PT1M30S"),
        (timedelta(days=1, hours=2), "P1DT2H"),
        (timedelta(days=2), "P2D"),
        (timedelta(milliseconds=1_500), "PT1.5S"),
    ],
)
def test_periods_are_written_as_durations(period: timedelta, expected: str) -> None:
    assert expected == schema.iso8601(period)


@given(st.integers(min_value=0, max_value=10**7))
def test_a_written_period_reads_the_same(seconds: int) -> None:
    period = timedelta(seconds=seconds)

    assert period == Period().read(schema.iso8601(period))
