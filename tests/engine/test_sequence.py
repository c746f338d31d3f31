"""Tokens from start to end: sequence, forks and joins, choices, loops."""

from __future__ import annotations

import pytest

from chalicelib.engine.state import InstanceState
from tests.engine.models import (
    default,
    end,
    exclusive,
    line,
    parallel,
    process,
    script,
    service,
    start,
    task,
)
from tests.play import play


def test_a_sequence_runs_to_its_end_job_by_job() -> None:
    game = play(line(service("a"), service("b"))).create()

    assert game.open_jobs == ["a"]
    assert game.complete("a").open_jobs == ["b"]
    assert InstanceState.COMPLETED == game.complete("b").state
    assert game.path == ["start", "a", "b", "end"]
    assert game.flows == ["start-a", "a-b", "b-end"]


def test_an_instance_without_waits_ends_in_its_first_turn() -> None:
    game = play(line(task("a"), script("b", "x", "1 + 1"))).create()

    assert (InstanceState.COMPLETED, {"x": 2}) == (game.state, game.variables)
    assert len(game.turns) == 1
    assert game.root.ended_at == game.now


def test_a_parallel_join_waits_for_every_flow() -> None:
    xml = process(
        *(start(), parallel("fork"), service("a"), service("b"), parallel("join"), end()),
        flows="start > fork > a > join > end; fork > b > join",
    )
    game = play(xml).create()

    assert game.open_jobs == ["a", "b"]
    game.complete("a")
    assert (InstanceState.ACTIVE, ["b"]) == (game.state, game.waiting)
    assert InstanceState.COMPLETED == game.complete("b").state
    assert game.path.count("join") == 1


def test_a_second_token_on_one_flow_waits_for_the_joins_next_round() -> None:
    """Rows 1 and 11 of the known ways to get it wrong, for the parallel join."""
    xml = process(
        *(start(), parallel("fork"), service("a"), service("b"), service("c")),
        *(exclusive("merge"), parallel("join"), service("after"), end()),
        flows="""start > fork; fork > a > merge; fork > b > merge; merge > join;
                 fork > c > join; join > after > end""",
    )
    game = play(xml).create()

    game.complete("a").complete("b")
    assert ["c"] == game.open_jobs
    game.complete("c")
    assert ["after"] == game.open_jobs
    game.complete("after")
    assert InstanceState.ACTIVE == game.state  # one token still waits at the join
    assert 1 == game.root.tokens


def test_several_flows_out_of_a_task_are_a_fork() -> None:
    xml = process(start(), task("a"), service("b"), service("c"), flows="start > a > b; a > c")
    game = play(xml).create()

    assert game.open_jobs == ["b", "c"]
    assert InstanceState.COMPLETED == game.complete("c").complete("b").state


@pytest.mark.parametrize(("amount", "taken"), [(500, "x-big"), (50, "x-middle"), (5, "x-small")])
def test_an_exclusive_gateway_takes_the_first_true_flow_else_the_default(
    amount: int, taken: str
) -> None:
    xml = process(
        *(start(), exclusive("x", "x-small"), task("big"), task("middle"), task("small"), end()),
        flows="""start > x; x > small; x > big: amount > 100; x > middle: amount > 10;
                 big > end; middle > end; small > end""",
    )
    game = play(xml).create(amount=amount)

    assert taken in game.flows
    assert 3 == len(game.flows)
    assert InstanceState.COMPLETED == game.state


def test_conditions_out_of_an_activity_take_every_true_flow() -> None:
    xml = process(
        *(start(), default(task("a"), "a-d"), service("b"), service("c"), service("d")),
        flows="start > a; a > b: n > 1; a > c: n > 2; a > d",
    )

    assert ["b", "c"] == play(xml).create(n=3).open_jobs
    assert ["b"] == play(xml).create(n=2).open_jobs
    assert ["d"] == play(xml).create(n=1).open_jobs


def test_a_loop_enters_its_elements_again_and_again() -> None:
    xml = process(
        *(start(), script("a", "i", "i + 1"), exclusive("x", "x-end"), end()),
        flows="start > a > x; x > a: i < 100; x > end",
    )
    game = play(xml).create(i=0)

    assert (InstanceState.COMPLETED, 100) == (game.state, game.variables["i"])
    assert 100 == game.path.count("a")
    assert 202 == game.root.element_count


def test_the_same_inputs_give_the_same_turn() -> None:
    xml = line(service("a"), script("b", "x", "y + 1"))

    first, second = play(xml).create(y=1), play(xml).create(y=1)

    assert first.turns[0].after == second.turns[0].after
    first.complete("a")
    second.complete("a")
    assert first.turns[1].after == second.turns[1].after
    assert first.turns[1].history == second.turns[1].history
