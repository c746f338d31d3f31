"""Pages of lists: what is asked for, and how they are answered (contracts/zenbpm.md 1.1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalice.app import Response

from chalicelib.api import http
from chalicelib.api.schema import Object
from chalicelib.api.zenbpm.shapes import PAGE_SIZE
from chalicelib.operations.paging import Listing, Window

FLOOR_HEADER = "Headrace-Total-Count-Is-Floor"  # the list stopped at its bound; there may be more


def window(asked: Mapping[str, Any]) -> Window:
    """Return which page is asked for."""
    return Window(asked.get("page", 1), asked.get("size", PAGE_SIZE))


def descending(asked: Mapping[str, Any]) -> bool | None:
    """Return whether the last comes first; None if the list is to have its own order."""
    return {"asc": False, "desc": True}.get(asked.get("sortOrder", ""))


def answer(shape: Object, listing: Listing[Any]) -> Response:
    """Answer with one page."""
    headers = {FLOOR_HEADER: "true"} if listing.is_floor else {}
    return http.answer(200, shape.write(listing), headers)
