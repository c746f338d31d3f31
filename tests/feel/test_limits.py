"""What a hostile or broken text may do: a clean error, in bounded time."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chalicelib import feel
from chalicelib.feel.limits import MESSAGE_MAX, NAME_PARTS_MAX, TEXT_MAX, WARNINGS_MAX
from tests.feel.evaluating import DATA, NOW, value


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000 + "1" + ")" * 10_000,
        "(" * 10_000,
        "[" * 10_000,
        "{a:" * 10_000,
        "]" * 10_000,
        "if a then " * 10_000,
        "f(" * 10_000,
        "x[" * 10_000,
        "- -(" * 5_000,
        "function(a)" * 5_000,
        "for i in " * 5_000,
        "a instance of " + "list<" * 5_000,
        "a" + ".b" * 5_000,
        "a" + "[1]" * 5_000,
        "a" + "(1)" * 5_000,
        "a = " * 5_000 + "a",
        "1 in (" * 5_000,
        "not(" * 10_000,
    ],
    ids=lambda text: f"{text[:12]}x{len(text)}",
)
def test_what_is_nested_too_deeply_is_a_syntax_error(text: str) -> None:
    with pytest.raises(feel.FeelSyntaxError):
        feel.parse(text)
    with pytest.raises(feel.FeelSyntaxError):
        feel.parse_unary_tests(text)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("(", ")"), ("[", "]"), ("{a: ", "}"), ("abs(", ")"), ("if true then (", ") else 1")],
)
def test_what_people_write_is_never_nested_too_deeply(opening: str, closing: str) -> None:
    assert value(opening * 45 + "1" + closing * 45) is not None


def looks(text: str, names: tuple[str, ...] = ()) -> int:
    """Return how many words of names a parser looks up."""

    class Counting(dict[str, Any]):
        looked = 0

        def get(self, key: str, default: Any = None) -> Any:
            Counting.looked += 1
            return super().get(key, default)

    def counted(trie: dict[str, Any]) -> Counting:
        return Counting({step: counted(branch) for step, branch in trie.items()})

    known = feel.Names(names)
    known.trie = counted(known.trie)
    feel.parse(text, names=known, profile=feel.Profile.DMN)
    return Counting.looked


def test_a_long_name_that_never_ends_is_looked_for_in_linear_time() -> None:
    name = "-".join(["a"] * 100) + "-c"

    short, long = (looks("-".join(["a"] * count), (name,)) for count in (1_000, 2_000))
    assert 0 < short <= NAME_PARTS_MAX * 1_000
    assert long <= 2.1 * short


def test_a_name_of_as_many_words_as_people_write_is_known() -> None:
    name = " ".join(["word"] * (NAME_PARTS_MAX // 2))
    key = "-".join(["word"] * 100)

    assert 7 == value(f"{name} + 1", {name: 6}, names=(name,))
    assert 7 == value(f'get value({{"{key}": 7}}, "{key}")')


def test_a_text_that_is_too_long_is_a_syntax_error() -> None:
    with pytest.raises(feel.FeelSyntaxError):
        feel.parse("1" * (TEXT_MAX + 1))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1" + " + 1" * 10_000, "10001"),
        ("true" + " and true" * 9_000, "True"),
        ("if false then 1 else " * 4_000 + "2", "2"),
        ("[" + "1, " * 20_000 + "1][1]", "1"),
        ("-" * 10_000 + "1", "1"),
        ("1" + " " * 90_000, "1"),
        ("count([" + "[1], " * 15_000 + "[1]])", "15001"),
    ],
    ids=lambda text: f"{text[:12]}x{len(text)}",
)
def test_what_is_long_but_flat_is_read(text: str, expected: str) -> None:
    assert expected == str(value(text))


@pytest.mark.parametrize(
    "text",
    [
        "for i in 1..10000000 return i",
        "for i in 1..1000, j in 1..1000, k in 1..1000 return 1",
        "some i in 1..1000, j in 1..1000, k in 1..1000 satisfies false",
        "for i in 1..100 return for j in 1..100 return for k in 1..1000 return 1",
        '{f: function(n) f(n), r: f("x")}.r',
        "(function(f) f(f))(function(f) f(f))",
        'for i in 1..100 return if i = 1 then "ab" else partial[-1] + partial[-1]',
        "for i in 1..100 return if i = 1 then [1] else concatenate(partial[-1], partial[-1])",
        'string join(for i in 1..1000 return "0123456789012345678901234567890123456789", '
        'string join(for i in 1..1000 return "0123456789012345678901234567890123456789"))',
        'matches(string join(for i in 1..5000 return "0123456789"), "a")',
        "for i in 1..100000 return sum(for j in 1..1000 return j)",
        "sort(for i in 1..100000 return i, function(a, b) sum(1..2) = a)",
    ],
)
def test_an_evaluation_that_goes_on_too_long_is_an_error(text: str) -> None:
    with pytest.raises(feel.FeelError):
        value(text)


def test_a_limit_passed_by_one_evaluation_does_not_touch_the_next() -> None:
    with pytest.raises(feel.FeelError):
        value("{f: function(n) f(n), r: f(1)}.r")

    assert "7" == str(value("1 + 2 * 3"))


def doubled(times: int, result: str) -> str:
    """Return an expression whose `last` holds one list a power of two times."""
    entries = (f"a{n}: [a{n - 1}, a{n - 1}]" for n in range(1, times))
    return f"{{a0: [1], {', '.join(entries)}, last: [a{times - 1}], result: {result}}}.result"


@pytest.mark.parametrize(
    "result", ["last = [last[1]]", "last != last", "list contains([last], last)", "count(last)"]
)
def test_parts_that_a_value_shares_are_looked_at_once(result: str) -> None:
    assert value(doubled(60, result)) is not None


@pytest.mark.parametrize("result", ["string(last)", "to json(last)", "flatten(last)"])
def test_a_value_that_would_be_endless_as_text_is_an_error(result: str) -> None:
    with pytest.raises(feel.FeelError):
        value(doubled(60, result))


def test_a_value_that_would_be_endless_as_json_is_an_error() -> None:
    with pytest.raises(feel.FeelError, match="more than 8000000 characters as JSON"):
        feel.to_json(value(doubled(60, "last")))


def test_warnings_are_kept_up_to_a_limit_and_a_length() -> None:
    warnings: list[feel.FeelWarning] = []
    name = "x" * 1_000
    feel.parse(f"for i in 1..5000 return {name}").evaluate({}, warnings=warnings)

    assert WARNINGS_MAX == len(warnings)
    assert MESSAGE_MAX == len(warnings[0].message)


PIECES = [
    *'+-*/<>=.,:()[]{}?@`"\\',
    *("**", "..", "<=", ">=", "!=", " ", "\n", "//", "/*", "*/"),
    *("if", "then", "else", "for", "in", "return", "some", "every", "satisfies", "and", "or"),
    *("between", "instance", "of", "true", "false", "null", "function", "external", "not"),
    *("amount", "name", "numbers", "customer", "orders", "tier", "item", "partial", "x"),
    *("1", "0", "2.5", "1e999", '"a"', '"\\u12"', '@"P1D"', '@"2024-01-01"', '@"10:00:00Z"'),
    *("date and time", "string length(", "count(", "sort(", "list contains(", "get value("),
    *("number", "list<", "context<", "substring(", "replace(", "matches(", "split(", "time("),
    *("date(", "duration(", "range(", "string(", "context put(", "before(", "day of week("),
]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join))
def test_any_row_of_tokens_gives_a_value_or_a_feel_error(text: str) -> None:
    _evaluate(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_any_text_gives_a_value_or_a_feel_error(text: str) -> None:
    _evaluate(text)


_LEAVES = st.sampled_from(
    [
        *("1", "-2.5", "0", "1e6000", '"abc"', '""', "true", "false", "null", "amount", "name"),
        *("numbers", "customer", "orders", "orders.total", "customer.tier", "missing", "[]"),
        *('@"P1D"', '@"-P1Y2M"', '@"2024-02-29"', '@"10:00:00+01:00"', "(< 5)", "[1..5)"),
        *('@"999999999-12-31T23:59:59@Europe/Paris"', "function(a) a", "{a: 1, b: [2]}"),
    ]
)
_BUILTINS = (
    *("abs", "floor", "sqrt", "exp", "log", "odd", "string", "number", "date", "time", "duration"),
    *("date and time", "count", "sum", "min", "max", "mean", "median", "mode", "stddev", "all"),
    *("flatten", "reverse", "distinct values", "duplicate values", "is empty", "string length"),
    *("upper case", "trim", "range", "context", "context merge", "get entries", "day of week"),
    *("last day of month", "week of year", "to json", "from json", "extract", "not", "cycle"),
)
_PAIRS = (
    *("modulo", "decimal", "round up", "list contains", "append", "concatenate", "union", "remove"),
    *("index of", "partition", "sublist", "split", "matches", "contains", "substring", "is"),
    *("string join", "substring before", "get value", "before", "overlaps", "includes", "sort"),
    *("years and months duration", "date and time", "get or else", "starts", "during"),
)


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(
        ["+", "-", "*", "/", "**", "=", "!=", "<", "<=", ">", ">=", "and", "or", "in"]
    )
    return st.one_of(
        st.tuples(inner, operators, inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from(_BUILTINS), inner).map(lambda t: f"{t[0]}({t[1]})"),
        st.tuples(st.sampled_from(_PAIRS), inner, inner).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
        st.tuples(inner, inner).map(lambda t: f"({t[0]})[{t[1]}]"),
        st.tuples(inner, inner).map(lambda t: f"(for x in {t[0]} return {t[1]})"),
        st.tuples(inner, inner, inner).map(lambda t: f"(if {t[0]} then {t[1]} else {t[2]})"),
        st.tuples(inner, inner).map(lambda t: f"[{t[0]}, {t[1]}]"),
        inner.map(lambda t: f"({t}).year"),
        inner.map(lambda t: f"-({t})"),
        inner.map(lambda t: f"(({t}) instance of list<number>)"),
    )


@settings(max_examples=300, deadline=None)
@given(st.recursive(_LEAVES, _grow, max_leaves=8))
def test_any_expression_gives_a_value_that_leaves_as_json(text: str) -> None:
    feel.parse(text)
    _evaluate(text)


def _evaluate(text: str) -> None:
    for profile in feel.Profile:
        with suppress(feel.FeelError):
            warnings: list[feel.FeelWarning] = []
            expression = feel.parse(text, profile=profile)
            result: Any = expression.evaluate(DATA, now=NOW, warnings=warnings)
            feel.to_json(result)
        with suppress(feel.FeelError):
            tests = feel.parse_unary_tests(text, profile=profile)
            assert tests.evaluate({**DATA, "?": 1}) in (True, False)
