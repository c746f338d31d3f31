"""What every implementation of the table answers to queries, of indexes too, and to scans."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from chalicelib.ports import (
    HISTORY,
    LIVE,
    Attribute,
    Delete,
    ItemKey,
    Page,
    Put,
    Query,
    Table,
    Update,
)
from tests.contract.table_cases import KEY, PLACE, many, pages_of, put, sks, token

# --- queries -----------------------------------------------------------------------------------


def test_a_query_gives_a_partition_in_the_order_of_the_sort_keys_bytes(table: Table) -> None:
    names = ["a", "B", "é", "z", "\U0001f600", "ﬀ", "~", "10", "9"]
    for name in names:
        put(table, ItemKey(LIVE, "I#1", name))
    put(table, ItemKey(LIVE, "I#10", "other"))

    expected = sorted(names, key=str.encode)
    assert expected == sks(table.query(Query(LIVE, "I#1")))
    assert expected[::-1] == sks(table.query(Query(LIVE, "I#1", ascending=False)))
    assert [] == sks(table.query(Query(LIVE, "I#9")))
    assert [] == sks(table.query(Query(HISTORY, "I#1")))


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("J#2", None, ["J#2", "J#3", "T#1"]),
        (None, "J#2", ["J#1", "J#2"]),
        ("J#2", "J#3", ["J#2", "J#3"]),
        ("J#", "J#\U0010ffff", ["J#1", "J#2", "J#3"]),
        ("K", "S", []),
        ("J#3", "J#1", []),
    ],
)
def test_a_query_may_be_bounded(
    table: Table, first: str | None, last: str | None, expected: list[str]
) -> None:
    for sk in ("J#1", "J#2", "J#3", "T#1"):
        put(table, ItemKey(LIVE, "I#1", sk))

    assert expected == sks(table.query(Query(LIVE, "I#1", first=first, last=last)))
    backwards = Query(LIVE, "I#1", first=first, last=last, ascending=False)
    assert expected[::-1] == sks(table.query(backwards))


@pytest.mark.parametrize("ascending", [True, False])
def test_a_limited_query_is_continued_by_its_cursor(table: Table, ascending: bool) -> None:
    names = [f"J#{n}" for n in range(6)]
    for name in names:
        put(table, ItemKey(LIVE, "I#1", name))
    expected = names if ascending else names[::-1]

    query = Query(LIVE, "I#1", ascending=ascending, limit=4, first="J#0", last="J#9")
    first = table.query(query)
    second = table.query(
        Query(LIVE, "I#1", ascending=ascending, first="J#0", last="J#9", cursor=first.cursor)
    )

    assert (expected[:4], expected[4:]) == (sks(first), sks(second))
    assert first.cursor is not None and second.cursor is None


def test_a_page_ends_at_its_limit_even_if_nothing_follows(table: Table) -> None:
    put(table)

    page = table.query(Query(LIVE, "I#1", limit=1))

    assert page.cursor is not None
    assert Page([], None) == table.query(Query(LIVE, "I#1", limit=1, cursor=page.cursor))


def test_a_page_ends_after_a_megabyte(table: Table) -> None:
    for write in many(4, 300_000):
        table.write(write)

    first = table.query(Query(LIVE, "I#1"))
    second = table.query(Query(LIVE, "I#1", cursor=first.cursor))

    assert (3, 1) == (len(first.items), len(second.items))


# --- indexes -----------------------------------------------------------------------------------


def listed(number: int, **more: Attribute) -> Mapping[str, Attribute]:
    return {"listed_in": "instances#0", "listed_at": f"{number:03}", "other": 1, **more}


def test_an_index_has_the_keys_of_items_that_have_both_its_attributes(table: Table) -> None:
    for number in (3, 1, 2):
        put(table, ItemKey(LIVE, f"I#{number}", "R"), **listed(number))
    put(table, ItemKey(LIVE, "I#4", "R"), listed_in="instances#0")
    put(table, ItemKey(LIVE, "I#5", "R"), **listed(5, listed_in="instances#1"))

    page = table.query(Query(LIVE, "instances#0", index="listed", ascending=False))

    assert [
        {"pk": f"I#{number}", "sk": "R", "listed_in": "instances#0", "listed_at": f"00{number}"}
        for number in (3, 2, 1)
    ] == list(page.items)


def test_an_item_leaves_an_index_with_its_attribute(table: Table) -> None:
    put(table, KEY, **listed(1, open_in="instances#0"))
    assert [PLACE["sk"]] == sks(table.query(Query(LIVE, "instances#0", index="open")))

    table.write(Update(KEY, remove=("open_in",)))

    assert [] == sks(table.query(Query(LIVE, "instances#0", index="open")))
    assert ["R"] == sks(table.query(Query(LIVE, "instances#0", index="listed")))
    table.write(Delete(KEY))
    assert [] == sks(table.query(Query(LIVE, "instances#0", index="listed")))


def test_an_index_is_kept_by_transactions_too(table: Table) -> None:
    table.transact([Put(KEY, dict(listed(1)))], token())
    assert ["R"] == sks(table.query(Query(LIVE, "instances#0", index="listed")))

    table.transact([Update(KEY, set={"listed_in": "instances#1"})], token())

    assert [] == sks(table.query(Query(LIVE, "instances#0", index="listed")))
    assert ["R"] == sks(table.query(Query(LIVE, "instances#1", index="listed")))


@pytest.mark.parametrize("ascending", [True, False])
def test_an_index_is_read_page_by_page_within_bounds(table: Table, ascending: bool) -> None:
    for number in range(8):
        put(table, ItemKey(LIVE, f"I#{number % 4}", f"R{number}"), **listed(number // 2))
    query = {"index": "listed", "ascending": ascending, "limit": 2, "first": "001", "last": "002"}

    found: list[Attribute] = []
    page = table.query(Query(LIVE, "instances#0", **query))  # type: ignore[arg-type]
    while page.items:
        found += sks(page)
        if page.cursor is None:
            break
        page = table.query(Query(LIVE, "instances#0", cursor=page.cursor, **query))  # type: ignore[arg-type]

    assert {"R2", "R3"} == set(found[:2] if ascending else found[2:])
    assert {"R4", "R5"} == set(found[2:] if ascending else found[:2])


# --- scans -------------------------------------------------------------------------------------


def test_the_segments_of_a_scan_hold_every_item_once(table: Table) -> None:
    keys = {ItemKey(LIVE, f"I#{n}", sk) for n in range(20) for sk in ("R", "J#1")}
    for key in keys:
        put(table, key)
    put(table, ItemKey(HISTORY, "I#1", "H#1"))

    found = [
        ItemKey(LIVE, str(item["pk"]), str(item["sk"]))
        for segment in range(3)
        for page in pages_of(table, segment, 3)
        for item in page.items
    ]

    assert keys == set(found)
    assert len(keys) == len(found)


def test_a_scan_is_read_page_by_page(table: Table) -> None:
    for write in many(4, 300_000):
        table.write(write)

    assert [3, 1] == [len(page.items) for page in pages_of(table)]
