"""Lists: `limit` and `offset` in, `{"items", "total"}` out (contracts/priostack.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from chalice.app import Response

from chalicelib.api import http
from chalicelib.api.priostack.shapes import LIMIT
from chalicelib.api.schema import Object
from chalicelib.store.lists import Cut, Listed


def cut(asked: Mapping[str, Any], *, sort_by: str = "created_at", ascending: bool = False) -> Cut:
    """Return which part of a list is asked for; most begin with the newest."""
    size = asked.get("limit", LIMIT)
    return Cut(first=asked.get("offset", 0), size=size, sort_by=sort_by, ascending=ascending)


def answer(shape: Object, shown: Sequence[Any], listed: Listed[Any]) -> Response:
    """Answer with one page."""
    body = shape.write((shown, listed.total))
    return http.answer(200, body, http.floor_headers(listed.is_floor))
