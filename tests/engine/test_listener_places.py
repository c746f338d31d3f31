"""Listeners before all of many and where no flow is left by, and what they give that is local."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.engine.commands import CompleteJob, EndChild
from chalicelib.engine.parts import AT_ONCE
from chalicelib.engine.state import (
    BPMN,
    ChildWait,
    Instance,
    InstanceState,
    JobState,
    Variables,
    key_of,
)
from chalicelib.profile import Profile
from tests.bpmn.models import refusal_of
from tests.engine.event_models import boundary_condition, conditional
from tests.engine.models import (
    boundary,
    call,
    catch,
    end,
    event_gateway,
    event_sub,
    io,
    line,
    message_catch,
    process,
    service,
    start,
    sub,
    user,
)
from tests.engine.test_execution_listeners import BOTH, do, listeners, many, types
from tests.engine.test_process_listeners import heard
from tests.play import play, to_json

# --- before all of many --------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("mode", ["", 'isSequential="true"'])
def test_a_listener_before_all_of_many_may_say_what_for(profile: Profile, mode: str) -> None:
    activity = many(listeners("beforeAll:x", "start:y"), "=found", mode=mode)
    game = play(line(activity, service("b")), profile=profile).create(found=[])

    do(game, "x", found=[7, 8], helper="h")
    for item in (7, 8):
        (job, *_) = [job for job in game.jobs if job.type == "y"]
        assert (item, "h") == (job.inputs["n"], job.inputs["helper"])
        game.send(CompleteJob(job.key))
        (own,) = [job for job in game.jobs if job.type == "a"]
        assert (item, "h") == (own.inputs["n"], own.inputs["helper"])
        game.send(CompleteJob(own.key))

    assert (["b"], {"found": []}) == (types(game), game.variables)


def test_what_it_gives_is_seen_by_the_completion_condition_and_by_parts() -> None:
    more = "<completionCondition>=numberOfCompletedInstances = enough</completionCondition>"
    game = play(line(many(listeners("beforeAll:x"), more=more), service("b"))).create()

    do(game, "x", enough=1)
    game.send(CompleteJob(game.job("a").key))
    assert ["b"] == types(game)

    found = list(range(AT_ONCE + 1))
    game = play(line(many(listeners("beforeAll:x"), "=found"))).create()
    do(game, "x", found=found, helper="h")
    waits = list(game.records(ChildWait))
    assert ["h", "h"] == [wait.variables["helper"] for wait in waits]


def test_a_body_is_cancelled_with_what_its_listeners_gave() -> None:
    event = boundary("late", "a", duration="PT1M")
    parts = (start(), many(listeners("beforeAll:x")), event, end(), service("l"))
    game = play(process(*parts, flows="start > a > end; late > l")).create()

    assert [] == game.timers
    do(game, "x", helper="h").wait(60)

    assert ["l"] == types(game)
    assert [game.root.key] == [each.scope for each in game.records(Variables)]


# --- where nothing is left by a flow -------------------------------------------------------------


def test_an_event_that_terminates_does_so_after_its_listeners() -> None:
    terminate = (
        f'<endEvent id="t"><extensionElements>{listeners("end:x")}</extensionElements>'
        "<terminateEventDefinition/></endEvent>"
    )
    parts = (start(), service("a"), service("b"), end(), terminate)
    game = play(process(*parts, flows="start > a > t; start > b > end")).create()

    assert ["b", "x"] == sorted(types(do(game, "a")))
    assert InstanceState.COMPLETED == do(game, "x").state


def test_a_link_jumps_after_its_listeners() -> None:
    throw = (
        f'<intermediateThrowEvent id="t"><extensionElements>{listeners("end:x")}'
        '</extensionElements><linkEventDefinition name="l"/></intermediateThrowEvent>'
    )
    catch = (
        '<intermediateCatchEvent id="c"><linkEventDefinition name="l"/></intermediateCatchEvent>'
    )
    parts = (start(), throw, catch, service("a"), end())
    game = play(process(*parts, flows="start > t; c > a > end")).create()

    assert (["x"], ["start", "t"]) == (types(game), game.path)
    assert ["a"] == types(do(game, "x"))


def test_a_transaction_is_left_after_the_listeners_of_its_cancel_event() -> None:
    cancel = (
        f'<endEvent id="c"><extensionElements>{listeners("end:x")}</extensionElements>'
        "<cancelEventDefinition/></endEvent>"
    )
    inner = sub("s", start("i"), cancel, flows="i > c").replace("subProcess", "transaction")
    event = '<boundaryEvent id="on" attachedToRef="s"><cancelEventDefinition/></boundaryEvent>'
    parts = (start(), inner, event, end(), service("l"))
    game = play(process(*parts, flows="start > s > end; on > l")).create()

    assert ["x"] == types(game)
    assert ["l"] == types(do(game, "x"))


@pytest.mark.parametrize(
    ("event", "where"),
    [
        ("end", "exclusiveGateway"),
        ("end", "parallelGateway"),
        ("end", "inclusiveGateway"),
    ],
)
def test_a_gateway_has_no_listeners_of_its_end(event: str, where: str) -> None:
    written = f"<extensionElements>{listeners(f'{event}:x')}</extensionElements>"

    refusal = refusal_of(line(f'<{where} id="g">{written}</{where}>'))

    assert (
        f'unsupported element type executionListener of eventType "{event}" on {where}' in refusal
    )


@pytest.mark.parametrize("done", [True, False])
def test_an_event_behind_a_gateway_is_heard_when_it_has_come(done: bool) -> None:
    event = message_catch("m", "paid", extensions=listeners("start:x", "end:y"))
    parts = (start(), event_gateway("g"), event, catch("t", duration="PT1M"), service("a"), end())
    model = process(
        *parts, flows="start > g; g > m > a > end; g > t > end", messages={"paid": "=n"}
    )
    game = play(model, profile=Profile.PRIOSTACK).create(n="1").publish("paid", amount=7)

    assert (["x"], [], {"n": "1"}) == (types(game), game.timers, game.variables)
    if not done:
        assert ([], InstanceState.TERMINATED) == (game.cancel().jobs, game.state)
        return
    assert ["y"] == types(do(game, "x"))
    do(game, "y")

    assert (["a"], {"n": "1", "amount": 7}) == (types(game), game.variables)


# --- beside conditions ---------------------------------------------------------------------------


def hot() -> str:
    """Return an event subprocess that starts when it is hot, beside what else is there."""
    trigger = conditional("hot = true")
    return event_sub("es", trigger, service("cool"), flows="es_start > cool", interrupting=False)


@pytest.mark.parametrize("at", ["start", "end"])
def test_conditions_of_a_process_wait_while_its_listeners_are_at_work(at: str) -> None:
    model = heard(process(start(), service("a"), end(), hot(), flows="start > a > end"), f"{at}:x")
    game = play(model).create()
    if at == "end":
        do(game, "a")

    game.set(hot=True)
    assert ["x"] == types(game)
    do(game, "x")

    assert (["a", "cool"] if at == "start" else []) == sorted(types(game))


def test_a_condition_on_a_task_is_looked_at_when_its_listeners_were_heard() -> None:
    event = boundary_condition("on", "a", "hot = true")
    parts = (start(), service("a", extensions=listeners("start:x")), event, end(), service("b"))
    game = play(process(*parts, flows="start > a > end; on > b")).create(hot=True)

    assert ["x"] == types(game)
    assert ["b"] == types(do(game, "x"))


# --- what is local -------------------------------------------------------------------------------


@BOTH
def test_what_listeners_give_a_task_stays_with_it_and_through_a_resolve(profile: Profile) -> None:
    activity = service("a", extensions=listeners("start:x"))
    game = play(line(activity, service("b")), profile=profile).create()

    do(game, "x", token="t")
    game.fail("a", retries=0).resolve()
    assert "t" == game.job("a").inputs["token"]
    do(game, "a", token="other", done=True)

    leaves = profile is Profile.PRIOSTACK
    assert ({"done": True} if leaves else {}) == game.variables


def called(heard_: str, **more: Any) -> bytes:
    return line(call("c", "other", extensions=heard_, **more), service("b"))


@pytest.mark.parametrize("down", [True, False])
def test_what_listeners_give_a_call_activity_is_handed_down(down: bool) -> None:
    """Row 62 of the known ways to get it wrong."""
    model = called(listeners("start:x"), propagateAllParentVariables=str(down).lower())
    game = play(model, profile=Profile.PRIOSTACK).create(n=1)

    do(game, "x", token="t")
    (wait,) = game.records(ChildWait)
    game.send(EndChild(wait.key, InstanceState.TERMINATED))
    game.resolve()

    (again,) = game.records(ChildWait)
    assert again.key != wait.key
    for each in (wait, again):
        assert ({"n": 1, "token": "t"} if down else {"token": "t"}) == each.variables


@pytest.mark.parametrize("up", [True, False])
def test_listeners_of_its_end_see_what_a_call_activity_got_back(up: bool) -> None:
    """Row 62 of the known ways to get it wrong."""
    heard_ = listeners("start:x", "end:y")
    model = called(heard_, propagateAllChildVariables=str(up).lower())
    game = play(model, profile=Profile.PRIOSTACK).create(n=1)

    do(game, "x", token="t")
    (wait,) = game.records(ChildWait)
    done = to_json({"found": 7, "token": "other"})
    game.send(EndChild(wait.key, InstanceState.COMPLETED, done))

    assert {"n": 1, "found": 7, "token": "other"} == game.job("y").inputs
    assert ({"n": 1, "found": 7} if up else {"n": 1}) == game.variables
    do(game, "y", kept=True)
    assert True is game.variables["kept"]


def test_a_listener_that_an_older_version_left_after_a_task_was_done_goes_on() -> None:
    """There the task had ended before its listeners came, and they carried what it gave."""
    heard_ = '<zeebe:taskListeners><zeebe:taskListener eventType="completing" type="x"/>'
    mapped = io(None, {"approved": "=ok"})
    model = line(user("a", extensions=f"{mapped}{heard_}</zeebe:taskListeners>"))
    game = play(model, profile=Profile.PRIOSTACK).create()
    (task_,) = game.jobs
    assert game.instance is not None
    (element,) = game.root.live.values()
    listener = task_._replace(
        key=task_.key + 1,
        kind=BPMN,
        type="x",
        listener="completing 0",
        carried={"produced": {"ok": True}, "local": {}},
    )
    done = task_._replace(state=JobState.COMPLETED, outputs={"ok": True})
    records = {key_of(each): each for each in (done, listener)}
    live = {element.key: element._replace(job=listener.key)}
    root = game.root._replace(live=live, next_offset=game.root.next_offset + 1)
    game.instance = Instance(root, {**game.instance.records, **records})

    game.fail("x", retries=0).resolve()
    assert {"ok": True} == game.job("x").inputs
    do(game, "x")

    assert (InstanceState.COMPLETED, {"approved": True}) == (game.state, game.variables)


@pytest.mark.parametrize("event", ["start", "end"])
def test_a_listener_of_a_call_that_failed_is_asked_again_and_nothing_is_called(event: str) -> None:
    game = play(line(call("c", "other", extensions=listeners(f"{event}:heard")))).create()
    for wait in list(game.records(ChildWait)):
        game.send(EndChild(wait.key, InstanceState.COMPLETED))
    game.fail("heard")
    assert "JOB_NO_RETRIES" == game.incident("c").error_type

    assert [] == list(game.resolve().records(ChildWait))
    game.complete("heard")
    for wait in list(game.records(ChildWait)):
        game.send(EndChild(wait.key, InstanceState.COMPLETED))
    assert (InstanceState.COMPLETED, []) == (game.state, list(game.records(ChildWait)))
