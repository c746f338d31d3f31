"""What the suites of the table share: where they write, and how they read."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

from chalicelib.ports import (
    HISTORY,
    LIVE,
    Absent,
    Attribute,
    Delete,
    Item,
    ItemKey,
    Page,
    Put,
    Query,
    Table,
    Written,
)

KEY = ItemKey(LIVE, "I#1", "R")
OTHER = ItemKey(LIVE, "I#1", "J#1")
PLACE: Item = {"pk": "I#1", "sk": "R"}
THERE = (Absent("pk"),)


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


def sks(page: Page) -> list[Attribute]:
    return [item["sk"] for item in page.items]


def many(number: int, size: int = 1) -> list[Put]:
    return [Put(ItemKey(LIVE, "I#1", f"J#{n:03}"), {"x": "x" * size}) for n in range(number)]
