"""How a field of a record becomes an attribute of an item: one line per field.

An attribute has the name of its field. A field that is None has no attribute, and an attribute
that is not there leaves the field its default; so every default of None survives the round trip
and every other default must be written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, NamedTuple

from chalicelib import json_text
from chalicelib.engine.state import RetryPolicy
from chalicelib.ports import Attribute, Item
from chalicelib.store.moments import from_ms, span_from_ms, span_to_ms, to_ms


class Field(NamedTuple):
    """One field: how its value is written and read, and whether None is a value like others."""

    name: str
    write: Callable[[Any], Attribute]
    read: Callable[[Any], Any]
    takes_none: bool = False


Fields = tuple[Field, ...]


def plain(*names: str) -> Fields:
    """Fields that are stored as they are: text, integers, truth values."""
    return tuple(Field(name, _same, _same) for name in names)


def times(*names: str) -> Fields:
    """Moments, as epoch milliseconds."""
    return tuple(Field(name, to_ms, from_ms) for name in names)


def spans(*names: str) -> Fields:
    """Durations, as milliseconds."""
    return tuple(Field(name, span_to_ms, span_from_ms) for name in names)


def json_texts(*names: str) -> Fields:
    """JSON values, as JSON text: numbers stay digit for digit as they were read."""
    return tuple(Field(name, json_text.dumps, json_text.loads) for name in names)


def numbered_json(name: str) -> Fields:
    """JSON values by numbers, as JSON text."""
    return (Field(name, numbered_to_text, numbered_from_text),)


def numbered_to_text(values: Mapping[int, Any]) -> str:
    return json_text.dumps({str(number): value for number, value in values.items()})


def numbered_from_text(text: str) -> dict[int, Any]:
    values: Any = json_text.loads(text)
    return {int(number): value for number, value in values.items()}


def words(name: str, kind: type[Enum]) -> Fields:
    """One of an enumeration's values."""
    return (Field(name, lambda member: member.value, kind),)


def texts(name: str, kind: Callable[..., Any]) -> Fields:
    """A named tuple of texts, as a list."""
    return (Field(name, list, lambda found: kind(*found)),)


def backoffs(name: str) -> Fields:
    """A retry policy, as milliseconds."""
    return (
        Field(
            name,
            lambda policy: [span_to_ms(span) for span in policy.backoffs],
            lambda spans: RetryPolicy(tuple(span_from_ms(span) for span in spans)),
        ),
    )


def maybe(name: str, nothing: int) -> Fields:
    """A number whose None is stored as another number, because its default is not None."""
    return (
        Field(
            name,
            lambda value: nothing if value is None else value,
            lambda value: None if value == nothing else value,
            takes_none=True,
        ),
    )


def write(fields: Fields, record: object) -> Item:
    """Return the attributes of a record."""
    item: Item = {}
    for name, to_attribute, _, takes_none in fields:
        value = getattr(record, name)
        if value is not None or takes_none:
            item[name] = to_attribute(value)
    return item


def read(fields: Fields, item: Mapping[str, Attribute]) -> dict[str, Any]:
    """Return a record's fields, as far as the item has them."""
    return {name: to_field(item[name]) for name, _, to_field, _ in fields if name in item}


def _same(value: Any) -> Any:
    return value
