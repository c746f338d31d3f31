"""Where values begin and end in raw text, by linear scans that neither validate nor recurse.

Whatever stands between two values is skipped, so text that is nearly JSON is read as gjson reads
it, and a text that is cut off ends where it ends.
Source: contracts/gjson.md 3.3 and 3.5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from chalicelib.scheduler.gjson.result import Result, Type
from chalicelib.scheduler.gjson.work import Work

# What follows the opening quote. Nothing here gives back what it took, so no search backtracks.
_REST = rb'[^"\\]*+(?:\\.[^"\\]*+)*+"'
_STRING_REST = re.compile(_REST, re.DOTALL)
_NUMBER_REST = re.compile(rb"[^\x00-\x20,\]}]*+")
_WORD_REST = re.compile(rb"[a-z]*+")
_KEY = re.compile(rb'["}]')
_VALUE = re.compile(rb'["{\[+\-0-9iINntf]')
_ELEMENT = re.compile(rb'["{\[+\-0-9iINntf\]]')
_BRACKET = re.compile(rb"[{\[]")
_BLANK = re.compile(rb"[\x00-\x20]*+")
# A bracket pair without a nested one, a single bracket, a string, or a quote without an end.
_NESTING = re.compile(
    rb'[{\[][^{}\[\]"]*+(?:"' + _REST + rb'[^{}\[\]"]*+)*+[}\]]|[{}\[\]]|"(?:' + _REST + rb")?",
    re.DOTALL,
)

_TYPES: dict[int, Type] = {
    **dict.fromkeys(b"+-0123456789iIN", Type.NUMBER),
    **dict.fromkeys(b"{[", Type.JSON),
    ord('"'): Type.STRING,
    ord("t"): Type.TRUE,
    ord("f"): Type.FALSE,
    ord("n"): Type.NULL,
}
_OPENING = frozenset(b"{[")
_CLOSING = frozenset(b"}]")


def first_bracket(work: Work, document: Result) -> int:
    """Return where the first array or object begins, -1 if there is none."""
    return _place(work, _BRACKET, document.source, document.start, document.end)


def key_after(work: Work, text: bytes, at: int, end: int) -> tuple[Result | None, int]:
    """Return the next key of an object, or None at its end, and where to read on."""
    found = _KEY.search(text, at, end)
    if found is None or found[0] == b"}":
        return None, found.end() if found else end
    closed = _STRING_REST.match(text, found.end(), end)
    if closed is None:
        return None, end
    work.see(closed.end() - at)
    work.spend(text.count(b"\\", found.end(), closed.end()))
    return Result(Type.STRING, text, found.start(), closed.end()), closed.end()


def value_after(work: Work, text: bytes, at: int, end: int) -> int:
    """Return where the next value begins, -1 if there is none."""
    return _place(work, _VALUE, text, at, end)


def element_after(work: Work, text: bytes, at: int, end: int) -> int:
    """Return where the next value of an array begins, or its closing bracket; -1 for neither."""
    return _place(work, _ELEMENT, text, at, end)


def value_at(work: Work, text: bytes, at: int, end: int) -> tuple[Result | None, int]:
    """Return the value that begins at a place, None for a string without an end, and where to read
    on: past the end if the text is cut off in a string.
    """
    type_ = _TYPES[text[at]]
    if type_ is Type.JSON:
        stop = _closed(work, text, at, end)
        return Result(type_, text, at, min(stop, end)), stop
    if type_ is Type.STRING:
        rest = _STRING_REST.match(text, at + 1, end)
        if rest is not None:
            # An escape is a step of its own, for whoever asks what it stands for.
            work.spend(text.count(b"\\", at, rest.end()))
    elif type_ is Type.NUMBER or (type_ is Type.NULL and text[at + 1 : end][:1] not in b"u"):
        type_, rest = Type.NUMBER, _NUMBER_REST.match(text, at + 1, end)
    else:
        rest = _WORD_REST.match(text, at + 1, end)
    if rest is None:
        return None, end + 1
    work.see(rest.end() - at)
    return Result(type_, text, at, rest.end()), rest.end()


def whole_value(work: Work, document: Result) -> Result | None:
    """Return the value that a document is, arrays and objects up to its end; None if it is none."""
    blank = _BLANK.match(document.source, document.start, document.end)
    at = blank.end() if blank else document.start
    if at >= document.end or document.source[at] not in _TYPES:
        return None
    if document.source[at] in _OPENING:
        return Result(Type.JSON, document.source, at, document.end)
    value, _ = value_at(work, document.source, at, document.end)
    return value or Result(Type.STRING, document.source, at, document.end)


def elements(work: Work, array: Result) -> Iterator[Result]:
    """Yield the elements of an array, up to its bracket or to where it is cut off."""
    text, at, end = array.source, array.start + 1, array.end
    while (at := element_after(work, text, at, end)) >= 0 and text[at] not in _CLOSING:
        value, at = value_at(work, text, at, end)
        if value is None:
            return
        yield value


def members(work: Work, object_: Result) -> Iterator[tuple[Result, Result]]:
    """Yield the keys and values of an object, up to its bracket or to where it is cut off."""
    text, at, end = object_.source, object_.start + 1, object_.end
    while True:
        key, at = key_after(work, text, at, end)
        begin = value_after(work, text, at, end) if key else -1
        if key is None or begin < 0:
            return
        value, at = value_at(work, text, begin, end)
        if value is None:
            return
        yield key, value


def values(work: Work, container: Result) -> Iterator[Result]:
    """Yield the elements of an array, or the values of an object's members."""
    if container.begins_with(b"{"):
        return (value for _, value in members(work, container))
    return elements(work, container)


def depth(work: Work, document: Result) -> int:
    """Return how deep arrays and objects are nested."""
    deepest = level = 0
    for token in _NESTING.finditer(document.source, document.start, document.end):
        work.see(token.end() - token.start())
        is_single = token.end() - token.start() == 1
        if document.source[token.start()] in _OPENING:
            deepest = max(deepest, level + 1)
            level += is_single
        elif document.source[token.start()] in _CLOSING:
            level -= 1
    return deepest


def _closed(work: Work, text: bytes, at: int, end: int) -> int:
    """Return where the array or object that begins at a place ends.

    One that is cut off ends where the text does, or past it if that is in a string.
    """
    level = tokens = 0
    for token in _NESTING.finditer(text, at, end):
        tokens += 1
        if tokens > work.left:
            break
        lead = text[token.start()]
        is_single = token.end() - token.start() == 1
        if lead in _OPENING:
            level += is_single
        elif lead in _CLOSING:
            level -= 1
        elif is_single:
            end += 1
            break
        if not level:
            end = token.end()
            break
    work.spend(tokens)
    work.see(end - at)
    return end


def _place(work: Work, pattern: re.Pattern[bytes], text: bytes, at: int, end: int) -> int:
    found = pattern.search(text, at, end)
    work.see((found.start() if found else end) - at)
    return found.start() if found else -1
