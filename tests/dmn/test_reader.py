"""DMN files of every version are read; what is none, or is hostile, is refused."""

from __future__ import annotations

import pytest

from chalicelib.dmn import DmnError, evaluate, parse
from chalicelib.dmn.limits import BYTES_MAX
from tests.dmn.models import DISCOUNT, NAMESPACE, decision, definitions, literal

VERSIONS = (
    "http://www.omg.org/spec/DMN/20151101/dmn.xsd",
    "http://www.omg.org/spec/DMN/20180521/MODEL/",
    "https://www.omg.org/spec/DMN/20191111/MODEL/",
    "https://www.omg.org/spec/DMN/20211108/MODEL/",
    NAMESPACE,
)


@pytest.mark.parametrize("namespace", VERSIONS)
def test_every_version_of_dmn_is_read(namespace: str) -> None:
    model = parse(DISCOUNT.replace(NAMESPACE.encode(), namespace.encode()))

    assert () == model.problems
    assert "0.1" == str(evaluate(model, "discount", {"total": 250}).value)


def test_prefixes_and_foreign_elements_do_not_matter() -> None:
    xml = f"""<?xml version="1.0"?>
    <dmn:definitions xmlns:dmn="{NAMESPACE}" xmlns:x="urn:x" namespace="n" name="N" id="n">
      <x:decision id="d" name="d"/>
      <dmn:decision id="d" name="d"><dmn:extensionElements><x:list/></dmn:extensionElements>
        <dmn:literalExpression><dmn:text><![CDATA[1 < 2]]></dmn:text></dmn:literalExpression>
      </dmn:decision></dmn:definitions>"""
    assert True is evaluate(parse(xml.encode()), "d", {}).value


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        (b"", "found an empty file"),
        (b"<definitions/>", "expected a DMN model: an element definitions in a namespace of DMN"),
        (b'<process xmlns="urn:x"/>', 'found "process" in namespace "urn:x"'),
        (b"<definitions", "expected XML, found an error at line 1"),
        (b'<!DOCTYPE d [<!ENTITY e "x">]><d>&e;</d>', "expected no DOCTYPE"),
        (b" " * (BYTES_MAX + 1), "expected a model of at most"),
        (b"<a>" * 200 + b"</a>" * 200, "expected at most 120 levels of elements"),
    ],
)
def test_what_is_no_model_is_refused(xml: bytes, message: str) -> None:
    with pytest.raises(DmnError, match=message):
        parse(xml)


def test_the_version_tag_of_a_decision_is_read() -> None:
    tag = '<extensionElements xmlns:z="urn:z"><z:versionTag value="v 2"/></extensionElements>'
    model = parse(definitions(f'<decision id="d">{tag}{literal("1")}</decision>'))

    assert ["v 2"] == [decision.version_tag for decision in model.decisions]


def test_two_elements_of_one_id_are_a_problem() -> None:
    model = parse(definitions(decision("d", literal("1")) + decision("d", literal("2"))))

    assert [("d", "expected an id of its own, found it twice")] == list(model.problems)
    assert 1 == evaluate(model, "d", {}).value


def test_two_expressions_in_one_place_are_a_problem() -> None:
    model = parse(definitions(decision("d", literal("1") + literal("2"))))
    assert [("d", "expected one expression, found 2")] == list(model.problems)


@pytest.mark.parametrize(
    "inner",
    [
        "<decision/>",
        '<decision name="d"><informationRequirement/></decision>',
        '<decision id="d"><decisionTable/></decision>',
        '<decision id="d"><invocation/></decision>',
        '<decision id="d"><context><contextEntry/></context></decision>',
        '<decision id="d"><relation><column/><row/></relation></decision>',
        '<decision id="d"><for/></decision>',
        '<decision id="d"><conditional/></decision>',
        '<decision id="d"><filter/></decision>',
        '<decision id="d"><functionDefinition/></decision>',
        '<decision id="d"><list><list><list/></list></list></decision>',
        '<businessKnowledgeModel id="d"/>',
        '<decisionService id="d"/>',
        '<decisionService id="d"><outputDecision href="#x"/></decisionService>',
        "<itemDefinition/>",
        '<itemDefinition name="t"><typeRef>t</typeRef></itemDefinition>',
        "<inputData/>",
        "<import/>",
    ],
)
def test_a_model_with_parts_missing_is_read_and_evaluated(inner: str) -> None:
    model = parse(definitions(inner))
    if "d" in {node.id for node in model.definitions[0].nodes}:
        evaluate(model, "d", {})
