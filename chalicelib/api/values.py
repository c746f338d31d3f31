"""A shape beside those of `schema.py`: any JSON value at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chalicelib.api.schema import Mismatch
from chalicelib.json_text import JsonValue


@dataclass(frozen=True, slots=True)
class AnyValue:
    """Any JSON value, null too.

    Shapes: what an answer writes is a tuple of one, so that null is told from nothing at all.
    """

    def read(self, value: JsonValue) -> JsonValue:
        return value

    def parse(self, text: str) -> JsonValue:
        raise Mismatch(f"value {text[:50]}: a value of any kind is no parameter")

    def write(self, value: Any) -> JsonValue:
        (found,) = value
        written: JsonValue = found
        return written
