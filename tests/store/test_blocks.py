from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from chalicelib.engine.keys import FIRST_BLOCK
from chalicelib.ports import Delete, Item, ItemKey, Put, Refused, Update, Written
from chalicelib.store import blocks
from tests.counting import CountingTable
from tests.fakes.table import MemoryTable


def test_the_first_block_is_the_first_of_all_and_the_rest_follow() -> None:
    store = MemoryTable()

    assert list(range(FIRST_BLOCK, FIRST_BLOCK + 200)) == [blocks.take(store) for _ in range(200)]


def test_a_container_writes_to_the_counter_once_in_64_blocks() -> None:
    store = CountingTable(MemoryTable())

    for _ in range(65):
        blocks.take(store)

    assert 2 == store.costs().requests


def test_no_two_containers_take_one_block() -> None:
    inner = MemoryTable()
    containers = [CountingTable(inner) for _ in range(4)]

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(blocks.take, containers * 100))

    assert 400 == len(set(taken))


def test_a_lost_answer_loses_blocks_but_gives_none_out_twice() -> None:
    class Repeating(MemoryTable):
        def write(self, write: Put | Update | Delete) -> Written | Refused:
            super().write(write)
            return super().write(write)

    inner = Repeating()

    assert FIRST_BLOCK + 64 == blocks.take(inner)
    found: Item | None = inner.get(ItemKey("live", "COUNTER", "blocks"))
    assert found is not None and 128 == found["taken"]
