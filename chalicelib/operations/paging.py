"""One page of what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

Thing = TypeVar("Thing")


@dataclass(frozen=True, slots=True)
class Window:
    """Which page is asked for, from 1, and how much one holds."""

    page: int = 1
    size: int = 10


@dataclass(frozen=True, slots=True)
class Listing(Generic[Thing]):
    """One page. `total` counts what matches on all pages, also past the end (R121).

    Shapes: `is_floor` says that the search stopped at its bound, so there may be more.
    """

    items: tuple[Thing, ...]
    window: Window
    total: int
    is_floor: bool = False


def cut(found: Sequence[Thing], window: Window, *, is_floor: bool = False) -> Listing[Thing]:
    """Return one page of a list that is there as a whole."""
    first = (window.page - 1) * window.size
    return Listing(tuple(found[first : first + window.size]), window, len(found), is_floor)
