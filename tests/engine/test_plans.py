"""Plans: a process resolved once, and what its values compute."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from chalicelib import feel
from chalicelib.bpmn.model import JobDefinition, Process, Script, Value
from chalicelib.engine.expressions import compile_feel, compile_value, show
from chalicelib.engine.limits import LIVE_MAX
from chalicelib.engine.plans import PLANS_MAX, plan_of
from chalicelib.feel.moment import Moment
from chalicelib.profile import Profile
from tests.engine.models import line, service, task
from tests.play import NOW, load, play


def process() -> Process:
    return load(line(service("a")), Profile.ZENBPM)


def test_a_process_is_planned_once() -> None:
    one, other = process(), process()

    assert plan_of(one) is plan_of(one)
    assert plan_of(one) is not plan_of(other)


def test_only_so_many_plans_are_kept() -> None:
    one = process()
    plan = plan_of(one)
    for _ in range(PLANS_MAX):
        plan_of(process())

    assert plan is not plan_of(one)
    assert plan.process is plan_of(one).process


def test_long_ids_leave_room_for_fewer_elements_that_wait() -> None:
    short = plan_of(load(line(task("a")), Profile.ZENBPM)).live_max
    long = plan_of(load(line(task("a" * 200)), Profile.ZENBPM)).live_max

    assert LIVE_MAX >= short > long > 100


def test_static_text_is_itself_and_feel_is_computed() -> None:
    assert "=x" == compile_value(Value("=x"))({}, Moment(NOW))
    assert Decimal(2) == compile_value(Value("x + 1", is_feel=True))({"x": Decimal(1)}, Moment(NOW))


def test_the_clock_is_the_turns() -> None:
    assert "2030-01-01" == compile_feel("string(today())")({}, Moment(NOW))
    assert "2030-01-01T12:00:00Z" == compile_feel("string(now())")({}, Moment(NOW))


def test_feel_that_does_not_parse_fails_when_it_is_used() -> None:
    with pytest.raises(feel.FeelError):
        compile_feel("1 +")({}, Moment(NOW))


def test_a_stored_model_that_no_longer_parses_is_an_incident() -> None:
    good = process()
    broken = replace(good.elements["a"], job=JobDefinition(Value("1 +", is_feel=True)))
    game = play(replace(good, elements={**good.elements, "a": broken})).create()

    assert ("a", "EXTRACT_VALUE_ERROR") == (
        game.incident().element_id,
        game.incident().error_type,
    )


def test_a_script_that_fails_is_an_incident() -> None:
    good = process()
    script = replace(
        good.elements["a"], job=None, script=Script('assert(x, x != null, "no x")', "y")
    )
    element = replace(script, kind=type(script.kind).SCRIPT_TASK)
    game = play(replace(good, elements={**good.elements, "a": element})).create()

    assert "script of a: " in game.incident().message
    assert 1 == game.set(x=1).resolve().variables["y"]


def test_values_in_messages_are_short() -> None:
    assert '"abc"' == show("abc")
    assert 100 == len(show("x" * 500))
