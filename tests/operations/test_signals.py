"""Signals reach all who wait, through as many commands as that takes, and each of them once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

import pytest

from chalicelib.delivery import commands
from chalicelib.engine.state import InstanceState, Job
from chalicelib.errors import Rejected, TooLarge
from chalicelib.operations import broadcasts, signals
from chalicelib.ports import Message
from chalicelib.profile import Profile
from chalicelib.store.marks import Once
from tests.engine.models import (
    boundary_signal,
    io,
    line,
    parallel,
    process,
    service,
    signal_event,
    start,
)
from tests.operations.stage import Stage
from tests.simulation.replacing import replaced

ALARM = {"s": "alarm"}
ALARMED = Once("POST /v1/signals/broadcast", "b-1", "{}")
CATCH = line(signal_event("intermediateCatchEvent", "c", "s"), signals=ALARM)
BESIDE = process(
    *(start(), service("a"), boundary_signal("b", "a", "s", interrupting=False), service("x")),
    flows="start > a; b > x",
    signals=ALARM,
)


def unanswered(call: Callable[..., Any]) -> Callable[..., NoReturn]:
    """Return a call that is made, and whose answer is lost."""

    def made(*args: Any) -> NoReturn:
        call(*args)
        raise TimeoutError

    return made


def states(stage: Stage, keys: list[int]) -> set[InstanceState]:
    return {stage.state(key) for key in keys}


def test_a_few_are_reached_before_the_broadcaster_is_answered() -> None:
    stage = Stage()
    definition = stage.deploy(CATCH)
    waiting = [stage.create(definition) for _ in range(5)]

    signals.broadcast_signal(stage.ports, "alarm", {"level": "red"})

    assert {InstanceState.COMPLETED} == states(stage, waiting)
    assert {"level": "red"} == stage.variables(waiting[0])


@pytest.mark.parametrize("count", [broadcasts.PAGE_MAX + 1, 500])
def test_many_are_reached_page_by_page_through_commands(count: int) -> None:
    stage = Stage()
    definition = stage.deploy(CATCH)
    waiting = [stage.create(definition) for _ in range(count)]

    signals.broadcast_signal(stage.ports, "alarm", {})
    assert InstanceState.ACTIVE in states(stage, waiting)
    stage.wait(10)

    assert {InstanceState.COMPLETED} == states(stage, waiting)
    assert [] == stage.queues.bodies(commands.QUEUE)


def test_a_thrown_signal_reaches_all_and_starts_what_it_starts() -> None:
    stage = Stage()
    definition = stage.deploy(CATCH)
    waiting = [stage.create(definition) for _ in range(3)]
    started = stage.deploy(
        process(
            signal_event("startEvent", "b", "s"), service("a"), flows="b > a", signals=ALARM
        ).replace(b'process id="p"', b'process id="started"')
    )
    event = signal_event("intermediateThrowEvent", "t", "s", extensions=io(inputs={"n": "=7"}))
    thrower = line(event, signals=ALARM)
    stage.create(thrower.replace(b'process id="p"', b'process id="thrower"'))
    stage.wait(10)

    assert {InstanceState.COMPLETED} == states(stage, waiting)
    (job,) = stage.activate("a")
    assert (started.key, {"n": 7}) == (
        stage.instance(job.instance_key).root.definition_key,
        stage.variables(job.instance_key),
    )
    assert [] == stage.activate("a")


def test_a_signal_starts_an_instance_at_each_start_event_once() -> None:
    stage = Stage()
    events = (signal_event("startEvent", id_, "s") for id_ in ("one", "other"))
    stage.deploy(
        process(
            *events,
            *(service("a"), service("b")),
            flows="one > a; other > b",
            signals=ALARM,
        )
    )

    for _ in range(2):
        signals.broadcast_signal(stage.ports, "alarm", {}, ALARMED)
        stage.wait(10)

    assert [1, 1] == [len(stage.activate(type_, max_jobs=5)) for type_ in ("a", "b")]


def test_a_broadcast_that_comes_again_reaches_nobody_again() -> None:
    stage = Stage()
    definition = stage.deploy(BESIDE)
    waiting = [stage.create(definition) for _ in range(30)]
    signals.broadcast_signal(stage.ports, "alarm", {}, ALARMED)
    for body in stage.queues.bodies(commands.QUEUE):
        stage.queues.send(commands.QUEUE, [Message(body), Message(body)])
    signals.broadcast_signal(stage.ports, "alarm", {}, ALARMED)
    stage.wait(20)

    assert {2} == {len(stage.jobs_of(key)) for key in waiting}


def test_a_repeat_of_a_request_whose_answer_was_lost_is_the_same_broadcast() -> None:
    stage = Stage()
    definition = stage.deploy(BESIDE)
    key = stage.create(definition)

    with replaced(stage.table, write=unanswered(stage.table.write)), pytest.raises(TimeoutError):
        signals.broadcast_signal(stage.ports, "alarm", {}, ALARMED)
    assert [] == stage.activate("x")
    signals.broadcast_signal(stage.ports, "alarm", {}, ALARMED)
    stage.wait(20)

    assert 2 == len(stage.jobs_of(key))


def test_another_body_under_the_key_of_a_broadcast_is_refused() -> None:
    stage = Stage()
    signals.broadcast_signal(stage.ports, "alarm", {}, ALARMED)

    with pytest.raises(Rejected, match="used for another request body"):
        signals.broadcast_signal(stage.ports, "drill", {}, replace(ALARMED, fingerprint="{1}"))


def test_whoever_begins_to_wait_after_a_broadcast_waits_for_the_next_one() -> None:
    stage = Stage()
    definition = stage.deploy(CATCH)
    before = [stage.create(definition) for _ in range(25)]
    signals.broadcast_signal(stage.ports, "alarm", {})
    stage.clock.move(3)
    after = stage.create(definition)
    stage.wait(10)

    assert {InstanceState.COMPLETED} == states(stage, before)
    assert InstanceState.ACTIVE == stage.state(after)


@pytest.mark.parametrize("others", [0, 25])
def test_what_a_broadcast_started_waits_for_the_next_one(others: int) -> None:
    stage = Stage()
    catching = stage.deploy(CATCH)
    for _ in range(others):
        stage.create(catching)
    again = signal_event("intermediateCatchEvent", "again", "s")
    started = process(
        *(signal_event("startEvent", "begin", "s"), again, service("a")),
        flows="begin > again > a",
        signals=ALARM,
    )
    stage.deploy(started.replace(b'id="p"', b'id="q"'))
    signals.broadcast_signal(stage.ports, "alarm", {})
    stage.wait(10)
    none = stage.activate("a", max_jobs=5)
    signals.broadcast_signal(stage.ports, "alarm", {})
    stage.wait(10)

    assert (0, 1) == (len(none), len(stage.activate("a", max_jobs=5)))


@pytest.mark.parametrize("profile", list(Profile))
def test_what_was_thrown_is_over_for_what_comes_behind(profile: Profile) -> None:
    stage = Stage()
    catching = stage.create(stage.deploy(CATCH, profile))
    thrown = signal_event("intermediateThrowEvent", "t", "s")
    again = signal_event("intermediateCatchEvent", "again", "s")
    model = process(
        *(start(), parallel("f"), thrown, service("a"), boundary_signal("b", "a", "s")),
        *(service("x"), again, service("c")),
        flows="start > f; f > t > a; b > x; f > again > c",
        signals=ALARM,
    )
    stage.create(stage.deploy(model.replace(b'id="p"', b'id="q"'), profile))
    stage.wait(10)

    assert InstanceState.COMPLETED == stage.state(catching)
    open_jobs = [len(stage.activate(type_)) for type_ in ("a", "x", "c")]
    assert [1, 0, 1] == open_jobs  # what waits beside gets it


def test_what_can_go_along_with_a_signal_is_bounded() -> None:
    with pytest.raises(TooLarge, match="expected at most 200000 bytes to go along"):
        signals.broadcast_signal(Stage().ports, "alarm", {"a": "x" * 200_000})


def test_a_thrown_payload_that_is_too_large_is_an_incident() -> None:
    stage = Stage()
    event = signal_event("intermediateThrowEvent", "t", "s", extensions=io(inputs={"n": "=big"}))
    key = stage.create(line(service("a"), event, signals=ALARM), big="x" * 200_000)
    stage.work("a")

    assert 1 == stage.instance(key).root.incident_count
    assert [] == [each for each in stage.jobs_of(key) if not isinstance(each, Job)]
