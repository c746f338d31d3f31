"""Business rule tasks that call a decision: made within the turn, or an incident."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from chalicelib.engine.commands import CreateInstance
from chalicelib.engine.decided import Decidable, Evaluated
from chalicelib.engine.facts import DecisionEvaluated, facts_of
from chalicelib.engine.state import InstanceState
from chalicelib.engine.turn import Entered
from chalicelib.feel.moment import Moment
from chalicelib.json_text import JsonObject
from chalicelib.profile import Profile
from tests.engine.models import io, line, many, rule, service, start, sub
from tests.play import Play, play

LASTED = timedelta(milliseconds=3)


def discount(given: JsonObject, moment: Moment) -> Evaluated:
    """Decide a discount by the amount that is given; none without one."""
    amount = given.get("amount")
    if amount is None:
        return Evaluated(lasted=LASTED, problem="no rule matches")
    return Evaluated(amount * 2, ({"id": "d"},), LASTED)


def game(source: bytes, profile: Profile = Profile.ZENBPM) -> Play:
    made = play(source, profile=profile)
    made.decisions["d"] = Decidable(7, "file", discount)
    return made


@pytest.mark.parametrize("profile", Profile)
def test_the_result_of_a_decision_is_a_variable_of_the_scope(profile: Profile) -> None:
    made = game(line(rule("a", "d"), service("b")), profile).create(amount=4)

    assert ["b"] == made.waiting
    assert {"amount": 4, "result": 8} == made.variables


def test_a_decision_sees_what_input_mappings_make_and_output_mappings_take_what_it_made() -> None:
    task = rule("a", "d", extensions=io({"amount": "=other"}, {"taken": "=result"}))
    made = game(line(task, service("b"))).create(other=5)

    assert {"other": 5, "taken": 10} == made.variables


def test_the_turn_keeps_what_was_decided() -> None:
    made = game(line(rule("a", "d"), service("b"))).create(amount=4)

    (decided,) = made.turns[0].decided
    assert ("d", 7, "file") == decided[1:4]
    assert (Decimal(8), LASTED) == (decided.evaluated.output, decided.evaluated.lasted)
    assert made.root.key == decided.instance_key == decided.scope
    assert ("a", made.now) == (decided.element_id, decided.at)


def test_a_decision_within_a_subprocess_is_of_its_scope() -> None:
    inner = sub("s", start("si"), rule("a", "d"), service("b"), flows="si > a > b")
    made = game(line(inner)).create(amount=4)

    (decided,) = made.turns[0].decided
    assert made.root.live[decided.scope].element_id == "s"


@pytest.mark.parametrize("sequential", [False, True])
def test_each_of_many_decisions_is_of_the_body(sequential: bool) -> None:
    each = {"items": "=items", "item": "amount", "results": "all", "result": "=result"}
    rules = many(rule("a", "d"), each=each, sequential=sequential)
    made = game(line(rules, service("b"))).create(items=[1, 2, 3])

    history = [event for turn in made.turns for event in turn.history]
    body = next(e.key for e in history if isinstance(e, Entered) and e.element_id == "a")
    decided = [each for turn in made.turns for each in turn.decided]
    assert ["b"] == made.waiting and [2, 4, 6] == made.variables["all"]
    assert [body] * 3 == [each.scope for each in decided]
    assert 3 == len({each.element_key for each in decided} - {body})


def test_a_decision_may_be_named_by_an_expression() -> None:
    made = game(line(rule("a", "=kind"), service("b"))).create(amount=4, kind="d")

    assert ["b"] == made.waiting


@pytest.mark.parametrize("kind", [None, 7, ""])
def test_an_expression_that_names_no_decision_is_an_incident(kind: object) -> None:
    made = game(line(rule("a", "=kind"))).create(amount=4, kind=kind)

    assert "EXTRACT_VALUE_ERROR" == made.incident("a").error_type


def test_a_decision_that_is_not_deployed_is_an_incident_until_it_is() -> None:
    made = game(line(rule("a", "x", bindingType="versionTag", versionTag="v1"))).create(amount=4)

    incident = made.incident("a")
    assert "CALLED_DECISION_ERROR" == incident.error_type
    assert "found none with id x (bindingType versionTag, versionTag v1)" in incident.message

    made.decisions["x"] = Decidable(8, "file", discount)
    assert InstanceState.COMPLETED == made.resolve().state


def test_a_decision_that_cannot_be_made_is_an_incident_that_resolving_makes_again() -> None:
    made = game(line(rule("a", "d"), service("b"))).create()

    incident = made.incident("a")
    assert "DECISION_EVALUATION_ERROR" == incident.error_type
    assert "decision d of a: no rule matches" == incident.message
    assert made.incident("a") != made.resolve().incident("a")

    made.set(amount=1)
    assert ["b"] == made.resolve().waiting
    assert {"amount": 1, "result": 2} == made.variables


def test_decisions_that_take_long_are_made_over_some_turns() -> None:
    """So that none of them is cut off for ever by the end of the function that runs it."""
    made = game(line(*(rule(f"r{n}", "slow") for n in range(5)), service("b")))
    seconds = [0.0]

    def slow(given: JsonObject, moment: Moment) -> Evaluated:
        assert not moment.deadline.is_over()
        seconds[0] += 1.5
        return Evaluated(Decimal(1))

    made.clock = lambda: seconds[0]
    made.decisions["slow"] = Decidable(7, "file", slow)
    made.create()

    assert ["b"] == made.waiting
    assert [2, 2, 1] == [len(turn.decided) for turn in made.turns]


def test_a_decision_that_cannot_be_made_is_told_too() -> None:
    made = game(line(rule("a", "d"))).create()

    turn = made.turns[0]
    command = CreateInstance(1, 1, Profile.ZENBPM)
    told = [f for f in facts_of(turn, command, made.process) if isinstance(f, DecisionEvaluated)]
    assert ["no rule matches"] == [fact.made.evaluated.problem for fact in told]
