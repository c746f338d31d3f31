"""Members of answers, as every dialect declares them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from chalicelib.api.schema import Field, Type


def member(kind: Type, source: Callable[[Any], Any], *, optional: bool = False) -> Field:
    """Declare a member of an answer; an optional one is left out when there is no value."""
    return Field(kind, source, required=not optional)
