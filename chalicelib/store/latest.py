"""The *latest* pointers: which version of something is the latest, and how many there were.

A deployment moves a pointer on. Deleting the latest version moves it back to the one before, or
leaves it empty; then it says which number was the highest, for no number is given twice, and how
often it was moved back, so that whoever read it earlier never takes it for what it was.
"""

from __future__ import annotations

from dataclasses import dataclass

from chalicelib.ports import Absent, Condition, Equals, Item, ItemKey, Table

KEY, VERSION, HIGHEST, MOVED = "definition_key", "version", "highest", "moved"


@dataclass(frozen=True, slots=True)
class Latest:
    """What a pointer says.

    Shapes: without a `definition_key` there is no version; `highest` is the number of the newest
        there ever was, 0 for none; `moved` is how often it was moved back.
    """

    definition_key: int | None = None
    version: int = 0
    highest: int = 0
    moved: int = 0

    @property
    def generation(self) -> int:
        """A number that rises whenever the pointer is moved, on or back."""
        return self.highest + self.moved


def read(store: Table, place: ItemKey) -> Latest:
    """Read a pointer, consistently."""
    return of_item(store.get(place))


def of_item(item: Item | None) -> Latest:
    """Read a pointer's item; without one there was never a version."""
    if item is None:
        return Latest()
    version = _number(item, VERSION)
    key = _number(item, KEY) if KEY in item else None
    highest = _number(item, HIGHEST) if HIGHEST in item else version
    return Latest(key, version, highest, _number(item, MOVED) if MOVED in item else 0)


def as_read(latest: Latest) -> Condition:
    """Return the condition that a pointer still says what was read."""
    key, moved = latest.definition_key, latest.moved
    return (
        Absent(KEY) if key is None else Equals(KEY, key),
        Equals(MOVED, moved) if moved else Absent(MOVED),
    )


def moved_on(latest: Latest, key: int) -> Latest:
    """Return what a pointer says once a new version is deployed, under the next number."""
    number = latest.highest + 1
    return Latest(key, number, number, latest.moved)


def moved_back(latest: Latest, key: int | None = None, version: int = 0) -> Latest:
    """Return what a pointer says once its version is deleted; without a key it is empty."""
    return Latest(key, version, latest.highest, latest.moved + 1)


def attributes(latest: Latest) -> Item:
    """Return what an item says of a pointer; what nobody ever deleted of needs two numbers."""
    item: Item = {VERSION: latest.version}
    if latest.definition_key is not None:
        item[KEY] = latest.definition_key
    if latest.highest != latest.version:
        item[HIGHEST] = latest.highest
    if latest.moved:
        item[MOVED] = latest.moved
    return item


def _number(item: Item, name: str) -> int:
    return int(str(item[name]))
