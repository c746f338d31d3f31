"""Built-in functions, by kind, as the standard and Camunda document them."""

from __future__ import annotations

import itertools
from decimal import Decimal
from typing import Any

import pytest

from chalicelib import feel
from tests.feel.evaluating import shown, value

STRINGS = [
    ('substring("foobar", 3)', '"obar"'),
    ('substring("foobar", 3, 3)', '"oba"'),
    ('substring("foobar", -2, 1)', '"a"'),
    ('substring("\U0001f40eab", 2)', '"ab"'),
    ('substring("abc", 0)', "null"),
    ('substring("abc", 9)', '""'),
    ('string length("foo")', "3"),
    ('upper case("aBc4")', '"ABC4"'),
    ('lower case("aBc4")', '"abc4"'),
    ('substring before("foobar", "bar")', '"foo"'),
    ('substring before("foobar", "x")', '""'),
    ('substring after("foobar", "ob")', '"ar"'),
    ('substring after("foobar", "x")', '""'),
    ('contains("foobar", "ob")', "true"),
    ('starts with("foobar", "fo")', "true"),
    ('ends with("foobar", "r")', "true"),
    ('replace("abcd", "(ab)|(a)", "[1=$1][2=$2]")', '"[1=ab][2=]cd"'),
    ('replace("a.b.c", "\\.", "-")', '"a-b-c"'),
    ('replace("abc", "B", "x", "i")', '"axc"'),
    ('replace("abc", "b", "\\$")', '"a$c"'),
    ('replace("abc", "b", "$")', "null"),
    ('replace("abc", "(b", "x")', "null"),
    ('matches("foobar", "^fo*b")', "true"),
    ('matches("a1", "\\d")', "true"),
    ('matches("a", "\\d")', "false"),
    ('matches("a\\nb", "a.b")', "false"),
    ('matches("a\\nb", "a.b", "s")', "true"),
    ('matches("abc", "ABC", "i")', "true"),
    ('matches("abc", "ABC", "z")', "null"),
    ('matches("O", "[A-Z-[OI]]")', "false"),
    ('matches("P", "[A-Z-[OI]]")', "true"),
    ('matches("P", "[^A-Z-[a-z]]")', "false"),
    ('matches("Ä", "\\p{Lu}")', "true"),
    ('matches("ä", "\\p{Lu}")', "false"),
    ('matches("ä", "\\P{Lu}")', "true"),
    ('matches("ä", "^\\p{IsBasicLatin}$")', "false"),
    ('matches("a:b", "^\\i\\c*$")', "true"),
    ('matches("1a", "^\\i\\c*$")', "false"),
    ('matches("aa", "(a)\\1")', "true"),
    ('matches("aa", "(a)\\2")', "null"),
    ('matches("foo bar", "foo\\ bar", "x")', "false"),
    ('matches("a", "a{1,2}+")', "null"),
    ('matches("ab", "a(?=b)")', "true"),
    ('split("a;b;;", ";")', '["a", "b", "", ""]'),
    ('split("a1b22c", "\\d+")', '["a", "b", "c"]'),
    ('split("abc", "")', '["abc"]'),
    ('string join(["a", null, "b"], "-")', '"a-b"'),
    ('string join(["a", "b"])', '"ab"'),
    ('string join(["a", "b"], "-", "<", ">")', '"<a-b>"'),
    ('string join(["a", 1], "-")', "null"),
    ('extract("references 1234, 1256", "12[0-9]*")', '["1234", "1256"]'),
    ('trim("  a b ")', '"a b"'),
    ('is blank(" \\t")', "true"),
    ('to base64("FEEL")', '"RkVFTA=="'),
    ('from base64("RkVFTA==")', '"FEEL"'),
    ('from base64("?")', "null"),
]

NUMBERS = [
    ("decimal(1/3, 2)", "0.33"),
    ("decimal(2.5, 0)", "2"),
    ("decimal(1.5, 0)", "2"),
    ('decimal(2.5, 0, "half_up")', "3"),
    ('decimal(2.5, 0, "sideways")', "null"),
    ("decimal(1234, -2)", "1200"),
    ("decimal(4, -2)", "0"),
    ("round up(4, -2)", "100"),
    ("floor(-1.5)", "-2"),
    ("floor(1.56, 1)", "1.5"),
    ("ceiling(-1.5)", "-1"),
    ("ceiling(1.51, 1)", "1.6"),
    ("round up(5.5, 0)", "6"),
    ("round up(-5.5, 0)", "-6"),
    ("round down(-5.5, 0)", "-5"),
    ("round half up(-5.5, 0)", "-6"),
    ("round half down(5.5, 0)", "5"),
    ("round up(5.5, -6112)", "null"),
    ("round up(5.5, 6176)", "5.5"),
    ("round up(5.5, 6177)", "null"),
    ("abs(-3)", "3"),
    ("abs(number: -3)", "3"),
    ("modulo(-12, 5)", "3"),
    ("modulo(12, -5)", "-3"),
    ("modulo(10.1, 4.5)", "1.1"),
    ("modulo(10, 0)", "null"),
    ("sqrt(16)", "4"),
    ("sqrt(-1)", "null"),
    ("decimal(log(10), 4)", "2.3026"),
    ("log(0)", "null"),
    ("decimal(exp(1), 4)", "2.7183"),
    ("exp(1e9)", "null"),
    ("odd(3)", "true"),
    ("odd(2.5)", "false"),
    ("even(-2)", "true"),
    ("even(1e6000)", "true"),
]

LISTS = [
    ("list contains([1, null], null)", "true"),
    ("list contains([1, 2], 3)", "false"),
    ("count([1, null])", "2"),
    ("count([])", "0"),
    ("count(5)", "1"),
    ("count(null)", "null"),
    ("min(3, 1, 2)", "1"),
    ('max(["a", "c", "b"])', '"c"'),
    ("min([])", "null"),
    ('min([1, "a"])', "null"),
    ("sum([1, 2.5])", "3.5"),
    ("sum([])", "null"),
    ("sum([1, null])", "null"),
    ("mean(1, 2, 3)", "2"),
    ("product([2, 3, 4])", "24"),
    ("median([8, 2, 5, 7])", "6"),
    ("decimal(stddev(2, 4, 7, 5), 4)", "2.0817"),
    ("stddev([1])", "null"),
    ("mode([6, 3, 9, 6, 6])", "[6]"),
    ("mode([6, 1, 9, 6, 1])", "[1, 6]"),
    ("mode([])", "[]"),
    ("all([true, null, false])", "false"),
    ("all([true, null])", "null"),
    ("all([])", "true"),
    ("any([false, null])", "null"),
    ("any([])", "false"),
    ("all(true, true)", "true"),
    ("sublist([1, 2, 3], 2)", "[2, 3]"),
    ("sublist([1, 2, 3], -2, 1)", "[2]"),
    ("sublist([1, 2, 3], 0)", "null"),
    ("append([1], 2, [3])", "[1, 2, [3]]"),
    ("concatenate([1], [2, 1])", "[1, 2, 1]"),
    ("union([1, 2], [2, 3])", "[1, 2, 3]"),
    ("insert before([1, 3], 2, 2)", "[1, 2, 3]"),
    ("insert before([1, 3], -1, 2)", "[1, 2, 3]"),
    ("insert before([1, 3], 9, 2)", "null"),
    ("remove([1, 2, 3], 2)", "[1, 3]"),
    ("remove([1, 2, 3], -1)", "[1, 2]"),
    ("list replace([1, 2, 3], 2, 9)", "[1, 9, 3]"),
    ("list replace([1, 2, 3], 4, 9)", "null"),
    ("list replace([1, 2, 3], function(item, newItem) item > 1, 9)", "[1, 9, 9]"),
    ("list replace([1, 2, 3], function(item) item > 1, 9)", "null"),
    ("reverse([1, 2, 3])", "[3, 2, 1]"),
    ("index of([1, 2, 1], 1)", "[1, 3]"),
    ("index of([1, null], null)", "[2]"),
    ("distinct values([1, 2, 1.0, null, null, [1], [1]])", "[1, 2, null, [1]]"),
    ("duplicate values([1, 2, 1, 3, 2, 1])", "[1, 2]"),
    ("flatten([1, [2, [3, []]]])", "[1, 2, 3]"),
    ("is empty([])", "true"),
    ("partition([1, 2, 3], 2)", "[[1, 2], [3]]"),
    ("partition([1, 2, 3], 0)", "null"),
    ("sort([3, 1, 2], function(x, y) x > y)", "[3, 2, 1]"),
    (
        'sort([{k: 1, n: "a"}, {k: 0, n: "b"}, {k: 1, n: "c"}], function(x, y) x.k < y.k).n',
        '["b", "a", "c"]',
    ),
]

CONTEXTS = [
    ('get value({a: 1}, "a")', "1"),
    ('get value({a: 1}, "b")', "null"),
    ('get value({a: {b: 1}}, ["a", "b"])', "1"),
    ("get entries({a: 1})", '[{key: "a", value: 1}]'),
    ('context put({a: 1}, "b", 2)', "{a: 1, b: 2}"),
    ('context put({a: {b: 1}}, ["a", "c"], 2)', "{a: {b: 1, c: 2}}"),
    ('context put({a: 1}, ["a", "c"], 2)', "{a: {c: 2}}"),
    ("context put({a: 1}, [], 2)", "null"),
    ("context merge([{a: 1}, {a: 2, b: 3}])", "{a: 2, b: 3}"),
    ("context merge([{a: 1}, 2])", "null"),
    ('context([{key: "a", value: 1}])', "{a: 1}"),
    ('context([{key: "a", value: 1}, {key: "a", value: 1}])', "null"),
]

CONVERSIONS = [
    ('number("1.5")', "1.5"),
    ('number("1 000,5", " ", ",")', "1000.5"),
    ('number("1,000.5", ",", ".")', "1000.5"),
    ('number("1,000.5", ",", ",")', "null"),
    ('number("1;5", ";", ".")', "null"),
    ('number("x")', "null"),
    ('number("1e3")', "1000"),
    ("string(1.50)", '"1.5"'),
    ("string(1e10)", '"10000000000"'),
    ('string("a")', '"a"'),
    ("string(true)", '"true"'),
    ("string(null)", "null"),
    ('string([1, "a", {b: null}])', '"[1, \\"a\\", {b: null}]"'),
    ('string(@"P1D")', '"P1D"'),
    ("string([1..2))", '"[1..2)"'),
    ('range("[1..3]")', "[1..3]"),
    ('range("[1..x]")', "null"),
    ('range("[3..1]")', "null"),
    ('range("[date(\\"2024-01-01\\")..@\\"2024-01-02\\"]").end', "2024-01-02"),
    ('from json("{\\"a\\": [1.50, null, true]}")', "{a: [1.5, null, true]}"),
    ('from json("{")', "null"),
    ('from json("NaN")', "null"),
    ('to json({a: [1.5, "x", @"P1D"]})', '"{\\"a\\":[1.5,\\"x\\",\\"P1D\\"]}"'),
    ('cycle(@"PT1H")', '"R/PT1H"'),
    ('cycle(3, @"PT1H")', '"R3/PT1H"'),
    ('cycle(null, @"PT1H")', '"R/PT1H"'),
    ('fromAi("a", "what it is", "string")', '"a"'),
    ("is defined(missing)", "false"),
    ("is defined(amount)", "true"),
    ("get or else(missing, 1)", "1"),
    ("get or else(2, 1)", "2"),
    ("not(null)", "null"),
    ("assert(amount, amount > 100)", "150"),
]


@pytest.mark.parametrize(
    ("text", "expected"), [*STRINGS, *NUMBERS, *LISTS, *CONTEXTS, *CONVERSIONS]
)
def test_a_built_in_function_gives_what_is_documented(text: str, expected: str) -> None:
    assert expected == shown(text)


@pytest.mark.parametrize(
    "text",
    [
        'string join(["a"], "-", "<", ">")',
        'string join(["a"], "-", "<")',
        'decimal(2.5, 0, "half_up")',
        "abs(number: -3)",
        'get value({a: {b: 1}}, ["a", "b"])',
        'cycle(@"PT1H")',
    ],
)
def test_dmn_has_the_standards_signatures_only(text: str) -> None:
    assert "null" == shown(text, profile=feel.Profile.DMN)


def test_a_failed_assertion_fails_the_evaluation() -> None:
    with pytest.raises(feel.FeelError, match="too small"):
        value('assert(amount, amount > 1000, "too small")')


def test_randomness_comes_from_outside() -> None:
    uuid = feel.parse("uuid()").evaluate({}, random_bits=lambda bits: (1 << bits) - 1)
    number = feel.parse("random number()").evaluate({}, random_bits=lambda bits: 1 << (bits - 1))

    assert "ffffffff-ffff-4fff-bfff-ffffffffffff" == uuid
    assert Decimal("0.5") == number
    assert value("uuid()") is None


def _truth(
    relation: str, left: tuple[int, int, bool, bool], right: tuple[int, int, bool, bool]
) -> bool:
    """Judge a relation on the set of half steps that a range holds: an independent model."""
    first, second = _points(*left), _points(*right)
    return {
        "before": max(first) < min(second),
        "after": min(first) > max(second),
        "overlaps": bool(first & second),
        "includes": second <= first,
        "during": first <= second,
        "coincides": first == second,
        "starts": min(first) == min(second) and first <= second,
        "started by": min(first) == min(second) and second <= first,
        "finishes": max(first) == max(second) and first <= second,
        "finished by": max(first) == max(second) and second <= first,
    }[relation]


def _points(start: int, end: int, starts_in: bool, ends_in: bool) -> set[int]:
    inner = set(range(start * 2 + 1, end * 2))
    return inner | ({start * 2} if starts_in else set()) | ({end * 2} if ends_in else set())


RANGES = [
    (start, end, starts_in, ends_in)
    for start, end in [(1, 3), (2, 4), (3, 5), (1, 5), (4, 5)]
    for starts_in, ends_in in itertools.product([True, False], repeat=2)
]


@pytest.mark.parametrize(
    "relation",
    [
        "before",
        "after",
        "overlaps",
        "includes",
        "during",
        "coincides",
        "starts",
        "started by",
        "finishes",
        "finished by",
    ],
)
def test_relations_of_ranges_are_those_of_the_points_they_hold(relation: str) -> None:
    expression = feel.parse(f"{relation}(a, b)")
    for left, right in itertools.product(RANGES, RANGES):
        variables: dict[str, Any] = {
            "a": feel.Range(Decimal(left[0]), Decimal(left[1]), left[2], left[3]),
            "b": feel.Range(Decimal(right[0]), Decimal(right[1]), right[2], right[3]),
        }

        assert _truth(relation, left, right) is expression.evaluate(variables), (left, right)


RELATIONS = [
    ("before(1, 10)", "true"),
    ("before(10, 1)", "false"),
    ("before(1, [1..10])", "false"),
    ("before(1, (1..10])", "true"),
    ("before([1..10], 10)", "false"),
    ("before([1..10), 10)", "true"),
    ("after(12, [1..10])", "true"),
    ("after((11..20], 11)", "true"),
    ("meets([1..5], [5..10])", "true"),
    ("meets([1..5), [5..10])", "false"),
    ("met by([5..10], [1..5])", "true"),
    ("overlaps before([1..5], [3..8])", "true"),
    ("overlaps before([1..5], [6..8])", "false"),
    ("overlaps before([1..5], [5..8])", "true"),
    ("overlaps before([1..5], (5..8])", "false"),
    ("overlaps before([1..5), [5..8])", "false"),
    ("overlaps before([1..5), (1..5])", "true"),
    ("overlaps before([1..5], (1..5])", "true"),
    ("overlaps before([1..5), [1..5])", "false"),
    ("overlaps before([1..5], [1..5])", "false"),
    ("overlaps after([3..8], [1..5])", "true"),
    ("overlaps after([6..8], [1..5])", "false"),
    ("overlaps after([5..8], [1..5])", "true"),
    ("overlaps after((5..8], [1..5])", "false"),
    ("overlaps after((1..5], [1..5))", "true"),
    ("overlaps after((1..5], [1..5])", "true"),
    ("overlaps after([1..5], [1..5))", "false"),
    ("finishes(10, [1..10])", "true"),
    ("finishes(10, [1..10))", "false"),
    ("finished by([1..10], 10)", "true"),
    ("includes([1..10], 5)", "true"),
    ("includes([1..10), 10)", "false"),
    ("during(5, [1..10])", "true"),
    ("starts(1, [1..10])", "true"),
    ("starts(1, (1..10])", "false"),
    ("started by([1..10], 1)", "true"),
    ("coincides(5, 5)", "true"),
    ("coincides(3, 4)", "false"),
    ('before(1, "a")', "null"),
    ("before(null, 1)", "null"),
    ('before(@"2024-01-01", @"2024-01-02")', "true"),
]


@pytest.mark.parametrize(("text", "expected"), RELATIONS)
def test_a_relation_gives_what_the_standard_tabulates(text: str, expected: str) -> None:
    assert expected == shown(text)
