"""Whatever the engine decides is stored and loaded as it was decided."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import uuid4

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.bpmn.model import Process
from chalicelib.engine import needs
from chalicelib.engine.commands import Command, CompleteJob
from chalicelib.engine.limits import DEFAULT_LIMITS, Limits
from chalicelib.engine.state import Instance, Root
from chalicelib.engine.turn import Turn
from chalicelib.errors import Rejected
from chalicelib.ports import Table
from chalicelib.profile import Profile
from chalicelib.store import history, instances
from tests.engine.blocks import BLOCKS, Block, drawn
from tests.engine.random_steps import commands
from tests.fakes.table import MemoryTable
from tests.play import NOW, Play, load, to_json

MODEST = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
TEXTS = st.sampled_from(["", "x", "x" * 290, "x" * 600])


class Stored(Play):
    """Plays a process, and commits each turn: what is loaded must be what was decided."""

    def __init__(
        self,
        process: Process,
        profile: Profile = Profile.ZENBPM,
        limits: Limits = DEFAULT_LIMITS,
        now: datetime = NOW,
    ) -> None:
        super().__init__(process, profile, limits, now)
        self.store: Table = MemoryTable()

    def turn(self, command: Command) -> Turn:
        if self.instance is not None:
            self.look_at(command, self.instance)
        turn = super().turn(command)
        if turn.changes:
            instances.measure(turn)
            stamped = turn.stamped(uuid4().hex)
            assert instances.commit(self.store, stamped)
            assert self.instance == self.stored()
            events = [event for _, event in history.events(self.store, turn.after.key)]
            assert turn.history == tuple(events[len(events) - len(turn.history) :])
            assert stamped.after.root.turn_id == history.turn_id(
                self.store, turn.after.key, turn.after.root.version
            )
        return turn

    def stored(self) -> Instance:
        found = instances.load(self.store, self.root.key, None)
        assert found is not None
        return Instance(without_id(found.root), found.records)

    def look_at(self, command: Command, expected: Instance) -> None:
        """Load what the command needs: it is what there is of that, and nothing else is absent."""
        wanted = needs.wanted(command, expected.root)
        found = instances.load(self.store, expected.key, partial(needs.wanted, command))
        assert found is not None
        assert found.records.items() <= expected.records.items()
        assert wanted == found.absent | (wanted & found.records.keys())
        assert not found.absent & expected.records.keys()


def without_id(root: Root) -> Root:
    """Return a root as the engine leaves it: the store's caller stamps it."""
    return root._replace(turn_id="")


@MODEST
@given(BLOCKS, st.sampled_from(Profile), st.sampled_from([1, 4, 300]), st.data())
def test_every_turn_of_a_random_process_is_loaded_as_it_was_decided(
    block: Block, profile: Profile, moves_max: int, data: st.DataObject
) -> None:
    limits = Limits(moves_max=moves_max)
    game = Stored(load(drawn(block), profile), profile, limits)
    game.create(c=1, text=data.draw(TEXTS))
    for _ in range(10):
        game.now += timedelta(seconds=data.draw(st.integers(0, 4)))
        try:
            game.send(data.draw(commands(game) | completions(game)))
        except Rejected:
            assert game.instance == game.stored()


@st.composite
def completions(draw: st.DrawFn, game: Play) -> Command:
    """A completion with results small and large, of a job that may have ended."""
    keys = [job.key for job in game.jobs] or [1]
    results: dict[str, Any] = {"c": draw(st.integers(0, 2)), "out": draw(TEXTS)}
    return CompleteJob(draw(st.sampled_from(keys)), to_json(results))
