"""Shapes of JSON, declared as data: what a request may say and how an answer says it.

A dialect lists its shapes in its own `shapes.py`; the routes read and write through them, so a
field's name, type, bounds and place in our records are said once. Hand-written, because the REST
function must start fast (docs/adr/0013).

Reading is strict about types and bounds, as validation against an OpenAPI document is, and words
what it refuses in the same way: clients look for fragments such as `number must be at least 1`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Protocol

from chalicelib.bpmn import durations
from chalicelib.json_text import JsonObject, JsonValue, is_integer

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1
DIGITS_MAX = 20  # of an int64 in a path or query, with its sign
_INTEGER = re.compile(r"[+-]?[0-9]+")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_FLAGS = {
    **dict.fromkeys(("1", "t", "T", "true", "True", "TRUE"), True),
    **dict.fromkeys(("0", "f", "F", "false", "False", "FALSE"), False),
}


class Mismatch(ValueError):
    """A value does not fit its shape; `pointer` says where (RFC 6901)."""

    def __init__(self, message: str, pointer: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.pointer = pointer

    def under(self, name: str | int) -> Mismatch:
        """Return the same mismatch seen from the value that holds this one."""
        step = str(name).replace("~", "~0").replace("/", "~1")
        return Mismatch(self.message, f"/{step}{self.pointer}")

    @property
    def field(self) -> str | None:
        """The same place with dots, as `alarm.sinks.0`; None for the whole value."""
        steps = self.pointer.split("/")[1:]
        return ".".join(step.replace("~1", "/").replace("~0", "~") for step in steps) or None


class Type(Protocol):
    """What a value may be, in a body (`read`), in a path or query (`parse`), in an answer."""

    def read(self, value: JsonValue) -> Any:
        """Return the value as the operations want it. Raises: Mismatch."""

    def parse(self, text: str) -> Any:
        """The same from the text of a parameter. Raises: Mismatch."""

    def write(self, value: Any) -> JsonValue:
        """Return our value as JSON."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string."""

    length_min: int = 0
    length_max: int | None = None

    def read(self, value: JsonValue) -> str:
        if not isinstance(value, str):
            raise Mismatch("value must be a string")
        if len(value) < self.length_min:
            raise Mismatch(f"minimum string length is {self.length_min}")
        if self.length_max is not None and len(value) > self.length_max:
            raise Mismatch(f"maximum string length is {self.length_max}")
        return value

    def parse(self, text: str) -> str:
        return self.read(text)

    def write(self, value: Any) -> JsonValue:
        return str(value)


@dataclass(frozen=True, slots=True)
class Flag:
    """A boolean."""

    def read(self, value: JsonValue) -> bool:
        if not isinstance(value, bool):
            raise Mismatch("value must be a boolean")
        return value

    def parse(self, text: str) -> bool:
        if text not in _FLAGS:
            raise Mismatch(f"value {text[:50]}: an invalid boolean: invalid syntax")
        return _FLAGS[text]

    def write(self, value: Any) -> JsonValue:
        return bool(value)


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer within bounds."""

    minimum: int = -INT64_MAX - 1
    maximum: int = INT64_MAX

    def read(self, value: JsonValue) -> int:
        if not isinstance(value, Decimal) or not is_integer(value):
            raise Mismatch("value must be an integer")
        # Compared as a Decimal first, so 1E+6000 never becomes an int of 6,000 digits.
        if value < self.minimum:
            raise Mismatch(f"number must be at least {self.minimum}")
        if value > self.maximum:
            raise Mismatch(f"number must be at most {self.maximum}")
        return int(value)

    def parse(self, text: str) -> int:
        if not _INTEGER.fullmatch(text):
            raise Mismatch(f"value {text[:50]}: an invalid integer: invalid syntax")
        number = int(text) if len(text) <= DIGITS_MAX else None
        if number is None or abs(number) > INT64_MAX:
            raise Mismatch(f"value {text[:50]}: an invalid integer: value out of range")
        return self.read(Decimal(number))

    def write(self, value: Any) -> JsonValue:
        return Decimal(value)


@dataclass(frozen=True, slots=True)
class Number:
    """A number within bounds, kept digit for digit."""

    minimum: int = -INT64_MAX
    maximum: int = INT64_MAX

    def read(self, value: JsonValue) -> Decimal:
        if not isinstance(value, Decimal):
            raise Mismatch("value must be a number")
        if value < self.minimum:
            raise Mismatch(f"number must be at least {self.minimum}")
        if value > self.maximum:
            raise Mismatch(f"number must be at most {self.maximum}")
        return value

    def parse(self, text: str) -> Decimal:
        raise Mismatch(f"value {text[:50]}: a number is no parameter")

    def write(self, value: Any) -> JsonValue:
        return Decimal(value)


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    def read(self, value: JsonValue) -> str:
        if not isinstance(value, str):
            raise Mismatch("value must be a string")
        if value not in self.words:
            listed = ", ".join(f'"{word}"' for word in self.words)
            raise Mismatch(f"value is not one of the allowed values [{listed}]")
        return value

    def parse(self, text: str) -> str:
        return self.read(text)

    def write(self, value: Any) -> JsonValue:
        return str(value)


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in time: RFC 3339 with its offset, written in UTC with milliseconds."""

    def read(self, value: JsonValue) -> datetime:
        if not isinstance(value, str):
            raise Mismatch("value must be a string")
        refused = Mismatch(f"expected an RFC 3339 date-time, found {value[:50]}")
        if not _MOMENT.fullmatch(value):
            raise refused
        try:
            return datetime.fromisoformat(value.upper()).astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise refused from error

    def parse(self, text: str) -> datetime:
        return self.read(text)

    def write(self, value: Any) -> JsonValue:
        return rfc3339(value)


@dataclass(frozen=True, slots=True)
class Period:
    """A length of time as an ISO-8601 duration, in the grammar of rule R114."""

    maximum: timedelta | None = None

    def read(self, value: JsonValue) -> timedelta:
        if not isinstance(value, str):
            raise Mismatch("value must be a string")
        try:
            period = durations.parse_fixed_duration(value)
        except ValueError as error:
            raise Mismatch(f"expected an ISO-8601 duration, found {value[:50]}") from error
        if self.maximum is not None and period > self.maximum:
            raise Mismatch(f"duration must be at most {iso8601(self.maximum)}")
        return period

    def parse(self, text: str) -> timedelta:
        return self.read(text)

    def write(self, value: Any) -> JsonValue:
        return iso8601(value)


@dataclass(frozen=True, slots=True)
class Anything:
    """A JSON object of names and values that mean nothing to us, such as variables."""

    def read(self, value: JsonValue) -> JsonObject:
        if not isinstance(value, dict):
            raise Mismatch("value must be an object")
        return value

    def parse(self, text: str) -> JsonObject:
        raise Mismatch(f"value {text[:50]}: an object is no parameter")

    def write(self, value: Any) -> JsonValue:
        return dict(value)


@dataclass(frozen=True, slots=True)
class ListOf:
    """An array of values of one type."""

    item: Type

    def read(self, value: JsonValue) -> list[Any]:
        if not isinstance(value, list):
            raise Mismatch("value must be an array")
        items = []
        for index, item in enumerate(value):
            try:
                items.append(self.item.read(item))
            except Mismatch as mismatch:
                raise mismatch.under(index) from None
        return items

    def parse(self, text: str) -> list[Any]:
        return [self.item.parse(part) for part in text.split(",")]

    def write(self, value: Any) -> JsonValue:
        return [self.item.write(item) for item in value]


@dataclass(frozen=True, slots=True)
class MapOf:
    """A JSON object whose members have any names and values of one type."""

    item: Type

    def read(self, value: JsonValue) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Mismatch("value must be an object")
        members = {}
        for name, member in value.items():
            try:
                members[name] = self.item.read(member)
            except Mismatch as mismatch:
                raise mismatch.under(name) from None
        return members

    def parse(self, text: str) -> dict[str, Any]:
        raise Mismatch(f"value {text[:50]}: an object is no parameter")

    def write(self, value: Any) -> JsonValue:
        return {name: self.item.write(member) for name, member in value.items()}


@dataclass(frozen=True, slots=True)
class Field:
    """One member of an object.

    Shapes: `source` says where an answer takes it from; a None there leaves an optional member
        out. A request may leave out what is not `required`, and send null only if `nullable`.
    """

    type: Type
    source: Callable[[Any], Any] | None = None
    required: bool = False
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Object:
    """A JSON object with declared members. Unknown ones are ignored, or refused if `closed`."""

    name: str
    fields: Mapping[str, Field] = field(default_factory=dict)
    closed: bool = False

    def read(self, value: JsonValue) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Mismatch("value must be an object")
        if self.closed and (unknown := sorted(value.keys() - self.fields.keys())):
            raise Mismatch(f'property "{unknown[0][:50]}" is unsupported').under(unknown[0][:50])
        members: dict[str, Any] = {}
        for name, member in self.fields.items():
            if name in value:
                members[name] = _read_member(member, name, value[name])
            elif member.required:
                raise Mismatch(f'property "{name}" is missing').under(name)
        return members

    def parse(self, text: str) -> dict[str, Any]:
        raise Mismatch(f"value {text[:50]}: an object is no parameter")

    def write(self, value: Any) -> JsonValue:
        written: JsonObject = {}
        for name, member in self.fields.items():
            assert member.source is not None, f"{self.name}.{name} is no member of an answer"
            found = member.source(value)
            if found is not None:
                written[name] = member.type.write(found)
            else:
                assert not member.required, f"{self.name}.{name} is None"
        return written


@dataclass(frozen=True, slots=True)
class Variant:
    """One of several shapes: the member that tells it, and what of ours it is the shape of."""

    member: str
    of: type[Any]
    shape: Object


@dataclass(frozen=True, slots=True)
class OneOf:
    """A JSON object of one of several shapes, each told by a member that it alone has."""

    variants: tuple[Variant, ...]

    def read(self, value: JsonValue) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Mismatch("value must be an object")
        told = [variant for variant in self.variants if variant.member in value]
        if len(told) != 1:
            listed = ", ".join(f'"{variant.member}"' for variant in self.variants)
            raise Mismatch(f"expected exactly one of {listed}, found {len(told)} of them")
        return told[0].shape.read(value)

    def parse(self, text: str) -> dict[str, Any]:
        raise Mismatch(f"value {text[:50]}: an object is no parameter")

    def write(self, value: Any) -> JsonValue:
        (found,) = [variant for variant in self.variants if isinstance(value, variant.of)]
        return found.shape.write(value)


def rfc3339(moment: datetime) -> str:
    """Return a moment in UTC with milliseconds, as `2026-01-02T03:04:05.678Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def iso8601(period: timedelta) -> str:
    """Return a period as the shortest ISO-8601 duration of days, hours, minutes and seconds."""
    seconds, rest = divmod(period, timedelta(seconds=1))
    days, seconds = divmod(seconds, 86_400)
    hours, seconds = divmod(seconds, 3_600)
    minutes, seconds = divmod(seconds, 60)
    fraction = f".{rest // timedelta(milliseconds=1):03}".rstrip("0").rstrip(".")
    time = "".join(f"{n}{unit}" for n, unit in ((hours, "H"), (minutes, "M")) if n)
    time += f"{seconds}{fraction}S" if seconds or fraction else ""
    date = f"{days}D" if days else ""
    return f"P{date}T{time}" if time else f"P{date}" if date else "PT0S"


def _read_member(member: Field, name: str, value: JsonValue) -> Any:
    if value is None:
        if member.nullable:
            return None
        raise Mismatch("Value is not nullable").under(name)
    try:
        return member.type.read(value)
    except Mismatch as mismatch:
        raise mismatch.under(name) from None
