"""Compensation and transactions: what is undone, how often, in what order, and what follows."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from chalicelib.engine.commands import SetVariables
from chalicelib.engine.state import InstanceState
from chalicelib.profile import Profile
from chalicelib.store import execution
from tests.engine.event_models import (
    boundary_cancel,
    cancel_end,
    compensation,
    compensation_end,
    compensation_throw,
    conditional,
    error,
    undone,
)
from tests.engine.models import (
    boundary,
    boundary_error,
    end,
    event_sub,
    exclusive,
    io,
    looped,
    many,
    parallel,
    process,
    script,
    service,
    start,
    sub,
    task,
    transaction,
)
from tests.play import Play, play, to_json

A = undone(service("a"), service("undo_a"))
B = undone(service("b"), service("undo_b"))
T = undone(task("t"), service("undo_t"))


def plain(*throw: str, flows: str = "start > a > b > c > after") -> Play:
    return play(process(start(), A, B, *throw, service("after"), flows=flows)).create()


def test_the_handlers_of_what_completed_run_all_together_and_then_the_event_goes_on() -> None:
    game = plain(compensation_throw("c")).complete("a").complete("b")

    assert ["undo_a", "undo_b"] == game.open_jobs
    assert ["undo_b"] == game.complete("undo_a").open_jobs
    assert ["after"] == game.complete("undo_b").waiting
    assert InstanceState.COMPLETED == game.complete("after").state


def test_what_did_not_complete_is_not_undone() -> None:
    flows = "start > a; start > b; a > c > after"
    game = plain(compensation_throw("c"), flows=flows).complete("a")

    assert ["b", "undo_a"] == game.open_jobs
    assert ["b", "after"] == game.complete("undo_a").open_jobs


def test_what_was_interrupted_is_not_undone() -> None:
    late = boundary("late", "a", duration="PT1S")
    game = plain(late, compensation_throw("c"), flows="start > a > b; late > c > after").wait(2)

    assert ["after"] == game.open_jobs


def test_an_event_with_nothing_to_undo_goes_on() -> None:
    assert ["after"] == plain(compensation_throw("c"), flows="start > c > after").open_jobs


def test_what_was_undone_is_not_undone_again() -> None:
    flows = "start > a > c > d > after"
    game = plain(compensation_throw("c"), compensation_throw("d"), flows=flows)

    assert ["after"] == game.complete("a").complete("undo_a").open_jobs


def test_one_activity_can_be_named() -> None:
    game = plain(compensation_throw("c", "b")).complete("a").complete("b")

    assert ["undo_b"] == game.open_jobs
    assert ["after"] == game.complete("undo_b").open_jobs


def test_an_end_event_undoes_and_ends() -> None:
    game = plain(compensation_end("c"), flows="start > a > c").complete("a")

    assert (["undo_a"], InstanceState.ACTIVE) == (game.open_jobs, game.state)
    assert InstanceState.COMPLETED == game.complete("undo_a").state


def test_it_is_undone_as_often_as_it_was_done() -> None:
    again = exclusive("again", "again-c")
    flows = "start > x > t > n > again; again > x: n < 3; again > c > after"
    n = script("n", "n", "if n = null then 1 else n + 1")
    parts = (start(), exclusive("x"), T, n, again, compensation_throw("c"), service("after"))
    game = play(process(*parts, flows=flows)).create()

    assert ["undo_t"] * 3 == game.open_jobs
    for _ in range(3):
        game.complete("undo_t")
    assert ["after"] == game.open_jobs


def test_an_activity_that_repeats_is_undone_once() -> None:
    part = undone(looped(task("t"), None, 3), service("undo_t"))
    parts = (start(), part, compensation_throw("c"), service("after"))

    assert ["undo_t"] == play(process(*parts, flows="start > t > c > after")).create().open_jobs


def test_what_completed_inside_a_subprocess_is_undone_outside_once_it_completed() -> None:
    inner = sub("s", start("si"), A, T, flows="si > t > a")
    parts = (start(), inner, compensation_throw("c"), service("after"))
    game = play(process(*parts, flows="start > s > c > after")).create().complete("a")

    assert ["undo_a", "undo_t"] == sorted(game.open_jobs)
    assert ["after"] == game.complete("undo_a").complete("undo_t").open_jobs


def test_a_subprocess_that_is_named_is_undone_with_all_inside() -> None:
    inner = sub("s", start("si"), T, flows="si > t")
    parts = (start(), inner, A, compensation_throw("c", "s"), service("after"))
    game = play(process(*parts, flows="start > s > a > c > after")).create().complete("a")

    assert ["undo_t"] == game.open_jobs


def test_a_subprocess_that_was_interrupted_leaves_nothing_to_undo() -> None:
    inner = sub("s", start("si"), T, service("w"), flows="si > t > w")
    parts = (start(), inner, boundary_error("e", "s"), compensation_throw("c"), service("after"))
    game = play(process(*parts, flows="start > s; e > c > after")).create()
    assert {} != game.root.completed

    assert (["after"], {}) == (game.fail("w", error_code="E").open_jobs, game.root.completed)


def test_a_throw_inside_a_subprocess_undoes_what_is_in_there() -> None:
    inner = sub("s", start("si"), B, compensation_end("c"), flows="si > b > c")
    parts = (start(), T, inner, service("after"))
    game = play(process(*parts, flows="start > t > s > after")).create().complete("b")

    assert ["undo_b"] == game.open_jobs
    assert ["after"] == game.complete("undo_b").open_jobs


def test_a_handler_of_a_subprocess_undoes_it_as_a_whole() -> None:
    inner = undone(sub("s", start("si"), T, flows="si > t"), service("undo_s"))
    parts = (start(), inner, compensation_throw("c"), service("after"))
    game = play(process(*parts, flows="start > s > c > after")).create()

    assert (["undo_s"], {}) == (game.open_jobs, game.root.completed)


def test_an_event_subprocess_undoes_its_subprocess_from_inside() -> None:
    handler = event_sub(
        *("h", compensation(), service("first"), compensation_end("rest")),
        flows="h_start > first > rest",
    )
    inner = sub("s", start("si"), T, handler, flows="si > t")
    parts = (start(), inner, compensation_throw("c"), service("after"))
    game = play(process(*parts, flows="start > s > c > after")).create()

    assert ["first"] == game.open_jobs
    assert ["undo_t"] == game.complete("first").open_jobs
    assert (["after"], {}) == (game.complete("undo_t").open_jobs, game.root.completed)
    assert InstanceState.COMPLETED == game.complete("after").state


def test_an_event_subprocess_on_an_error_undoes_what_its_scope_did() -> None:
    handler = event_sub("h", error(), compensation_end("c"), flows="h_start > c")
    parts = (start(), T, service("a"), handler)
    game = play(process(*parts, flows="start > t > a")).create().fail("a", error_code="E")

    assert ["undo_t"] == game.open_jobs
    assert InstanceState.COMPLETED == game.complete("undo_t").state


def test_an_error_in_a_handler_is_caught_around_the_event() -> None:
    inner = sub("s", start("si"), T, compensation_throw("c"), flows="si > t > c")
    parts = (start(), inner, boundary_error("e", "s"), service("caught"))
    game = play(process(*parts, flows="start > s; e > caught")).create()

    assert ["caught"] == game.fail("undo_t", error_code="E").waiting


@pytest.mark.parametrize("profile", Profile)
def test_a_handler_sees_and_sets_the_variables_of_its_scope(profile: Profile) -> None:
    by = service("undo_t", extensions=io(outputs={"left": "=rest"}))
    parts = (start(), undone(task("t"), by), compensation_throw("c"), service("after"))
    game = play(process(*parts, flows="start > t > c > after"), profile=profile).create(x=1)
    assert 1 == game.job("undo_t").inputs["x"]

    assert 7 == game.complete("undo_t", rest=7).variables["left"]


def test_cancelling_ends_what_is_being_undone() -> None:
    game = plain(compensation_throw("c")).complete("a").complete("b").cancel()

    assert (InstanceState.TERMINATED, []) == (game.state, game.open_jobs)


def test_what_can_be_undone_is_stored() -> None:
    inner = sub("s", start("si"), T, event_sub("h", compensation(), flows=""), flows="si > t")
    game = play(process(start(), inner, A, service("b"), flows="start > s > a > b")).create()
    root = game.complete("a").root

    again = execution.from_text(execution.to_text(root), root.key, root.created_at)

    assert (3, dict(root.completed)) == (len(root.completed), again["completed"])
    assert (InstanceState.COMPLETED, {}) == (game.complete("b").state, game.root.completed)


# --- transactions ------------------------------------------------------------------------------


def cancelling(*more: str, flows: str) -> Play:
    parts = (start("ti"), A, B, service("c"), cancel_end("x"), *more)
    inner = transaction("tx", *parts, flows=flows)
    around = (start(), inner, boundary_cancel("gone", "tx"), service("no"), service("yes"))
    return play(process(*around, flows="start > tx > yes; gone > no")).create()


def test_a_transaction_that_is_not_cancelled_is_a_subprocess() -> None:
    game = cancelling(flows="ti > a").complete("a")

    assert ["yes"] == game.waiting


def test_a_cancel_end_event_ends_all_else_undoes_and_leaves_by_the_boundary_event() -> None:
    game = cancelling(parallel("f"), flows="ti > f; f > a > b > x; f > c").complete("a")
    assert ["c", "b"] == game.open_jobs

    game.complete("b")
    assert (["undo_a", "undo_b"], ["tx", "x"]) == (game.open_jobs, game.waiting[:2])
    game.complete("undo_a")
    assert ["undo_b"] == game.open_jobs
    assert (["no"], ["no"]) == (game.complete("undo_b").open_jobs, game.waiting)
    assert InstanceState.COMPLETED == game.complete("no").state


@pytest.mark.parametrize("kind", ["sub", "many", "event"])
def test_what_active_subprocesses_did_is_undone_with_their_transaction(kind: str) -> None:
    done = undone(service("d"), service("undo_d"))
    parts = (done, service("w"))
    flows, inner = "ti > f; f > a > x; f > s", sub("s", start("si"), *parts, flows="si > d > w")
    if kind == "many":
        inner = many(inner, items="=[1, 2]", item="item")
    elif kind == "event":
        trigger = conditional("item = 7")
        inner = event_sub("s", trigger, *parts, flows="s_start > d > w", interrupting=False)
        flows = "ti > f; f > a > x; f > c"
    game = cancelling(parallel("f"), inner, flows=flows)
    if kind == "event":
        (tx,) = (each.key for each in game.root.live.values() if each.element_id == "tx")
        game.send(SetVariables(to_json({"item": 7}), tx))
    game.complete("d").complete("a")

    assert ["undo_a", "undo_d"] == sorted(game.open_jobs)
    (job,) = (job for job in game.jobs if job.type == "undo_d")
    assert {"sub": None, "many": 1, "event": 7}[kind] == job.inputs.get("item")
    game.complete("undo_d").complete("undo_a")
    assert (["no"], ["no"]) == (game.open_jobs, game.waiting)


def test_a_transaction_with_nothing_to_undo_is_left_at_once() -> None:
    assert ["no"] == cancelling(flows="ti > x").waiting


def test_a_transaction_that_fails_is_not_undone() -> None:
    inner = transaction("tx", start("ti"), T, service("w"), cancel_end("x"), flows="ti > t > w > x")
    events = (boundary_cancel("gone", "tx"), boundary_error("e", "tx"))
    parts = (start(), inner, *events, service("no"), service("failed"), end())
    game = play(process(*parts, flows="start > tx > end; gone > no; e > failed")).create()

    assert ["failed"] == game.fail("w", error_code="E").waiting


def test_a_completed_transaction_can_be_undone_later() -> None:
    inner = transaction("tx", start("ti"), T, flows="ti > t")
    parts = (start(), inner, compensation_throw("c"), service("after"))

    assert ["undo_t"] == play(process(*parts, flows="start > tx > c > after")).create().open_jobs


def repeated(make: Callable[[str], str]) -> Play:
    """Play a transaction that is done again and again, and cancelled where `item` is 2; the first
    round is about 1."""
    done = undone(service("a"), service("undo_a"))
    more = (exclusive("g", "g-ok"), service("ok"), cancel_end("x"))
    flows = "ti > a > g > ok; g > x: item = 2"
    inner = make(transaction("tx", start("ti"), done, *more, flows=flows))
    around = (start(), inner, boundary_cancel("gone", "tx"), service("no"), service("yes"))
    xml = process(*around, flows="start > tx > yes; gone > no")
    return play(xml, profile=Profile.PRIOSTACK).create(item=1)


@pytest.mark.parametrize("sequential", [False, True])
def test_a_transaction_for_many_is_cancelled_in_all_its_iterations(sequential: bool) -> None:
    each = {"items": "=[1, 2, 3]", "item": "item"}
    game = repeated(lambda tx: many(tx, sequential=sequential, each=each))
    game.complete("a")
    if sequential:
        game.complete("ok")
    game.complete("a")

    assert [1, 2] == sorted(job.inputs["item"] for job in game.jobs)
    assert ["undo_a", "undo_a"] == game.open_jobs
    assert ["no"] == game.complete("undo_a").complete("undo_a").waiting
    assert [game.root.key] == [element.scope for element in game.root.live.values()]
    assert InstanceState.COMPLETED == game.complete("no").state


def test_a_transaction_that_loops_is_cancelled_with_the_rounds_before() -> None:
    game = repeated(lambda tx: looped(tx, maximum=5))
    game.complete("a").complete("ok", item=2).complete("a")

    assert ["undo_a", "undo_a"] == game.open_jobs
    assert ["no"] == game.complete("undo_a").complete("undo_a").waiting


def test_a_loop_that_was_interrupted_leaves_nothing_to_undo() -> None:
    inner = looped(sub("s", start("si"), A, flows="si > a"), maximum=3)
    parts = (start(), inner, boundary_error("e", "s"), compensation_throw("c"), service("after"))
    game = play(process(*parts, flows="start > s > after; e > c > after")).create()

    assert ["after"] == game.complete("a").fail("a", error_code="E").open_jobs


@pytest.mark.parametrize(
    "repeat", [lambda s: many(s, cardinality="=2"), lambda s: looped(s, maximum=2)]
)
def test_an_event_subprocess_undoes_each_round_of_its_subprocess(
    repeat: Callable[[str], str],
) -> None:
    inside = (start("si"), A, event_sub("h", compensation(), service("x"), flows="h_start > x"))
    inner = repeat(sub("s", *inside, flows="si > a"))
    parts = (start(), inner, compensation_throw("c"), service("after"))
    game = play(process(*parts, flows="start > s > c > after")).create()
    game.complete("a").complete("a")

    assert ["x", "x"] == game.open_jobs
    assert ["after"] == game.complete("x").complete("x").open_jobs
