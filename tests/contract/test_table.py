"""What every implementation of the table does with one item, and its conditions."""

from __future__ import annotations

import pytest

from chalicelib.ports import (
    HISTORY,
    LIVE,
    Above,
    Absent,
    AnyOf,
    AtMost,
    Condition,
    Delete,
    Equals,
    Item,
    ItemKey,
    Put,
    Refused,
    Table,
    Test,
    Update,
    Written,
)
from tests.contract.table_cases import KEY, PLACE, put, there

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
