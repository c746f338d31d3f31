from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest

from chalicelib.engine.turn import (
    Armed,
    Changed,
    Disarmed,
    Entered,
    HistoryEvent,
    Left,
    Subscribed,
    Taken,
    Terminated,
    Turn,
    Unsubscribed,
)
from chalicelib.errors import TooLarge
from chalicelib.ports import HISTORY, Query
from chalicelib.store import history, instances, rows, table
from chalicelib.store.lists import Cut
from chalicelib.store.rows import HistoryRow, ScopeRow, TimerRow
from tests.fakes.table import MemoryTable
from tests.store import samples
from tests.store.samples import KEY, NOW

ALL = Cut(size=1000, ascending=True)
SUB, INNER, FLOW, TIMER = KEY + 10, KEY + 11, KEY + 12, KEY + 200


@pytest.fixture
def store() -> MemoryTable:
    return MemoryTable()


def happened(store: MemoryTable, *turns: tuple[HistoryEvent, ...]) -> None:
    """Store turns, one a second, in which these things happened."""
    turn = samples.start()
    for number, events in enumerate(turns):
        at = NOW + timedelta(seconds=number)
        turn = turn._replace(history=events, at=at)
        assert instances.commit(store, turn)
        turn = samples.then(turn.after, turn_id=f"turn-{number}")


def test_all_that_happened_is_read_in_order_with_its_time(store: MemoryTable) -> None:
    first: tuple[HistoryEvent, ...] = (
        Changed(KEY, {"a": Decimal("1.50"), "b": [None, True, "ü"]}),
        Entered(KEY + 3, "start", KEY),
        Left(KEY + 3, None),
        Taken(FLOW, "flow"),
        Entered(SUB, "sub", KEY),
    )
    second: tuple[HistoryEvent, ...] = (
        Changed(KEY, {}, ("a",)),
        Taken(FLOW + 1, "inner", SUB),
        Armed(TIMER, "late", SUB, NOW + timedelta(hours=1)),
        Subscribed(TIMER + 1, "paid", SUB, "paid", "o-1"),
        Subscribed(TIMER + 2, "alarm", SUB, "alarm", None),
        Unsubscribed(TIMER + 1, came=True),
        Disarmed(TIMER, fired=True),
        Left(SUB, {"out": Decimal(1)}),
        Terminated(INNER),
    )
    happened(store, first, second)

    ms = int(NOW.timestamp() * 1000)
    expected = [(ms, event) for event in first] + [(ms + 1000, event) for event in second]
    assert expected == list(history.events(store, KEY))


def test_each_turn_is_known_by_the_version_it_made(store: MemoryTable) -> None:
    happened(store, (), (Entered(KEY + 3, "start", KEY),))

    assert ["t1", "turn-0", None] == [history.turn_id(store, KEY, version) for version in (1, 2, 3)]


def test_what_does_not_fit_into_one_item_is_continued_in_order(store: MemoryTable) -> None:
    large = tuple(Changed(KEY, {f"v{n}": "x" * 40_000}) for n in range(6))
    happened(store, large, (Changed(KEY, {"after": True}),))

    items = store.query(Query(HISTORY, table.instance_pk(KEY))).items
    assert 4 == len(items)
    assert {"t1", "turn-0"} == {item["turn_id"] for item in items}
    assert [*large, Changed(KEY, {"after": True})] == [e for _, e in history.events(store, KEY)]


def test_one_event_may_be_as_large_as_an_item(store: MemoryTable) -> None:
    def turn(size: int) -> Turn:
        return samples.start()._replace(history=(Changed(KEY, {"x": "x" * size}),))

    instances.measure(turn(349_000))
    with pytest.raises(TooLarge, match="350000 bytes in one event of its history"):
        instances.measure(turn(350_000))


def test_history_as_deep_as_it_may_be_is_read_again_and_deeper_is_too_large(
    store: MemoryTable,
) -> None:
    def turn(levels: int) -> Turn:
        deep: list[object] = []
        for _ in range(levels - 1):
            deep = [deep]
        return samples.start()._replace(history=(Changed(KEY, {"deep": deep}),))

    instances.measure(turn(498))
    instances.commit(store, turn(498))

    assert turn(498).history == tuple(event for _, event in history.events(store, KEY))
    with pytest.raises(TooLarge, match="500 levels"):
        instances.measure(turn(499))


# --- rows --------------------------------------------------------------------------------------


def test_rows_tell_begin_end_and_what_an_element_saw_and_handed_on(store: MemoryTable) -> None:
    happened(
        store,
        (
            Changed(KEY, {"a": Decimal(1)}),
            Entered(KEY + 3, "start", KEY),
            Left(KEY + 3, None),
            Taken(FLOW, "flow"),
            Entered(samples.TASK, "charge", KEY),
        ),
        (Changed(KEY, {"paid": True}, ("a",)), Left(samples.TASK, {"paid": True})),
        (Entered(KEY + 5, "end", KEY), Terminated(KEY + 5)),
    )
    second, third = NOW + timedelta(seconds=1), NOW + timedelta(seconds=2)
    saw = {"a": Decimal(1)}

    listed = rows.list_history(store, KEY, ALL)

    assert (4, False) == (listed.total, listed.is_floor)
    assert [
        HistoryRow(KEY + 3, "start", KEY, NOW, ended_at=NOW, inputs=saw),
        HistoryRow(FLOW, "flow", KEY, NOW, is_flow=True, ended_at=NOW, inputs={}),
        HistoryRow(
            samples.TASK, "charge", KEY, NOW, ended_at=second, inputs=saw, outputs={"paid": True}
        ),
        HistoryRow(
            KEY + 5, "end", KEY, third, ended_at=third, was_terminated=True, inputs={"paid": True}
        ),
    ] == list(listed.items)


def test_what_has_not_ended_has_no_end(store: MemoryTable) -> None:
    happened(store, (Entered(samples.TASK, "charge", KEY),))

    (row,) = rows.list_history(store, KEY, ALL).items

    assert (None, False, {}) == (row.ended_at, row.was_terminated, row.inputs)


def test_an_element_sees_its_own_scope_before_those_around_it(store: MemoryTable) -> None:
    happened(
        store,
        (
            Changed(KEY, {"a": "outer", "b": "outer"}),
            Entered(SUB, "sub", KEY),
            Changed(SUB, {"a": "inner"}),
            Entered(INNER, "task", SUB),
            Changed(KEY, {"b": "changed"}),
            Entered(KEY + 20, "other", SUB),
            Left(SUB, None),
            Entered(KEY + 21, "after", KEY),
        ),
    )

    seen = {row.element_id: row.inputs for row in rows.list_history(store, KEY, ALL).items}

    assert {
        "sub": {"a": "outer", "b": "outer"},
        "task": {"a": "inner", "b": "outer"},
        "other": {"a": "inner", "b": "changed"},
        "after": {"a": "outer", "b": "changed"},
    } == seen


def test_a_page_of_rows_is_a_part_from_the_newest_unless_asked_otherwise(
    store: MemoryTable,
) -> None:
    happened(store, *[(Entered(KEY + n, f"e{n}", KEY),) for n in range(1, 8)])

    def page(cut: Cut) -> list[str]:
        return [row.element_id for row in rows.list_history(store, KEY, cut).items]

    assert ["e7", "e6"] == page(Cut(size=2))
    assert ["e1"] == page(Cut(first=6, size=2))
    assert ["e3", "e4"] == page(Cut(first=2, size=2, ascending=True))
    assert [] == page(Cut(first=20))
    assert 7 == rows.list_history(store, KEY, Cut(first=20)).total


def test_an_instance_without_history_has_no_rows(store: MemoryTable) -> None:
    listed = rows.list_history(store, KEY, ALL)

    assert ([], 0) == (list(listed.items), listed.total)


# --- scopes and timers -------------------------------------------------------------------------


def test_a_scope_keeps_the_variables_it_had_at_its_end(store: MemoryTable) -> None:
    happened(
        store,
        (Entered(SUB, "sub", KEY), Changed(SUB, {"a": 1, "b": 2}), Entered(INNER, "task", SUB)),
        (Changed(SUB, {"a": 3}, ("b",)), Changed(KEY, {"c": 4}), Left(SUB, None)),
        (Entered(SUB + 50, "sub", KEY), Terminated(SUB + 50)),
    )

    found = rows.scope_rows(store, KEY, lambda element_id, _: element_id == "sub")

    later = NOW + timedelta(seconds=1)
    third = NOW + timedelta(seconds=2)
    assert {
        SUB: ScopeRow(SUB, "sub", KEY, NOW, later, variables={"a": 3}),
        SUB + 50: ScopeRow(SUB + 50, "sub", KEY, third, third, was_terminated=True),
    } == found


def test_a_timer_waits_then_has_fired_or_was_withdrawn(store: MemoryTable) -> None:
    due = NOW + timedelta(hours=1)
    happened(
        store,
        (Entered(SUB, "sub", KEY), Entered(INNER, "task", SUB)),
        tuple(Armed(TIMER + n, f"late{n}", INNER, due) for n in range(3)),
        (Disarmed(TIMER, True), Disarmed(TIMER, False), Disarmed(TIMER + 1, False)),
    )

    found = rows.timer_rows(store, KEY)

    at = NOW + timedelta(seconds=1)
    assert [
        TimerRow(TIMER, "late0", INNER, SUB, at, due, fired=True),
        TimerRow(TIMER + 1, "late1", INNER, SUB, at, due, fired=False),
        TimerRow(TIMER + 2, "late2", INNER, SUB, at, due),
    ] == list(found.values())


def test_the_history_of_a_scope_is_what_happened_directly_in_it(store: MemoryTable) -> None:
    happened(
        store,
        (Entered(SUB, "sub", KEY), Taken(FLOW, "flow", SUB), Entered(INNER, "task", SUB)),
        (Entered(INNER + 90, "deep", INNER), Taken(FLOW + 1, "top")),
    )

    listed = rows.list_history(store, KEY, Cut(ascending=True), SUB)

    assert (["flow", "task"], 2) == ([row.element_id for row in listed.items], listed.total)
