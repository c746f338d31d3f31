"""A start mark is there for a day, once."""

from __future__ import annotations

from datetime import timedelta

from chalicelib.ports import Refused, Written
from chalicelib.store import marks, table
from chalicelib.store.marks import KEPT, Mark, Once
from tests.fakes.table import MemoryTable
from tests.store.samples import NOW

ONCE = Once("POST /v1/process-instances", "order-7", "body")
SECOND = timedelta(seconds=1)


def test_a_mark_is_read_as_it_was_written() -> None:
    store = MemoryTable()

    assert marks.read(store, ONCE, now=NOW) is None
    store.write(marks.write(ONCE, 77, now=NOW))

    assert Mark("body", 77) == marks.read(store, ONCE, now=NOW)


def test_it_is_put_once_while_it_is_kept() -> None:
    store = MemoryTable()
    store.write(marks.write(ONCE, 77, now=NOW))

    assert isinstance(store.write(marks.write(ONCE, 78, now=NOW + KEPT - SECOND)), Refused)
    assert isinstance(store.write(marks.write(ONCE, 79, now=NOW + KEPT)), Written)


def test_it_counts_no_more_after_a_day_though_it_is_still_there() -> None:
    store = MemoryTable()
    store.write(marks.write(ONCE, 77, now=NOW))

    assert marks.read(store, ONCE, now=NOW + KEPT - SECOND)
    assert marks.read(store, ONCE, now=NOW + KEPT) is None
    item = store.get(table.mark_key(ONCE.route, ONCE.key))
    assert item is not None
    assert (NOW + KEPT).timestamp() == item["expires_at"]


def test_names_of_callers_never_run_into_each_other() -> None:
    keys = {
        table.mark_key("a", "b/c"),
        table.mark_key("a/b", "c"),
        table.request_key("a", "b", "c"),
        table.request_key("a", "bc", ""),
        table.cap_key("a", "b"),
        table.cap_key("ab", ""),
    }

    assert 6 == len(keys)
    assert 40 > max(len(key.pk) for key in keys)
