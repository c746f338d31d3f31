"""No model holds a worker: what would, is an error of the engine's own."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from itertools import chain, count, repeat

import pytest

from chalicelib import feel
from chalicelib.dmn import DmnError, codec, evaluate, parse
from chalicelib.feel.limits import WARNINGS_MAX
from tests.dmn.models import decision, definitions, given, literal, output, result, table


def loops(depth: int) -> str:
    """Return as many loops of a thousand rounds inside each other."""
    inner = literal("1")
    for n in range(depth):
        parts = f"<in>{literal('[1..1000]')}</in><return>{inner}</return>"
        inner = f'<for iteratorVariable="v{n}">{parts}</for>'
    return inner


def test_loops_in_boxes_end_at_the_limit_of_steps() -> None:
    with pytest.raises(DmnError, match=r"d: the evaluation takes more than \d+ steps"):
        result(decision("d", loops(3)), "d")


def hurried(inner: str, name: str) -> None:
    """Make a decision by a clock that goes on a second each time it is looked at."""
    deadline = feel.Deadline(count().__next__)
    evaluate(parse(definitions(inner)), name, {"n": 1}, deadline=deadline)


@pytest.mark.parametrize(
    "inner",
    [
        decision("d", loops(3)),
        decision("d", literal("sum(for i in 1..100000 return i)")),
        *(
            given("n")
            + decision(
                "d", table(["n"], [output()], [("> 0", "n")] * 3_000, policy=policy), inputs=["n"]
            )
            for policy in ("COLLECT", "ANY", "RULE ORDER")
        ),
    ],
    ids=["loops", "text", "COLLECT", "ANY", "RULE ORDER"],
)
def test_a_decision_ends_at_its_deadline(inner: str) -> None:
    with pytest.raises(DmnError, match="d: the evaluation takes more than 2 seconds"):
        hurried(inner, "d")


def test_compiling_a_table_is_none_of_its_first_evaluation() -> None:
    rules = [(f"> {n}", str(n)) for n in range(3_000)]
    inner = given("n") + decision("t", table(["n"], [output()], rules, policy="COLLECT"),
                                  inputs=["n"])  # fmt: skip
    model = codec.from_json(codec.to_json(parse(definitions(inner))))
    # It begins, compiles from the first second to the hundredth, and is looked at half one later.
    clock = chain([0.0, 1.0, 100.0], repeat(100.5)).__next__

    found = evaluate(model, "t", {"n": 2_000}, deadline=feel.Deadline(clock))

    assert isinstance(found.value, list) and 2_000 == len(found.value)


def test_all_decisions_of_an_evaluation_share_the_limit() -> None:
    one = "count(for i in 1..90000 return i)"
    inner = "".join(decision(f"d{n}", literal(one)) for n in range(20))
    names = [f"d{n}" for n in range(20)]
    inner += decision("all", literal("1"), decisions=names)

    assert 90_000 == result(inner, "d0").value
    with pytest.raises(DmnError, match="all: the evaluation takes more than"):
        result(inner, "all")


def test_warnings_are_kept_up_to_a_limit() -> None:
    found = result(decision("d", literal("count(for i in 1..5000 return i + null)")), "d")
    assert WARNINGS_MAX == len(found.warnings)


def test_a_table_may_have_many_rules() -> None:
    rules = [("> 0", "1")] * 2_000
    inner = given("n") + decision("t", table(["n"], [output()], rules, policy="COLLECT"),
                                  inputs=["n"])  # fmt: skip
    assert 2_000 == len(result(inner, "t", n=1).value or [])


def test_deep_boxes_are_evaluated_or_refused() -> None:
    for depth in (10, 30, 50):
        inner = literal("1")
        for _ in range(depth):
            inner = f"<list>{inner}</list>"
        try:
            model = parse(definitions(decision("d", inner)))
            evaluate(model, "d", {})
        except DmnError:
            assert depth > 30


def test_random_damage_to_a_model_raises_nothing_but_our_own_error() -> None:
    inner = given("n", "number")
    inner += decision("d", table(["n"], [output("a"), output("b")], [("> 1", "1", "n")] * 2),
                      inputs=["n"])  # fmt: skip
    inner += decision("e", loops(1), decisions=["d"])
    whole = definitions(inner)
    chance = random.Random(5)
    names = [b"decision", b"context", b"list", b"for", b"input", b"output", b"text", b"rule", b"n"]
    now = datetime(2026, 1, 1, tzinfo=UTC)
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(damaged))
            old, new = chance.choice(names), chance.choice(names)
            match chance.randrange(3):
                case 0:
                    damaged[place] = chance.randrange(32, 127)
                case 1:
                    damaged = damaged.replace(old, new, chance.randint(1, 6))
                case 2:
                    del damaged[place : place + chance.randint(1, 20)]
        try:
            model = parse(bytes(damaged))
            for node in model.definitions[0].nodes:
                evaluate(model, node.id, {"n": 1}, now=now)
        except DmnError:
            continue


def test_values_that_decisions_share_are_taken_in_once() -> None:
    inner = decision("d0", literal("[1]"))
    inner += "".join(
        decision(f"d{n}", literal(f"[d{n - 1}, d{n - 1}]"), decisions=[f"d{n - 1}"])
        for n in range(1, 60)
    )
    inner += decision("d", literal("count(d59)"), decisions=["d59"])

    assert 2 == result(inner, "d").value


def test_types_that_share_their_parts_are_looked_at_once() -> None:
    inner = '<itemDefinition name="t0"><typeRef>number</typeRef></itemDefinition>'
    inner += "".join(
        f'<itemDefinition name="t{n}"><itemComponent name="a-b"><typeRef>t{n - 1}</typeRef>'
        f'</itemComponent><itemComponent name="c d"><typeRef>t{n - 1}</typeRef></itemComponent>'
        "</itemDefinition>"
        for n in range(1, 60)
    )
    inner += given("n", "t59") + decision("d", literal("(function(p: t59) p)(n)"), inputs=["n"])

    assert None is result(inner, "d", n={"a-b": None}).value


def test_a_context_of_many_names_with_spaces_is_read_in_linear_time() -> None:
    entries = "".join(
        f'<contextEntry><variable name="entry no {n}"/>{literal(str(n))}</contextEntry>'
        for n in range(3_000)
    )
    found = result(decision("d", f"<context>{entries}</context>"), "d").value

    assert isinstance(found, dict)
    assert 2_999 == found["entry no 2999"]


def test_types_nested_too_deeply_are_refused() -> None:
    inner = "".join(
        f'<itemDefinition name="t{n}"><typeRef>t{n + 1}</typeRef></itemDefinition>'
        for n in range(3_000)
    )
    with pytest.raises(DmnError, match="expected a model with less deep nesting"):
        parse(definitions(inner))
