"""Decisions that require others, functions they share, and decision services."""

from __future__ import annotations

import pytest

from chalicelib.dmn import DmnError, evaluate, parse
from chalicelib.feel import Profile
from tests.dmn.models import (
    decided,
    decision,
    definitions,
    given,
    knowledge,
    literal,
    parameter,
    result,
)


def service(name: str, outputs: str, *, decisions: str = "", inputs: str = "") -> str:
    parts = [
        *(f'<outputDecision href="#{each}"/>' for each in outputs.split()),
        *(f'<inputDecision href="#{each}"/>' for each in decisions.split()),
        *(f'<inputData href="#{each}"/>' for each in inputs.split()),
    ]
    return f'<decisionService name="{name}" id="{name}">{"".join(parts)}</decisionService>'


SERVED = (
    given("rate", "number")
    + decision("base", literal("100"), type_ref="number")
    + decision("fee", literal("base * rate"), inputs=["rate"], decisions=["base"])
    + decision("twice", literal("fee * 2"), decisions=["fee"])
)


def test_what_a_decision_requires_is_made_before_it() -> None:
    found = result(SERVED, "twice", rate=2)

    assert 400 == found.value
    assert ["base", "fee", "twice"] == [made.id for made in found.audit]


def test_a_name_with_spaces_and_signs_is_one_name_where_it_is_in_scope() -> None:
    inner = given("Monthly Fee") + given("a-b") + given("it's")
    inner += decision(
        "d", literal("Monthly Fee - a-b * it's"), inputs=["Monthly Fee", "a-b", "it's"]
    )

    assert 4 == decided(inner, "d", **{"Monthly Fee": 10, "a-b": 2, "it's": 3})


def test_a_minus_between_variables_is_a_subtraction_though_a_component_is_named_so() -> None:
    odd = '<itemDefinition name="tOdd"><itemComponent name="a-b"/></itemDefinition>'
    inner = odd + given("a") + given("b") + decision("d", literal("a-b"), inputs=["a", "b"])

    assert 2 == decided(inner, "d", a=5, b=3)


def test_keys_that_a_required_decision_gives_are_names() -> None:
    inner = decision("d", literal('{first name: "A", n/a: 1}'))
    inner += decision("e", literal("d.first name + string(d.n/a)"), decisions=["d"])

    assert "A1" == decided(inner, "e")


def test_what_is_not_required_is_not_seen() -> None:
    inner = decision("a", literal("1")) + decision("b", literal("a"))
    found = result(inner, "b")

    assert (None, "no variable 'a'") == (found.value, found.warnings[0].message)


def test_what_no_node_is_named_after_is_seen_by_all() -> None:
    assert 5 == decided(decision("d", literal("amount + 1")), "d", amount=4)


def test_camundas_profile_sees_all_variables_and_results_before_them() -> None:
    inner = given("age") + decision("fee", literal("fee + age"))
    inner += decision("total", literal("fee * 2"), decisions=["fee"])
    model = parse(definitions(inner), profile=Profile.ZEEBE)

    assert 3 == evaluate(model, "fee", {"fee": 1, "age": 2}).value
    assert 6 == evaluate(model, "total", {"fee": 1, "age": 2}).value


def test_a_required_decision_without_a_variable_is_seen_by_its_id_too() -> None:
    inner = '<decision id="risk_level" name="Risk level">' + literal("3") + "</decision>"
    inner += decision("d", literal("risk_level + Risk level"), decisions=["risk_level"])

    assert 6 == decided(inner, "d")


def test_what_is_not_given_is_null_and_told() -> None:
    found = result(SERVED, "fee")
    assert None is found.value
    assert ("rate", "NO_VARIABLE_FOUND", "no value is given for 'rate'") == found.warnings[0][:3]


@pytest.mark.parametrize(
    "inner",
    [
        decision("a", literal("b"), decisions=["b"]) + decision("b", literal("a"), decisions=["a"]),
        decision("a", literal("a"), decisions=["a"]),
    ],
)
def test_a_circle_of_decisions_is_refused(inner: str) -> None:
    model = parse(definitions(inner))

    assert ("a", "expected no circle of requirements") in model.problems
    with pytest.raises(DmnError, match="expected no circle of requirements"):
        evaluate(model, "a", {})


def test_a_circle_through_a_service_ends_at_the_limit_of_calls() -> None:
    inner = decision("a", literal("s()"), knows=["s"]) + service("s", "a")
    model = parse(definitions(inner))

    assert ("a", "expected no circle of requirements") in model.problems
    with pytest.raises(DmnError, match=r"levels deep|nested too deeply"):
        evaluate(model, "a", {})


def test_a_reference_to_nothing_is_a_problem() -> None:
    model = parse(definitions(decision("d", literal("1"), decisions=["none"])))

    assert [("d", "expected an element, found urn:own#none")] == list(model.problems)
    assert 1 == evaluate(model, "d", {}).value


def test_a_knowledge_model_may_call_itself_and_others() -> None:
    inner = knowledge("one", literal("1"))
    logic = parameter("n", "number") + literal("if n = 0 then one() else n * factorial(n - 1)")
    inner += knowledge("factorial", logic, knows=["one"])
    inner += decision("d", literal("factorial(5)"), knows=["factorial"])

    assert 120 == decided(inner, "d")


def test_endless_recursion_ends_at_the_limit_of_calls() -> None:
    inner = knowledge("on", literal("on()")) + decision("d", literal("on()"), knows=["on"])
    with pytest.raises(DmnError, match=r"d: .*(levels deep|nested too deeply)"):
        result(inner, "d")


def test_a_knowledge_model_takes_arguments_of_its_types_only() -> None:
    inner = knowledge("twice", parameter("n", "number") + literal("n * 2"))
    inner += decision("d", literal('[twice(2), twice([3]), twice("x"), twice()]'), knows=["twice"])

    assert [4, 6, None, None] == decided(inner, "d")


def test_a_knowledge_model_can_be_called_from_outside() -> None:
    inner = knowledge("twice", parameter("n", "number") + literal("n * 2"))
    assert 8 == decided(inner, "twice", n=4)


def test_a_service_takes_its_input_decisions_from_its_caller() -> None:
    inner = SERVED + service("s", "twice", decisions="base", inputs="rate")
    inner += decision("positional", literal("s(3, 10)"), knows=["s"])
    inner += decision("named", literal("s(base: 10, rate: 3)"), knows=["s"])

    assert 60 == decided(inner, "positional")
    assert 60 == decided(inner, "named")
    assert 60 == decided(inner, "s", rate=3, base=10)


def test_a_service_with_several_outputs_gives_them_by_name() -> None:
    inner = SERVED + service("s", "fee twice", inputs="rate")
    assert {"fee": 300, "twice": 600} == decided(inner, "s", rate=3)


def test_a_service_does_not_change_what_its_caller_sees() -> None:
    inner = SERVED + service("s", "fee", decisions="base", inputs="rate")
    body = literal("[base, s(2, 7), base]")
    inner += decision("d", body, decisions=["base"], knows=["s"])

    assert [100, 14, 100] == decided(inner, "d")


def test_a_chain_of_many_decisions_needs_no_deep_stack() -> None:
    inner = decision("d0", literal("0"))
    inner += "".join(
        decision(f"d{n}", literal(f"d{n - 1} + 1"), decisions=[f"d{n - 1}"])
        for n in range(1, 3_000)
    )

    assert 2_999 == decided(inner, "d2999")


def test_a_decision_is_found_by_its_id_or_its_name_and_no_other() -> None:
    inner = decision("Risk level", literal("1"))
    assert [1, 1] == [decided(inner, name) for name in ("Risklevel", "Risk level")]
    with pytest.raises(DmnError, match="expected a decision of Own, found 'risk'"):
        decided(inner, "risk")
