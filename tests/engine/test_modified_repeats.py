"""Modification of activities that repeat: into their iterations and rounds, and out of them."""

from __future__ import annotations

import pytest

from chalicelib.engine.commands import CreateInstance, ModifyInstance
from chalicelib.engine.state import InstanceState, Variables
from chalicelib.errors import Rejected
from chalicelib.profile import Profile
from tests.engine.models import (
    complex_,
    end,
    event_gateway,
    exclusive,
    inclusive,
    io,
    line,
    looped,
    many,
    parallel,
    process,
    service,
    signal_event,
    start,
    sub,
)
from tests.engine.test_modification import modify, start_at
from tests.play import Play, play

EACH = {"items": "=items", "item": "item"}
INNER = sub("s", start("si"), service("a"), service("b"), flows="si > a > b")
DEEPER = sub("t", start("ti"), service("a"), service("b"), flows="ti > a > b")
DEEP = sub("s", start("si"), DEEPER, flows="si > t")


def keys_of(game: Play, element_id: str) -> list[int]:
    """Return the keys of what is live of an element and is no body and no iteration."""
    within = {each.scope for each in game.root.live.values() if each.element_id == element_id}
    return [
        each.key
        for each in game.root.live.values()
        if each.element_id == element_id and each.key not in within
    ]


def bodies(game: Play) -> list[int]:
    return list(game.root.bodies)


def of_many(*, sequential: bool = False, inner: str = INNER, **more: str) -> Play:
    body = many(inner, sequential=sequential, each=EACH, **more)
    return play(line(body, service("after"))).create(items=[1, 2, 3])


# --- into --------------------------------------------------------------------------------------


def test_an_element_starts_in_the_iteration_that_is_named() -> None:
    game = of_many()
    second = keys_of(game, "s")[1]

    modify(game, "b", scope=second)

    (job,) = [job for job in game.jobs if job.element_id == "b"]
    assert (second, 2) == (game.root.live[job.element_key].scope, job.inputs["item"])
    assert ["a", "a", "a", "b"] == sorted(game.open_jobs)


def test_the_scope_that_is_named_may_be_deeper_than_what_repeats() -> None:
    game = of_many(inner=DEEP)
    third = keys_of(game, "t")[2]

    modify(game, "b", scope=third)

    assert [third] == [e.scope for e in game.root.live.values() if e.element_id == "b"]


def test_in_which_of_several_iterations_is_to_be_named() -> None:
    game = of_many()
    before = game.instance
    found = ", ".join(map(str, keys_of(game, "s")))

    with pytest.raises(Rejected, match=f"one live s to start it in, found 3: {found}"):
        modify(game, "b")

    assert before is game.instance


def test_the_one_iteration_of_a_sequence_needs_no_name() -> None:
    game = of_many(sequential=True)

    modify(game, "b", ends=("a",)).complete("b")

    assert (["a"], 2) == (game.open_jobs, game.job("a").inputs["item"])
    for _ in range(2):
        game.complete("a").complete("b")
    assert ["after"] == game.waiting


def test_an_instance_that_starts_in_an_iteration_is_refused_with_what_can_be_done() -> None:
    with pytest.raises(Rejected) as refused:
        start_at(line(many(INNER, each=EACH)), "b")

    assert (
        "element b: expected a live iteration of s in this instance to start it in, found none; "
        "s itself can be started" == refused.value.message
    )


def test_an_activity_for_many_can_be_started_itself() -> None:
    game = play(line(many(INNER, each=EACH), service("after")))
    game.send(CreateInstance(1, 1, Profile.ZENBPM, {"items": [7, 8]}, starting_elements=("s",)))

    assert ["a", "a"] == game.open_jobs


def test_a_loop_that_is_not_live_begins_its_first_round_for_what_starts_inside() -> None:
    model = line(looped(INNER, None, 2), service("after"))
    game = start_at(model, "b")

    assert (["b"], 1) == (game.open_jobs, game.job("b").inputs["loopCounter"])
    game.complete("b")
    assert (["a"], 2) == (game.open_jobs, game.job("a").inputs["loopCounter"])
    assert InstanceState.COMPLETED == game.complete("a").complete("b").complete("after").state
    assert [game.root.key] == [each.scope for each in game.records(Variables)]


def test_two_elements_that_start_in_a_loop_are_in_one_round() -> None:
    game = start_at(line(looped(INNER, None, 1), service("after")), "a", "b")

    assert ["a", "b"] == game.open_jobs
    assert 1 == len(keys_of(game, "s"))


def test_an_element_starts_in_the_round_that_is_live() -> None:
    game = play(line(looped(INNER, None, 2), service("after"))).create()
    game.complete("a").complete("b")

    modify(game, "b", ends=("a",))

    assert ["b"] == game.open_jobs
    assert ["after"] == game.complete("b").waiting


# --- out of ------------------------------------------------------------------------------------


@pytest.mark.parametrize("sequential", [False, True])
def test_out_of_a_body_goes_one_token(sequential: bool) -> None:
    """Row 29 of the known ways to get it wrong."""
    game = of_many(sequential=sequential)

    game.send(ModifyInstance(("after",), tuple(bodies(game))))

    assert (["after"], 1, {}) == (game.waiting, game.root.tokens, game.root.bodies)
    assert InstanceState.COMPLETED == game.complete("after").state


def test_out_of_one_iteration_goes_one_token_and_the_others_go_on() -> None:
    """Row 29 of the known ways to get it wrong."""
    game = of_many(results="done", result="=item")
    first = keys_of(game, "s")[0]

    game.send(ModifyInstance(("after",), (first,)))

    assert ["a", "a", "after"] == sorted(game.open_jobs)
    assert (2, 3) == (game.root.tokens, len(game.jobs))
    for _ in range(2):
        game.complete("a").complete("b")
    assert ["after", "after"] == game.open_jobs
    assert [None, 2, 3] == game.variables["done"]


def test_the_last_token_that_is_taken_out_of_an_iteration_ends_it() -> None:
    game = of_many()
    job = game.job("a")

    game.send(ModifyInstance((), (job.element_key,)))

    assert (2, 2) == (len(keys_of(game, "s")), len(game.jobs))


def test_with_its_last_iteration_a_body_ends() -> None:
    game = of_many()

    game.send(ModifyInstance(("after",), tuple(keys_of(game, "s"))))

    assert (["after"], 1, {}) == (game.waiting, game.root.tokens, game.root.bodies)


def test_out_of_a_round_goes_one_token_and_the_loop_is_over() -> None:
    game = play(line(looped(INNER, None, 3), service("after"))).create()

    game.send(ModifyInstance(("after",), tuple(keys_of(game, "s"))))

    assert (["after"], 1) == (game.waiting, game.root.tokens)
    assert [game.root.key] == [each.scope for each in game.records(Variables)]


def test_a_completion_condition_is_told_how_many_an_operator_ended() -> None:
    game = of_many(enough="=numberOfTerminatedInstances = 1 and numberOfActiveInstances = 1")
    game.send(ModifyInstance((), (keys_of(game, "s")[0],)))

    assert ["after"] == game.complete("a").complete("b").waiting


# --- gateways ----------------------------------------------------------------------------------

GATEWAYS = {
    "exclusive": exclusive("g"),
    "parallel": parallel("g"),
    "inclusive": inclusive("g"),
    "complex": complex_("g"),
}


@pytest.mark.parametrize("gateway", GATEWAYS.values(), ids=GATEWAYS)
def test_a_gateway_that_joins_lets_a_token_out_that_is_put_at_it(gateway: str) -> None:
    """Row 4 of the known ways to get it wrong."""
    parts = (start(), parallel("f"), service("a"), service("b"), gateway, service("c"), end())
    game = play(process(*parts, flows="start > f > a > g > c > end; f > b > g")).create()

    modify(game, "g", ends=("a", "b"))

    assert ["c"] == game.open_jobs
    assert InstanceState.COMPLETED == game.complete("c").state


@pytest.mark.parametrize("gateway", GATEWAYS.values(), ids=GATEWAYS)
def test_a_gateway_that_splits_does_so_for_a_token_that_is_put_at_it(gateway: str) -> None:
    """Row 4 of the known ways to get it wrong."""
    parts = (start(), service("a"), gateway, service("b"), service("c"), end())
    flows = "start > a > g; g > b: true; g > c: true; b > end; c > end"
    game = play(process(*parts, flows=flows)).create()

    modify(game, "g", ends=("a",))

    assert (["b"] if "exclusive" in gateway else ["b", "c"]) == sorted(game.open_jobs)
    while game.jobs:
        game.complete(game.jobs[0].element_id)
    assert InstanceState.COMPLETED == game.state


def test_an_event_based_gateway_waits_for_a_token_that_is_put_at_it() -> None:
    """Row 4 of the known ways to get it wrong."""
    caught = [signal_event("intermediateCatchEvent", id_, id_) for id_ in "st"]
    parts = (start(), service("a"), event_gateway("g"), *caught, end())
    flows = "start > a > g > s > end; g > t > end"
    game = play(process(*parts, flows=flows, signals={"s": "s", "t": "t"})).create()

    modify(game, "g", ends=("a",))

    assert (["g"], ["s", "t"]) == (game.waiting, [name for name, _ in game.names])
    assert InstanceState.COMPLETED == game.publish("t").state


def test_the_inputs_of_a_round_are_made_for_what_starts_inside() -> None:
    parts = (start("si"), service("a"), service("b"))
    mapped = sub("s", *parts, flows="si > a > b", extensions=io({"n": "=loopCounter * 10"}))
    game = start_at(line(looped(mapped, None, 1)), "b")

    assert 10 == game.job("b").inputs["n"]
