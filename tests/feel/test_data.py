"""Paths, filters, iterations and functions over data."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from chalicelib import feel
from tests.feel.evaluating import DATA, shown, value

PATHS = [
    ("customer.address.city", '"Ulm"'),
    ("customer.missing", "null"),
    ("customer.missing.deeper", "null"),
    ("missing.deeper", "null"),
    ("null.a", "null"),
    ("orders.id", '["a", "b", "c"]'),
    ("orders.total", "[10, 20, null]"),
    ("orders.lines.sku", '[["x", "y"], [], ["z"]]'),
    ("orders[1].lines[2].sku", '"y"'),
    ('{"a b": 1}.`a b`', "1"),
    ("amount.x", "null"),
]


@pytest.mark.parametrize(("text", "expected"), PATHS)
def test_a_path_reaches_into_contexts_and_lists(text: str, expected: str) -> None:
    assert expected == shown(text)


FILTERS = [
    ("numbers[1]", "1"),
    ("numbers[-1]", "3"),
    ("numbers[0]", "null"),
    ("numbers[4]", "null"),
    ("numbers[-4]", "null"),
    ("numbers[item > 1]", "[2, 3]"),
    ("numbers[item > 5]", "[]"),
    ("numbers[true]", "[1, 2, 3]"),
    ("numbers[false]", "[]"),
    ("numbers[null]", "[]"),
    ("numbers[count(numbers)]", "3"),
    ("numbers[numbers[2]]", "2"),
    ("[][1]", "null"),
    ("[][item > 1]", "[]"),
    ("orders[total > 10].id", '["b"]'),
    ("orders[item.total > 10].id", '["b"]'),
    ('orders[id = "a"][1].total', "10"),
    ("orders[total > amount]", "[]"),
    ('orders[some line in lines satisfies line.sku = "z"].id', '["c"]'),
    ('orders[count(lines[sku = "y"]) = 1].id', '["a"]'),
    ("[{item: 1}, {item: 2}][item >= 2]", "[{item: 2}]"),
    ("100[1]", "100"),
    ("100[2]", "null"),
    ('"a"[true]', '["a"]'),
    ('"a"[item = "a"]', '["a"]'),
    ("null[1]", "null"),
    ("[[1, 2], [3]][count(item) > 1]", "[[1, 2]]"),
    ("for i in [1, 2] return numbers[item > i]", "[[2, 3], [3]]"),
    ("for i in [1, 2] return numbers[i]", "[1, 2]"),
    ("{k: 2, r: numbers[item >= k]}.r", "[2, 3]"),
]


@pytest.mark.parametrize(("text", "expected"), FILTERS)
def test_a_filter_keeps_items_or_takes_one(text: str, expected: str) -> None:
    assert expected == shown(text)


ITERATIONS = [
    ("for i in numbers return i * 2", "[2, 4, 6]"),
    ("for i in [1, 2], j in [10, 20] return i + j", "[11, 21, 12, 22]"),
    ("for x in [[1, 2], [3]], y in x return y", "[1, 2, 3]"),
    ("for i in 1..3 return i", "[1, 2, 3]"),
    ("for i in 3..1 return i", "[3, 2, 1]"),
    ("for i in [1..3] return i", "[1, 2, 3]"),
    ("for i in (1..4) return i", "[2, 3]"),
    ("for i in [3..1] return i", "null"),
    ("for i in 1+1..1+3 return i", "[2, 3, 4]"),
    ("for i in 1.5..3 return i", "null"),
    ('for i in "a".."c" return i', "null"),
    ("for i in 0..4 return if i = 0 then 1 else i * partial[-1]", "[1, 1, 2, 6, 24]"),
    ("for i in 1..3 return count(partial)", "[0, 1, 2]"),
    ("for i in 1..3 return partial", "[[], [[]], [[], [[]]]]"),
    ("for i in 1..2 return for j in 1..2 return count(partial)", "[[0, 1], [0, 1]]"),
    ("for i in [] return i", "[]"),
    ("for i in 5 return i", "[5]"),
    ("for i in null return i", "null"),
    ("for i in [1], j in null return i", "null"),
    ('for d in @"2024-02-28"..@"2024-03-01" return d', "[2024-02-28, 2024-02-29, 2024-03-01]"),
    ("some x in numbers satisfies x > 2", "true"),
    ("some x in numbers satisfies x > 3", "false"),
    ("every x in numbers satisfies x > 0", "true"),
    ("every x in numbers satisfies x > 1", "false"),
    ("some x in [] satisfies true", "false"),
    ("every x in [] satisfies false", "true"),
    ("some x in [1, null] satisfies x > 1", "null"),
    ("some x in [null, 2] satisfies x > 1", "true"),
    ("every x in [null, 2] satisfies x > 1", "null"),
    ("every x in [null, 0] satisfies x > 1", "false"),
    ("some x in null satisfies true", "null"),
    ("some x in [1, 2], y in [2, 3] satisfies x = y", "true"),
    ("every x in [1, 2], y in [2, 3] satisfies x <= y", "true"),
    ("for i in 1..2 return function(x) x + i", "[function(x), function(x)]"),
    ("for f in (for i in 1..3 return function() i) return f()", "[1, 2, 3]"),
]


@pytest.mark.parametrize(("text", "expected"), ITERATIONS)
def test_an_iteration_goes_over_lists_and_ranges(text: str, expected: str) -> None:
    assert expected == shown(text)


FUNCTIONS = [
    ("(function(a, b) a - b)(5, 3)", "2"),
    ("(function(a, b) a - b)(b: 5, a: 3)", "-2"),
    ("(function(a, b) a - b)(5)", "null"),
    ("(function(a) a)(c: 5)", "null"),
    ("(function(a: number) a)(5)", "5"),
    ('(function(a: number) a)("x")', "null"),
    ("(function(a: number) a)([5])", "5"),
    ("(function(a: list<number>) a)(5)", "[5]"),
    ("(function(a: date and time) a)(null)", "null"),
    ("(function(a) function(b) a + b)(1)(2)", "3"),
    ("{f: function(a) a * amount, r: f(2)}.r", "300"),
    ("{a: 1, f: function() a, r: (function(a) f())(2)}.r", "1"),
    ('(function() external {java: {class: "x"}})()', "null"),
    ("1(2)", "null"),
    ('"abs"(-1)', "null"),
    ("null()", "null"),
    ("nothing_there(1)", "null"),
    ("sort([3, 1, 2], function(x, y) x < y)", "[1, 2, 3]"),
    ("abs(n: -1)", "1"),
    ("abs(m: -1)", "null"),
    ('substring(start position: 2, string: "abc")', '"bc"'),
]


@pytest.mark.parametrize(("text", "expected"), FUNCTIONS)
def test_a_function_takes_fitting_arguments_only(text: str, expected: str) -> None:
    assert expected == shown(text)


def test_named_and_positional_arguments_do_not_mix() -> None:
    with pytest.raises(feel.FeelSyntaxError):
        feel.parse('substring(string: "abc", 2)')
    with pytest.raises(feel.FeelSyntaxError):
        feel.parse('substring("abc", start position: 2)')


def test_a_variable_that_holds_a_function_goes_before_a_built_in_one() -> None:
    double = value("function(x) x * 2")

    assert Decimal(8) == value("abs(4)", {"abs": double})
    assert Decimal(4) == value("abs(-4)", {"abs": Decimal(9)})


def test_a_function_of_another_expression_keeps_its_own_scope() -> None:
    adder = value("{a: 1, b: 2, f: function(x) x + a + b}.f")

    assert "[13, 10]" == shown("{p: 10, q: add, r: [q(p), p]}.r", {"add": adder})
    assert "[13, 13]" == shown("for i in 1..2 return add(10)", {"add": adder})


def test_a_built_in_function_is_a_value_in_dmn_only() -> None:
    assert "[1, 2]" == shown(
        "{f: sort, r: f([2, 1], function(a, b) a < b)}.r", None, feel.Profile.DMN
    )
    assert "true" == shown("count = null", {}, feel.Profile.ZEEBE)
    assert "false" == shown("count = null", {}, feel.Profile.DMN)


@pytest.mark.parametrize(
    "variables",
    [
        {"x": 2, "xs": [1, 2.5, {"n": 3}], "c": {"n": 4, "deep": {"n": [5]}}, "t": (1, 2)},
    ],
)
def test_python_numbers_behave_as_decimals_wherever_they_are(variables: dict[str, Any]) -> None:
    before = repr(variables)

    assert Decimal(3) == value("x + 1", variables)
    assert Decimal("2.5") == value("xs[2]", variables)
    assert Decimal(4) == value("xs[3].n + 1", variables)
    assert Decimal(5) == value("c.n + 1", variables)
    assert Decimal(6) == value("c.deep.n[1] + 1", variables)
    assert [Decimal(1), Decimal(2)] == value("t", variables)
    assert value("x = 2 and xs[1] in [1, 2] and c = {n: 4, deep: {n: [5]}}", variables) is True
    assert before == repr(variables)


def test_floats_without_a_number_are_null() -> None:
    assert value("x = null", {"x": float("nan")}) is True
    assert value("x = null", {"x": float("inf")}) is True


def test_a_value_of_no_json_is_refused() -> None:
    with pytest.raises(feel.FeelError):
        value("x", {"x": object()})


def test_evaluation_never_changes_its_variables() -> None:
    before = repr(DATA)

    value("append(numbers, 4)")
    value('context put(customer, "tier", 1)')
    value("sort(numbers, function(x, y) x > y)")
    value("for o in orders return context merge([o, {x: 1}])")

    assert before == repr(DATA)
