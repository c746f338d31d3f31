"""Reading records whole: all pages of a query, and what of a job lies apart of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from chalicelib.engine.state import Record
from chalicelib.ports import Item, ItemKey, Query, Table
from chalicelib.store import items

LOOKS_MAX = 3  # at a job whose parts come and go while it is read


def every(store: Table, query: Query) -> Iterator[Item]:
    """Yield all items of a query, page after page as they are needed."""
    page = store.query(query)
    yield from page.items
    while page.cursor is not None:
        page = store.query(replace(query, cursor=page.cursor))
        yield from page.items


def records(store: Table, places: Iterable[ItemKey]) -> dict[ItemKey, Record]:
    """Read records where they are, in one batch, and in a second one what lies apart of them.

    A part is written together with the record that names it and read after it; one that is
    missing was taken away since, so the record is read again.
    """
    wanted = list(places)
    for _ in range(LOOKS_MAX):
        found = store.get_many(wanted)
        apart = [part for item in found.values() for part in items.parts_of(item)]
        parts = store.get_many(apart) if apart else {}
        if len(parts) == len(apart):
            read = {place: items.to_record(item, parts) for place, item in found.items()}
            return {place: record for place, record in read.items() if record is not None}
    raise RuntimeError(f"expected the parts {apart}, found only {list(parts)}")
