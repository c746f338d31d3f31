"""Decision models written as short texts, and evaluated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from xml.sax.saxutils import escape

from chalicelib.dmn import Model, Result, evaluate, parse
from chalicelib.feel import Value

NAMESPACE = "https://www.omg.org/spec/DMN/20230324/MODEL/"
OWN = "urn:own"


def definitions(inner: str, *, namespace: str = OWN, name: str = "Own") -> bytes:
    """Return a DMN file with what is in it."""
    return (
        f'<definitions xmlns="{NAMESPACE}" namespace="{namespace}" name="{name}" id="file">'
        f"{inner}</definitions>"
    ).encode()


def literal(text: str, type_ref: str = "") -> str:
    """Return a literal expression."""
    return f"<literalExpression{_type(type_ref)}><text>{escape(text)}</text></literalExpression>"


def given(name: str, type_ref: str = "") -> str:
    """Return an input data, whose id is its name without spaces."""
    variable = f'<variable name="{name}"{_type(type_ref)}/>'
    return f'<inputData name="{name}" id="{id_of(name)}">{variable}</inputData>'


def decision(
    name: str,
    expression: str,
    *,
    type_ref: str = "",
    inputs: Iterable[str] = (),
    decisions: Iterable[str] = (),
    knows: Iterable[str] = (),
) -> str:
    """Return a decision that requires others by their names or references."""
    required = [
        *(_requirement("information", "requiredInput", each) for each in inputs),
        *(_requirement("information", "requiredDecision", each) for each in decisions),
        *(_requirement("knowledge", "requiredKnowledge", each) for each in knows),
    ]
    return (
        f'<decision name="{escape(name)}" id="{id_of(name)}">'
        f'<variable name="{escape(name)}"{_type(type_ref)}/>'
        f"{''.join(required)}{expression}</decision>"
    )


def knowledge(name: str, logic: str, *, type_ref: str = "", knows: Iterable[str] = ()) -> str:
    """Return a business knowledge model; its logic begins with formal parameters."""
    required = "".join(_requirement("knowledge", "requiredKnowledge", each) for each in knows)
    return (
        f'<businessKnowledgeModel name="{name}" id="{id_of(name)}">'
        f'<variable name="{name}"{_type(type_ref)}/>'
        f"<encapsulatedLogic>{logic}</encapsulatedLogic>{required}</businessKnowledgeModel>"
    )


def parameter(name: str, type_ref: str = "") -> str:
    """Return a formal parameter."""
    return f'<formalParameter name="{name}"{_type(type_ref)}/>'


def table(
    inputs: Iterable[str],
    outputs: Iterable[str],
    rules: Iterable[tuple[str, ...]],
    *,
    policy: str = "UNIQUE",
    aggregation: str = "",
) -> str:
    """Return a decision table; inputs are expressions, outputs elements, rules rows of cells."""
    inputs = list(inputs)
    columns = "".join(
        f'<input id="in{n}"><inputExpression><text>{escape(each)}</text></inputExpression></input>'
        for n, each in enumerate(inputs, start=1)
    )
    rows = "".join(
        f'<rule id="r{n}">'
        + "".join(
            f"<{kind}><text>{escape(cell)}</text></{kind}>"
            for kind, cell in zip(
                ["inputEntry"] * len(inputs) + ["outputEntry"] * len(row), row, strict=False
            )
        )
        + "</rule>"
        for n, row in enumerate(rules, start=1)
    )
    aggregated = f' aggregation="{aggregation}"' if aggregation else ""
    return (
        f'<decisionTable id="table" hitPolicy="{policy}"{aggregated}>'
        f"{columns}{''.join(outputs)}{rows}</decisionTable>"
    )


def output(name: str = "", *, values: str = "", default: str = "", type_ref: str = "") -> str:
    """Return an output column."""
    named = f' name="{name}"' if name else ""
    allowed = f"<outputValues><text>{escape(values)}</text></outputValues>" if values else ""
    otherwise = (
        f"<defaultOutputEntry><text>{escape(default)}</text></defaultOutputEntry>"
        if default
        else ""
    )
    return f'<output id="out"{named}{_type(type_ref)}>{allowed}{otherwise}</output>'


def decided(inner: str, name: str, **inputs: Any) -> Value:
    """Return the value of a decision of a model that has nothing wrong in it."""
    return result(inner, name, **inputs).value


def result(inner: str, name: str, **inputs: Any) -> Result:
    """Return what comes of a decision of a model that has nothing wrong in it."""
    return evaluate(sound(definitions(inner)), name, inputs)


def sound(xml: bytes, imports: Iterable[Model] = ()) -> Model:
    """Return a model that has nothing wrong in it."""
    model = parse(xml, imports)
    assert () == model.problems
    return model


def id_of(name: str) -> str:
    """Return the id that these helpers give to what has a name."""
    return "".join(sign for sign in name if sign.isalnum() or sign == "_")


def _requirement(kind: str, name: str, target: str) -> str:
    href = target if "#" in target else f"#{id_of(target)}"
    return f'<{kind}Requirement><{name} href="{href}"/></{kind}Requirement>'


def _type(type_ref: str) -> str:
    return f' typeRef="{type_ref}"' if type_ref else ""


DISCOUNT = definitions(
    given("total", "number")
    + decision(
        "discount",
        table(["total"], [output()], [("< 100", "0"), ("[100..500]", "0.1"), ("> 500", "0.2")]),
        type_ref="number",
        inputs=["total"],
    ),
    name="Discount",
)
