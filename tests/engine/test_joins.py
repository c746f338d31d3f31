"""Inclusive and complex gateways: which flows are taken, and when a join goes on."""

from __future__ import annotations

import pytest

from chalicelib.engine.commands import ModifyInstance
from chalicelib.engine.limits import Limits
from chalicelib.engine.state import InstanceState, Join
from chalicelib.store import execution
from tests.engine.event_models import (
    link_catch,
    link_throw,
)
from tests.engine.models import (
    boundary,
    boundary_error,
    complex_,
    end,
    exclusive,
    inclusive,
    parallel,
    process,
    script,
    service,
    start,
    sub,
    task,
)
from tests.play import Play, play

AB = (
    *(start(), inclusive("s"), service("a"), service("b"), service("c")),
    *(inclusive("j"), task("t"), end()),
)
AB_FLOWS = "start > s; s > a: x > 0; s > b: x > 1; s > c: x > 2; a > j; b > j; c > j; j > t > end"


def ran(game: Play, element: str) -> int:
    return game.path.count(element)


@pytest.mark.parametrize(("x", "jobs"), [(1, ["a"]), (2, ["a", "b"]), (3, ["a", "b", "c"])])
def test_every_true_flow_is_taken_and_the_join_waits_for_just_these(
    x: int, jobs: list[str]
) -> None:
    game = play(process(*AB, flows=AB_FLOWS)).create(x=x)

    assert jobs == game.open_jobs
    for job in jobs:
        assert 0 == ran(game, "t")
        game.complete(job)
    assert (1, InstanceState.COMPLETED) == (ran(game, "t"), game.state)


def test_the_default_is_taken_only_if_nothing_else_is() -> None:
    parts = (start(), inclusive("s", "s-b"), service("a"), service("b"))
    xml = process(*parts, flows="start > s; s > a: x; s > b")

    assert ["a"] == play(xml).create(x=True).open_jobs
    assert ["b"] == play(xml).create(x=False).open_jobs


def test_no_true_flow_and_no_default_is_an_incident_that_can_be_mended() -> None:
    game = play(process(*AB, flows=AB_FLOWS)).create(x=0)
    assert ["CONDITION_ERROR"] == [incident.error_type for incident in game.incidents]

    game.set(x=2).resolve()

    assert ["a", "b"] == game.open_jobs


def test_a_flow_that_is_taken_twice_joins_again_in_the_next_round() -> None:
    """Row 1 of the known ways to get it wrong."""
    parts = (start(), parallel("f"), exclusive("x"), service("a"), service("b"))
    flows = "start > f; f > m1 > x; f > m2 > x; x > a > j; f > b > j; j > t > end"
    xml = process(*parts, task("m1"), task("m2"), inclusive("j"), task("t"), end(), flows=flows)
    game = play(xml).create()
    assert ["a", "a", "b"] == sorted(game.open_jobs)

    game.complete("a").complete("a")
    assert 0 == ran(game, "t")
    game.complete("b")

    assert (2, InstanceState.COMPLETED) == (ran(game, "t"), game.state)


def test_a_branch_that_leaves_by_an_error_is_waited_for_no_more() -> None:
    """Row 2 of the known ways to get it wrong."""
    parts = (start(), parallel("f"), service("a"), service("b"), boundary_error("e", "b"))
    flows = "start > f; f > a > j; f > b > j; e > other; j > t > end"
    xml = process(*parts, service("other"), inclusive("j"), task("t"), end(), flows=flows)
    game = play(xml).create().complete("a")
    assert 0 == ran(game, "t")

    game.fail("b", error_code="E")

    assert (["other"], 1) == (game.open_jobs, ran(game, "t"))
    assert InstanceState.COMPLETED == game.complete("other").state


def test_a_branch_whose_boundary_event_leads_to_the_join_is_waited_for() -> None:
    parts = (start(), parallel("f"), service("a"), service("b"), boundary("e", "b", duration="P1D"))
    xml = process(
        *(*parts, inclusive("j"), task("t")), flows="start > f; f > a > j; f > b; e > j; j > t"
    )
    game = play(xml).create().complete("a")
    assert 0 == ran(game, "t")

    assert (1, InstanceState.COMPLETED) == (ran(game.complete("b"), "t"), game.state)


@pytest.mark.parametrize("kind", [exclusive, parallel, inclusive, complex_])
def test_a_token_put_on_a_gateway_goes_on_at_once(kind: object) -> None:
    """Row 4 of the known ways to get it wrong."""
    gateway = kind("j")  # type: ignore[operator]
    parts = (start(), parallel("f"), service("a"), service("b"), gateway, service("t"), end())
    game = play(process(*parts, flows="start > f; f > a > j; f > b > j; j > t > end")).create()
    a, b = (element.key for element in game.root.live.values())

    game.send(ModifyInstance(start=("j",), terminate=(a, b)))

    assert ["t"] == game.open_jobs
    assert InstanceState.COMPLETED == game.complete("t").state


def test_a_token_taken_away_by_an_operator_is_waited_for_no_more() -> None:
    game = play(process(*AB, flows=AB_FLOWS)).create(x=2).complete("a")
    (b,) = game.root.live

    game.send(ModifyInstance(terminate=(b,)))

    assert (1, InstanceState.COMPLETED) == (ran(game, "t"), game.state)


@pytest.mark.parametrize("kind", [parallel, inclusive])
def test_a_branch_behind_another_gateway_is_waited_for(kind: object) -> None:
    """Row 10 of the known ways to get it wrong."""
    parts = (start(), parallel("f"), service("a"), service("b"), kind("one"))  # type: ignore[operator]
    flows = "start > f; f > a > j; f > b > one > c > j; j > t"
    xml = process(*parts, service("c"), kind("j"), task("t"), flows=flows)  # type: ignore[operator]
    game = play(xml).create().complete("a").complete("b")
    assert 0 == ran(game, "t")

    assert (1, InstanceState.COMPLETED) == (ran(game.complete("c"), "t"), game.state)


@pytest.mark.parametrize("kind", [parallel, inclusive, complex_])
def test_a_join_goes_on_after_it_was_stored_and_read_between_two_arrivals(kind: object) -> None:
    """Row 11 of the known ways to get it wrong."""
    parts = (start(), parallel("f"), service("a"), service("b"), kind("j"), task("t"))  # type: ignore[operator]
    game = play(process(*parts, flows="start > f; f > a > j; f > b > j; j > t")).create()
    game.complete("a")
    root = game.root

    again = execution.from_text(execution.to_text(root), root.key, root.created_at)

    assert dict(root.joins) == again["joins"] != {}
    assert (1, InstanceState.COMPLETED) == (ran(game.complete("b"), "t"), game.state)


def test_what_a_complex_gateway_used_is_stored_too() -> None:
    game = play(process(start(), service("a"), flows="start > a")).create()
    join = Join(2, {0: 3}, 5)
    root = game.root._replace(joins={(game.root.key, "j"): join})

    again = execution.from_text(execution.to_text(root), root.key, root.created_at)

    assert {(root.key, "j"): join} == again["joins"]


def test_a_token_that_comes_through_a_link_is_waited_for() -> None:
    """Row 13 of the known ways to get it wrong."""
    parts = (start(), parallel("f"), service("a"), service("b"), link_throw("go", "L"))
    flows = "start > f; f > a > j; f > b > go; come > c > j; j > t"
    more = (link_catch("come", "L"), service("c"), inclusive("j"), task("t"))
    game = play(process(*parts, *more, flows=flows)).create().complete("a")
    assert 0 == ran(game, "t")
    game.complete("b")
    assert (["c"], 0) == (game.open_jobs, ran(game, "t"))

    assert (1, InstanceState.COMPLETED) == (ran(game.complete("c"), "t"), game.state)


def test_a_token_inside_a_subprocess_is_waited_for_until_it_comes_out() -> None:
    inner = sub("s", start("si"), service("b"), flows="si > b")
    parts = (start(), parallel("f"), service("a"), inner, inclusive("j"), task("t"))
    game = play(process(*parts, flows="start > f; f > a > j; f > s > j; j > t")).create()

    assert 0 == ran(game.complete("a"), "t")
    assert (1, InstanceState.COMPLETED) == (ran(game.complete("b"), "t"), game.state)


def test_each_scope_has_joins_of_its_own() -> None:
    inner = sub(
        *("s", start("si"), inclusive("f"), service("a"), service("b"), inclusive("j"), task("t")),
        flows="si > f; f > a > j; f > b > j; j > t",
    )
    parts = (start(), parallel("fork"), task("m1"), task("m2"), exclusive("x"), inner)
    game = play(process(*parts, flows="start > fork; fork > m1 > x; fork > m2 > x; x > s")).create()
    assert ["a", "a", "b", "b"] == sorted(game.open_jobs)

    game.complete("a").complete("a")
    assert 0 == ran(game, "t")
    assert 1 == ran(game.complete("b"), "t")
    assert (2, InstanceState.COMPLETED) == (ran(game.complete("b"), "t"), game.state)


def test_a_loop_around_a_join_does_not_hold_it_up() -> None:
    again = exclusive("again", "again-end")
    parts = (start(), exclusive("x"), inclusive("s"), task("a"), task("b"), inclusive("j"))
    flows = "start > x > s; s > a > j; s > b > j; j > n > again; again > x: n < 3; again > end"
    count = script("n", "n", "if n = null then 1 else n + 1")
    game = play(process(*parts, count, again, end(), flows=flows)).create()

    assert (3, InstanceState.COMPLETED) == (ran(game, "n"), game.state)


def test_a_join_waits_for_tokens_that_a_bounded_turn_left_on_the_agenda() -> None:
    parts = (start(), inclusive("s"), *(task(f"a{n}") for n in range(20)), inclusive("j"))
    flows = "; ".join(f"s > a{n} > j" for n in range(20))
    xml = process(*parts, task("t"), end(), flows=f"start > s; {flows}; j > t > end")
    for moves_max in (1, 2, 3, 5):
        game = play(xml, limits=Limits(moves_max=moves_max)).create()
        assert (1, InstanceState.COMPLETED) == (ran(game, "t"), game.state)


# --- complex -----------------------------------------------------------------------------------

THREE = (start(), parallel("f"), service("a"), service("b"), service("c"), task("t"), end())
THREE_FLOWS = "start > f; f > a > j; f > b > j; f > c > j; j > t > end"


def two_of_three() -> Play:
    return play(process(*THREE, complex_("j", "activationCount >= 2"), flows=THREE_FLOWS)).create()


def test_a_complex_gateway_goes_on_when_its_condition_is_true_and_ends_what_comes_later() -> None:
    game = two_of_three().complete("c")
    assert 0 == ran(game, "t")
    assert 1 == ran(game.complete("a"), "t")

    assert (1, InstanceState.COMPLETED) == (ran(game.complete("b"), "t"), game.state)
    assert {} == game.root.joins


def test_without_a_condition_it_waits_for_all_that_are_expected() -> None:
    game = play(process(*THREE, complex_("j"), flows=THREE_FLOWS)).create()

    assert 0 == ran(game.complete("a").complete("b"), "t")
    assert (1, InstanceState.COMPLETED) == (ran(game.complete("c"), "t"), game.state)


def test_what_comes_later_leaves_by_a_flow_whose_condition_tells_it_from_the_first() -> None:
    gateway = complex_("j", "activationCount >= 2")
    flows = THREE_FLOWS.replace(
        "j > t > end", "j > t: waitingForStart; j > late: waitingForStart = false"
    )
    game = play(process(*THREE, gateway, task("late"), flows=flows)).create()

    game.complete("a").complete("b")
    assert (1, 0) == (ran(game, "t"), ran(game, "late"))
    game.complete("c")
    assert (1, 1, InstanceState.COMPLETED) == (ran(game, "t"), ran(game, "late"), game.state)


def test_a_condition_that_cannot_come_true_is_an_incident() -> None:
    gateway = complex_("j", "activationCount >= n")
    game = play(process(*THREE, gateway, flows=THREE_FLOWS)).create(n=4)
    game.complete("a").complete("b").complete("c")
    (incident,) = game.incidents
    assert "CONDITION_ERROR" == incident.error_type
    assert "came: 3 of 3" in incident.message

    game.set(n=3).resolve()

    assert (1, InstanceState.COMPLETED) == (ran(game, "t"), game.state)


def test_a_condition_that_fails_is_an_incident() -> None:
    gateway = complex_("j", "activationCount >= n")
    game = play(process(*THREE, gateway, flows=THREE_FLOWS)).create(n="two").complete("a")
    assert ["EXTRACT_VALUE_ERROR"] == [incident.error_type for incident in game.incidents]

    game.set(n=1).resolve().complete("b").complete("c")

    assert (1, InstanceState.COMPLETED) == (ran(game, "t"), game.state)


def test_a_condition_that_was_mended_and_is_not_true_yet_waits_for_the_others() -> None:
    gateway = complex_("j", "activationCount >= n")
    game = play(process(*THREE, gateway, flows=THREE_FLOWS)).create(n="two").complete("a")
    game.set(n=3).resolve()

    assert ([], 0) == (game.incidents, ran(game, "t"))
    assert 0 == ran(game.complete("b"), "t")
    assert (1, InstanceState.COMPLETED) == (ran(game.complete("c"), "t"), game.state)


def test_a_token_that_cannot_come_any_more_is_not_waited_for_to_begin_anew() -> None:
    gateway = complex_("j", "activationCount >= 2")
    parts = (*THREE, gateway, boundary_error("e", "c"))
    game = play(process(*parts, flows=THREE_FLOWS)).create().complete("a").complete("b")
    assert {} != game.root.joins

    assert (InstanceState.COMPLETED, {}) == (game.fail("c", error_code="E").state, game.root.joins)


def test_joins_that_are_due_together_all_go_on_when_the_turn_is_full() -> None:
    around = (service("d"), inclusive("k"), task("u"), complex_("j", "activationCount >= 2"))
    parts = (*THREE, *around, boundary_error("e", "c"))
    flows = f"{THREE_FLOWS}; f > d > k; c > k > u"
    game = play(process(*parts, flows=flows), limits=Limits(moves_max=1)).create()
    for id_ in "abd":
        game.complete(id_)
    assert 2 == len(game.root.joins)

    game.fail("c", error_code="E")

    assert (1, InstanceState.COMPLETED) == (ran(game, "u"), game.state)


def test_a_scope_that_ends_leaves_no_join_behind() -> None:
    inside = (*THREE[1:-1], complex_("j", "activationCount >= 2"), boundary_error("e", "c"))
    flows = "si > f; f > a > j; f > b > j; f > c > j; j > t"
    inner = sub("s", start("si"), *inside, flows=flows)
    xml = process(start(), inner, service("after"), flows="start > s > after")
    game = play(xml, limits=Limits(moves_max=1)).create().complete("a").complete("b")
    assert {} != game.root.joins

    assert (["after"], {}) == (game.fail("c", error_code="E").open_jobs, game.root.joins)


# --- links -------------------------------------------------------------------------------------


def test_a_link_jumps_to_the_catch_event_of_its_name_in_its_scope() -> None:
    inner = sub("s", start("si"), link_throw("g2", "L"), link_catch("c2", "L"), flows="si > g2")
    parts = (start(), inner, link_throw("g1", "L"), link_catch("c1", "L"), service("a"))
    game = play(process(*parts, flows="start > s > g1; c1 > a")).create()

    assert ["start", "s", "si", "g2", "c2", "g1", "c1", "a"] == game.path
    assert InstanceState.COMPLETED == game.complete("a").state


@pytest.mark.parametrize("late", [False, True])
def test_an_activity_that_may_be_tried_again_from_before_the_split_is_waited_for(
    late: bool,
) -> None:
    parts = (start(), exclusive("again"), inclusive("s"), service("a"), service("b"))
    retry = boundary("retry", "a", duration="PT3S")
    xml = process(
        *(*parts, retry, inclusive("j"), task("t"), end()),
        flows="start > again > s > a > j > t > end; s > b > j; retry > again",
    )
    game = play(xml).create().complete("b")
    assert (0, ["a"]) == (ran(game, "t"), game.waiting)

    if late:
        game.wait(3).complete("b").complete("a")
        assert 2 == ran(game, "t")  # for it was split twice
    else:
        assert 1 == ran(game.complete("a"), "t")
    assert InstanceState.COMPLETED is game.state
