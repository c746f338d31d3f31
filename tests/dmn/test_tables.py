"""Decision tables: which rules match, and what each hit policy takes of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from chalicelib.dmn import evaluate, parse
from chalicelib.feel import Value
from tests.dmn.models import decided, decision, definitions, given, output, result, table

OVERLAPPING = [("> 0", '"low"'), ("> 10", '"high"'), ("> 10", '"high"'), ("> 20", '"top"')]
PRIORITIES = '"top", "high", "low"'


def model_of(policy: str, *, values: str = "", aggregation: str = "", default: str = "") -> str:
    column = output(values=values, default=default)
    body = table(["n"], [column], OVERLAPPING, policy=policy, aggregation=aggregation)
    return given("n", "number") + decision("d", body, inputs=["n"])


@pytest.mark.parametrize(
    ("policy", "n", "expected"),
    [
        ("UNIQUE", 5, "low"),
        ("UNIQUE", 15, None),
        ("ANY", 5, "low"),
        ("ANY", 15, None),
        ("FIRST", 25, "low"),
        ("PRIORITY", 15, "high"),
        ("PRIORITY", 25, "top"),
        ("RULE ORDER", 15, ["low", "high", "high"]),
        ("OUTPUT ORDER", 25, ["top", "high", "high", "low"]),
        ("COLLECT", 25, ["low", "high", "high", "top"]),
        ("UNIQUE", 0, None),
        ("COLLECT", 0, None),
    ],
)
def test_each_hit_policy_takes_its_rules(policy: str, n: int, expected: Value) -> None:
    assert expected == decided(model_of(policy, values=PRIORITIES), "d", n=n)


@pytest.mark.parametrize(
    ("aggregation", "expected"), [("SUM", 60), ("MIN", 10), ("MAX", 30), ("COUNT", 3)]
)
def test_collected_outputs_are_aggregated(aggregation: str, expected: int) -> None:
    rules = [("-", "10"), ("-", "20"), ("> 0", "30"), ("> 5", "40")]
    body = table(["n"], [output()], rules, policy="COLLECT", aggregation=aggregation)
    inner = given("n") + decision("d", body, inputs=["n"])

    assert expected == decided(inner, "d", n=1)


def test_nothing_collected_counts_zero_and_sums_to_null() -> None:
    assert 0 == decided(model_of("COLLECT", aggregation="COUNT"), "d", n=0)
    assert None is decided(model_of("COLLECT", aggregation="SUM"), "d", n=0)


def test_rules_that_say_the_same_are_any() -> None:
    body = table(["n"], [output()], [("> 0", "1"), ("> 1", "2 - 1")], policy="ANY")
    assert 1 == decided(given("n") + decision("d", body, inputs=["n"]), "d", n=5)


def test_a_default_stands_where_no_rule_matches() -> None:
    assert "none" == decided(model_of("UNIQUE", default='"none"'), "d", n=0)


def test_the_reason_of_a_broken_policy_is_told() -> None:
    found = result(model_of("UNIQUE"), "d", n=15)
    assert ["expected one rule to match, found rules [1, 2, 3]"] == [
        warning.message for warning in found.warnings
    ]


def test_several_outputs_make_a_context() -> None:
    columns = [output("first part"), output("second")]
    inner = (
        given("n")
        + decision("d", table(["n"], columns, [("> 0", "n", "n * 2")]), inputs=["n"])
        + decision("e", "<literalExpression><text>d.first part</text></literalExpression>",
                   decisions=["d"])
    )  # fmt: skip

    assert {"first part": 3, "second": 6} == decided(inner, "d", n=3)
    assert 3 == decided(inner, "e", n=3)


def test_several_outputs_are_ranked_from_the_left() -> None:
    columns = [output("a", values='"x","y"'), output("b", values="3,2,1")]
    rules = [("-", '"y"', "3"), ("-", '"x"', "1"), ("-", '"x"', "2")]
    inner = given("n") + decision(
        "d", table(["n"], columns, rules, policy="PRIORITY"), inputs=["n"]
    )

    assert {"a": "x", "b": 2} == decided(inner, "d", n=1)


def test_priorities_are_those_of_the_outputs_type_if_it_names_none() -> None:
    colour = (
        '<itemDefinition name="tColour"><typeRef>string</typeRef>'
        '<allowedValues><text>"red","green"</text></allowedValues></itemDefinition>'
    )
    rules = [("-", '"green"'), ("-", '"red"')]
    body = table(["n"], [output(type_ref="tColour")], rules, policy="PRIORITY")

    assert "red" == decided(colour + given("n") + decision("d", body, inputs=["n"]), "d", n=1)


@pytest.mark.parametrize(
    ("cell", "value", "matches"),
    [
        ("-", None, True),
        ('"a","b"', "b", True),
        ("not(1,2)", 3, True),
        ("not(1,2)", 2, False),
        ("[1..3)", 3, False),
        ("? > 2 and ? < 5", 3, True),
        ("limit", 7, True),
        ("< limit", 7, False),
        ("null", None, True),
        ("> 1", None, False),
        ("contains(?, 1)", 3, False),
        ("[1,2]", 2, True),
        ("date(\"2026-01-01\")", "x", False),
    ],
)  # fmt: skip
def test_a_cell_tests_its_input(cell: str, value: Any, matches: bool) -> None:
    body = table(["n"], [output()], [(cell, "true")], policy="FIRST")
    inner = given("n") + given("limit") + decision("d", body, inputs=["n", "limit"])

    assert matches is (decided(inner, "d", n=value, limit=7) is True)


def test_an_input_that_is_not_allowed_makes_null() -> None:
    clause = (
        '<decisionTable id="t"><input id="i"><inputExpression><text>n</text></inputExpression>'
        '<inputValues><text>[0..10]</text></inputValues></input><output id="o"/>'
        '<rule id="r"><inputEntry><text>-</text></inputEntry>'
        "<outputEntry><text>1</text></outputEntry></rule></decisionTable>"
    )
    inner = given("n") + decision("d", clause, inputs=["n"])

    assert 1 == decided(inner, "d", n=10)
    found = result(inner, "d", n=11)
    assert (None, "i") == (found.value, found.warnings[0].element)


def test_an_output_that_is_not_allowed_makes_null() -> None:
    body = table(["n"], [output(values='"a","b"')], [("1", '"a"'), ("2", '"c"'), ("3", "null")])
    inner = given("n") + decision("d", body, inputs=["n"])

    assert "a" == decided(inner, "d", n=1)
    found = result(inner, "d", n=2)
    assert (None, "r2") == (found.value, found.warnings[0].element)
    assert ["r2"] == [rule.id for rule in found.audit[0].rules]
    assert () == result(inner, "d", n=3).warnings


def test_the_audit_says_which_rules_decided() -> None:
    (made,) = result(model_of("FIRST"), "d", n=25).audit

    assert ("d", "decisionTable", "low") == (made.id, made.kind, made.value)
    assert [("in1", "n", Decimal(25))] == [(i.id, i.expression, i.value) for i in made.inputs]
    (rule,) = made.rules
    assert ("r1", 1, ["low"]) == (rule.id, rule.number, [each.value for each in rule.outputs])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (table(["n"], [output()], [("1", "1")], policy="BEST"), "expected a hit policy of"),
        (
            table(["n"], [output()], [("1", "1")], policy="COLLECT", aggregation="AVG"),
            "expected SUM, MIN, MAX or COUNT to aggregate, found AVG",
        ),
        (table(["n"], [output()], [("1",)]), "expected 1 input and 1 output entries in a rule"),
        (table(["n"], [output()], [("> >", "1")]), "expected an expression, found '>'"),
        (table(["n"], [output()], [("1", "1 +")]), "expected an expression, found the end"),
        (table(["n"], [], [("1",)]), "expected an output at a decision table"),
        (
            table(["n"], [output("a"), output("a")], []),
            "expected a name of its own at each of several outputs",
        ),
        (
            table(["n"], [output("a"), output("b")], [], policy="COLLECT", aggregation="SUM"),
            "expected one output to aggregate, found 2",
        ),
    ],
)
def test_what_is_wrong_in_a_table_is_a_problem(body: str, message: str) -> None:
    model = parse(definitions(given("n") + decision("d", body, inputs=["n"])))

    assert any(message in problem.message for problem in model.problems), model.problems
    evaluate(model, "d", {"n": 1})  # never raises


LONG = [(f'"T{n}"', f"[{n}..{n + 5}]", str(n)) for n in range(30)]


@pytest.mark.parametrize(
    ("tier", "n", "expected"),
    [
        ("T7", 8, [7]),
        ("T7", 99, None),
        ("T29", 30, [29, 100]),
        ("T50", 1, None),
        ("x", 30, [100]),
        ("y", 30, [100]),
        ("x", None, None),
        (None, 30, None),
        (["T7"], 8, None),
        (5, 8, [101]),
        ("open", 8, None),
    ],
)
def test_a_long_table_matches_as_a_short_one_does(tier: Any, n: Any, expected: Value) -> None:
    rules = [*LONG, ('"x","y","T29"', "30", "100"), ("< 9", "-", "101")]
    inner = given("tier") + given("n")
    found = [
        decided(inner + decision("d", body, inputs=["tier", "n"]), "d", tier=tier, n=n)
        for body in (
            table(["tier", "n"], [output()], rules, policy="COLLECT"),
            # The same tests, but none of them a plain value that could be looked up.
            table(
                ["tier", "n"],
                [output()],
                [(first.replace('"T', '"" + "T'), *rest) for first, *rest in rules],
                policy="COLLECT",
            ),
        )
    ]
    assert [expected, expected] == found
