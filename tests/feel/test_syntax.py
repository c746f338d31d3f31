"""Reading texts: names, literals, ranges, comments, and clear errors."""

from __future__ import annotations

import pytest

from chalicelib import feel
from tests.feel.evaluating import shown, value

LITERALS = [
    ('"a\\"b"', '"a\\"b"'),
    ('"\\u0041\\U01F600"', '"A\U0001f600"'),
    ('"\\uD83D\\uDE00"', '"\U0001f600"'),
    ('string length("\\uD83D\\uDE00")', "1"),
    ('string length("\\d+")', "3"),
    ('string length("\\\\")', "1"),
    ('string length("a\\nb")', "3"),
    ('string length("a\u200bb")', "3"),
    ("[]", "[]"),
    ("[1, [2, 3]]", "[1, [2, 3]]"),
    ("{}", "{}"),
    ('{a: 1, "b c": 2}', '{a: 1, "b c": 2}'),
    ("{a: 1, b: a + 1, c: {d: b}}", "{a: 1, b: 2, c: {d: 2}}"),
    ("{a b: 1, c: a b + 1}", '{"a b": 1, c: 2}'),
    ("{a+b: 1}.a+b", "1"),
    ("{if: 1}", "{if: 1}"),
    ("{a: 1, a: 2}", "null"),
    ("{amount: amount * 2}.amount", "300"),
    ("{f: function(n) if n <= 1 then 1 else n * f(n - 1), r: f(5)}.r", "120"),
    ("[1..3]", "[1..3]"),
    ("(1..3)", "(1..3)"),
    ("]1..3[", "(1..3)"),
    ("[1..3[", "[1..3)"),
    ("[3..1]", "null"),
    ('[1.."a"]', "null"),
    ("[amount..200]", "[150..200]"),
    ("[1..numbers[2]]", "[1..2]"),
    ("[numbers[1]..numbers[3][", "[1..3)"),
    ("(< 10)", "(< 10)"),
    ("(>= 10).start", "10"),
    ("[1..3].end included", "true"),
    ("(1..3).start included", "false"),
    ('@"2020-01-31"', "2020-01-31"),
    ('@"rubbish"', "null"),
    ("/* one */ 1 // two\n + 1", "2"),
    ("1 +\n\t2\u00a0+\u30003\ufeff+\u200b4", "10"),
    ("`amount` + 1", "151"),
    ("customer.`first name`", '"Ann"'),
    ("amount-1", "149"),
    ("amount -1", "149"),
    ("not(true)", "false"),
    ("not(yes) or yes", "true"),
]


@pytest.mark.parametrize(("text", "expected"), LITERALS)
def test_a_literal_is_read_as_written(text: str, expected: str) -> None:
    assert expected == shown(text)


NAMES = [
    (("Monthly Salary",), {"Monthly Salary": 10}, "12 * Monthly Salary", "120"),
    (("Monthly Salary",), {"Monthly Salary": 10}, "12 * Monthly \n Salary", "120"),
    (("a-b", "a", "b"), {"a-b": 1, "a": 5, "b": 2}, "a-b", "1"),
    (("a-b", "a", "b"), {"a-b": 1, "a": 5, "b": 2}, "a - b", "3"),
    (("a", "a b", "a b c"), {"a": 1, "a b": 2, "a b c": 3}, "a b", "2"),
    (("a", "a b", "a b c"), {"a": 1, "a b": 2, "a b c": 3}, "a b c + a", "4"),
    (
        ("days in weekend",),
        {"days in weekend": [1, 2]},
        "for i in days in weekend return i",
        "[1, 2]",
    ),
    (("it's",), {"it's": 1}, "it's + 1", "2"),
    (("if so",), {"if so": 1}, "if if so = 1 then if so else 0", "1"),
    (("order", "total price"), {"order": {"total price": 2}}, "order.total price * 2", "4"),
    (("model.price",), {"model.price": 2}, "model.price * 2", "4"),
    (("date",), {"date": "2020-01-01"}, 'date and time(date + "T10:00:00")', "2020-01-01T10:00:00"),
    (("date", "time"), {"date": True, "time": True}, "date and time", "true"),
    (("Größe über 1",), {"Größe über 1": 3}, "Größe über 1", "3"),
    (("\U0001f40e bob",), {"\U0001f40e bob": 3}, "\U0001f40e bob", "3"),
]


@pytest.mark.parametrize(("names", "variables", "text", "expected"), NAMES)
def test_the_longest_name_in_scope_is_read(
    names: tuple[str, ...], variables: dict[str, object], text: str, expected: str
) -> None:
    assert expected == shown(text, variables, feel.Profile.DMN, names)


def test_a_set_of_names_can_be_shared() -> None:
    names = feel.Names(["Monthly Salary"])

    first = feel.parse("Monthly Salary + 1", names=names)

    assert first is feel.parse("Monthly Salary + 1", names=names)
    assert frozenset({"Monthly Salary"}) == first.names


def test_parsing_a_text_again_gives_the_same_expression() -> None:
    assert feel.parse("a + 1") is feel.parse("a + 1")
    assert feel.parse("a + 1") is not feel.parse("a + 1", profile=feel.Profile.DMN)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a + b.c", {"a", "b"}),
        ("for x in xs return x + y", {"xs", "y"}),
        ("{a: 1, b: a}.b", set()),
        ("function(a) a + b", {"b"}),
        ("count(xs)", {"xs"}),
        ("some x in xs satisfies x > low", {"xs", "low"}),
        ("? > limit", {"?", "limit"}),
        ("f(1)", {"f"}),
    ],
)
def test_an_expression_says_which_variables_it_reads(text: str, expected: set[str]) -> None:
    assert expected == feel.parse(text).names


ERRORS = [
    ("", 1, 1, "expected an expression, found the end of the text"),
    ("1 +", 1, 4, "expected an expression, found the end of the text"),
    ("1 + )", 1, 5, "expected an expression, found ')'"),
    ("(1", 1, 3, "expected ')', found the end of the text"),
    ("[1, 2", 1, 6, "expected ',' or ']', found the end of the text"),
    ("a b", 1, 3, "expected an operator or the end, found 'b'"),
    ("1\n+ *", 2, 3, "expected an expression, found '*'"),
    ('"abc', 1, 1, "expected the end of a string"),
    ("1 /* x", 1, 3, "expected the end of a comment"),
    ("if a then b", 1, 12, "expected 'else', found the end of the text"),
    ("for x in y", 1, 11, "expected 'return', found the end of the text"),
    ("some x satisfies y", 1, 8, "expected 'in', found 'satisfies'"),
    ("{a 1}", 1, 2, "expected a key and ':', found 'a'"),
    ("1 # 2", 1, 3, "expected an expression, found '#'"),
    ("f(a: 1, 2)", 1, 10, "expected a name and ':' for every argument, or for none, found ')'"),
    ("x instance number", 1, 12, "expected 'of', found 'number'"),
    ("1 in (1, 2) + 3", 1, 13, "expected the end of the tests, found '+'"),
    ("1 in (1, 2)[1]", 1, 12, "expected the end of the tests, found '['"),
    ("(1, 2)", 1, 3, "expected ')', found ','"),
    ("[1..(2, 3)]", 1, 7, "expected ')', found ','"),
    ("]1, 2[", 1, 3, "expected '..', found ','"),
    ("a.", 1, 3, "expected a name, found the end of the text"),
]


@pytest.mark.parametrize(("text", "line", "column", "problem"), ERRORS)
def test_a_syntax_error_says_where_and_what(
    text: str, line: int, column: int, problem: str
) -> None:
    with pytest.raises(feel.FeelSyntaxError) as raised:
        feel.parse(text)

    assert (line, column) == (raised.value.line, raised.value.column)
    assert f"line {line}, column {column}: {problem}" == str(raised.value)


TESTS = [
    ("-", 5, True),
    ("5", 5, True),
    ("4", 5, False),
    ("4, 5", 5, True),
    ("< 10", 5, True),
    ("[1..3], > 4", 5, True),
    ("not(5)", 5, False),
    ("not(1, 2)", 5, True),
    ("not(< 3, > 6)", 5, True),
    ("? > 3 and ? < 6", 5, True),
    ("not(? > 3) or ? = 5", 5, True),
    ("list contains([1, 5], ?)", 5, True),
    ("[1, 5]", 5, True),
    ("limit", 5, True),
    ("null", None, True),
    ("null", 5, False),
    ("> 3", None, False),
    ("not(> 3)", None, False),
    ("true", True, True),
    ("false", True, False),
    ("false", False, True),
    ('"a", "b"', "b", True),
    ("(1..5)", 5, False),
    ("]4..6[", 5, True),
    ("is defined(limit)", 3, True),
]


@pytest.mark.parametrize(("text", "tested", "expected"), TESTS)
def test_unary_tests_judge_their_input(text: str, tested: object, expected: bool) -> None:
    assert expected is feel.parse_unary_tests(text).evaluate({"?": tested, "limit": 5})


def test_a_range_end_is_told_from_a_filter() -> None:
    assert "true" == shown("[1..10[ = [1..10)")
    assert "[1..2]" == shown("[1..numbers[numbers[2]]]")
    assert [True, False] == value("[3 in ]1..10[, 10 in [1..10[]")
