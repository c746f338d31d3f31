"""Operators, their precedence, and the logic of three values."""

from __future__ import annotations

import pytest

from tests.feel.evaluating import shown, warned

ARITHMETIC = [
    ("1 + 2 * 3", "7"),
    ("(1 + 2) * 3", "9"),
    ("10 - 4 - 3", "3"),
    ("100 / 10 / 5", "2"),
    ("2 * 3 - 4 / 2", "4"),
    ("10--5", "15"),
    ("10 - -5", "15"),
    ("--5", "5"),
    ("-(2 + 3)", "-5"),
    ("-amount", "-150"),
    ("- - amount", "150"),
    ("2 ** 3 ** 2", "64"),
    ("-3 ** 2", "9"),
    ("10**-5", "0.00001"),
    ("5+2**5+3", "40"),
    ("1.2*10**3", "1200"),
    ("10/4", "2.5"),
    ("2*3", "6"),
    ("1/3", "0." + "3" * 34),
    ("0.1 + 0.2", "0.3"),
    (".5 + .25", "0.75"),
    ("1.5e3", "1500"),
    ("1E-2", "0.01"),
    ("-0", "0"),
    ("0 * -1", "0"),
    ("1000000 * 1000000", "1000000000000"),
    ('"a" + "b" + "c"', '"abc"'),
    ('"a" + 1', "null"),
    ('1 + "a"', "null"),
    ('"a" - "b"', "null"),
    ("1 + null", "null"),
    ("null * 2", "null"),
    ("1 / 0", "null"),
    ("0 / 0", "null"),
    ("true + true", "null"),
    ("[1] + [2]", "null"),
    ("{a: 1} + 1", "null"),
    ("-null", "null"),
    ('-"a"', "null"),
    ("(-8) ** 0.5", "null"),
    ("10 ** 6200", "null"),
    ("5 ** 0.5 * 5 ** 0.5 > 4.99", "true"),
]


@pytest.mark.parametrize(("text", "expected"), ARITHMETIC)
def test_arithmetic_follows_precedence_and_gives_null_for_other_kinds(
    text: str, expected: str
) -> None:
    assert expected == shown(text)


VALUES = ("true", "false", "null")
AND = {
    ("true", "true"): "true",
    ("true", "false"): "false",
    ("true", "null"): "null",
    ("false", "true"): "false",
    ("false", "false"): "false",
    ("false", "null"): "false",
    ("null", "true"): "null",
    ("null", "false"): "false",
    ("null", "null"): "null",
}
NOT = {"true": "false", "false": "true", "null": "null"}


@pytest.mark.parametrize("left", VALUES)
@pytest.mark.parametrize("right", VALUES)
def test_and_and_or_know_three_values(left: str, right: str) -> None:
    assert AND[left, right] == shown(f"{left} and {right}")
    assert AND[left, right] == shown(f"{left} and {right} and true")
    # De Morgan gives the table of `or`.
    assert NOT[AND[NOT[left], NOT[right]]] == shown(f"{left} or {right}")
    assert NOT[AND[NOT[left], NOT[right]]] == shown(f"{left} or {right} or false")


@pytest.mark.parametrize("other", ["1", '"true"', "[true]", "{}", '@"P1D"'])
def test_logic_takes_other_kinds_as_null(other: str) -> None:
    assert "false" == shown(f"{other} and false")
    assert "null" == shown(f"{other} and true")
    assert "true" == shown(f"{other} or true")
    assert "null" == shown(f"{other} or false")


COMPARISONS = [
    ("1 < 2", "true"),
    ("2 <= 2", "true"),
    ("2 > 2", "false"),
    ("2 >= 3", "false"),
    ('"a" < "b"', "true"),
    ('"b" < "a"', "false"),
    ('1 < "2"', "null"),
    ("null < 1", "null"),
    ("1 > null", "null"),
    ("true < false", "null"),
    ("[1] < [2]", "null"),
    ("1 = 1.0", "true"),
    ("1 != 1.0", "false"),
    ('1 = "1"', "null"),
    ('1 != "1"', "null"),
    ("null = null", "true"),
    ("null != null", "false"),
    ("1 = null", "false"),
    ("null != 1", "true"),
    ("missing = null", "true"),
    ("true = true", "true"),
    ("true != false", "true"),
    ("[1, 2] = [1, 2]", "true"),
    ("[1, 2] = [2, 1]", "false"),
    ('[1] = ["1"]', "false"),
    ("{a: 1, b: 2} = {b: 2, a: 1}", "true"),
    ("{a: 1} = {a: 2}", "false"),
    ("{a: [1, {b: 2}]} = {a: [1, {b: 2}]}", "true"),
    ("[] = {}", "null"),
    ('amount > 100 and customer.tier = "gold"', "true"),
    ("amount > 100 = true", "true"),
    ("1 between 1 and 3", "true"),
    ("3 between 1 and 3", "true"),
    ("0 between 1 and 3", "false"),
    ("2 between 1 and 3 and true", "true"),
    ("null between 1 and 3", "null"),
    ("2 between null and 3", "null"),
    ('2 between "a" and 3', "null"),
]


@pytest.mark.parametrize(("text", "expected"), COMPARISONS)
def test_comparing_gives_null_for_what_has_no_order(text: str, expected: str) -> None:
    assert expected == shown(text)


MEMBERSHIP = [
    ("1 in (1, 2)", "true"),
    ("3 in (1, 2)", "false"),
    ("3 in (1, >2)", "true"),
    ("3 in (<2, [3..5])", "true"),
    ("6 in (<2, [3..5])", "false"),
    ("1 in [1, 2, 3]", "true"),
    ("1 in [[1, 2]]", "false"),
    ("4 in [[1..3], [4..6]]", "true"),
    ("[1, 2] in [[1, 2], [3]]", "true"),
    ("1 in [1..3]", "true"),
    ("1 in (1..3)", "false"),
    ("3 in ]1..3[", "false"),
    ("3 in ]1..3]", "true"),
    ("2 in [1..3[", "true"),
    ("5 in < 10", "true"),
    ("5 in <= 4", "false"),
    ("5 in =5", "true"),
    ("5 in !=5", "false"),
    ("5 in 5", "true"),
    ("5 in (5)", "true"),
    ("5 in numbers", "false"),
    ("2 in numbers and true", "true"),
    ("1 + 1 in [2]", "true"),
    ("null in [1..3]", "null"),
    ("5 in [1..null]", "null"),
    ('"b" in ["a".."c"]', "true"),
    ('5 in ("x", 5)', "true"),
    ("5 in (< 3 + 3)", "true"),
]


@pytest.mark.parametrize(("text", "expected"), MEMBERSHIP)
def test_in_takes_values_ranges_lists_and_tests(text: str, expected: str) -> None:
    assert expected == shown(text)


CONDITIONS = [
    ('if amount > 100 then "big" else "small"', '"big"'),
    ("if null then 1 else 2", "2"),
    ('if "true" then 1 else 2', "2"),
    ("if false then 1 else if false then 2 else if true then 3 else 4", "3"),
    ("if true then if false then 1 else 2 else 3", "2"),
    ("if true then 1 else 2 + 5", "1"),
    ("(if true then 1 else 2) + 5", "6"),
    ("1 + (if yes then 1 else 2)", "2"),
]


@pytest.mark.parametrize(("text", "expected"), CONDITIONS)
def test_if_takes_its_else_unless_the_condition_is_true(text: str, expected: str) -> None:
    assert expected == shown(text)


INSTANCES = [
    ("1 instance of number", "true"),
    ('"a" instance of string', "true"),
    ("true instance of boolean", "true"),
    ("1 instance of string", "false"),
    ("null instance of number", "false"),
    ("null instance of Any", "false"),
    ("1 instance of Any", "true"),
    ("[1] instance of list", "true"),
    ("[1] instance of list<number>", "true"),
    ('[1, "a"] instance of list<number>', "false"),
    ("[[1]] instance of list<list<number>>", "true"),
    ("{a: 1} instance of context", "true"),
    ("{a: 1, b: 2} instance of context<a: number>", "true"),
    ('{a: "x"} instance of context<a: number>', "false"),
    ("{b: 1} instance of context<a: number>", "false"),
    ("[1..2] instance of range<number>", "true"),
    ('["a".."b"] instance of range<number>', "false"),
    ("(function(a) a) instance of function", "true"),
    ("(function(a) a) instance of function<number> -> number", "true"),
    ("(function(a) a) instance of function<number, number> -> number", "false"),
    ('@"2020-01-01" instance of date', "true"),
    ('@"10:00:00" instance of time', "true"),
    ('@"2020-01-01T10:00:00" instance of date and time', "true"),
    ('@"2020-01-01T10:00:00" instance of date time', "true"),
    ('@"2020-01-01T10:00:00" instance of date', "false"),
    ('@"P1D" instance of days and time duration', "true"),
    ('@"P1D" instance of day-time-duration', "true"),
    ('@"P1Y" instance of years and months duration', "true"),
    ('@"P1Y" instance of year-month-duration', "true"),
    ('@"P1Y" instance of days and time duration', "false"),
    ("1 instance of number and true", "true"),
    ("[1] instance of list<number>= true", "true"),
    ("1 instance of tSomething", "null"),
]


@pytest.mark.parametrize(("text", "expected"), INSTANCES)
def test_instance_of_knows_types_and_their_parts(text: str, expected: str) -> None:
    assert expected == shown(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("missing", ["NO_VARIABLE_FOUND"]),
        ("customer.missing", ["NO_CONTEXT_ENTRY_FOUND"]),
        ("amount.missing", ["NO_PROPERTY_FOUND"]),
        ('amount < "a"', ["NOT_COMPARABLE"]),
        ('amount = "a"', ["NOT_COMPARABLE"]),
        ('amount + "a"', ["INVALID_TYPE"]),
        ("abs()", ["FUNCTION_INVOCATION_FAILURE"]),
        ('abs("a")', ["FUNCTION_INVOCATION_FAILURE"]),
        ("amount()", ["NO_FUNCTION_FOUND"]),
        ("amount > 100", []),
        ("missing = null", ["NO_VARIABLE_FOUND"]),
    ],
)
def test_every_null_leaves_its_reason(text: str, expected: list[str]) -> None:
    assert expected == warned(text)
