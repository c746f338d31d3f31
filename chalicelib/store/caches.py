"""What a container remembers of a table: things that never change, and reserved key blocks."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from chalicelib.ports import Table

T = TypeVar("T")


class PerTable(Generic[T]):
    """One value for each table, made on first use and gone with the table."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._values: WeakKeyDictionary[Table, T] = WeakKeyDictionary()

    def of(self, store: Table) -> T:
        """Return the table's value."""
        with self._lock:
            value = self._values.get(store)
            if value is None:
                value = self._values[store] = self._make()
            return value


class Kept(Generic[T]):
    """The last so many things that were read of each table, for what never changes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._of: PerTable[OrderedDict[Hashable, T]] = PerTable(OrderedDict)

    def get(self, store: Table, key: Hashable) -> T | None:
        """Return what is kept under a key."""
        return self._of.of(store).get(key)

    def keep(self, store: Table, key: Hashable, thing: T) -> T:
        """Keep a thing, in place of the oldest if there are too many, and return it."""
        kept = self._of.of(store)
        kept[key] = thing
        if len(kept) > self._most:
            kept.popitem(last=False)
        return thing

    def drop(self, store: Table, key: Hashable) -> None:
        """Forget what is kept under a key."""
        self._of.of(store).pop(key, None)
