"""A turn is bounded: what is left goes to the agenda, and another turn goes on with it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.engine.commands import (
    CancelInstance,
    CompleteJob,
    Continue,
    CreateInstance,
    FireTimer,
)
from chalicelib.engine.effects import Send
from chalicelib.engine.keys import BLOCK_SIZE
from chalicelib.engine.limits import ACTIONS_MAX, MOVES_MAX, Limits
from chalicelib.engine.plans import plan_of
from chalicelib.engine.state import InstanceState, Job, JobState
from chalicelib.engine.turn import Turn
from chalicelib.errors import Rejected
from tests.engine.models import (
    boundary,
    end,
    exclusive,
    line,
    parallel,
    process,
    script,
    service,
    start,
    sub,
    task,
    terminate,
)
from tests.play import Play, play


def wide(branch: str, count: int) -> bytes:
    """Return a fork to so many branches, made of `branch(n)`, and their join."""
    make = service if branch == "service" else task
    flows = "; ".join(f"f > b{n} > j" for n in range(count))
    return process(
        *(start(), parallel("f"), *(make(f"b{n}") for n in range(count)), parallel("j"), end()),
        flows=f"start > f; {flows}; j > end",
    )


def writes(turn: Turn) -> int:
    """Return how many records a turn writes, a job counted with its payload."""
    return sum(2 if key.type is Job else 1 for key in turn.guards)


def test_a_loop_of_many_moves_takes_several_turns_of_bounded_size() -> None:
    xml = process(
        *(start(), script("a", "i", "i + 1"), exclusive("x", "x-end"), end()),
        flows="start > a > x; x > a: i < 1000; x > end",
    )
    game = play(xml).create(i=0)

    assert (InstanceState.COMPLETED, 1000) == (game.state, game.variables["i"])
    assert -(-2002 // MOVES_MAX) == len(game.turns)
    assert (Send(game.root.key, Continue(), 1),) == game.turns[0].effects
    assert all(turn.done for turn in game.turns)


def test_five_thousand_parallel_branches_run_by_bounded_turns() -> None:
    game = play(wide("task", 5_000)).create()

    assert InstanceState.COMPLETED == game.state
    assert 5_004 == game.root.element_count
    assert 1 == game.path.count("j")
    assert max(len(turn.after.root.agenda) for turn in game.turns) <= 2
    assert len(game.root.blocks) > 15_000 // BLOCK_SIZE
    assert all(len(turn.blocks) <= 1 for turn in game.turns)


def test_parallel_jobs_wait_for_room_and_all_get_done() -> None:
    count = 1_900
    game = play(wide("service", count)).create()
    assert count > plan_of(game.process).live_max == len(game.root.live)
    assert all(writes(turn) <= ACTIONS_MAX for turn in game.turns)
    assert not game.turns[-1].effects or not isinstance(game.turns[-1].effects[-1], Send)

    while jobs := game.jobs:
        for job in jobs:
            game.send(CompleteJob(job.key))

    assert InstanceState.COMPLETED == game.state
    assert {JobState.COMPLETED} == {job.state for job in game.records(Job)}


def test_a_command_comes_after_the_agenda() -> None:
    xml = process(
        *(start(), script("a", "i", "i + 1"), exclusive("x", "x-b"), service("b")),
        flows="start > a > x; x > a: i < 20; x > b",
    )
    game = play(xml, limits=Limits(moves_max=10))
    game.turn(CreateInstance(1, 1, game.profile, {"i": 0}))

    turn = game.turn(CompleteJob(game.root.key + 1))

    assert (False, True) == (turn.done, turn.changes)
    assert isinstance(turn.effects[-1], Send)
    with pytest.raises(Rejected, match="was not found"):
        game.send(CompleteJob(game.root.key + 1))


def test_a_cancel_does_not_wait_for_a_loop_to_end() -> None:
    xml = process(*(start(), exclusive("m"), task("a"), end()), flows="start > m > a > m")
    game = play(xml, limits=Limits(max_elements=0))
    game.turn(CreateInstance(1, 1, game.profile))
    assert game.root.agenda

    turn = game.turn(CancelInstance())

    assert (True, InstanceState.TERMINATED) == (turn.done, game.state)
    assert () == game.root.agenda


def test_nothing_to_continue_changes_nothing() -> None:
    game = play(line(service("a"))).create()

    turn = game.turn(Continue())

    assert (False, True, ()) == (turn.changes, turn.done, turn.effects)


def test_a_wide_cancel_ends_everything_over_several_turns() -> None:
    game = play(wide("service", 300)).create()
    before = len(game.turns)

    turn = game.turn(CancelInstance())
    assert (InstanceState.TERMINATING, True) == (game.state, turn.done)
    assert isinstance(turn.effects[-1], Send)
    waiting = game.jobs[-1]
    with pytest.raises(Rejected, match="actual=ActivityStateTerminated"):
        game.turn(CancelInstance())
    with pytest.raises(Rejected, match="already terminated"):
        game.send(CompleteJob(waiting.key))
    game.send(Continue())

    assert InstanceState.TERMINATED == game.state
    assert {JobState.TERMINATED} == {job.state for job in game.records(Job)}
    assert all(writes(turn) <= ACTIONS_MAX for turn in game.turns[before:])


@pytest.mark.parametrize("ends", ["timer", "terminate"])
def test_a_wide_subprocess_is_interrupted_over_several_turns(ends: str) -> None:
    count = 200
    parts = [service(f"b{n}") for n in range(count)]
    flows = "; ".join(f"f > b{n}" for n in range(count))
    inner = sub(
        *("s", start("si"), parallel("f"), *parts, service("stop"), terminate("te")),
        flows=f"si > f; {flows}; f > stop > te",
    )
    xml = process(
        *(start(), inner, boundary("late", "s", duration="PT1M"), service("next"), service("else")),
        flows="start > s > next; late > else",
    )
    game = play(xml).create()
    assert count + 1 == len(game.jobs)
    before = len(game.turns)

    if ends == "timer":
        timer = game.timers[0]
        game.now += timedelta(minutes=1)
        assert game.turn(FireTimer(timer.key, timer.due)).done
    else:
        game.turn(CompleteJob(game.job("stop").key))
    assert InstanceState.ACTIVE == game.state
    assert game.root.purges
    game.send(Continue())

    assert ["else" if ends == "timer" else "next"] == game.waiting == game.open_jobs
    assert ([], ()) == (game.timers, game.root.purges)
    assert all(writes(turn) <= ACTIONS_MAX for turn in game.turns[before:])


def test_what_was_acknowledged_before_an_interruption_counts_and_later_is_refused() -> None:
    parts = [service(f"b{n}") for n in range(120)]
    inner = sub("s", start("si"), *parts, flows="; ".join(f"si > b{n}" for n in range(120)))
    xml = process(
        *(start(), inner, boundary("late", "s", duration="PT1M"), service("else")),
        flows="start > s; late > else",
    )
    game = play(xml).create().complete("b0")
    timer, early, late = game.timers[0], game.job("b1"), game.job("b119")
    game.now += timedelta(minutes=1)
    game.turn(FireTimer(timer.key, timer.due))

    for job in (early, late):
        with pytest.raises(Rejected, match="already terminated"):
            game.send(CompleteJob(job.key))
    states = [job.state for job in game.records(Job)]
    assert 1 == states.count(JobState.COMPLETED)
    game.send(Continue())
    assert ["else"] == game.open_jobs


def test_an_element_with_more_timers_than_a_turn_has_room_still_gets_its_turn() -> None:
    events = [boundary(f"t{n}", "a", duration="PT1H") for n in range(87)]
    xml = process(
        *(start(), parallel("f"), service("c"), service("a"), *events, task("end")),
        flows="start > f > c; f > a; " + "; ".join(f"t{n} > end" for n in range(87)),
    )
    game: Play = play(xml).create()

    assert ["c", "a"] == game.open_jobs  # the store measures the turn and refuses what is too much
    assert 2 == len(game.turns)
