"""What every implementation of the table does: in memory and on (emulated) DynamoDB."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from chalicelib.ports import (
    HISTORY,
    LIVE,
    Above,
    Absent,
    AnyOf,
    AtMost,
    Attribute,
    Check,
    Condition,
    Delete,
    Equals,
    Item,
    ItemKey,
    Page,
    Put,
    Query,
    Refused,
    Table,
    Test,
    Update,
    Write,
    Written,
)
from tests.contract.tables import on_dynamodb
from tests.fakes.table import MemoryTable

KEY = ItemKey(LIVE, "I#1", "R")
OTHER = ItemKey(LIVE, "I#1", "J#1")
PLACE: Item = {"pk": "I#1", "sk": "R"}
THERE = (Absent("pk"),)


@pytest.fixture(params=["memory", pytest.param("dynamodb", marks=pytest.mark.aws)], scope="module")
def shared(request: pytest.FixtureRequest) -> Iterator[Callable[[], Table]]:
    """Return what makes an empty table; on DynamoDB it is one that is emptied."""
    if request.param == "memory":
        yield MemoryTable
        return
    for table in on_dynamodb(str(request.getfixturevalue("emulated_aws"))):
        yield lambda table=table: emptied(table)  # type: ignore[misc]


@pytest.fixture
def table(shared: Callable[[], Table]) -> Table:
    return shared()


def emptied(table: Table) -> Table:
    for page in pages_of(table):
        for item in page.items:
            table.write(Delete(ItemKey(LIVE, str(item["pk"]), str(item["sk"]))))
    for item in table.query(Query(HISTORY, "I#1")).items:
        table.write(Delete(ItemKey(HISTORY, "I#1", str(item["sk"]))))
    return table


def pages_of(table: Table, segment: int = 0, segments: int = 1) -> Iterator[Page]:
    page = table.scan(segment, segments)
    yield page
    while page.cursor is not None:
        page = table.scan(segment, segments, page.cursor)
        yield page


def token() -> str:
    return uuid4().hex


def put(table: Table, key: ItemKey = KEY, /, **attributes: Attribute) -> None:
    assert isinstance(table.write(Put(key, dict(attributes))), Written)


def there(**attributes: Attribute) -> Item:
    """Return an item at KEY."""
    return {**attributes, **PLACE}


# --- one item ----------------------------------------------------------------------------------


def test_an_item_is_read_as_it_was_put_with_its_keys(table: Table) -> None:
    attributes: Item = {
        "text": "ünï ",
        "empty": "",
        "number": 2**53,
        "negative": -5,
        "zero": 0,
        "truth": True,
        "nothing": None,
        "bytes": b"\x00\xff",
        "list": ["a", 1, None, [False]],
        "map": {"a": {"b": 1}, "": ""},
    }

    assert Written(attributes | PLACE) == table.write(Put(KEY, attributes))

    found = table.get(KEY)
    assert attributes | PLACE == found
    assert found is not None and type(found["truth"]) is bool and type(found["zero"]) is int


def test_an_item_that_is_not_there_is_none(table: Table) -> None:
    assert table.get(KEY) is None


def test_live_and_history_are_apart(table: Table) -> None:
    put(table, KEY, where="live")
    put(table, ItemKey(HISTORY, "I#1", "R"), where="history")

    found = table.get_many([KEY, ItemKey(HISTORY, "I#1", "R")])

    assert ["live", "history"] == [item["where"] for item in found.values()]


def test_what_is_given_and_taken_is_nobody_elses(table: Table) -> None:
    given: Item = {"list": ["a"], "map": {"b": 1}}
    written = table.write(Put(KEY, given))
    first = table.get(KEY)
    assert isinstance(written, Written) and written.item is not None and first is not None

    for item in (given, written.item, first):
        item["list"].append("b")  # type: ignore[union-attr]
        item["map"]["b"] = 2  # type: ignore[index,call-overload]
        item["new"] = 1

    assert {"list": ["a"], "map": {"b": 1}} | PLACE == table.get(KEY)


def test_a_put_replaces_the_whole_item(table: Table) -> None:
    put(table, a=1, b=2)
    put(table, b=3)

    assert there(b=3) == table.get(KEY)


def test_many_items_are_read_and_missing_ones_left_out(table: Table) -> None:
    keys = [ItemKey(LIVE, "I#1", f"J#{number:03}") for number in range(130)]
    for key in keys[:120]:
        put(table, key)

    found = table.get_many([*keys, keys[0]])

    assert set(keys[:120]) == found.keys()
    assert {} == table.get_many([])


def test_an_update_changes_what_it_names_and_answers_with_all(table: Table) -> None:
    put(table, kept=1, changed=1, removed=1, counted=5)

    written = table.write(
        Update(
            KEY, set={"changed": "x"}, remove=("removed", "missing"), add={"counted": -2, "n": 3}
        )
    )

    expected = there(kept=1, changed="x", counted=3, n=3)
    assert Written(expected) == written
    assert expected == table.get(KEY)


def test_an_update_makes_an_item_that_is_not_there(table: Table) -> None:
    assert Written(PLACE) == table.write(Update(KEY))
    assert Written(there(a=1)) == table.write(Update(KEY, set={"a": 1}))


@pytest.mark.parametrize(
    "update",
    [
        Update(KEY, set={"pk": "other"}),
        Update(KEY, remove=("sk",)),
        Update(KEY, set={"a": 1}, remove=("a",)),
        Update(KEY, set={"a": 1}, add={"a": 1}),
        Update(KEY, add={"text": 1}),
        Update(KEY, set={"listed_in": 5}),
        Update(KEY, set={"listed_in": ""}),
        Update(KEY, set={"big": "x" * 409_600}),
        Update(KEY, set={"number": 10**38}),
        Update(KEY, set={"real": 1.5}),  # type: ignore[dict-item]
    ],
    ids=lambda update: str(update)[:60],
)
def test_an_update_that_dynamodb_refuses_is_wrong_and_changes_nothing(
    table: Table, update: Update
) -> None:
    put(table, text="x")

    with pytest.raises(ValueError):
        table.write(update)

    assert there(text="x") == table.get(KEY)


@pytest.mark.parametrize(
    "item", [{"x": "x" * 409_600}, {"x": 1.5}, {"open_in": b"x"}, {"x": ["x" * 409_600]}]
)
def test_a_put_that_dynamodb_refuses_is_wrong(table: Table, item: Item) -> None:
    with pytest.raises(ValueError):
        table.write(Put(KEY, item))

    assert table.get(KEY) is None


def test_an_item_of_400_kilobytes_is_the_largest(table: Table) -> None:
    rest = 400 * 1024 - len("pk" + "I#1" + "sk" + "R" + "x")

    put(table, x="x" * rest)
    with pytest.raises(ValueError):
        table.write(Put(KEY, {"x": "x" * (rest + 1)}))


def test_a_deleted_item_is_gone_and_may_be_deleted_again(table: Table) -> None:
    put(table)

    assert Written(None) == table.write(Delete(KEY))
    assert Written(None) == table.write(Delete(KEY))

    assert table.get(KEY) is None


# --- conditions --------------------------------------------------------------------------------

ITEM: Item = {"n": 5, "text": "x", "yes": True, "none": None, "list": [1, "a"], "map": {"a": 1}}
HOLD: list[Test] = [
    Equals("n", 5),
    Equals("text", "x"),
    Equals("yes", True),
    Equals("none", None),
    Equals("list", [1, "a"]),
    Equals("map", {"a": 1}),
    Absent("missing"),
    AtMost("n", 5),
    AtMost("n", 6),
    Above("n", 4),
    AnyOf((Equals("n", 6), Equals("n", 5))),
    AnyOf((Absent("n"), AtMost("n", 5))),
]
FAIL: list[Test] = [
    Equals("n", 6),
    Equals("n", "5"),
    Equals("missing", None),
    Equals("missing", 5),
    Equals("yes", 1),
    Equals("yes", False),
    Equals("n", True),
    Equals("list", [1, "b"]),
    Equals("list", [True, "a"]),
    Equals("map", {}),
    Absent("n"),
    Absent("none"),
    Absent("pk"),
    AtMost("n", 4),
    AtMost("missing", 9),
    AtMost("text", 9),
    AtMost("yes", 9),
    Above("n", 5),
    Above("missing", 0),
    Above("text", 0),
    AnyOf((Equals("n", 6), Absent("n"))),
]


@pytest.mark.parametrize("test", HOLD, ids=str)
def test_a_condition_holds(table: Table, test: Test) -> None:
    put(table, KEY, **ITEM)

    assert isinstance(table.write(Update(KEY, set={"done": 1}, condition=(test,))), Written)


@pytest.mark.parametrize("test", FAIL, ids=str)
def test_a_condition_fails_and_the_refusal_tells_what_was_there(table: Table, test: Test) -> None:
    put(table, KEY, **ITEM)

    assert Refused(ITEM | PLACE) == table.write(
        Update(KEY, set={"done": 1}, condition=(Equals("text", "x"), test))
    )

    assert ITEM | PLACE == table.get(KEY)


@pytest.mark.parametrize(
    "write",
    [
        Put(KEY, {"new": 1}, (Absent("n"),)),
        Update(KEY, set={"new": 1}, condition=(Absent("n"),)),
        Delete(KEY, (Absent("n"),)),
    ],
    ids=lambda write: type(write).__name__,
)
def test_every_write_may_have_a_condition(table: Table, write: Put | Update | Delete) -> None:
    put(table, n=1)

    assert Refused(there(n=1)) == table.write(write)

    assert there(n=1) == table.get(KEY)


def test_without_an_item_only_absence_holds(table: Table) -> None:
    demanded: list[Condition] = [(Equals("n", 1),), (AtMost("n", 1),), (Above("n", 0),)]
    for condition in demanded:
        assert Refused(None) == table.write(Put(KEY, {}, condition))
        assert Refused(None) == table.write(Delete(KEY, condition))
        assert Refused(None) == table.write(Update(KEY, condition=condition))

    assert Written(PLACE) == table.write(Put(KEY, {}, (Absent("pk"), Absent("n"))))
    assert Refused(PLACE) == table.write(Put(KEY, {}, (Absent("pk"),)))


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


def many(number: int, size: int = 1) -> list[Put]:
    return [Put(ItemKey(LIVE, "I#1", f"J#{n:03}"), {"x": "x" * size}) for n in range(number)]


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


# --- queries -----------------------------------------------------------------------------------


def sks(page: Page) -> list[Attribute]:
    return [item["sk"] for item in page.items]


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
