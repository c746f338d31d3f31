"""What every implementation of the table does with transactions, and when writers race."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from chalicelib.ports import (
    HISTORY,
    LIVE,
    Absent,
    AtMost,
    Attribute,
    Check,
    Delete,
    Equals,
    ItemKey,
    Put,
    Refused,
    Table,
    Update,
    Write,
    Written,
)
from tests.contract.table_cases import KEY, OTHER, THERE, many, pages_of, put, there, token

# --- transactions ------------------------------------------------------------------------------


def test_a_transaction_writes_all_in_both_tables(table: Table) -> None:
    put(table, OTHER, a=1)
    gone = ItemKey(LIVE, "I#1", "T#1")
    put(table, gone)
    history = ItemKey(HISTORY, "I#1", "H#1")

    written = table.transact(
        [
            Put(KEY, {"n": 1}, THERE),
            Update(OTHER, set={"a": 2}, condition=(Equals("a", 1),)),
            Delete(gone),
            Put(history, {"h": 1}),
            Check(ItemKey(LIVE, "I#2", "R"), (Absent("pk"),)),
        ],
        token(),
    )

    assert Written(None) == written
    found = table.get_many([KEY, OTHER, gone, history])
    assert {KEY: 1, OTHER: 2, history: 1} == {
        key: item.get("n") or item.get("a") or item.get("h") for key, item in found.items()
    }


def test_a_transaction_whose_condition_fails_writes_nothing_and_says_which(table: Table) -> None:
    put(table, OTHER, a=1)
    writes: list[Write] = [
        Put(KEY, {"n": 1}),
        Check(ItemKey(LIVE, "I#2", "R"), (Absent("pk"),)),
        Update(OTHER, set={"a": 2}, condition=(Equals("a", 7),)),
        Put(ItemKey(HISTORY, "I#1", "H#1"), {}, (Equals("pk", "x"),)),
    ]

    assert Refused({"a": 1, "pk": "I#1", "sk": "J#1"}, 2) == table.transact(writes, token())

    assert {OTHER} == table.get_many([KEY, OTHER, ItemKey(HISTORY, "I#1", "H#1")]).keys()


def test_the_same_token_again_is_the_same_write_done_once(table: Table) -> None:
    put(table, n=0)
    name, writes = token(), [Update(KEY, add={"n": 1}, condition=(AtMost("n", 0),))]

    assert Written(None) == table.transact(writes, name)
    assert Written(None) == table.transact(writes, name)

    assert there(n=1) == table.get(KEY)


def test_the_same_token_with_other_writes_is_wrong(table: Table) -> None:
    name = token()
    table.transact([Put(KEY, {"n": 1})], name)

    with pytest.raises(ValueError):
        table.transact([Put(KEY, {"n": 2})], name)

    assert there(n=1) == table.get(KEY)


def test_a_token_that_was_refused_may_succeed_later(table: Table) -> None:
    put(table, n=0)
    name, writes = token(), [Update(KEY, set={"m": 1}, condition=(Equals("n", 1),))]
    assert Refused(there(n=0)) == table.transact(writes, name)

    put(table, n=1)

    assert Written(None) == table.transact(writes, name)


@pytest.mark.parametrize(
    "writes",
    [
        [],
        many(101),
        many(13, 340_000),
        [Put(KEY, {"n": 1}), Update(KEY, set={"n": 2})],
        [Put(KEY, {"n": 1}), Check(KEY, (Absent("pk"),))],
        [Put(OTHER, {"n": 1}), Check(KEY, ())],
        [Put(OTHER, {"n": 1}), Update(KEY, set={"a": 1}, remove=("a",))],
        [Put(OTHER, {"n": 1}), Put(KEY, {"x": "x" * 409_600})],
    ],
    ids=["none", "101", "more than 4 MB", "twice", "checked", "nothing", "overlap", "large"],
)
def test_a_transaction_that_dynamodb_refuses_is_wrong_and_writes_nothing(
    table: Table, writes: list[Write]
) -> None:
    with pytest.raises(ValueError):
        table.transact(writes, token())

    assert [] == [item for page in pages_of(table) for item in page.items]


def test_a_transaction_of_100_writes_is_the_largest(table: Table) -> None:
    assert Written(None) == table.transact(many(100), token())


# --- races -------------------------------------------------------------------------------------


def test_of_racing_conditional_writes_exactly_one_wins(table: Table) -> None:
    def claim(who: int) -> Written | Refused:
        demanded = (Absent("owner"),)
        return table.write(Update(KEY, {"owner": who}, add={"token": 1}, condition=demanded))

    with ThreadPoolExecutor(8) as pool:
        for round_ in range(10):
            table.write(Put(KEY, {"token": round_}))
            outcomes = list(pool.map(claim, range(8)))
            winners = [number for number, each in enumerate(outcomes) if isinstance(each, Written)]
            assert 1 == len(winners)
            assert there(owner=winners[0], token=round_ + 1) == table.get(KEY)


def test_of_racing_transactions_on_one_version_exactly_one_wins(table: Table) -> None:
    def turn(who: int) -> Written | Refused:
        seen = (Equals("version", version),)
        writes: list[Write] = [
            Update(KEY, {"version": version + 1, "by": who}, condition=seen),
            Update(OTHER, {"by": who}),
            Put(ItemKey(HISTORY, "I#1", f"H#{version}"), {"by": who}),
        ]
        return table.transact(writes, token())

    put(table, version=0)
    with ThreadPoolExecutor(8) as pool:
        for version in range(10):
            outcomes = list(pool.map(turn, range(8)))
            winners = [number for number, each in enumerate(outcomes) if isinstance(each, Written)]
            assert 1 == len(winners)
            places = [KEY, OTHER, ItemKey(HISTORY, "I#1", f"H#{version}")]
            by = {item["by"] for item in table.get_many(places).values()}
            assert {winners[0]} == by


def test_racing_counters_lose_no_count(table: Table) -> None:
    def add(_: int) -> Attribute:
        outcome = table.write(Update(KEY, add={"taken": 64}))
        assert isinstance(outcome, Written) and outcome.item is not None
        return outcome.item["taken"]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(add, range(40)))

    assert [64 * n for n in range(1, 41)] == sorted(int(str(number)) for number in found)
