"""A value found in a text, or nothing: its type and where it lies."""

from __future__ import annotations

import math
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple

from chalicelib.scheduler.gjson.numerals import to_number
from chalicelib.scheduler.gjson.strings import unescape


class Type(StrEnum):
    """The types of JSON as gjson tells them apart; what is absent has the type of `null`."""

    NULL = "Null"
    FALSE = "False"
    NUMBER = "Number"
    STRING = "String"
    TRUE = "True"
    JSON = "JSON"  # an array or an object


# However they are spelled: what begins with one of their letters is taken for them.
_WORDS = {Type.NULL: b"", Type.FALSE: b"false", Type.TRUE: b"true"}


class Result(NamedTuple):
    """What a path leads to.

    Shapes: the value is `source[start:end]`; an absent one is empty.
    """

    type: Type
    source: bytes
    start: int
    end: int

    @property
    def exists(self) -> bool:
        """Whether there is a value, which may be `null`."""
        return self.type is not Type.NULL or self.end > self.start

    @property
    def raw(self) -> bytes:
        """The value as it stands in the text; empty if absent."""
        return self.source[self.start : self.end]

    @property
    def number(self) -> float:
        """The value of a JSON number, which may be infinite or no number; 0 for all else."""
        return to_number(self.raw) if self.type is Type.NUMBER else 0.0

    @property
    def string(self) -> bytes:
        """The characters of a JSON string, without quotes and escapes; empty for all else."""
        if self.type is not Type.STRING:
            return b""
        return unescape(self.source[self.start + 1 : self.end - 1])

    @property
    def shown(self) -> bytes:
        """The value as gjson shows it: strings without quotes, numbers without an exponent."""
        if self.type is Type.STRING:
            return self.string
        if self.type in _WORDS:
            return _WORDS[self.type]
        raw = self.raw
        if self.type is Type.NUMBER and raw.removeprefix(b"-").strip(b"0123456789"):
            return _plain(to_number(raw))
        return raw

    @property
    def text(self) -> str:
        """The value as gjson shows it; what is no UTF-8 is shown as U+FFFD."""
        return self.shown.decode(errors="replace")

    def begins_with(self, byte: bytes) -> bool:
        """Say whether an array or object begins with this bracket."""
        return self.type is Type.JSON and self.source.startswith(byte, self.start, self.end)


ABSENT = Result(Type.NULL, b"", 0, 0)


def whole(text: bytes) -> Result:
    """Return a text as a document of its own."""
    return Result(Type.JSON, text, 0, len(text))


def _plain(number: float) -> bytes:
    """Write a number with as few digits as tell it from others, and without an exponent."""
    if math.isnan(number):
        return b"NaN"
    if math.isinf(number):
        return b"+Inf" if number > 0 else b"-Inf"
    return f"{Decimal(repr(number)):f}".removesuffix(".0").encode()
