"""The world is fair: time is virtual, strikes are what they say, and a run can be run again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

import pytest

from chalicelib.delivery import horizon
from chalicelib.ports import LIVE, Absent, Equals, ItemKey, Message, Put, Refused, Update, Written
from tests.fakes.queues import MemoryQueues
from tests.house.source import ROOT
from tests.simulation.faults import Plan, Strike
from tests.simulation.ports import (
    LATE_MS,
    LightTable,
    StruckQueues,
    StruckTable,
    TrueClock,
    WatchedQueues,
)
from tests.simulation.scenario import play
from tests.simulation.scenarios import SCENARIOS
from tests.simulation.watch import Watch
from tests.simulation.world import STALL_MS, Fault, NoAnswer, World

KEY = ItemKey(LIVE, "X#1", "X")
OTHER = ItemKey(LIVE, "X#2", "X")
QUEUE = "timers"
HOUR_MS = 3_600_000


@dataclass
class Place:
    """A world with nothing in it but ports."""

    plan: Plan
    seen: list[object] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.world = World(self.plan)
        self.inner = LightTable()
        watch = Watch(lambda: self.world.now_ms, self.inner.peek, self.world.complain)
        self.table = StruckTable(self.world, self.inner, watch)
        self.memory = MemoryQueues(TrueClock(self.world))
        self.queues = StruckQueues(self.world, WatchedQueues(self.world, self.memory, watch))

    def live(self, act: Callable[[], object]) -> None:
        """Let somebody act in a process, and see what comes of it."""

        def process() -> None:
            try:
                with self.world.process("process"):
                    self.seen.append(act())
            except (NoAnswer, Fault) as error:
                self.seen.append(type(error))

        self.world.spawn("somebody", process)

    def run(self) -> list[object]:
        self.world.run(HOUR_MS)
        return self.seen


@pytest.fixture
def place() -> Iterator[Place]:
    yield Place(Plan())


def struck(strike: Strike) -> Place:
    return Place(Plan(0, {0: strike}))


def put(value: int) -> Put:
    return Put(KEY, {"n": value}, (Absent("pk"),))


def test_time_jumps_to_whoever_acts_next(place: Place) -> None:
    place.world.spawn("late riser", lambda: place.seen.append(place.world.now_ms), 600_000)
    assert [600_000] == place.run()


def test_two_actors_take_turns_at_every_call(place: Place) -> None:
    order: list[str] = []

    def act(name: str) -> None:
        for _ in range(2):
            place.table.get(KEY)
            order.append(name)

    for name in ("a", "b"):
        place.live(partial(act, name))
    place.run()
    assert ["a", "b", "a", "b"] == order


def test_a_crash_before_a_write_leaves_nothing() -> None:
    place = struck(Strike.CRASH_BEFORE)
    place.live(lambda: place.table.write(put(1)))
    assert ([NoAnswer], None) == (place.run(), place.inner.peek(KEY))


def test_a_crash_after_a_write_leaves_what_was_written() -> None:
    place = struck(Strike.CRASH_AFTER)
    place.live(lambda: place.table.write(put(1)))
    assert ([NoAnswer], 1) == (place.run(), (place.inner.peek(KEY) or {})["n"])


def test_a_conditional_write_whose_answer_is_lost_is_known_for_ours() -> None:
    place = struck(Strike.LOST_ANSWER)
    place.live(lambda: isinstance(place.table.write(put(1)), Written))
    assert [True] == place.run()


def test_a_repeated_write_that_another_one_followed_is_refused() -> None:
    place = struck(Strike.LOST_ANSWER)
    place.live(lambda: isinstance(place.table.write(put(1)), Refused))
    after = Update(KEY, {"n": 2}, condition=(Equals("n", 1),))
    place.world.spawn("another", lambda: place.seen.append(place.table.write(after)), 10)
    assert True is place.run()[-1]


def test_a_late_write_takes_effect_after_its_caller_gave_up() -> None:
    place = struck(Strike.LATE)
    place.live(lambda: place.table.write(put(1)))
    place.world.run(LATE_MS - 1)
    assert ([Fault], None) == (place.seen, place.inner.peek(KEY))
    place.world.run(HOUR_MS)
    assert 1 == (place.inner.peek(KEY) or {})["n"]


def test_a_torn_read_sees_items_at_different_moments() -> None:
    place = struck(Strike.TORN)
    place.live(lambda: [item["n"] for item in place.table.get_many([KEY, OTHER]).values()])
    for key in (KEY, OTHER):
        place.inner.write(Put(key, {"n": 1}))
    writes = [Put(KEY, {"n": 2}), Put(OTHER, {"n": 2})]
    place.world.spawn_echo("another", lambda: place.inner.transact(writes, "token"), 100)
    assert [1, 2] == place.run()[0]


def test_a_stall_is_longer_than_the_commit_window_and_shorter_than_a_function() -> None:
    stall = timedelta(milliseconds=STALL_MS)
    assert horizon.COMMIT_WINDOW < stall < horizon.FUNCTION_TIMEOUT


def test_a_process_that_runs_too_long_dies_at_its_next_call() -> None:
    place = Place(Plan(0, {0: Strike.STALL, 1: Strike.STALL}))
    place.live(lambda: [place.table.get(KEY), place.table.get(KEY)])
    assert [NoAnswer] == place.run()


@pytest.mark.parametrize(
    ("strike", "count"),
    [
        (Strike.DUPLICATE, 4),
        (Strike.PARTIAL, 1),
        (Strike.LOST_REQUEST, 0),
        (Strike.LOST_ANSWER, 2),
    ],
)
def test_a_batch_that_is_struck_is_sent_as_the_strike_says(strike: Strike, count: int) -> None:
    place = struck(strike)
    bodies = ['{"instance": 1, "timer": 2, "due": 3}'] * 2
    place.live(lambda: place.queues.send(QUEUE, [Message(body) for body in bodies]))
    place.run()
    assert count == len(place.memory.bodies(QUEUE))


def test_a_poll_waits_for_the_first_message_without_time_passing_for_nothing(place: Place) -> None:
    body = '{"instance": 1, "timer": 2, "due": 3}'
    place.live(lambda: [len(place.queues.receive(QUEUE, 10, 30, 20)), place.world.now_ms // 1000])
    place.world.spawn("sender", lambda: place.queues.inner.send(QUEUE, [Message(body, 7)]))
    assert [[1, 7]] == place.run()


@pytest.mark.parametrize("plan", [Plan(), Plan(7, rate=0.1), Plan(0, {11: Strike.CRASH_AFTER})])
def test_the_same_plan_gives_the_same_run(plan: Plan) -> None:
    traces: list[list[str]] = [[], []]
    for trace in traces:
        fresh = Plan(plan.seed, plan.strikes, plan.rate)
        play(SCENARIOS["two-workers"], fresh, trace.append)
    assert traces[0] == traces[1]


def test_a_run_is_the_same_in_another_process() -> None:
    command = f"{sys.executable} -m tests.simulation --scenario parallel-join --seed 7 --rate 0.1"
    runs = [
        subprocess.run(
            command.split(),
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
        for seed in ("1", "2")
    ]
    assert (0, "") == (runs[0].returncode, runs[0].stderr)
    assert runs[0].stdout == runs[1].stdout
