"""Pages of lists: what is asked for, and how they are answered (contracts/zenbpm.md 1.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chalice.app import Response

from chalicelib.api import http
from chalicelib.api.schema import Object
from chalicelib.api.zenbpm.shapes import PAGE_SIZE
from chalicelib.store.lists import Cut, Listed


@dataclass(frozen=True, slots=True)
class Page:
    """One page as it is answered. `total` counts what matches on all pages, also past the end."""

    items: Sequence[Any]
    page: int
    size: int
    total: int


@dataclass(frozen=True, slots=True)
class Order:
    """How a list is sorted: ZenBPM's names for our fields, and what holds without a question."""

    fields: Mapping[str, str]
    default: str
    ascending: bool = False


def cut(asked: Mapping[str, Any], order: Order) -> Cut:
    """Return which part of a list is asked for.

    Shapes: without `sortBy` and `sortOrder` a list has its own order; by a field that is named
        it ascends.
    """
    size = asked.get("size", PAGE_SIZE)
    sort_by = order.fields[asked["sortBy"]] if "sortBy" in asked else order.default
    own = order.ascending or "sortBy" in asked
    return Cut(
        first=(asked.get("page", 1) - 1) * size,
        size=size,
        sort_by=sort_by,
        ascending={"asc": True, "desc": False}.get(asked.get("sortOrder", ""), own),
    )


def answer(shape: Object, asked: Mapping[str, Any], listed: Listed[Any]) -> Response:
    """Answer with one page."""
    page = Page(listed.items, asked.get("page", 1), asked.get("size", PAGE_SIZE), listed.total)
    return http.answer(200, shape.write(page), http.floor_headers(listed.is_floor))
