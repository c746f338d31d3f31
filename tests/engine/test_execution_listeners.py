"""Execution listeners are jobs before an element begins and when it has ended, in their order."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import quoteattr

import pytest

from chalicelib.bpmn import codec
from chalicelib.engine.commands import CompleteJob
from chalicelib.engine.state import InstanceState, JobState
from chalicelib.engine.turn import Entered, Left
from chalicelib.profile import Profile
from tests.bpmn.models import line as line_of
from tests.bpmn.models import parsed, refusal_of
from tests.engine.models import (
    boundary,
    boundary_error,
    end,
    io,
    line,
    process,
    service,
    start,
    sub,
    task,
)
from tests.play import Play, play

BOTH = pytest.mark.parametrize("profile", Profile)


def listeners(*types: str, retries: str = "") -> str:
    """Return listeners, each written as `start:audit` or `end:=type`."""
    rows = []
    for written in types:
        event, _, type_ = written.partition(":")
        more = f' retries="{retries}"' if retries else ""
        rows.append(f'<zeebe:executionListener eventType="{event}" type={quoteattr(type_)}{more}/>')
    return f"<zeebe:executionListeners>{''.join(rows)}</zeebe:executionListeners>"


def types(game: Play) -> list[str]:
    return [job.type for job in game.jobs if job.state is JobState.ACTIVE]


def do(game: Play, type_: str, **variables: Any) -> Play:
    (job,) = [each for each in game.jobs if (each.type, each.state) == (type_, JobState.ACTIVE)]
    return game.complete(job.element_id, **variables)


@BOTH
def test_listeners_are_done_in_order_around_the_elements_own_job(profile: Profile) -> None:
    heard = listeners("start:one", "end:three", "start:two", "end:four")
    game = play(line(service("a", extensions=heard), service("b")), profile=profile).create()

    for type_ in ("one", "two", "a", "three", "four"):
        assert [type_] == types(game)
        do(game, type_)

    assert ["b"] == types(game)
    entered = [e.key for t in game.turns for e in t.history if isinstance(e, Entered)]
    left = [e.key for t in game.turns for e in t.history if isinstance(e, Left)]
    assert len(entered) == len(set(entered)) == 3
    assert 2 == len(left)


def test_a_listener_of_the_beginning_comes_after_the_input_mappings() -> None:
    heard = io({"total": "=price * 2"}) + listeners("start:audit")
    game = play(line(service("a", extensions=heard))).create(price=4)

    assert 8 == game.job("a").inputs["total"]


@BOTH
def test_what_such_a_listener_gives_is_local_to_the_element(profile: Profile) -> None:
    heard = listeners("start:one", "start:two")
    game = play(line(service("a", extensions=heard)), profile=profile).create(x=1)

    do(do(game, "one", token="t", x=2), "two", more=True)

    (own,) = [job for job in game.jobs if job.type == "a"]
    assert ("t", 2, True) == tuple(own.inputs[name] for name in ("token", "x", "more"))
    assert {"x": 1} == game.variables


def test_a_listener_of_the_end_sees_what_was_mapped_and_what_it_gives_leaves() -> None:
    heard = io(None, {"paid": "=result"}) + listeners("end:audit")
    game = play(line(service("a", extensions=heard)), profile=Profile.PRIOSTACK).create()

    do(game, "a", result=7)
    (job,) = [job for job in game.jobs if job.type == "audit"]
    assert {"paid": 7, "result": 7} == job.inputs
    do(game, "audit", noted=True)

    assert InstanceState.COMPLETED == game.state
    assert {"paid": 7, "noted": True} == game.variables
    left = [e for turn in game.turns for e in turn.history if isinstance(e, Left)]
    assert {"paid": 7} in [e.outputs for e in left]


def test_where_outputs_do_not_leave_those_of_a_listener_do_not() -> None:
    game = play(line(task("a", extensions=listeners("end:audit")))).create()

    do(game, "audit", noted=True)

    assert (InstanceState.COMPLETED, {}) == (game.state, game.variables)


@BOTH
def test_a_subprocess_opens_after_its_listeners_with_what_they_gave(profile: Profile) -> None:
    heard = listeners("start:before", "end:after")
    inner = sub("s", start("i"), service("a"), end("o"), flows="i > a > o", extensions=heard)
    game = play(line(inner, service("b")), profile=profile).create()

    assert ["before"] == types(game)
    do(game, "before", token="t")
    assert "t" == game.job("a").inputs["token"]
    assert ["after"] == types(do(game, "a"))
    assert ["b"] == types(do(game, "after"))
    assert "token" not in game.variables


@BOTH
@pytest.mark.parametrize("done", [(), ("before",), ("before", "a")])
def test_what_is_cancelled_ends_with_its_listeners(profile: Profile, done: tuple[str, ...]) -> None:
    heard = listeners("start:before", "end:after")
    inner = sub("s", start("i"), service("a"), end("o"), flows="i > a > o", extensions=heard)
    game = play(line(sub("t", start("j"), inner, end("q"), flows="j > s > q")), profile=profile)
    game.create()
    for type_ in done:
        do(game, type_)

    game.cancel()

    assert InstanceState.TERMINATED == game.state
    assert [] == types(game)


def test_boundary_events_wait_while_the_element_itself_is_at_work_and_not_before() -> None:
    event = boundary("late", "a", duration="PT1M")
    parts = (start(), service("a", extensions=listeners("start:x", "end:y")), event, end())
    game = play(process(*parts, service("l"), flows="start > a > end; late > l")).create()

    assert [] == game.timers
    assert 1 == len(do(game, "x").timers)
    assert [] == do(game, "a").timers


def test_a_listener_out_of_retries_is_an_incident_and_its_resolve_tries_it_again() -> None:
    heard = listeners("start:one", retries="2")
    game = play(line(service("a", extensions=heard))).create(x=1)

    assert 2 == game.job("a").retries
    game.fail("a").fail("a")
    assert "JOB_NO_RETRIES" == game.incident().error_type
    game.set(x=2).resolve()
    assert (["one"], 2, 2) == (types(game), game.job("a").retries, game.job("a").inputs["x"])
    assert ["a"] == types(do(game, "one"))


def test_what_cannot_begin_after_its_listeners_begins_on_resolve_without_them() -> None:
    heard = listeners("start:one")
    game = play(line(service("a", "=kind", extensions=heard))).create()

    do(game, "one", token="t")
    assert "EXTRACT_VALUE_ERROR" == game.incident().error_type
    game.set(kind="late").resolve()

    assert ["late"] == types(game)
    (own,) = [job for job in game.jobs if job.type == "late"]
    assert "t" == own.inputs["token"]


def test_a_listener_whose_type_cannot_be_said_is_an_incident() -> None:
    heard = listeners("start:one", "start:=kind")
    game = play(line(service("a", extensions=heard))).create()

    do(game, "one")
    assert "EXTRACT_VALUE_ERROR" == game.incident().error_type
    assert ["two"] == types(game.set(kind="two").resolve())
    assert ["a"] == types(do(game, "two"))


def test_a_listener_at_the_end_whose_type_cannot_be_said_is_one_too() -> None:
    game = play(line(service("a", extensions=listeners("end:=kind")), service("b"))).create()

    do(game, "a")
    assert "EXTRACT_VALUE_ERROR" == game.incident().error_type
    assert ["two"] == types(game.set(kind="two").resolve())
    assert ["b"] == types(do(game, "two"))


def test_flows_are_chosen_after_the_listeners_of_the_end() -> None:
    parts = (start(), task("a", extensions=listeners("end:x")), end("e"), end("f"))
    game = play(process(*parts, flows="start > a; a > e: n > 1; a > f: n < 1")).create(n=1)

    do(game, "x")
    assert "CONDITION_ERROR" == game.incident().error_type
    game.set(n=2).resolve()

    assert (InstanceState.COMPLETED, "e") == (game.state, game.path[-1])


def test_an_error_of_a_listener_is_caught_around_its_element_and_not_on_it() -> None:
    inner = sub(
        *("s", start("i"), service("a", extensions=listeners("start:x"))),
        *(boundary_error("on", "a", "e"), end("o"), end("q")),
        flows="i > a > o; on > q",
    )
    parts = (start(), inner, boundary_error("around", "s", "e"), end(), service("b"))
    model = process(*parts, flows="start > s > end; around > b", errors={"e": "e"})

    game = play(model).create().fail("a", error_code="e")

    assert ["b"] == types(game)


def many(heard: str, collection: str = "=[1, 2]", *, mode: str = "", more: str = "") -> str:
    """Return a service task that is done for each of a collection."""
    loop = (
        f"<multiInstanceLoopCharacteristics {mode}><extensionElements><zeebe:loopCharacteristics "
        f'inputCollection="{collection}" inputElement="n"/></extensionElements>{more}'
        "</multiInstanceLoopCharacteristics></serviceTask>"
    )
    return service("a", extensions=heard).replace("</serviceTask>", loop)


def test_each_round_of_many_has_its_listeners() -> None:
    game = play(line(many(listeners("start:x", "end:y")), service("b"))).create()

    for type_ in ("x", "a", "y"):
        assert [type_, type_] == types(game)
        for job in [job for job in game.jobs if job.type == type_]:
            game.send(CompleteJob(job.key))
    assert ["b"] == types(game)


def test_gateways_have_listeners_of_their_beginning() -> None:
    gateway = (
        f'<exclusiveGateway id="g"><extensionElements>{listeners("start:x")}'
        "</extensionElements></exclusiveGateway>"
    )
    game = play(line(gateway, service("b"))).create()

    assert ["b"] == types(do(game, "x"))


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (listeners("cancel:x"), 'executionListener of eventType "cancel" on task'),
        (listeners("beforeAll:x"), 'executionListener of eventType "beforeAll" on task'),
        (listeners("dream:x"), 'executionListener of eventType "dream" on task'),
        (listeners("start: "), "executionListener: expected an attribute type, found none"),
        (listeners("start:=1 +"), "attribute type of executionListener"),
        (listeners("start:x", retries="many"), "attribute retries of executionListener"),
        (listeners(*["start:x"] * 21), "expected at most 20 listeners, found 21"),
    ],
)
def test_a_listener_that_cannot_be_run_is_refused(written: str, problem: str) -> None:
    assert problem in refusal_of(line_of(task("a", extensions=written)))


def test_listeners_are_kept_with_the_compiled_process() -> None:
    found = parsed(line_of(task("a", extensions=listeners("start:=x", "end:y", retries="4"))))

    assert found == codec.from_json(codec.to_json(found))
    assert 2 == len(found.elements["a"].listeners)
