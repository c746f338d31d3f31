"""A path applied to a document: pipes, modifiers, multipaths and the search in between.

Everything that may be nested is a piece that waits for others (see `work.run`).
Source: contracts/gjson.md 3.2 and 3.5.
"""

from __future__ import annotations

from chalicelib.scheduler.gjson import modifiers, queries, scan, wildcards
from chalicelib.scheduler.gjson.path import (
    ArrayStep,
    Call,
    Multipath,
    last_name,
    read_array_step,
    read_call,
    read_literal,
    read_multipath,
    read_step,
    split_pipe,
)
from chalicelib.scheduler.gjson.result import ABSENT, Result, Type, whole
from chalicelib.scheduler.gjson.strings import quote
from chalicelib.scheduler.gjson.validity import is_valid
from chalicelib.scheduler.gjson.work import Piece, Work

_JOINTS = (b".", b"|")


def evaluate(work: Work, document: Result, path: bytes) -> Piece[Result]:
    """Apply a path to a document; what follows a pipe is applied to what came before it.

    Raises: TooMuch past a bound.
    """
    while True:
        work.see(len(path))
        if path.startswith((b"@", b"!")) and (call := _call(work, path)) is not None:
            document = yield _apply(work, document, call)
            if not call.rest.startswith(_JOINTS):
                return scan.whole_value(work, document) or ABSENT
            path = call.rest[1:]
            continue
        if len(path) > 1 and path.startswith((b"[", b"{")):
            many = work.read(read_multipath, path)
            if many.paths and (not many.rest or many.rest.startswith(_JOINTS)):
                document = yield _gather(work, document, many, path[:1])
                if not many.rest:
                    return document
                path = many.rest[1:]
                continue
            path = many.rest
        search = Search(work, document)
        yield search.begin(path)
        if search.pipe is None:
            return search.found
        document, path = search.found, search.pipe


class Search:
    """The search for the place that a path leads to, up to its first pipe.

    Shapes: `found` is the value; `pipe` what the path says behind a pipe that was come upon. The
    searches return whether they found the value, and where to read on if they did not: a key that
    matches may come again, and the first whose subtree has the rest of the path counts.
    """

    __slots__ = ("document", "found", "pipe", "work")

    def __init__(self, work: Work, document: Result) -> None:
        self.work = work
        self.document = document
        self.found = ABSENT
        self.pipe: bytes | None = None

    def begin(self, path: bytes) -> Piece[None]:
        """Search the document, from its first bracket on or as JSON lines."""
        if path.startswith(b".."):
            yield self.in_array(self.document.start, path[2:])
        elif (at := scan.first_bracket(self.work, self.document)) >= 0:
            yield self.inside(at, path)

    def inside(self, at: int, path: bytes) -> Piece[tuple[bool, int]]:
        """Search the object or array that begins at a place."""
        is_object = self.document.source[at : at + 1] == b"{"
        return self.in_object(at + 1, path) if is_object else self.in_array(at + 1, path)

    def in_object(self, at: int, path: bytes) -> Piece[tuple[bool, int]]:
        """Search the members of an object."""
        work, text, end = self.work, self.document.source, self.document.end
        step = work.read(read_step, path)
        self.pipe = self.pipe if step.pipe is None else step.pipe
        while True:
            key, at = scan.key_after(work, text, at, end)
            begin = scan.value_after(work, text, at, end) if key else -1
            if key is None or begin < 0:
                return False, at if key is None else end
            if step.is_pattern:
                is_match = wildcards.matches(work, key.string, step.part)
            else:
                is_match = key.string == step.part
            if is_match and step.rest is not None and text[begin] in b"{[":
                is_found, at = yield self.inside(begin, step.rest)
                if is_found:
                    return True, at
                continue
            value, at = scan.value_at(work, text, begin, end)
            if value is None:
                return False, end
            if is_match and step.rest is None:
                self.found = value
                return True, at

    def in_array(self, at: int, path: bytes) -> Piece[tuple[bool, int]]:
        """Search the elements of an array, or the lines of a text."""
        work, text, end = self.work, self.document.source, self.document.end
        step = work.read(read_array_step, path)
        self.pipe = self.pipe if step.pipe is None else step.pipe
        parts: list[Result] = []
        count = 0
        while True:
            begin = scan.element_after(work, text, at, end)
            if begin < 0 or text[begin] in b"]":
                return self._end_of_array(step, count, parts), begin + 1 if begin >= 0 else end
            if step.place == count and step.rest is not None and text[begin] in b"{[":
                is_found, at = yield self.inside(begin, step.rest)
                if is_found:
                    return True, at
            else:
                value, at = scan.value_at(work, text, begin, end)
                if value is None:
                    return False, end
                if step.place == count and step.rest is None:
                    self.found = value
                    return True, at
                if step.is_collecting and (yield self._take(step, value, parts)):
                    return True, at
            if at > end:  # cut off in a string: gjson neither counts nor collects then
                return False, end
            count += 1

    def _take(self, step: ArrayStep, element: Result, parts: list[Result]) -> Piece[bool]:
        """Ask an element what `#.` or a query asks of each; return whether the search is over."""
        work, query, asked = self.work, step.query, step.each
        if query is not None:
            subject = element
            if element.type is Type.JSON:
                subject = yield evaluate(work, element, query.path)
            elif query.path:
                return False
            if not queries.meets(work, query, subject):
                return False
            asked = step.rest
        answer = element
        if asked is not None:
            asked, pipe = work.read(split_pipe, asked)
            self.pipe = self.pipe if pipe is None else pipe
            answer = yield evaluate(work, element, asked)
        if query is not None and not query.is_all:
            self.found = answer
            return True
        if answer.exists:
            parts.append(answer)
        return False

    def _end_of_array(self, step: ArrayStep, count: int, parts: list[Result]) -> bool:
        """Answer a length, or what was collected; return whether the search is over."""
        if step.each is not None:
            _, pipe = self.work.read(split_pipe, step.each)
            self.pipe = self.pipe if pipe is None else pipe
            self.found = self.work.make_list(part.raw for part in parts)
        elif step.is_hash:
            digits = str(count).encode()
            self.found = Result(Type.NUMBER, digits, 0, len(digits))
        elif step.query is not None and step.query.is_all and not self.found.exists:
            # As in gjson this does not end the search: the key may come again.
            self.found = self.work.make_list(part.raw for part in parts)
        return step.is_hash


def _call(work: Work, path: bytes) -> Call | None:
    """Read a modifier or a literal at the start of a path, if there is one."""
    return work.read(read_call if path.startswith(b"@") else read_literal, path)


def _apply(work: Work, document: Result, call: Call) -> Piece[Result]:
    """Apply a modifier to a document, or take a literal in its place."""
    if call.name == b"!":
        return whole(call.argument)
    if call.name == b"dig":
        dug: Result = yield _dig(work, document, call.argument)
        return dug
    return modifiers.apply(work, call.name, document, call.argument)


def _dig(work: Work, document: Result, path: bytes) -> Piece[Result]:
    """Apply a path to a value and to all that is nested in it, from outside in."""
    modifiers.check_depth(work, document)
    parts: list[Result] = []
    levels = [iter((scan.whole_value(work, document) or ABSENT,))]
    while levels:
        value = next(levels[-1], None)
        if value is None:
            levels.pop()
            continue
        answer = yield evaluate(work, value, path)
        if answer.exists:
            parts.append(answer)
        if value.type is Type.JSON:
            levels.append(scan.values(work, value))
    return work.make_list(part.raw for part in parts)


def _gather(work: Work, document: Result, many: Multipath, bracket: bytes) -> Piece[Result]:
    """Make the array or object of what several paths lead to; what is absent is left out."""
    parts: list[tuple[bytes, Result]] = []
    for name, path in many.paths:
        answer = yield evaluate(work, document, path)
        if answer.exists:
            is_quoted = name.startswith(b'"') and is_valid(work, name)
            parts.append((name if is_quoted else quote(name or last_name(path)), answer))
    if bracket == b"[":
        return work.make_list(part.raw for _, part in parts)
    return work.make_list((work.make(name, b":", part.raw) for name, part in parts), b"{}")
