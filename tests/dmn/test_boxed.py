"""Boxed expressions and what they give."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.dmn import parse
from chalicelib.feel import Value
from tests.dmn.models import decided, decision, definitions, given, knowledge, literal, parameter
from tests.dmn.models import result as came_of


def entry(name: str, expression: str, type_ref: str = "") -> str:
    typed = f' typeRef="{type_ref}"' if type_ref else ""
    variable = f'<variable name="{name}"{typed}/>' if name else ""
    return f"<contextEntry>{variable}{expression}</contextEntry>"


def part(name: str, expression: str) -> str:
    return f"<{name}>{expression}</{name}>"


def of(expression: str, **inputs: Any) -> Value:
    """Return the value of one expression that sees the inputs."""
    names = list(inputs)
    inner = "".join(map(given, names)) + decision("d", expression, inputs=names)
    return decided(inner, "d", **inputs)


def test_entries_of_a_context_see_those_before_them() -> None:
    body = entry("net price", literal("n * 2")) + entry("gross", literal("net price + 1"))
    assert {"net price": 6, "gross": 7} == of(f"<context>{body}</context>", n=3)


def test_the_entry_without_a_name_is_the_result() -> None:
    body = entry("a b", literal("n")) + entry("", literal("a b * a b"))
    assert 9 == of(f"<context>{body}</context>", n=3)


def test_an_entry_that_is_not_of_its_type_is_null() -> None:
    body = entry("a", literal('"x"'), "number") + entry("b", literal("[1]"), "number")
    assert {"a": None, "b": 1} == of(f"<context>{body}</context>", n=3)


def test_a_boxed_function_sees_what_is_around_it_and_itself() -> None:
    logic = literal("if n = 0 then base else n + sum(n - 1)")
    function = f"<functionDefinition>{parameter('n', 'number')}{logic}</functionDefinition>"
    body = entry("base", literal("m")) + entry("sum", function) + entry("", literal("sum(4)"))

    assert 110 == of(f"<context>{body}</context>", m=100)


def test_a_relation_is_a_list_of_contexts() -> None:
    columns = '<column name="first name"/><column name="age" typeRef="number"/>'
    row = f"<row>{literal('n')}{literal('30 + 1')}</row>"
    inner = given("n") + decision("d", f"<relation>{columns}{row}{row}</relation>", inputs=["n"])
    inner += decision("e", literal("d[age > 30].first name"), decisions=["d"])

    assert [{"first name": "A", "age": 31}] * 2 == decided(inner, "d", n="A")
    assert ["A", "A"] == decided(inner, "e", n="A")


def test_a_list_holds_what_its_expressions_give() -> None:
    assert [3, [1], None] == of(
        f"<list>{literal('n')}{literal('[1]')}{literal('null')}</list>", n=3
    )


@pytest.mark.parametrize(("n", "expected"), [(1, "yes"), (0, "no"), (None, "no"), (2, None)])
def test_a_conditional_takes_one_way(n: Any, expected: str) -> None:
    parts = part("if", literal("if n = 2 then 2 else n = 1")) + part("then", literal('"yes"'))
    assert expected == of(f"<conditional>{parts}{part('else', literal(chr(34) + 'no' + chr(34)))}"
                          "</conditional>", n=n)  # fmt: skip


@pytest.mark.parametrize(
    ("source", "match", "expected"),
    [
        ("[1,2,3]", "item > n", [3]),
        ("[{a: 1}, {a: 3}]", "a > n", [{"a": 3}]),
        ("5", "item > n", [5]),
        ("[1, null]", "item >= 0", [1]),
        ("null", "true", None),
        ("[1]", '"no boolean"', None),
    ],
)
def test_a_filter_keeps_what_matches(source: str, match: str, expected: Value) -> None:
    body = part("in", literal(source)) + part("match", literal(match))
    assert expected == of(f"<filter>{body}</filter>", n=2)


@pytest.mark.parametrize(
    ("kind", "body", "expected"),
    [
        ("for", "an item * 2", [2, 4, 6]),
        ("for", "if count(partial) = 0 then 1 else partial[-1] + an item", [1, 3, 6]),
        ("some", "an item > 2", True),
        ("some", "an item > 3", False),
        ("some", "if an item = 1 then null else false", None),
        ("every", "an item > 0", True),
        ("every", "an item > 1", False),
        ("every", '"no boolean"', None),
    ],
)
def test_an_iteration_goes_over_a_list(kind: str, body: str, expected: Value) -> None:
    inner = part("in", literal("[1,2,3]"))
    inner += part("return" if kind == "for" else "satisfies", literal(body))
    assert expected == of(f'<{kind} iteratorVariable="an item">{inner}</{kind}>')


def test_an_iteration_over_what_is_no_list_is_null() -> None:
    inner = part("in", literal("null")) + part("return", literal("x"))
    assert None is of(f'<for iteratorVariable="x">{inner}</for>')


def test_an_invocation_gives_arguments_by_name() -> None:
    logic = parameter("a b", "number") + parameter("c") + literal("a b - c")
    bindings = "".join(
        f'<binding><parameter name="{name}"/>{literal(text)}</binding>'
        for name, text in [("c", "1"), ("a b", "10")]
    )
    call = f"<invocation>{literal('minus')}{bindings}</invocation>"

    assert 9 == decided(knowledge("minus", logic) + decision("d", call, knows=["minus"]), "d")


def test_an_invocation_of_a_built_in_function_gives_its_result() -> None:
    bindings = f'<binding><parameter name="n"/>{literal("-3")}</binding>'
    assert 3 == of(f"<invocation>{literal('abs')}{bindings}</invocation>")


def test_an_invocation_of_what_is_no_function_is_null_and_told() -> None:
    found = came_of(decision("d", f"<invocation>{literal('1')}</invocation>"), "d")
    assert (None, "NO_FUNCTION_FOUND") == (found.value, found.warnings[0].type)


@pytest.mark.parametrize("kind", ["Java", "PMML"])
def test_a_foreign_function_is_refused(kind: str) -> None:
    body = f'<functionDefinition kind="{kind}" id="f">{literal("{class: 1}")}</functionDefinition>'
    model = parse(definitions(decision("d", body)))

    message = f"expected a function of kind FEEL, found {kind}, which nothing here can call"
    assert [("f", message)] == list(model.problems)


def test_a_missing_expression_is_null_and_told() -> None:
    found = came_of(decision("d", ""), "d")
    assert (None, "there is no expression") == (found.value, found.warnings[0].message)


@pytest.mark.parametrize("text", ["", "1 +", "a b c"])
def test_a_text_that_is_no_expression_is_a_problem(text: str) -> None:
    model = parse(definitions(decision("d", literal(text))))
    assert ["d"] == [problem.element for problem in model.problems]


@pytest.mark.parametrize("language", ["javascript", "urn:x/B-FEEL/"])
def test_another_expression_language_is_a_problem(language: str) -> None:
    named = f' expressionLanguage="{language}"'
    texts = [
        f"<literalExpression{named}><text>1</text></literalExpression>",
        f"<decisionTable><output/><rule><outputEntry{named}><text>1</text></outputEntry></rule>"
        "</decisionTable>",
    ]
    for text in texts:
        (problem,) = parse(definitions(decision("d", text))).problems
        assert f'expected the expression language FEEL, found "{language}"' == problem.message


@pytest.mark.parametrize("language", ["feel", "https://www.omg.org/spec/DMN/20230324/FEEL/"])
def test_feel_may_be_named_as_the_expression_language(language: str) -> None:
    text = f'<literalExpression expressionLanguage="{language}"><text>1</text></literalExpression>'
    assert 1 == decided(decision("d", text), "d")
