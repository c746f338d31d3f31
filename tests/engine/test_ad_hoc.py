"""Ad-hoc subprocesses that the engine runs: what is activated, and when they are complete."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.engine.commands import (
    ActivateElements,
    CompleteJob,
    CreateInstance,
    ModifyInstance,
)
from chalicelib.engine.limits import Limits
from chalicelib.engine.state import InstanceState, LoopItems, Stage
from chalicelib.engine.stuck import ErrorType
from chalicelib.errors import Reason, Rejected
from chalicelib.profile import Profile
from tests.engine.models import (
    ad_hoc,
    io,
    line,
    script,
    service,
    task,
)
from tests.play import Play, activations, play, to_json

A, B = service("a"), service("b")
PROFILES = pytest.mark.parametrize("profile", list(Profile))


def one(*parts: str, **more: Any) -> bytes:
    """Return a process of one ad-hoc subprocess `h`, and what comes after it."""
    return line(ad_hoc("h", *(parts or (A, B)), **more), service("after"))


def key_of(game: Play, element_id: str) -> int:
    return next(e.key for e in game.root.live.values() if e.element_id == element_id)


# --- what is activated -------------------------------------------------------------------------


@PROFILES
def test_the_elements_that_the_model_lists_are_activated(profile: Profile) -> None:
    game = play(one(active="wanted"), profile=profile).create(wanted=["b", "a", "b"])

    assert ["b", "a", "b"] == game.open_jobs
    assert ["start", "h", *["h#innerInstance", "b"], *["h#innerInstance", "a"]] == game.path[:6]


def test_one_is_complete_when_nothing_is_active_inside() -> None:
    game = play(one(active='["a", "b"]')).create()

    assert ["b"] == game.complete("a").open_jobs
    assert ["after"] == game.complete("b").open_jobs
    assert InstanceState.COMPLETED == game.complete("after").state


def test_flows_inside_are_followed_and_only_elements_without_one_can_be_activated() -> None:
    game = play(one(A, B, active="x", flows="a > b"))

    assert ["b"] == game.create(x=["a"]).complete("a").open_jobs
    assert ["after"] == game.complete("b").open_jobs
    refused = play(one(A, B, active="x", flows="a > b")).create(x=["b"])
    assert (
        'active elements of h: expected ids of elements that can be activated, found ["b"]'
        == refused.incident("h").message
    )


@pytest.mark.parametrize(
    ("active", "message"),
    [
        ('["a", "nobody", "h", "no"]', 'can be activated, found ["nobody","h","no"]'),
        ('"a"', 'expected a list of element ids, found "a"'),
        ('["a", 1]', 'expected a list of element ids, found ["a",1]'),
        ("null", "expected a list of element ids, found null"),
    ],
)
def test_what_is_no_list_of_elements_inside_is_an_incident(active: str, message: str) -> None:
    game = play(one(active=active)).create()

    incident = game.incident("h")
    assert (ErrorType.EXTRACT_VALUE_ERROR, Stage.ENTERING) == (incident.error_type, incident.stage)
    assert message in incident.message
    assert [] == game.open_jobs


def test_an_incident_of_the_list_is_resolved_by_another_list() -> None:
    game = play(one(active="wanted")).create(wanted=["c"])

    assert ["a"] == game.set(wanted=["a"]).resolve("h").open_jobs


@pytest.mark.parametrize("active", [None, "[]"])
def test_without_anything_to_activate_it_stays_active(active: str | None) -> None:
    game = play(one(active=active)).create()

    assert (["h"], InstanceState.ACTIVE) == (game.waiting, game.state)
    assert ["a"] == game.activate("h", "a").open_jobs
    assert ["after"] == game.complete("a").open_jobs


def test_more_elements_than_a_turn_has_room_for_are_activated_over_several() -> None:
    game = play(one(task("t"), A, active="wanted")).create(wanted=[*200 * ["a"], *200 * ["t"]])

    assert 200 == len(game.open_jobs)
    assert len(game.turns) > 3
    assert [] == list(game.records(LoopItems))
    for _ in range(200):
        game.complete("a")
    assert ["after"] == game.open_jobs


def test_what_is_activated_while_others_wait_for_it_comes_after_them() -> None:
    limits = Limits(moves_max=2)
    game = play(one(active="wanted"), limits=limits)
    turn = game.turn(CreateInstance(1, 1, game.profile, to_json({"wanted": ["a", "b", "a"]})))
    assert turn.after.root.agenda

    game.activate("h", "b")

    assert ["a", "b", "a", "b"] == game.open_jobs


# --- variables ---------------------------------------------------------------------------------


def test_what_can_be_activated_is_told_in_a_variable() -> None:
    tool = (
        '<serviceTask id="tool" name="A tool"><documentation> What it does </documentation>'
        '<extensionElements><zeebe:taskDefinition type="tool"/><zeebe:properties>'
        '<zeebe:property name="p" value="v"/></zeebe:properties><zeebe:ioMapping>'
        '<zeebe:input source="=fromAi(toolCall.city, &quot;Where&quot;, &quot;string&quot;, '
        'null, {required: false})" target="city"/></zeebe:ioMapping></extensionElements>'
        "</serviceTask>"
    )
    game = play(one(tool, B, A, flows="b > a")).create()

    assert (
        to_json(
            [
                {
                    "elementId": "tool",
                    "elementName": "A tool",
                    "documentation": "What it does",
                    "properties": {"p": "v"},
                    "parameters": [
                        {
                            "name": "city",
                            "description": "Where",
                            "type": "string",
                            "options": {"required": False},
                        }
                    ],
                },
                {"elementId": "b"},
            ]
        )
        == game.variables_of(key_of(game, "h"))["adHocSubProcessElements"]
    )


@PROFILES
def test_each_activation_has_variables_of_its_own(profile: Profile) -> None:
    game = play(one(), profile=profile).create(x=1)
    game.activate("h", ("a", {"x": 2}), ("a", {"y": 3}))

    assert [(2, None), (1, 3)] == [(job.inputs.get("x"), job.inputs.get("y")) for job in game.jobs]


def test_what_an_activation_sets_under_another_name_is_seen_around_it() -> None:
    out = service("a", extensions=io(outputs={"seen": "=seen"}))
    game = play(one(out, B)).create().activate("h", ("a", {"own": 1}), "b").complete("a", seen=2)

    assert 2 == game.variables_of(key_of(game, "h"))["seen"]
    assert "own" not in game.variables_of(key_of(game, "h"))
    assert "seen" not in game.variables


@PROFILES
def test_results_are_collected_in_the_order_in_which_paths_end(profile: Profile) -> None:
    out = service("a", extensions=io(outputs={"result": "=result"}))
    game = play(one(out, active='["a", "a", "a"]', results=("all", "result")), profile=profile)
    game.create()
    first, second, third = game.jobs
    for job, result in ((second, 2), (first, 1)):
        game.send(CompleteJob(job.key, to_json({"result": result})))

    assert to_json([2, 1]) == game.variables_of(key_of(game, "h"))["all"]
    game.send(CompleteJob(third.key, to_json({"result": 3})))
    assert to_json([2, 1, 3]) == game.variables["all"]
    assert "result" not in game.variables


def test_a_result_that_fails_is_an_incident_of_its_path_and_collected_once() -> None:
    game = play(one(script("a", "r", "1"), B, results=("all", "assert(r, r = 2)")))
    game.create().activate("h", "a")

    assert "h#innerInstance" == game.incident().element_id
    assert Stage.COMPLETING == game.incident().stage
    assert [] == game.variables_of(key_of(game, "h"))["all"]
    game.resolve(variables=to_json({"r": 2}))
    assert to_json([2]) == game.variables["all"]


def test_a_collection_that_was_overwritten_is_an_incident() -> None:
    game = play(one(script("a", "all", "5"), results=("all", "1"))).create().activate("h", "a")

    assert "output collection of h: expected a list, found 5" == game.incident().message


def test_the_collection_is_handed_on_beside_what_is_mapped() -> None:
    mapped = io(outputs={"n": "=count(all)"})
    game = play(one(task("a"), active='["a"]', results=("all", "7"), extensions=mapped)).create()

    assert to_json({"n": 1, "all": [7]}) == game.variables


# --- completion --------------------------------------------------------------------------------


def test_the_condition_is_evaluated_each_time_something_inside_is_over() -> None:
    out = service("a", extensions=io(outputs={"done": "=done"}))
    game = play(one(out, B, active='["a", "a", "b"]', until="done = 2")).create()

    assert ["a", "b"] == game.complete("a", done=1).open_jobs
    assert ["after"] == game.complete("a", done=2).open_jobs


def test_it_stays_while_the_condition_does_not_hold_even_if_nothing_is_active() -> None:
    game = play(one(active='["a"]', until="count(all) = 2", results=("all", "1"))).create()

    assert ["h"] == game.complete("a").waiting
    assert ["after"] == game.activate("h", "b").complete("b").open_jobs


def test_when_it_does_not_cancel_it_waits_for_what_is_active() -> None:
    keeps = 'cancelRemainingInstances="false"'
    game = play(one(active='["a", "b"]', until="true", attributes=keeps)).create().complete("a")

    assert ["b"] == game.open_jobs
    with pytest.raises(Rejected) as refused:
        game.activate("h", "a")
    assert Reason.INVALID_STATE == refused.value.reason
    assert "completion condition is fulfilled" in refused.value.message
    assert ["after"] == game.complete("b").open_jobs


def test_what_waits_to_be_activated_is_dropped_when_the_condition_holds() -> None:
    limits = Limits(moves_max=3)
    game = play(one(task("t"), A, active="x", until="true"), limits=limits)

    game.create(x=["t", *20 * ["a"]])

    assert ["after"] == game.open_jobs
    assert [] == list(game.records(LoopItems))


def test_a_condition_that_is_no_boolean_is_an_incident_until_it_is() -> None:
    out = service("a", extensions=io(outputs={"done": "=done"}))
    game = play(one(out, B, active='["a", "a", "b"]', until="done")).create()
    game.complete("a", done="perhaps")

    incident = game.incident("h")
    assert (ErrorType.EXTRACT_VALUE_ERROR, Stage.COMPLETING) == (
        incident.error_type,
        incident.stage,
    )
    assert 'completion condition of h: expected a boolean, found "perhaps"' == incident.message
    assert ["a", "b"] == game.open_jobs
    assert (["b"], []) == (game.complete("a", done=False).open_jobs, game.incidents)


def test_an_incident_of_the_condition_is_resolved_by_evaluating_it_again() -> None:
    out = service("a", extensions=io(outputs={"done": "=done"}))
    game = play(one(out, active='["a"]', until="done"), profile=Profile.PRIOSTACK).create(done=0)
    game.complete("a", done=0)

    assert ["after"] == game.set(done=True).resolve("h").open_jobs


# --- ordering ----------------------------------------------------------------------------------

SEQUENTIAL = 'ordering="Sequential"'


def test_a_sequential_one_has_one_activation_at_a_time() -> None:
    game = play(one(active='["a", "b", "a"]', attributes=SEQUENTIAL)).create()

    assert ["a"] == game.open_jobs
    assert ["a"] == game.activate("h", "b").open_jobs
    assert ["b"] == game.complete("a").open_jobs
    assert ["a"] == game.complete("b").open_jobs
    assert ["b"] == game.complete("a").open_jobs
    assert ["after"] == game.complete("b").open_jobs


def test_of_a_sequential_one_nothing_more_begins_when_the_condition_holds() -> None:
    game = play(one(active='["a", "b"]', attributes=SEQUENTIAL, until="true")).create()

    assert ["after"] == game.complete("a").open_jobs
    assert [] == list(game.records(LoopItems))


def test_withdrawing_one_of_a_sequential_one_lets_the_next_begin() -> None:
    game = play(one(active='["a", "b"]', attributes=SEQUENTIAL)).create()

    game.send(ModifyInstance(terminate=(key_of(game, "a"),)))

    assert ["b"] == game.open_jobs


# --- by a caller -------------------------------------------------------------------------------


def test_a_caller_may_end_what_is_active_before_more_is_activated() -> None:
    game = play(one(active='["a", "a"]')).create()

    assert ["b"] == game.activate("h", "b", cancels_remaining=True).open_jobs
    assert ["after"] == game.complete("b").open_jobs


@pytest.mark.parametrize(
    ("elements", "message"),
    [
        ((), "expected elements to activate, found none"),
        (("a", "x"), 'expected ids of elements that can be activated, found ["x"]'),
    ],
)
def test_a_caller_has_to_name_what_can_be_activated(
    elements: tuple[str, ...], message: str
) -> None:
    game = play(one()).create()

    with pytest.raises(Rejected) as refused:
        game.activate("h", *elements)

    assert (Reason.INVALID_ARGUMENT, True) == (
        refused.value.reason,
        refused.value.message.endswith(message),
    )
    assert ["h"] == game.waiting


def test_only_a_live_ad_hoc_subprocess_has_anything_to_activate() -> None:
    game = play(one(active='["a"]')).create()

    for key in (game.root.key, key_of(game, "a"), key_of(game, "h#innerInstance"), 5):
        with pytest.raises(Rejected) as refused:
            game.send(ActivateElements(key, activations("a")))
        assert Reason.NOT_FOUND == refused.value.reason


def test_nothing_is_activated_in_one_that_an_incident_stopped_when_it_was_entered() -> None:
    game = play(one(active="null")).create()

    with pytest.raises(Rejected) as refused:
        game.activate("h", "a")

    assert Reason.INVALID_STATE == refused.value.reason
