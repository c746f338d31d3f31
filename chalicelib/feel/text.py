"""Values as FEEL text, as `string()` gives them, and as JSON text.

Source: DMN 1.5 section 10.3.4.1 (`string`).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from chalicelib.feel import names, numbers, temporal_text
from chalicelib.feel.errors import FeelError
from chalicelib.feel.limits import STRING_MAX
from chalicelib.feel.values import (
    ITEMS_PER_STEP,
    TEMPORAL,
    Function,
    Range,
    Value,
    free,
    to_json,
)

if TYPE_CHECKING:
    from chalicelib.feel.evaluation import Evaluation


def to_string(value: Value, spend: Callable[[int], None] = free) -> str:
    """Write a value as text; a string at the top stays as it is, within others it is quoted.

    Raises: FeelError if the text has more than STRING_MAX characters; as `spend`.
    """
    return value if type(value) is str else "".join(_Writer(spend).write(value))


class _Writer:
    """Pieces of text that are counted while they are made."""

    def __init__(self, spend: Callable[[int], None]) -> None:
        self.size = 0
        self.spend = spend

    def write(self, value: Value) -> list[str]:
        pieces = self._pieces(value)
        self.size += sum(map(len, pieces)) if type(value) not in (list, dict) else len(pieces)
        if self.size > STRING_MAX:
            raise FeelError(f"a string would have more than {STRING_MAX} characters")
        self.spend(1 + len(pieces) // ITEMS_PER_STEP)
        return pieces

    def _pieces(self, value: Value) -> list[str]:
        kind = type(value)
        if kind is list:
            items = [piece for item in value for piece in (", ", *self.write(item))]
            return ["[", *items[1:], "]"]
        if kind is dict:
            entries = [
                piece
                for key, entry in value.items()
                for piece in (", ", _key(key), ": ", *self.write(entry))
            ]
            return ["{", *entries[1:], "}"]
        return [_scalar(value)]


def to_json_text(run: Evaluation, value: Value) -> str:
    """Write a value as JSON, numbers digit for digit. Raises: FeelError as `to_json`."""
    return _json(to_json(value, run.spend), run.spend)


def from_json_text(text: str) -> Value:
    """Read JSON; null if it is none."""
    import json  # noqa: PLC0415 - few expressions read or write JSON

    try:
        return json.loads(
            text,
            parse_float=numbers.read_number,
            parse_int=numbers.read_number,
            parse_constant=_refuse,
        )
    except (ValueError, RecursionError):
        return None


def _scalar(value: Value) -> str:
    kind = type(value)
    if kind is str:
        return _quoted(value)
    if kind is bool:
        return "true" if value else "false"
    if kind is Decimal:
        return numbers.format_number(value)
    if kind in TEMPORAL:
        return temporal_text.format_temporal(value)
    if isinstance(value, Function):
        return f"function({', '.join(value.parameters)})"
    return _range(value) if kind is Range else "null"


def _range(span: Range) -> str:
    if span.operator:
        end = span.end if span.operator in ("<", "<=") else span.start
        return f"({span.operator} {_end(end)})"
    opening = "[" if span.start_included else "("
    closing = "]" if span.end_included else ")"
    return f"{opening}{_end(span.start)}..{_end(span.end)}{closing}"


def _end(value: Value) -> str:
    return f'@"{_scalar(value)}"' if type(value) in TEMPORAL else _scalar(value)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _key(key: str) -> str:
    """Write a key so that it can be read back: bare if it is a plain name."""
    return key if names.steps(key) == [key] and not key[0].isdigit() else _quoted(key)


def _json(value: Any, spend: Callable[[int], None]) -> str:
    if type(value) is Decimal:
        return numbers.format_number(value)
    if type(value) is list:
        spend(1 + len(value) // 8)
        return "[" + ",".join([_json(item, spend) for item in value]) + "]"
    if type(value) is dict:
        spend(1 + len(value) // 8)
        entries = [f"{_json(key, spend)}:{_json(entry, spend)}" for key, entry in value.items()]
        return "{" + ",".join(entries) + "}"
    if type(value) is str:
        return '"' + value.translate(_ESCAPES) + '"'
    return _WORDS[value]


_WORDS = {None: "null", True: "true", False: "false"}
_ESCAPES = {code: f"\\u{code:04x}" for code in range(0x20)} | {
    0x22: '\\"',
    0x5C: "\\\\",
    0x0A: "\\n",
    0x0D: "\\r",
    0x09: "\\t",
}


def _refuse(constant: str) -> None:
    raise ValueError(f"expected JSON, found {constant}")
