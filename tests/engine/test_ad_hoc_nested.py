"""Ad-hoc subprocesses in what repeats, and in them: also compensation, and what they call."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.engine.commands import EndChild, ModifyInstance
from chalicelib.engine.state import ChildWait, InstanceState
from chalicelib.errors import Rejected
from chalicelib.profile import Profile
from tests.engine.event_models import boundary_cancel, cancel_end, compensation_throw, undone
from tests.engine.models import (
    ad_hoc,
    boundary,
    call,
    end,
    line,
    looped,
    many,
    parallel,
    process,
    script,
    service,
    start,
    sub,
    transaction,
)
from tests.engine.test_ad_hoc_around import before, is_clean
from tests.play import Play, play, to_json

A, B = service("a"), service("b")


# --- repeats -----------------------------------------------------------------------------------


@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize("profile", list(Profile))
def test_it_is_done_for_many(sequential: bool, profile: Profile) -> None:
    out = script("a", "r", "n * 10")
    box = many(
        ad_hoc("h", out, active='["a", "a"]', results=("each", "r")),
        sequential=sequential,
        items="=[1, 2]",
        item="n",
        results="all",
        result="=each",
    )
    game = play(line(box), profile=profile).create()

    assert InstanceState.COMPLETED == game.state
    assert to_json([[10, 10], [20, 20]]) == game.variables["all"]
    assert is_clean(game)


def test_one_with_a_worker_is_done_for_many() -> None:
    box = many(ad_hoc("h", A, job="agent"), items="=[1, 2]", item="n")
    game = play(line(box, service("after"))).create()

    assert ["h", "h"] == game.open_jobs
    game.order("h", "a").order("h", is_fulfilled=True)
    assert ["a"] == game.open_jobs
    assert ["after"] == game.complete("a").order("h", is_fulfilled=True).open_jobs


def test_it_is_done_in_rounds() -> None:
    box = looped(ad_hoc("h", A, active='["a"]'), maximum=2)
    game = play(line(box, service("after"))).create().complete("a")

    assert ["a"] == game.open_jobs
    assert ["after"] == game.complete("a").open_jobs


def test_what_is_done_for_many_can_be_activated() -> None:
    inner = many(service("a"), items="=[1, 2, 3]", item="n")
    game = play(line(ad_hoc("h", inner, active='["a", "a"]'), service("after"))).create()

    assert 6 == len(game.open_jobs)
    for _ in range(6):
        game.complete("a")
    assert ["after"] == game.open_jobs


def test_one_inside_another_has_a_list_of_its_own() -> None:
    inner = ad_hoc("i", B, active='["b", "b"]')
    game = play(line(ad_hoc("h", A, inner, active='["i", "a"]'), service("after"))).create()

    assert ["b", "b", "a"] == game.open_jobs
    game.complete("b").complete("b")
    assert ["after"] == game.complete("a").open_jobs


def test_an_operator_starts_an_element_of_one_inside_another_in_activations_of_both() -> None:
    inner = ad_hoc("k", A, active="[]")
    outer = ad_hoc("h", inner, B, active='["b"]', results=("found", "1"))
    game = play(line(outer, service("after"))).create()
    game.send(ModifyInstance(start=("a",)))

    assert ["h", "h#innerInstance", "b", "h#innerInstance", "k", "k#innerInstance", "a"] == (
        game.waiting
    )
    game.complete("b").complete("a")
    assert [1, 1] == game.variables["found"]
    assert ["after"] == game.open_jobs


def test_an_operator_moves_a_token_inside_of_what_is_active() -> None:
    inner = sub("s", start("si"), A, B, end("se"), flows="si > a > b > se")
    game = play(line(ad_hoc("h", inner, active='["s"]'), service("after"))).create()
    (a,) = (each.key for each in game.root.live.values() if each.element_id == "a")
    game.send(ModifyInstance(start=("b",), terminate=(a,)))

    assert ["h", "h#innerInstance", "s", "b"] == game.waiting
    assert ["after"] == game.complete("b").open_jobs


def test_of_two_activations_an_operator_names_the_one_to_start_inside_of() -> None:
    inner = sub("s", start("si"), A, B, end("se"), flows="si > a > b > se")
    game = play(line(ad_hoc("h", inner, active='["s", "s"]'), service("after"))).create()
    _, last = (each.key for each in game.root.live.values() if each.element_id == "s")

    with pytest.raises(Rejected, match="expected one live h#innerInstance to start it in, found 2"):
        game.send(ModifyInstance(start=("b",)))
    game.send(ModifyInstance(start=("b",), scope=last))
    (b,) = (each for each in game.root.live.values() if each.element_id == "b")
    assert last == b.scope


def test_two_activations_do_not_meet_at_a_join() -> None:
    box = ad_hoc("h", A, parallel("f"), service("c"), service("d"), parallel("j"), B,
                 flows="a > f; f > c > j; f > d > j; j > b", active='["a", "a"]')  # fmt: skip
    game = play(line(box, service("after"))).create().complete("a").complete("a")

    assert ["c", "d", "c", "d"] == game.open_jobs
    game.complete("c").complete("c")
    assert ["d", "d"] == game.open_jobs
    assert ["d", "b"] == game.complete("d").open_jobs


# --- compensation ------------------------------------------------------------------------------


def test_what_completed_in_other_activations_is_undone_from_inside() -> None:
    done = undone(service("a"), service("undo_a"))
    throw = compensation_throw("c")
    game = play(before(ad_hoc("h", done, throw, active='["a", "a"]'))).create()
    game.complete("a").activate("h", "c")

    assert ["a", "undo_a"] == game.open_jobs
    game.complete("undo_a")
    assert ["after"] == game.complete("a").open_jobs


def test_what_was_active_when_the_condition_held_is_undone_as_far_as_it_completed() -> None:
    done = undone(service("a"), service("undo_a"))
    box = ad_hoc("h", done, B, service("d"), flows="a > b", active='["a", "d"]', until="true")
    xml = process(start(), box, compensation_throw("c"), end(), flows="start > h > c > end")
    game = play(xml).create().complete("a").complete("d")

    assert ["undo_a"] == game.open_jobs
    assert InstanceState.COMPLETED == game.complete("undo_a").state


def test_it_is_undone_as_a_whole_by_a_handler_of_its_own() -> None:
    inside = undone(service("a"), service("undo_a"))
    box = undone(ad_hoc("h", inside, active='["a"]'), service("undo_h"))
    xml = process(start(), box, compensation_throw("c"), end(), flows="start > h > c > end")

    assert ["undo_h"] == play(xml).create().complete("a").open_jobs


def test_a_transaction_is_cancelled_over_an_ad_hoc_subprocess_for_many() -> None:
    done = undone(service("a"), service("undo_a"))
    box = many(ad_hoc("h", done, active="ids", results=("r", "1")), items="=[1, 2]", item="n")
    inner = transaction("t", start("ti"), box, cancel_end("no"), flows="ti > h > no")
    xml = process(
        start(),
        inner,
        boundary_cancel("off", "t"),
        service("after"),
        flows="start > t; off > after",
    )
    game = play(xml).create(ids=["a", "a"])
    for _ in range(4):
        game.complete("a")

    assert 4 * ["undo_a"] == game.open_jobs
    for _ in range(4):
        game.complete("undo_a")
    assert ["after"] == game.open_jobs
    game.complete("after")
    assert is_clean(game)


# --- children ----------------------------------------------------------------------------------


def calls(**more: Any) -> bytes:
    """Return a process whose ad-hoc subprocess calls another process."""
    box = ad_hoc("h", call("c", "child"), B, **more)
    xml = line(box, service("after"))
    return xml


def end_child(game: Play, state: InstanceState = InstanceState.COMPLETED) -> Play:
    (wait,) = game.records(ChildWait)
    return game.send(EndChild(wait.key, state))


def test_when_it_cancels_it_waits_until_what_it_called_has_ended() -> None:
    game = play(calls(active='["c", "b"]', until="true")).create().complete("b")

    assert ([], ["h", "c"]) == (game.open_jobs, game.waiting)
    with pytest.raises(Rejected):
        game.activate("h", "b")
    assert ["after"] == end_child(game, InstanceState.TERMINATED).open_jobs


def test_nothing_happens_on_it_while_it_waits_for_what_it_called() -> None:
    box = ad_hoc("h", call("c", "child"), B, active='["c", "b"]', until="true")
    xml = process(start(), box, boundary("late", "h", duration="PT5S"), service("mend"), end(),
                  flows="start > h > end; late > mend")  # fmt: skip
    game = play(xml).create().complete("b").wait(9)

    assert ([], []) == (game.timers, game.open_jobs)
    assert InstanceState.COMPLETED == end_child(game, InstanceState.TERMINATED).state


def test_while_it_waits_for_what_it_called_its_worker_is_not_heard() -> None:
    box = ad_hoc("h", call("c", "child"), B, job="agent")
    xml = process(start(), box, boundary("late", "h", duration="PT5S"), service("mend"), end(),
                  flows="start > h > end; late > mend")  # fmt: skip
    game = play(xml).create().order("h", "c", "b").complete("b")
    job = game.job("h")

    game.wait(5)

    assert [] == game.open_jobs
    with pytest.raises(Rejected):
        game.activate("h", "b")
    assert "terminated" == next(j for j in game.records(type(job)) if j.key == job.key).state
    assert ["mend"] == end_child(game, InstanceState.TERMINATED).open_jobs


def test_an_operator_starts_nothing_in_what_waits_for_its_end_alone() -> None:
    inner = sub("s", start("si"), call("c", "child"), B, flows="si > c; si > b")
    late = boundary("late", "s", duration="PT5S")
    xml = process(start(), inner, late, service("mend"), flows="start > s; late > mend")
    game = play(xml).create().wait(5)

    game.send(ModifyInstance(start=("b",)))

    assert ["b"] == game.open_jobs
    assert ["b", "mend"] == end_child(game, InstanceState.TERMINATED).open_jobs
    assert InstanceState.COMPLETED == game.complete("b").complete("mend").state


def test_what_waits_for_its_calls_ends_with_what_is_around_it() -> None:
    inner = ad_hoc("k", A, call("c", "child"), active='["a", "c"]', until="done")
    outer = ad_hoc("h", inner, active='["k", "k"]', until="done")
    game = play(line(outer, service("after"))).create(done=True)
    game.complete("a").complete("a")
    first, second = game.records(ChildWait)

    game.send(EndChild(first.key, InstanceState.TERMINATED))
    assert "after" not in game.waiting
    game.send(EndChild(second.key, InstanceState.TERMINATED))

    assert ["after"] == game.waiting
    assert InstanceState.COMPLETED == game.complete("after").state


def test_ending_what_is_active_waits_for_what_it_called_before_more_is_active() -> None:
    game = play(calls(active='["c"]')).create().activate("h", "b", cancels_remaining=True)

    assert ["b"] == game.open_jobs
    end_child(game, InstanceState.TERMINATED)
    assert ["after"] == game.complete("b").open_jobs
