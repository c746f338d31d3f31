"""Models that import others, by namespace, behind a prefix."""

from __future__ import annotations

import pytest

from chalicelib.dmn import DmnError, Model, evaluate, parse
from tests.dmn.models import decision, definitions, given, knowledge, literal, parameter, sound

DMN = "https://www.omg.org/spec/DMN/20230324/MODEL/"


def importing(*names: str) -> str:
    """Return imports of `urn:<name>` as `<name>`."""
    return "".join(
        f'<import name="{name}" namespace="urn:{name}" importType="{DMN}"/>' for name in names
    )


def library() -> Model:
    inner = (
        '<itemDefinition name="tRate"><typeRef>number</typeRef>'
        "<allowedValues><text>&gt; 0</text></allowedValues></itemDefinition>"
        + given("Base Rate", "tRate")
        + decision("Double Rate", literal("Base Rate * 2"), inputs=["Base Rate"])
        + knowledge("add one", parameter("n", "number") + literal("n + 1"))
    )
    return sound(definitions(inner, namespace="urn:lib", name="Library"))


def own(imports: str = "lib", type_ref: str = "lib.tRate") -> bytes:
    expression = literal("lib.Double Rate + lib.add one(1) + lib.Base Rate")
    return definitions(
        importing(*imports.split())
        + decision(
            "d",
            expression,
            type_ref=type_ref,
            inputs=["urn:lib#BaseRate"],
            decisions=["urn:lib#DoubleRate"],
            knows=["urn:lib#addone"],
        )
    )


@pytest.mark.parametrize(
    "inputs", [{"Base Rate": 10}, {"lib": {"Base Rate": 10}}, {"urn:lib#Base Rate": 10}]
)
def test_what_is_imported_is_seen_behind_its_prefix(inputs: dict[str, object]) -> None:
    assert 32 == evaluate(sound(own(), [library()]), "d", inputs).value


def test_an_input_of_an_import_is_told_from_one_of_its_name() -> None:
    xml = definitions(
        importing("lib")
        + given("Base Rate")
        + decision(
            "d", literal("Base Rate - lib.Base Rate"), inputs=["Base Rate", "urn:lib#BaseRate"]
        )
    )
    inputs = {"Base Rate": 10, "lib": {"Base Rate": 4}}

    assert 6 == evaluate(sound(xml, [library()]), "d", inputs).value


def test_imported_types_are_checked() -> None:
    found = evaluate(sound(own(), [library()]), "d", {"Base Rate": -1})
    assert (None, "BaseRate") == (found.value, found.warnings[0].element)


def test_an_import_that_is_not_there_is_a_problem() -> None:
    problems = [problem.message for problem in parse(own()).problems]

    assert "expected a model with the namespace urn:lib, found none" in problems
    assert "expected an element, found urn:lib#DoubleRate" in problems


def test_an_import_without_a_name_needs_no_prefix() -> None:
    xml = definitions(
        f'<import name="" namespace="urn:lib" importType="{DMN}"/>'
        + decision("d", literal("Double Rate + add one(1)"), type_ref="tRate",
                   decisions=["urn:lib#DoubleRate"], knows=["urn:lib#addone"])
    )  # fmt: skip
    assert 22 == evaluate(sound(xml, [library()]), "d", {"Base Rate": 10}).value


def test_imports_of_imports_are_found() -> None:
    middle = sound(
        definitions(
            importing("lib")
            + decision("e", literal("lib.Double Rate"), decisions=["urn:lib#DoubleRate"]),
            namespace="urn:middle",
        ),
        [library()],
    )
    xml = definitions(
        importing("middle") + decision("d", literal("middle.e + 1"), decisions=["urn:middle#e"])
    )

    assert 21 == evaluate(sound(xml, [middle]), "d", {"Base Rate": 10}).value


def test_models_that_import_each_other_are_read() -> None:
    other = parse(
        definitions(
            importing("own")
            + decision("e", literal("own.d"), decisions=["urn:own#d"])
            + decision("f", literal("7")),
            namespace="urn:lib",
        )
    )
    xml = definitions(importing("lib") + decision("d", literal("lib.f"), decisions=["urn:lib#f"]))
    assert 7 == evaluate(sound(xml, [other]), "d", {}).value


def test_a_decision_of_an_import_is_not_one_of_the_model() -> None:
    with pytest.raises(DmnError, match="expected a decision of Own, found 'Double Rate'"):
        evaluate(sound(own(), [library()]), "Double Rate", {})
