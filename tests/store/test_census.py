"""What a sweep counts is known once, when its last segment is."""

from __future__ import annotations

import pytest

from chalicelib.store import census
from chalicelib.store.census import Share
from tests.fakes.table import MemoryTable
from tests.store.samples import NOW, seconds


@pytest.fixture
def store() -> MemoryTable:
    return MemoryTable()


def test_the_last_segment_to_end_knows_the_sum(store: MemoryTable) -> None:
    shares = [Share(3, 5), Share(), Share(1, 0)]
    order = (2, 0, 1)

    sums = [census.add(store, NOW, number, 3, shares[number]) for number in order]

    assert [None, None, Share(4, 5)] == sums


def test_a_segment_that_is_counted_twice_counts_once(store: MemoryTable) -> None:
    census.add(store, NOW, 0, 2, Share(7, 7))
    census.add(store, NOW, 0, 2, Share(2, 3))

    assert Share(4, 6) == census.add(store, NOW, 1, 2, Share(2, 3))


def test_sweeps_are_counted_apart(store: MemoryTable) -> None:
    census.add(store, NOW, 0, 2, Share(7, 7))

    assert census.add(store, NOW + seconds(3_600), 1, 2, Share(1, 1)) is None


def test_the_newest_sum_is_that_of_a_sweep_that_came_to_its_end(store: MemoryTable) -> None:
    assert census.newest(store) is None
    census.add(store, NOW, 0, 1, Share(1, 2))
    for part in range(2):
        census.add(store, NOW + seconds(60), part, 2, Share(3, part))
    census.add(store, NOW + seconds(120), 0, 2, Share(9, 9))

    assert Share(6, 1) == census.newest(store)
