"""Conditional start events: who asks starts what holds, of the latest versions, once."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.engine.start_conditions import that_hold
from chalicelib.engine.turn import Turn
from chalicelib.errors import Reason, Rejected
from chalicelib.feel.moment import Moment
from chalicelib.operations import conditionals
from chalicelib.operations.conditionals import Started, evaluate_conditionals
from chalicelib.operations.turns import take_start
from chalicelib.profile import Profile
from chalicelib.store import instances
from chalicelib.store.marks import Once
from tests.engine.event_models import conditional, message, several, timer
from tests.engine.models import process, service
from tests.operations.stage import Stage
from tests.play import NOW, load, to_json
from tests.simulation.replacing import replaced


def started_if(*conditions: str, name: str = "p") -> bytes:
    events = [
        several("startEvent", f"e{n}", conditional(text)) for n, text in enumerate(conditions)
    ]
    flows = "; ".join(f"e{n} > a" for n in range(len(conditions)))
    xml = process(*events, service("a"), flows=flows)
    return xml.replace(b'process id="p"', f'process id="{name}"'.encode())


def evaluated(stage: Stage, **variables: object) -> list[Started]:
    return evaluate_conditionals(stage.ports, to_json(variables))


def test_each_start_event_whose_condition_holds_starts_an_instance_with_the_variables() -> None:
    stage = Stage()
    definition = stage.deploy(started_if("x > 1", "x > 2", "y"))

    started = evaluated(stage, x=3)

    assert [definition.key] * 2 == [each.definition_key for each in started]
    assert [{"x": 3}] * 2 == [stage.variables(each.instance_key) for each in started]
    assert 2 == len(stage.activate("a", max_jobs=10))
    assert [] == evaluated(stage, x=1)


def test_it_asks_the_processes_of_every_profile() -> None:
    stage = Stage()
    one = stage.deploy(started_if("x > 1"))
    other = stage.deploy(started_if("x > 2", name="q"), Profile.PRIOSTACK)

    assert [one.key, other.key] == [each.definition_key for each in evaluated(stage, x=3)]


def test_a_new_version_takes_the_place_of_the_old_one() -> None:
    stage = Stage()
    old = stage.deploy(started_if("x > 1"))
    new = stage.deploy(started_if("x > 5"))

    assert [] == evaluated(stage, x=3)
    assert [new.key] == [each.definition_key for each in evaluated(stage, x=6)]
    assert [] == evaluate_conditionals(stage.ports, to_json({"x": 6}), old.key)

    stage.deploy(process(several("startEvent", "e", ""), service("a"), flows="e > a"))
    assert [] == evaluated(stage, x=6)


def test_one_definition_can_be_asked_alone() -> None:
    stage = Stage()
    one = stage.deploy(started_if("x > 1"))
    stage.deploy(started_if("x > 1", name="q"))

    started = evaluate_conditionals(stage.ports, to_json({"x": 3}), one.key)
    assert [one.key] == [each.definition_key for each in started]

    with pytest.raises(Rejected) as refused:
        evaluate_conditionals(stage.ports, {}, 1)
    assert Reason.NOT_FOUND is refused.value.reason


def test_a_repeat_answers_what_was_started_and_starts_nothing_more() -> None:
    stage = Stage()
    stage.deploy(started_if("x > 1", "x > 2"))
    once = Once("POST /v1/conditionals/evaluation", "k-1", "{}")
    first = evaluate_conditionals(stage.ports, to_json({"x": 3}), None, once)
    stage.deploy(started_if("x > 1", name="q"))

    assert first == evaluate_conditionals(stage.ports, to_json({"x": 3}), None, once)
    assert 2 == len(stage.activate("a", max_jobs=10))


def test_a_repeat_of_what_died_half_way_starts_what_is_left() -> None:
    stage = Stage()
    stage.deploy(started_if("x > 1", "x > 2"))
    once = Once("POST /v1/conditionals/evaluation", "k-1", "{}")
    taken: list[Turn] = []

    def die_at_the_second(*args: Any) -> Turn | None:
        if taken:
            raise KeyboardInterrupt
        turn = take_start(*args)
        assert turn is not None
        taken.append(turn)
        return turn

    dying = replaced(conditionals, take_start=die_at_the_second)
    with dying, pytest.raises(KeyboardInterrupt):
        evaluate_conditionals(stage.ports, to_json({"x": 3}), None, once)
    assert 1 == len(stage.activate("a", client="b", max_jobs=10))

    again = evaluate_conditionals(stage.ports, to_json({"x": 3}), None, once)
    assert 2 == len({each.instance_key for each in again})
    assert taken[0].after.key == again[0].instance_key
    assert 1 == len(stage.activate("a", max_jobs=10))


def test_too_many_at_once_are_refused_before_any_is_started() -> None:
    stage = Stage()
    stage.deploy(started_if(*["x > 1"] * 3))

    with replaced(conditionals, STARTS_MAX=2), pytest.raises(Rejected) as refused:
        evaluated(stage, x=3)

    assert "at most 2 instances, found 3 start events" in refused.value.message
    assert [] == stage.activate("a", max_jobs=10)


def test_one_of_several_definitions_can_be_a_condition() -> None:
    stage = Stage()
    event = several("startEvent", "e", message("M"), conditional("x > 1"), timer(cycle="R/PT10S"))
    stage.deploy(process(event, service("a"), flows="e > a", messages={"M": None}))

    (started,) = evaluated(stage, x=2)
    assert {"x": 2} == stage.variables(started.instance_key)
    stage.wait(11)
    assert 2 == len(stage.activate("a", max_jobs=10))


def test_each_timer_of_one_event_starts_instances_by_itself() -> None:
    stage = Stage()
    event = several("startEvent", "e", timer(cycle="R1/PT10S"), timer(cycle="R1/PT20S"))
    stage.deploy(process(event, service("a"), flows="e > a"))

    stage.wait(11)
    assert 1 == len(stage.activate("a", max_jobs=10))
    stage.wait(10)
    assert 1 == len(stage.activate("a", client="b", max_jobs=10))


def test_what_cannot_be_evaluated_does_not_start() -> None:
    found = load(started_if("x > 1", "1 / x > 0", "x"), Profile.ZENBPM)

    assert [] == that_hold(found, to_json({"x": "text"}), Moment(NOW))
    assert ["e2"] == that_hold(found, to_json({"x": True}), Moment(NOW))


def test_the_start_event_is_in_the_history() -> None:
    stage = Stage()
    stage.deploy(started_if("x > 1"))
    (started,) = evaluated(stage, x=2)

    root = instances.load(stage.table, started.instance_key, None)
    assert root is not None
    assert 2 == root.root.element_count
