"""The layout of a text: without its white space, and with the keys of its objects in order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from chalicelib.scheduler.gjson import scan
from chalicelib.scheduler.gjson.result import Result, Type
from chalicelib.scheduler.gjson.work import Work

# A string, which may lack its end, or a run of white space and control characters.
_KEPT = re.compile(rb'("[^"\\]*+(?:\\.[^"\\]*+)*+"?)|[\x00-\x20]++', re.DOTALL)


class _Level(NamedTuple):
    """An array or object being written: its key in the object around it, what is left of it, and
    what has been written: members or elements, with their keys without escapes.
    """

    key: Result | None
    value: Result
    left: Iterator[tuple[Result | None, Result | None]]
    written: list[tuple[bytes, bytes]]


def squeeze(work: Work, text: bytes) -> bytes:
    """Return a text without what is blank outside of strings. Raises: TooMuch."""

    def kept(found: re.Match[bytes]) -> bytes:
        work.spend()
        return found[1] or b""

    return work.make(_KEPT.sub(kept, text))


def sort_keys(work: Work, document: Result) -> bytes:
    """Return a text with the members of each object ordered by their keys. Raises: TooMuch."""
    value = scan.whole_value(work, document)
    if value is None or value.type is not Type.JSON:
        return document.raw
    levels = [_Level(None, value, _inside(work, value), [])]
    while True:
        level = levels[-1]
        key, value = next(level.left, (None, None))
        if value is None:
            levels.pop()
            text = _written(work, level)
            if not levels:
                return text
            levels[-1].written.append(_entry(work, level.key, text))
        elif value.type is Type.JSON:
            levels.append(_Level(key, value, _inside(work, value), []))
        else:
            level.written.append(_entry(work, key, value.raw))


def _inside(work: Work, value: Result) -> Iterator[tuple[Result | None, Result | None]]:
    """Yield what an object or array has, elements without a key."""
    if value.begins_with(b"{"):
        yield from scan.members(work, value)
    else:
        yield from ((None, element) for element in scan.elements(work, value))


def _entry(work: Work, key: Result | None, raw: bytes) -> tuple[bytes, bytes]:
    return (key.string, work.make(key.raw, b":", raw)) if key else (b"", raw)


def _written(work: Work, level: _Level) -> bytes:
    if not level.value.begins_with(b"{"):
        return work.make_list(text for _, text in level.written).source
    ordered = sorted(level.written, key=lambda entry: entry[0])
    return work.make_list((text for _, text in ordered), b"{}").source
