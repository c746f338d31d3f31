"""What a container remembers of a table: things that never change, and reserved key blocks."""

from __future__ import annotations

import threading
from collections.abc import Callable
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
