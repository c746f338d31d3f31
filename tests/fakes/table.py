"""The Table port in memory, with DynamoDB's semantics as far as the port shows them."""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right, insort
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from zlib import crc32

from chalicelib.ports import (
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
    Test,
    Update,
    Write,
    Written,
)
from chalicelib.store import quotas
from chalicelib.store.table import TABLES, Index

PAGE_BYTES = 1024 * 1024  # of one page of a query or scan (DynamoDB quotas)
TOKENS_KEPT = 10_000  # DynamoDB keeps them for ten minutes

Entry = tuple[str, str, str]  # of an index: its sort key, then pk and sk of the item
Position = TypeVar("Position")


@dataclass(slots=True)
class Partition:
    """The items of one partition key, by sort key, and the order of the sort keys."""

    items: dict[str, tuple[Item, int]] = field(default_factory=dict)  # with their sizes
    order: list[str] = field(default_factory=list)


class MemoryTable:
    """Both tables in memory. What it takes and gives are copies, so nobody shares an item."""

    def __init__(self, page_bytes: int = PAGE_BYTES) -> None:
        self._page_bytes = page_bytes
        self._lock = threading.RLock()
        self._partitions: dict[tuple[str, str], Partition] = {}
        self._indexes: dict[tuple[str, str], dict[str, list[Entry]]] = {
            (table, index.name): {} for table, schema in TABLES.items() for index in schema.indexes
        }
        self._done: OrderedDict[str, tuple[Write, ...]] = OrderedDict()

    # --- reads -------------------------------------------------------------------------------

    def get(self, key: ItemKey) -> Item | None:
        with self._lock:
            found = self._find(key)
            return None if found is None else self._copied(found)

    def get_many(self, keys: Sequence[ItemKey]) -> dict[ItemKey, Item]:
        with self._lock:
            return {
                key: self._copied(found) for key in keys if (found := self._find(key)) is not None
            }

    def query(self, query: Query) -> Page:
        with self._lock:
            if query.index is None:
                return self._query_base(query)
            return self._query_index(query, TABLES[query.table].index(query.index))

    def scan(
        self, segment: int, segments: int, cursor: Mapping[str, Attribute] | None = None
    ) -> Page:
        if not 0 <= segment < segments:
            raise ValueError(f"expected a segment below {segments}, found {segment}")
        with self._lock:
            behind = (str(cursor["pk"]), str(cursor["sk"])) if cursor else ("", "")
            pks = sorted(
                pk
                for table, pk in self._partitions
                if table == LIVE and pk >= behind[0] and crc32(pk.encode()) % segments == segment
            )
            places = ((pk, sk) for pk in pks for sk in self._partitions[LIVE, pk].order)
            return self._page(
                (place for place in places if place > behind),
                lambda place: self._partitions[LIVE, place[0]].items[place[1]],
            )

    def all_items(self) -> Iterator[tuple[str, Item]]:
        """Yield every item and the table it is in, which only a test may do."""
        with self._lock:
            for (name, _), partition in self._partitions.items():
                for item, _ in partition.items.values():
                    yield name, self._copied(item)

    def _find(self, key: ItemKey) -> Item | None:
        partition = self._partitions.get((key.table, key.pk))
        found = partition.items.get(key.sk) if partition else None
        return found[0] if found else None

    def _query_base(self, query: Query) -> Page:
        partition = self._partitions.get((query.table, query.pk))
        if partition is None:
            return Page(())
        behind = str(query.cursor["sk"]) if query.cursor else None
        chosen = between(partition.order, query, behind, lambda sk: sk)
        return self._page(chosen, lambda sk: partition.items[sk], query)

    def _query_index(self, query: Query, index: Index) -> Page:
        shelf = self._indexes[query.table, index.name].get(query.pk, [])
        behind = None
        if query.cursor:
            cursor = {name: str(value) for name, value in query.cursor.items()}
            behind = (cursor[index.sk], cursor["pk"], cursor["sk"])

        def read(entry: Entry) -> tuple[Item, int]:
            item: Item = {"pk": entry[1], "sk": entry[2], index.pk: query.pk, index.sk: entry[0]}
            return item, quotas.size_of(item)

        chosen = between(shelf, query, behind, lambda entry: entry[0])
        return self._page(chosen, read, query, (index.pk, index.sk))

    def _page(
        self,
        places: Iterable[Position],
        read: Callable[[Position], tuple[Item, int]],
        query: Query | None = None,
        index_keys: tuple[str, ...] = (),
    ) -> Page:
        """Read until the limit or the page's bytes; then a cursor, even if nothing follows."""
        items: list[Item] = []
        total = 0
        for place in places:
            item, size = read(place)
            if items and total + size > self._page_bytes:
                return Page(items, {name: items[-1][name] for name in ("pk", "sk", *index_keys)})
            items.append(self._copied(item))
            total += size
            if query and query.limit == len(items):
                return Page(items, {name: item[name] for name in ("pk", "sk", *index_keys)})
        return Page(items)

    # --- writes ------------------------------------------------------------------------------

    def write(self, write: Put | Update | Delete) -> Written | Refused:
        with self._lock:
            old = self._find(write.key)
            if not holds(write.condition, old):
                return Refused(None if old is None else self._copied(old))
            new = self._outcome(write, old)
            self._store(write.key, old, new, self._check(write.key, new))
            return Written(None if new is None else self._copied(new))

    def transact(self, writes: Sequence[Write], token: str) -> Written | Refused:
        self._check_all(writes)
        with self._lock:
            if token in self._done:
                if self._done[token] != tuple(writes):
                    raise ValueError(f"expected the same writes under the token {token} as before")
                return Written(None)
            olds = [self._find(write.key) for write in writes]
            for index, (write, old) in enumerate(zip(writes, olds, strict=True)):
                if not holds(write.condition, old):
                    return Refused(None if old is None else self._copied(old), index)
            self._store_all(writes, olds)
            self._done[token] = tuple(writes)
            if len(self._done) > TOKENS_KEPT:
                self._done.popitem(last=False)
            return Written(None)

    def _store_all(self, writes: Sequence[Write], olds: Sequence[Item | None]) -> None:
        changes = [
            (write.key, old, new, self._check(write.key, new))
            for write, old in zip(writes, olds, strict=True)
            if not isinstance(write, Check)
            for new in (self._outcome(write, old),)
        ]
        total = sum(size for *_, size in changes)
        if total > quotas.TRANSACTION_BYTES:
            raise ValueError(f"expected at most {quotas.TRANSACTION_BYTES} bytes, found {total}")
        for key, old, new, size in changes:
            self._store(key, old, new, size)

    def _store(self, key: ItemKey, old: Item | None, new: Item | None, size: int) -> None:
        partition = self._partitions.setdefault((key.table, key.pk), Partition())
        if new is not None:
            if old is None:
                insort(partition.order, key.sk)
            partition.items[key.sk] = (new, size)
        elif old is not None:
            del partition.items[key.sk]
            partition.order.pop(bisect_left(partition.order, key.sk))
        if not partition.items:
            del self._partitions[key.table, key.pk]
        for index in TABLES[key.table].indexes:
            self._file(key, index, old, new)

    def _file(self, key: ItemKey, index: Index, old: Item | None, new: Item | None) -> None:
        """Keep the index: an item is in it while it has both of its attributes."""
        before, after = place_of(old, index), place_of(new, index)
        if before == after:
            return
        shelves = self._indexes[key.table, index.name]
        if before:
            shelf = shelves[before[0]]
            shelf.pop(bisect_left(shelf, (before[1], key.pk, key.sk)))
        if after:
            insort(shelves.setdefault(after[0], []), (after[1], key.pk, key.sk))

    def _copied(self, item: Mapping[str, Attribute]) -> Item:
        return copy_of(item)

    def _outcome(self, write: Put | Update | Delete, old: Item | None) -> Item | None:
        """Return what is there after a write. Raises: ValueError if DynamoDB would refuse it."""
        if isinstance(write, Update):
            quotas.check_update(write)
        return outcome(write, old, copy_of)

    def _check_all(self, writes: Sequence[Write]) -> None:
        """Raises: ValueError if DynamoDB would refuse the transaction as such."""
        quotas.check_transaction(writes)

    def _check(self, key: ItemKey, item: Item | None) -> int:
        """Return the item's size. Raises: ValueError if DynamoDB would refuse it."""
        if item is None:
            return 0
        for index in TABLES[key.table].indexes:
            for name in (index.pk, index.sk):
                value = item.get(name, "-")
                if not isinstance(value, str) or not value:
                    raise ValueError(f"expected {name} to be a string with text, found {value!r}")
        return quotas.check_item(key, item)


def between(
    order: Sequence[Position],
    query: Query,
    behind: Position | None,
    sk_of: Callable[[Position], str],
) -> Iterator[Position]:
    """Yield the places within the query's bounds and behind its cursor, in its direction."""
    rows: Any = order
    low = 0 if query.first is None else bisect_left(rows, query.first, key=sk_of)
    high = len(rows) if query.last is None else bisect_right(rows, query.last, key=sk_of)
    if behind is not None and query.ascending:
        low = max(low, bisect_right(rows, behind))
    elif behind is not None:
        high = min(high, bisect_left(rows, behind))
    numbers = range(low, high) if query.ascending else range(high - 1, low - 1, -1)
    return (order[number] for number in numbers)


def place_of(item: Item | None, index: Index) -> tuple[str, str] | None:
    """Return where an item is filed in an index, None if it is not."""
    if item is None or index.pk not in item or index.sk not in item:
        return None
    return str(item[index.pk]), str(item[index.sk])


def outcome(
    write: Put | Update | Delete,
    old: Item | None,
    copied: Callable[[Mapping[str, Attribute]], Item],
) -> Item | None:
    """Return what is there after a write."""
    place: Item = {"pk": write.key.pk, "sk": write.key.sk}
    match write:
        case Put():
            return copied(write.item) | place
        case Delete():
            return None
        case Update():
            new = dict(old or place) | copied(write.set)
            for name in write.remove:
                new.pop(name, None)
            for name, number in write.add.items():
                base = new.get(name, 0)
                if not isinstance(base, int) or isinstance(base, bool):
                    raise ValueError(f"expected {name} to be a number, found {base!r}")
                new[name] = base + number
            return new


def holds(condition: Condition, item: Item | None) -> bool:
    """Say whether all tests hold of an item, or of there being none."""
    return all(_test_holds(test, item or {}) for test in condition)


def _test_holds(test: Test, item: Item) -> bool:
    match test:
        case Equals(name, value):
            return name in item and _is_same(item[name], value)
        case Absent(name):
            return name not in item
        case AtMost(name, value):
            found = item.get(name)
            return isinstance(found, int) and not isinstance(found, bool) and found <= value
        case Above(name, value):
            found = item.get(name)
            return isinstance(found, int) and not isinstance(found, bool) and found > value
        case AnyOf(tests):
            return any(_test_holds(each, item) for each in tests)


def _is_same(left: Attribute, right: Attribute) -> bool:
    """Compare with types: for Python 1 equals True, for DynamoDB it does not."""
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(_is_same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(_is_same(left[k], right[k]) for k in left)
    return type(left) is type(right) and left == right


def copy_of(item: Mapping[str, Attribute]) -> Item:
    """Return a copy that shares nothing that can change."""
    return {name: _copy_value(value) for name, value in item.items()}


def _copy_value(value: Attribute) -> Attribute:
    if isinstance(value, list):
        return [_copy_value(each) for each in value]
    return copy_of(value) if isinstance(value, dict) else value
