"""A campaign that cannot run all pairs runs some of each scenario, and others each time."""

from __future__ import annotations

import time

from tests.simulation.campaign import Count, Shares, Task, pairs_tasks
from tests.simulation.faults import Strike
from tests.simulation.runner import Tally, drawn

FOUND = [(index, Strike.CRASH_AFTER) for index in range(10)]


def test_as_many_turns_as_a_stride_draw_all_pairs_once() -> None:
    turns = [drawn(FOUND, turn, 3) for turn in range(7, 10)]

    assert sorted(FOUND) == sorted(each for turn in turns for each in turn)
    assert {3, 4} == {len(turn) for turn in turns}


def test_the_time_is_shared_by_how_long_all_pairs_of_a_scenario_may_take() -> None:
    count = Count()
    for name, runs, seconds in (("call", 100, 1.0), ("net", 300, 4.0)):
        count.add(Task("singles", name, 0), Tally(runs=runs, seconds=seconds))
    shares = Shares(pairs_tasks(["call", "net"]), count, jobs=1, end=time.monotonic() + 104.0)

    first, second = shares.next(), shares.next()
    assert ("call", "net") == (first[0].scenario, second[0].scenario)
    assert (1, 12) == (round(first[1]), round(second[1]))


def test_a_scenario_without_single_strikes_has_a_share_all_the_same() -> None:
    shares = Shares(pairs_tasks(["call"]), Count(), jobs=2, end=time.monotonic() + 8.0)

    assert 2 == round(shares.next()[1])
