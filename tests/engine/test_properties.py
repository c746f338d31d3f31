"""Random processes on random paths: they end, and every turn on the way is a legal one.

`play` checks each turn: records move along the tables' edges, guards are named, tokens add up.
"""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.engine.effects import Ring, SetTimer
from chalicelib.engine.limits import Limits
from chalicelib.engine.state import ChildWait, InstanceState, Job, JobState, Timer
from chalicelib.engine.turn import Entered, Left, Terminated
from chalicelib.errors import Rejected
from chalicelib.profile import Profile
from tests.engine.blocks import BLOCKS, ENDING, GATEWAYS, Block, drawn
from tests.engine.random_steps import commands, empty, finish, step
from tests.play import Play, play

MODEST = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
STEPS = 80  # at random, before everybody does their best

LIMITS = st.sampled_from([Limits(), Limits(moves_max=1), Limits(moves_max=4)])


@MODEST
@given(BLOCKS, st.sampled_from(Profile), LIMITS, st.data())
def test_a_random_process_on_a_random_path_ends(
    block: Block, profile: Profile, limits: Limits, data: st.DataObject
) -> None:
    game = play(drawn(block), profile=profile, limits=limits).create(c=1, k="k")
    for _ in range(STEPS):
        if game.state is not InstanceState.ACTIVE:
            break
        step(game, data)
    finish(game)

    root = game.root
    assert InstanceState.COMPLETED == root.state
    assert (0, {}, {}, (), {}) == (
        *(root.tokens, root.live, root.joins, root.agenda),
        root.completed,
    )
    assert ([], [], []) == (game.jobs, game.timers, game.incidents)
    assert ([], [], {}) == (game.subscriptions, list(game.records(ChildWait)), root.bodies)
    assert promised(game)
    assert_told(game)
    assert_joined(game)


def assert_told(game: Play) -> None:
    """Check that of each element that was entered the history says once how it ended."""
    events = [event for turn in game.turns for event in turn.history]
    entered = [event.key for event in events if isinstance(event, Entered)]
    ended = [event.key for event in events if isinstance(event, Left | Terminated)]
    assert sorted(entered) == sorted(ended)


def assert_joined(game: Play) -> None:
    """Check that what was split was joined as often, in each scope that nothing interrupted."""
    events = [event for turn in game.turns for event in turn.history]
    entered = [event for event in events if isinstance(event, Entered)]
    cut_short = {event.key for event in events if isinstance(event, Terminated)}
    cut_short |= {event.scope for event in entered if event.element_id.endswith(ENDING)}
    times = Counter((event.scope, event.element_id) for event in entered)
    for (scope, name), split in times.items():
        if name.startswith(tuple(GATEWAYS)) and name.endswith("_in") and scope not in cut_short:
            assert split == times[scope, name.removesuffix("_in") + "_out"], (scope, name)


def promised(game: Play) -> bool:
    """Say whether each job and timer that ever waited was promised to the outside."""
    effects = [effect for turn in game.turns for effect in turn.effects]
    bells = {(e.job_key, e.number) for e in effects if isinstance(e, Ring)}
    timers = {e.timer_key for e in effects if isinstance(e, SetTimer)}
    rung = {(job.key, job.ring) for turn in game.turns for job in of_type(turn, Job) if job.ring}
    return rung <= bells and {key.key for key in all_timers(game)} <= timers


def of_type(turn: Any, kind: type[Any]) -> list[Any]:
    return [r for r in turn.after.records.values() if isinstance(r, kind)]


def all_timers(game: Play) -> set[Any]:
    return {key for turn in game.turns for key in turn.after.records if key.type is Timer}


@MODEST
@given(BLOCKS, st.data())
def test_any_command_is_rejected_and_changes_nothing_or_makes_a_legal_turn(
    block: Block, data: st.DataObject
) -> None:
    game = play(drawn(block)).create(c=1, k="k")
    for _ in range(12):
        before = game.instance
        game.now += timedelta(seconds=data.draw(st.integers(0, 4)))
        try:
            game.send(data.draw(commands(game)))
        except Rejected:
            assert before is game.instance
    terminal = game.state in (InstanceState.COMPLETED, InstanceState.TERMINATED)
    waits = [*game.jobs, *game.timers, *game.incidents, *game.subscriptions]
    waits += [*game.records(ChildWait), *conditions(game), *empty(game), *game.root.joins]
    assert bool(waits) != terminal
    if terminal:
        states = {job.state for job in game.records(Job)}
        assert states <= {JobState.COMPLETED, JobState.TERMINATED}


def conditions(game: Play) -> list[str]:
    """Return the conditional events that wait, which have no record of their own."""
    return [element_id for element_id in game.waiting if element_id.startswith("condition")]
