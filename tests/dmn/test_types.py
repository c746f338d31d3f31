"""The types of a model: what conforms, what is converted, and what is null instead."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from chalicelib.dmn import evaluate, parse
from chalicelib.feel import Date, Profile, Value
from tests.dmn.models import decided, decision, definitions, given, literal, result

TYPES = """
<itemDefinition name="tAge"><typeRef>number</typeRef>
  <allowedValues><text>[0..150]</text></allowedValues></itemDefinition>
<itemDefinition name="tAges" isCollection="true"><typeRef>tAge</typeRef>
  <typeConstraint><text>count(?) &lt; 4</text></typeConstraint></itemDefinition>
<itemDefinition name="tColours" isCollection="true"><typeRef>string</typeRef>
  <allowedValues><text>"red","green"</text></allowedValues></itemDefinition>
<itemDefinition name="t Person">
  <itemComponent name="first name"><typeRef>string</typeRef></itemComponent>
  <itemComponent name="age"><typeRef>tAge</typeRef></itemComponent>
  <itemComponent name="born"><typeRef>date</typeRef></itemComponent></itemDefinition>
<itemDefinition name="tTree"><itemComponent name="label"><typeRef>string</typeRef></itemComponent>
  <itemComponent name="children" isCollection="true"><typeRef>tTree</typeRef></itemComponent>
  </itemDefinition>
<itemDefinition name="tUnary"><functionItem outputTypeRef="number">
  <parameters name="n" typeRef="number"/></functionItem></itemDefinition>
"""
PERSON = '{first name: "A", age: 30, born: null}'


@pytest.mark.parametrize(
    ("type_ref", "text", "expected"),
    [
        ("number", "1", 1),
        ("number", '"1"', None),
        ("number", "[1]", 1),
        ("number", "[1, 2]", None),
        ("number", "null", None),
        ("feel:number", "1", 1),
        ("Any", '"x"', "x"),
        ("tAge", "150", 150),
        ("tAge", "151", None),
        ("tAges", "[1, 2]", [1, 2]),
        ("tAges", "1", [1]),
        ("tAges", "[1, 151]", None),
        ("tAges", "[1, 2, 3, 4]", None),
        ("tColours", '["red"]', ["red"]),
        ("tColours", '["red", "blue"]', None),
        ("t Person", '{first name: "A", age: 1}', None),
        ("tTree", '{label: "a", children: [{label: "b", children: []}]}', Ellipsis),
        ("tTree", '{label: 1, children: []}', None),
        ("date and time", 'string(@"2026-03-02")', None),
    ],
)  # fmt: skip
def test_a_result_is_of_its_type_or_null(type_ref: str, text: str, expected: Any) -> None:
    found = result(TYPES + decision("d", literal(text), type_ref=type_ref), "d")

    if expected is Ellipsis:
        assert isinstance(found.value, dict)
    else:
        assert expected == found.value
    assert (found.value is None and text != "null") is bool(found.warnings)


def test_a_date_is_converted_to_its_first_moment() -> None:
    inner = decision("d", literal('@"2026-03-02"'), type_ref="date and time")
    inner += decision("e", literal("string(d)"), decisions=["d"])

    assert "2026-03-02T00:00:00Z" == decided(inner, "e")


def test_a_warning_says_what_was_expected() -> None:
    (warning,) = result(decision("d", literal('"1"'), type_ref="number"), "d").warnings

    assert ("d", "INVALID_TYPE") == (warning.element, warning.type)
    assert "expected an allowed value of type number, found string" == warning.message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 instance of tAge", True),
        ("151 instance of tAge", False),
        ("[1] instance of tAges", True),
        (f"{PERSON} instance of t Person", True),
        ("{age: 1} instance of t Person", False),
        ("[1] instance of list<tAge>", True),
        ("(function(a) a) instance of tUnary", True),
        ("(function(a: number) a) instance of tUnary", True),
        ("(function(a: string) a) instance of tUnary", False),
        ("(function(a, b) a) instance of tUnary", False),
        ("abs instance of tUnary", True),
        ("(function(p: tAge) p)(200)", None),
        ("(function(p: tAge) p)(100)", 100),
    ],
)
def test_expressions_know_the_types_of_the_model(text: str, expected: Value) -> None:
    assert expected == decided(TYPES + decision("d", literal(text)), "d")


def test_text_is_read_as_a_date_where_the_model_wants_one() -> None:
    person = {"first name": "A", "age": 30, "born": "1996-03-02"}
    inner = TYPES + given("p", "t Person") + decision("d", literal("p.born"), inputs=["p"])

    assert Date(1996, 3, 2) == decided(inner, "d", p=person)


def test_an_input_that_is_not_of_its_type_is_null_and_told() -> None:
    inner = TYPES + given("age", "tAge") + decision("d", literal("age = null"), inputs=["age"])
    found = result(inner, "d", age=Decimal(200))

    assert True is found.value
    assert ["age"] == [warning.element for warning in found.warnings]


def test_components_with_spaces_are_names_behind_a_dot_and_in_filters() -> None:
    inner = TYPES + given("p", "t Person")
    inner += decision(
        "d", literal('p.first name + [p][first name = "A"][1].first name'), inputs=["p"]
    )

    assert "AA" == decided(inner, "d", p={"first name": "A", "age": 1, "born": None})


def test_a_type_that_nobody_defined_is_a_problem() -> None:
    model = parse(definitions(decision("d", literal("1"), type_ref="tNone")))
    assert [("d", "expected a type, found 'tNone'")] == list(model.problems)


@pytest.mark.parametrize("type_ref", ["integer", "long", "double"])
def test_the_types_of_older_modelers_are_numbers(type_ref: str) -> None:
    assert [1, None] == [
        decided(decision("d", literal(text), type_ref=type_ref), "d") for text in ("1", '"1"')
    ]


def test_camundas_profile_checks_no_types() -> None:
    xml = definitions(
        given("n", "string")
        + decision("d", literal("n + 1", "tNone"), type_ref="string", inputs=["n"])
    )
    model = parse(xml, profile=Profile.ZEEBE)

    assert () == model.problems
    assert 3 == evaluate(model, "d", {"n": 2}).value


def test_allowed_values_that_do_not_parse_are_a_problem() -> None:
    item = (
        '<itemDefinition name="t"><allowedValues><text>1 +</text></allowedValues></itemDefinition>'
    )
    (problem,) = parse(definitions(item)).problems

    assert "t" == problem.element
    assert problem.message.startswith("allowed values: line 1, column 4")
