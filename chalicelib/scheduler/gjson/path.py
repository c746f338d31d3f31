"""How a path is read: its next component, a query, a modifier's call, a multipath, a literal.

What a component means depends on what it is applied to, so a path is not read as a whole: each
reader takes what is left of it, and tells what is left after it.
Source: contracts/gjson.md 3.2.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from chalicelib.scheduler.gjson.strings import unescape

MODIFIERS = frozenset(
    b"dig flatten fromstr group join keys pretty reverse this tostr ugly valid values".split()
)

_BLANKS = bytes(range(33))
_NAME = re.compile(rb"@([^.|:]*+)")
_OPERATOR = re.compile(rb"!=|!%|<=|>=|==|[<>=%]|!\Z")
_WORD = re.compile(rb"!((?:true|false|null|nan|inf))(?=[.|]|\Z)", re.IGNORECASE)
_NO_SIMPLE_NAME = re.compile(rb"[\x00-\x1f\[\]{}()#|!]")
_PAIRS = {ord("("): ord(")"), ord("["): ord("]")}


class Step(NamedTuple):
    """A component applied to an object: a key, or a pattern for keys.

    Shapes: `rest` is what follows a dot, `pipe` what follows a pipe or a dot that acts like one.
    """

    part: bytes
    is_pattern: bool = False
    rest: bytes | None = None
    pipe: bytes | None = None


class Query(NamedTuple):
    """A condition on the elements of an array: `#(path operator value)`, all with a `#` behind.

    Shapes: an empty operator asks only whether the path leads to anything.
    """

    path: bytes = b""
    operator: bytes = b""
    value: bytes = b""
    is_all: bool = False


class ArrayStep(NamedTuple):
    """A component applied to an array: an index, `#`, or a query.

    Shapes: `each` is what follows `#.`, asked of each element.
    """

    place: int = -1
    is_hash: bool = False
    each: bytes | None = None
    query: Query | None = None
    rest: bytes | None = None
    pipe: bytes | None = None

    @property
    def is_collecting(self) -> bool:
        """Whether each element is asked something."""
        return self.each is not None or self.query is not None


class Call(NamedTuple):
    """The call of a modifier at the start of a path, and what is left of the path."""

    name: bytes
    argument: bytes
    rest: bytes


class Multipath(NamedTuple):
    """The paths of `[…]` or `{…}` with their names, and what is left behind them."""

    paths: tuple[tuple[bytes, bytes], ...]
    rest: bytes


def read_step(path: bytes) -> Step:
    """Read the next component as a key."""
    part, is_pattern, at = bytearray(), False, 0
    while at < len(path):
        sign = path[at : at + 1]
        rest = path[at + 1 :]
        if sign == b"|":
            return Step(bytes(part), is_pattern, pipe=rest)
        if sign == b".":
            if _acts_like_pipe(rest):
                return Step(bytes(part), is_pattern, pipe=rest)
            return Step(bytes(part), is_pattern, rest=rest)
        if sign == b"\\":
            part += rest[:1]
            at += 2
            continue
        is_pattern = is_pattern or sign in b"*?"
        part += sign
        at += 1
    return Step(bytes(part), is_pattern)


def read_array_step(path: bytes) -> ArrayStep:
    """Read the next component as an index, `#` or a query."""
    query, at = None, 0
    if path.startswith((b"#(", b"#[")):
        read = _read_query(path)
        if read is None:
            return ArrayStep(query=Query())
        query, at = read
    while at < len(path) and path[at] not in b".|":
        at += 1
    part, rest = path[:at], path[at + 1 :] if at < len(path) else None
    step = ArrayStep(
        place=int(part) if part.isdigit() else -1,
        is_hash=part == b"#",
        each=path[2:] if path.startswith(b"#.") else None,
        query=query,
    )
    if rest is None:
        return step
    if path[at : at + 1] == b"|" or (b"#" not in part and _acts_like_pipe(rest)):
        return step._replace(pipe=rest)
    return step._replace(rest=rest)


def _acts_like_pipe(rest: bytes) -> bool:
    """Say whether a dot before this acts like a pipe: before a multipath or a known modifier."""
    name = _NAME.match(rest)
    return rest[:1] in (b"[", b"{") or (name is not None and name[1] in MODIFIERS)


def _read_query(path: bytes) -> tuple[Query, int] | None:
    """Read a query in its brackets, and where what follows it begins; None if it has no end."""
    level, operator, end = 1, 0, len(path)
    for at, sign in _bare(path, 2):
        if sign in b"!=<>%" and level == 1 and not operator:
            operator = at
        level += (sign in b"([") - (sign in b")]")
        if not level:
            end = at
            break
    else:
        return None
    is_all = path[end + 1 : end + 2] == b"#"
    if not operator:
        return Query(path[2:end].strip(_BLANKS), is_all=is_all), end + 1
    condition = path[operator:end].strip(_BLANKS)
    found = _OPERATOR.match(condition)
    value = condition[found.end() if found else 0 :].strip(_BLANKS)
    if len(value) >= 2 and value[:1] == value[-1:] == b'"':
        value = unescape(value[1:-1])
    comparison = b"=" if found and found[0] == b"==" else found[0] if found else b""
    return Query(path[2:operator].strip(_BLANKS), comparison, value, is_all), end + 1


def read_call(path: bytes) -> Call | None:
    """Read a known modifier's call; None if the path begins with none."""
    name = _NAME.match(path)
    if name is None or name[1] not in MODIFIERS:
        return None
    rest = path[name.end() :]
    if rest[:1] != b":":
        return Call(name[1], b"", rest)
    rest = rest[1:]
    at = _balanced(rest) if rest[:1] in (b"{", b"[", b'"') else _simple_argument(rest)
    return Call(name[1], rest[:at], rest[at:])


def _simple_argument(text: bytes) -> int:
    """Return where an argument without brackets around it ends: at a pipe outside of brackets."""
    at = 0
    while at < len(text) and text[at] not in b"|":
        at += _balanced(text[at:]) if text[at] in b'{["(' else 1
    return at


def read_literal(path: bytes) -> Call | None:
    """Read a literal, `!` before a JSON value; None if the path begins with none."""
    if path[1:2] and path[1] in b'{["+-0123456789':
        # Even a string is read as a bracket would be: as in gjson only a bracket ends a literal.
        at = 1 + _closed(path[1:])
        return Call(b"!", path[1:at], path[at:])
    word = _WORD.match(path)
    return Call(b"!", word[1], path[word.end() :]) if word else None


def read_multipath(path: bytes) -> Multipath:
    """Read the paths between the brackets; none, and an empty rest, if they are not closed."""
    paths: list[tuple[bytes, bytes]] = []
    level, start, colon, has_modifier = 1, 1, 0, False
    for at, sign in _bare(path, 1):
        if sign in b"@":
            has_modifier = has_modifier or path[at - 1] in b".|"
        elif sign in b":" and not has_modifier and not colon and level == 1:
            colon = at
        level += (sign in b"[({") - (sign in b"])}")
        if not level or (sign in b"," and level == 1):
            inner = colon + 1 if colon else start
            paths.append((path[start:colon] if colon else b"", path[inner:at]))
            start, colon, has_modifier = at + 1, 0, False
        if not level:
            return Multipath(tuple(paths), path[at + 1 :])
    return Multipath((), b"")


def last_name(path: bytes) -> bytes:
    """Return the name of an unnamed part of a multipath object: its last component, or `_`."""
    at = len(path)
    while at and (path[at - 1] not in b".|" or (at > 1 and path[at - 2] in b"\\")):
        at -= 1
    name = path[at:]
    return b"_" if _NO_SIMPLE_NAME.search(name) else name


def split_pipe(path: bytes) -> tuple[bytes, bytes | None]:
    """Cut what is asked of each element from what follows a pipe, which is asked of them all."""
    if b"|" not in path:
        return path, None
    if path.startswith(b"{"):
        at = 1 + _balanced(path[1:])
        return (path[:at], path[at + 1 :]) if path[at : at + 1] == b"|" else (path, None)
    at = 0
    while at < len(path):
        sign = path[at]
        if sign in b"|":
            return path[:at], path[at + 1 :]
        if sign in b"\\":
            at += 1
        elif path[at : at + 3] in (b".#(", b".#["):
            at = _end_of_query(path, at + 2)
        elif path[at : at + 2] == b".#":
            # The sign after it is passed over as well, a pipe too.
            at += 2
        at += 1
    return path, None


def _end_of_query(path: bytes, at: int) -> int:
    """Return where the bracket of a query that opens at a place is closed, or the path ends."""
    opening, closing, level = path[at], _PAIRS[path[at]], 0
    for place, sign in _bare(path, at):
        level += (sign == opening) - (sign == closing)
        if not level:
            return place
    return len(path)


def _bare(path: bytes, at: int) -> Iterator[tuple[int, int]]:
    """Yield the signs from a place on that are neither escaped nor in quotes, with their places."""
    while at < len(path):
        if path[at] in b"\\":
            at += 1
        elif path[at] in b'"':
            at = _end_of_quote(path, at)
        else:
            yield at, path[at]
        at += 1


def _end_of_quote(path: bytes, at: int) -> int:
    """Return where the quote that opens at a place is closed, or the end of the path."""
    at += 1
    while at < len(path) and path[at] not in b'"':
        at += 2 if path[at] in b"\\" else 1
    return min(at, len(path))


def _balanced(text: bytes) -> int:
    """Return where the string, or the brackets, that a text begins with are closed."""
    if text.startswith(b'"'):
        return min(_end_of_quote(text, 0) + 1, len(text))
    return _closed(text)


def _closed(text: bytes) -> int:
    """Return where the bracket that a text begins with is closed."""
    level, at = 1, 1
    while at < len(text):
        if text[at] in b'"':
            at = _end_of_quote(text, at)
        elif text[at] in b"{[(":
            level += 1
        elif text[at] in b"}])":
            level -= 1
            if not level:
                return at + 1
        at += 1
    return len(text)
