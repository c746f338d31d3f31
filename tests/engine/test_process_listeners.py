"""Listeners of a process come before it begins, when it has ended, and when it is cancelled."""

from __future__ import annotations

import pytest

from chalicelib.bpmn import codec
from chalicelib.engine.commands import CreateInstance, ModifyInstance
from chalicelib.engine.state import (
    InstanceState,
)
from chalicelib.errors import Reason, Rejected
from chalicelib.profile import Profile
from tests.bpmn.models import parsed, refusal_of
from tests.engine.models import (
    end,
    io,
    line,
    process,
    service,
    start,
    sub,
    task,
)
from tests.engine.test_execution_listeners import BOTH, do, listeners, types
from tests.play import play


def heard(model: bytes, *written: str) -> bytes:
    """Return a model whose process has listeners."""
    extensions = f"<extensionElements>{listeners(*written)}</extensionElements>".encode()
    return model.replace(b'isExecutable="true">', b'isExecutable="true">' + extensions, 1)


# --- the beginning -------------------------------------------------------------------------------


@BOTH
def test_listeners_of_a_process_come_before_it_and_what_they_give_is_its_own(
    profile: Profile,
) -> None:
    game = play(heard(line(service("a")), "start:x", "start:y"), profile=profile).create(n=1)

    assert (["x"], [], {"n": 1}) == (types(game), game.path, game.variables)
    do(game, "x", token="t")
    assert "t" == game.job("y").inputs["token"]
    do(game, "y", n=2)

    assert (["a"], {"n": 2, "token": "t"}) == (types(game), game.variables)
    assert {"n": 2, "token": "t"} == game.job("a").inputs
    assert InstanceState.COMPLETED == do(game, "a").state


def test_they_come_before_a_message_start_too_and_what_came_is_kept_meanwhile() -> None:
    message = '<message id="m" name="order"/>'
    event = '<startEvent id="start"><messageEventDefinition messageRef="m"/></startEvent>'
    model = heard(process(event, service("a"), end(), flows="start > a > end"), "start:x")
    model = model.replace(b"<process", message.encode() + b"<process", 1)

    game = play(model, profile=Profile.PRIOSTACK).start_at("start", amount=7)

    assert (["x"], {}) == (types(game), game.variables)
    do(game, "x", token="t")
    assert {"token": "t", "amount": 7} == game.variables
    assert ["a"] == types(game)


def test_they_come_before_elements_that_are_started_by_name() -> None:
    inner = sub(
        *("s", start("i"), service("a"), end("o")),
        flows="i > a > o",
        extensions=io({"k": "=token"}),
    )
    model = heard(line(inner, service("b")), "start:x")
    game = play(model, profile=Profile.PRIOSTACK)

    game.send(CreateInstance(1, 1, Profile.PRIOSTACK, starting_elements=("a", "b")))
    assert ["x"] == types(game)
    do(game, "x", token="t")

    assert ["a", "b"] == sorted(types(game))
    assert "t" == game.job("a").inputs["k"]


def test_what_cannot_begin_after_them_begins_on_resolve() -> None:
    around = sub(
        *(
            "t",
            start("j"),
            sub(
                "s",
                start("i"),
                service("a"),
                end("o"),
                flows="i > a > o",
                extensions=io({"k": "=x", "k.b": "=2"}),
            ),
            end("q"),
        ),
        flows="j > s > q",
    )
    model = heard(line(around, service("b")), "start:x")
    game = play(model, profile=Profile.PRIOSTACK)
    game.send(CreateInstance(1, 1, Profile.PRIOSTACK, {}, starting_elements=("b", "a")))

    do(game, "x", x=1)
    assert "IO_MAPPING_ERROR" == game.incident().error_type
    game.set(x={}).resolve()

    assert ["a", "b"] == sorted(types(game))
    do(do(game, "b"), "a")
    assert InstanceState.ACTIVE == game.state  # the token of s goes on to b
    assert InstanceState.COMPLETED == do(game, "b").state


def test_an_element_that_is_not_there_is_refused_before_them() -> None:
    with pytest.raises(Rejected) as refused:
        play(heard(line(service("a")), "start:x")).send(
            CreateInstance(1, 1, Profile.ZENBPM, starting_elements=("nowhere",))
        )
    assert Reason.NOT_FOUND == refused.value.reason


def test_the_process_is_no_element_that_can_be_started() -> None:
    game = play(heard(line(service("a")), "start:x")).create()

    with pytest.raises(Rejected) as refused:
        game.send(ModifyInstance(start=(game.process.id,)))
    assert Reason.NOT_FOUND == refused.value.reason


@pytest.mark.parametrize("event", ["start", "end", "cancel"])
def test_a_listener_of_a_process_that_cannot_be_made_is_an_incident(event: str) -> None:
    game = play(heard(line(task("a")), f"{event}:=kind")).create()
    if event == "cancel":
        game = play(heard(line(service("a")), f"{event}:=kind")).create().cancel()

    assert "EXTRACT_VALUE_ERROR" == game.incident().error_type
    game.resolve(variables={"kind": "late"})
    assert ["late"] == types(game)
    do(game, "late")

    ended = InstanceState.TERMINATED if event == "cancel" else InstanceState.COMPLETED
    assert (ended, []) == (game.state, game.incidents)


# --- the end -------------------------------------------------------------------------------------


@BOTH
def test_listeners_of_its_end_come_when_nothing_is_left_in_a_process(profile: Profile) -> None:
    game = play(heard(line(service("a")), "end:x", "end:y"), profile=profile).create()

    do(game, "a")
    assert (["x"], InstanceState.ACTIVE) == (types(game), game.state)
    do(game, "x", noted=True)
    assert True is game.job("y").inputs["noted"]
    do(game, "y")

    assert (InstanceState.COMPLETED, True) == (game.state, game.variables["noted"])


def test_a_terminate_event_ends_a_process_with_its_listeners() -> None:
    terminate = '<endEvent id="t"><terminateEventDefinition/></endEvent>'
    parts = (start(), service("a"), service("b"), end(), terminate)
    model = heard(process(*parts, flows="start > a > t; start > b > end"), "end:x", "cancel:y")
    game = do(play(model).create(), "a")

    assert (["x"], InstanceState.ACTIVE) == (types(game), game.state)
    assert InstanceState.COMPLETED == do(game, "x").state


def test_what_is_started_while_they_are_at_work_goes_on_after_them_and_ends_again() -> None:
    game = do(play(heard(line(service("a")), "end:x")).create(), "a")

    game.send(ModifyInstance(start=("a",)))
    do(game, "x")
    assert ["a"] == types(game)
    assert ["x"] == types(do(game, "a"))

    assert InstanceState.COMPLETED == do(game, "x").state


def test_a_listener_of_the_end_out_of_retries_is_tried_again() -> None:
    game = do(play(heard(line(service("a")), "end:x")).create(), "a")

    game.fail("x")
    assert ("JOB_NO_RETRIES", InstanceState.ACTIVE) == (game.incident().error_type, game.state)

    assert InstanceState.COMPLETED == do(game.resolve(), "x").state


# --- the cancellation ----------------------------------------------------------------------------


def test_listeners_of_its_cancellation_come_when_all_inside_has_ended() -> None:
    model = heard(line(service("a")), "cancel:x", "end:never", "cancel:y")
    game = play(model, profile=Profile.PRIOSTACK).create(n=1)

    game.cancel()
    assert (["x"], InstanceState.TERMINATING) == (types(game), game.state)
    with pytest.raises(Rejected):
        game.cancel()
    do(game, "x", told=True)
    assert (["y"], True) == (types(game), game.job("y").inputs["told"])
    do(game, "y")

    assert (InstanceState.TERMINATED, {"n": 1, "told": True}) == (game.state, game.variables)


@pytest.mark.parametrize("phase", ["start", "end"])
def test_they_come_when_other_listeners_of_the_process_are_ended(phase: str) -> None:
    game = play(heard(line(task("a")), f"{phase}:x", "cancel:y")).create()

    assert ["y"] == types(game.cancel())
    assert InstanceState.TERMINATED == do(game, "y").state


def test_they_come_when_an_operator_withdraws_the_last_token() -> None:
    game = play(heard(line(service("a")), "cancel:x")).create()
    (element,) = game.root.live

    game.send(ModifyInstance(terminate=(element,)))

    assert (["x"], InstanceState.TERMINATING) == (types(game), game.state)
    assert InstanceState.TERMINATED == do(game, "x").state


def test_an_error_of_theirs_is_caught_by_nobody() -> None:
    trigger = (
        '<subProcess id="s" triggeredByEvent="true"><startEvent id="i"><errorEventDefinition/>'
        '</startEvent><endEvent id="o"/><sequenceFlow id="f" sourceRef="i" targetRef="o"/>'
        "</subProcess>"
    )
    parts = (start(), service("a"), end(), trigger)
    game = play(heard(process(*parts, flows="start > a > end"), "cancel:x")).create().cancel()

    game.fail("x", error_code="e")

    assert "UNHANDLED_ERROR_EVENT" == game.incident().error_type
    assert InstanceState.TERMINATED == do(game.resolve(), "x").state


def test_listeners_of_a_process_are_kept_with_it() -> None:
    found = parsed(heard(line(task("a")), "start:=x", "end:y", "cancel:z"))

    assert found == codec.from_json(codec.to_json(found))
    assert ["start", "end", "cancel"] == [each.event for each in found.listeners]
    assert 'eventType "beforeAll" on process' in refusal_of(heard(line(task("a")), "beforeAll:x"))
