"""Built-in functions on strings.

Source: DMN 1.5 section 10.3.4.3; Camunda's documentation for those of feel-scala.
"""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64
from decimal import Decimal

from chalicelib.feel import regex
from chalicelib.feel.builtins.signature import Builtin
from chalicelib.feel.errors import FeelError
from chalicelib.feel.evaluation import Evaluation
from chalicelib.feel.limits import STRING_MAX


def substring(string: str, start: Decimal, length: Decimal | None = None) -> str | None:
    """Give the part from a position: 1 is the first character, -1 the last."""
    place = int(start)
    if place == 0 or (length is not None and length < 1):
        return None
    begin = place - 1 if place > 0 else max(len(string) + place, 0)
    return string[begin:] if length is None else string[begin : begin + int(length)]


def string_length(string: str) -> Decimal:
    """Count the characters."""
    return Decimal(len(string))


def substring_before(string: str, match: str) -> str:
    """Give what is before the first match; nothing if there is none."""
    return string[: max(string.find(match), 0)]


def substring_after(string: str, match: str) -> str:
    """Give what is after the first match; nothing if there is none."""
    place = string.find(match)
    return string[place + len(match) :] if place >= 0 else ""


def contains(string: str, match: str) -> bool:
    """Tell whether the match is in the string."""
    return match in string


def split(run: Evaluation, string: str, delimiter: str) -> list[str] | None:
    """Take a string apart at every match of a pattern."""
    pattern = regex.compiled_for(run, string, delimiter)
    if pattern is None:
        return None
    parts, end = [], 0
    for found in pattern.finditer(string):
        if found.end() > found.start():
            parts.append(string[end : found.start()])
            end = found.end()
    return [*parts, string[end:]]


def string_join(
    strings: list[str | None], delimiter: str | None = None, prefix: str = "", suffix: str = ""
) -> str | None:
    """Join strings, leaving out nulls; null if anything else is among them."""
    parts = [string for string in strings if string is not None]
    if not all(type(part) is str for part in parts):
        return None
    delimiter = delimiter or ""
    size = sum(map(len, parts)) + len(delimiter) * len(parts) + len(prefix) + len(suffix)
    if size > STRING_MAX:
        raise FeelError(f"a string would have more than {STRING_MAX} characters")
    return f"{prefix}{delimiter.join(parts)}{suffix}"


def from_base64(value: str) -> str | None:
    """Read base64 of UTF-8 text."""
    try:
        return a2b_base64(value, strict_mode=True).decode("utf-8")
    except ValueError:
        return None


def to_base64(value: str) -> str:
    """Write UTF-8 text as base64."""
    return b2a_base64(value.encode("utf-8", "replace"), newline=False).decode("ascii")


FUNCTIONS = (
    Builtin("substring(string: string, start position: number, length?: number)", substring),
    Builtin("string length(string: string)", string_length),
    Builtin("upper case(string: string)", str.upper),
    Builtin("lower case(string: string)", str.lower),
    Builtin("substring before(string: string, match: string)", substring_before),
    Builtin("substring after(string: string, match: string)", substring_after),
    Builtin("contains(string: string, match: string)", contains),
    Builtin("starts with(string: string, match: string)", str.startswith),
    Builtin("ends with(string: string, match: string)", str.endswith),
    Builtin(
        "replace(input: string, pattern: string, replacement: string, flags?: string?)",
        regex.replace,
        needs_run=True,
    ),
    Builtin(
        "matches(input: string, pattern: string, flags?: string?)", regex.matches, needs_run=True
    ),
    Builtin("split(string: string, delimiter: string)", split, needs_run=True),
    Builtin("string join(list: list, delimiter?: string?)", string_join),
    Builtin(
        "string join(list: list, delimiter: string?, prefix: string, suffix: string)",
        string_join,
        only_zeebe=True,
    ),
    Builtin("extract(input: string, pattern: string)", regex.extract, needs_run=True),
    Builtin("extract(string: string, pattern: string)", regex.extract, needs_run=True),
    Builtin("trim(string: string)", str.strip),
    Builtin("is blank(string: string)", lambda string: not string.strip()),
    Builtin("to base64(value: string)", to_base64),
    Builtin("from base64(value: string)", from_base64),
)
