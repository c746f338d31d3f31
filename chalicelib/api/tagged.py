"""A shape of JSON that is one of several, told by a word (see `schema.py`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from chalicelib.api.schema import Choice, Field, Mismatch, Object
from chalicelib.json_text import JsonValue


@dataclass(frozen=True, slots=True)
class Tagged:
    """A JSON object of one of several shapes, told by the word that its member `tag` has.

    Shapes: `shapes` by these words, without that member.
    """

    tag: str
    shapes: Mapping[str, Object]

    @property
    def variants(self) -> list[Object]:
        """The shapes with the member that tells them."""
        return [
            Object(shape.name, {self.tag: Field(Choice((word,)), required=True), **shape.fields})
            for word, shape in self.shapes.items()
        ]

    def read(self, value: JsonValue) -> dict[str, Any]:
        """Return the members, the tag among them. Raises: Mismatch."""
        if not isinstance(value, dict):
            raise Mismatch("value must be an object")
        if self.tag not in value:
            raise Mismatch(f'property "{self.tag}" is missing').under(self.tag)
        try:
            word = Choice(tuple(self.shapes)).read(value[self.tag])
        except Mismatch as mismatch:
            raise mismatch.under(self.tag) from None
        return {self.tag: word, **self.shapes[word].read(value)}

    def parse(self, text: str) -> dict[str, Any]:
        raise Mismatch(f"value {text[:50]}: an object is no parameter")

    def write(self, value: Any) -> JsonValue:
        raise TypeError(f"{type(value).__name__} is no part of an answer")
