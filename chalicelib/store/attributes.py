"""Our attributes in DynamoDB's notation and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from chalicelib.ports import Attribute, Item

WRITE_ID = "write_id"  # which write made an item what it is; never shown to callers

Wire = dict[str, Any]


def to_wire(item: Mapping[str, Attribute]) -> Wire:
    """Write attributes for a request."""
    return {name: _to_wire(value) for name, value in item.items()}


def from_wire(item: Mapping[str, Any]) -> Item:
    """Read the attributes of an answer."""
    return {name: _from_wire(value) for name, value in item.items() if name != WRITE_ID}


def _to_wire(value: Attribute) -> Wire:
    match value:
        case str() | bytes():
            return {"S" if isinstance(value, str) else "B": value}
        case bool():
            return {"BOOL": value}
        case int():
            return {"N": str(value)}
        case None:
            return {"NULL": True}
        case list():
            return {"L": [_to_wire(each) for each in value]}
        case dict():
            return {"M": to_wire(value)}
        case _:
            raise ValueError(f"expected an attribute, found {type(value).__name__}: {value!r}")


def _from_wire(value: Wire) -> Attribute:
    ((kind, content),) = value.items()
    match kind:
        case "S" | "BOOL":
            return content  # type: ignore[no-any-return]
        case "N":
            return int(content)
        case "NULL":
            return None
        case "B":
            return bytes(content)
        case "L":
            return [_from_wire(each) for each in content]
        case "M":
            return from_wire(content)
        case _:
            raise ValueError(f"expected an attribute of our own types, found {kind}")
