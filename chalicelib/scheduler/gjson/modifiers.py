"""The modifiers that look at one text: `@reverse`, `@keys`, `@flatten` and their like.

Each takes a document and an argument and gives a document, with explicit stacks for what is
nested. `@pretty` leaves the layout as `@ugly` does: only values are read from it.
Source: contracts/gjson.md 3.2 and 3.5; gjson's manual, "Modifiers".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from chalicelib.scheduler.gjson import scan
from chalicelib.scheduler.gjson.layout import sort_keys, squeeze
from chalicelib.scheduler.gjson.limits import DEPTH_MAX
from chalicelib.scheduler.gjson.result import ABSENT, Result, Type, whole
from chalicelib.scheduler.gjson.strings import quote
from chalicelib.scheduler.gjson.validity import is_valid
from chalicelib.scheduler.gjson.work import TooMuch, Work

Modifier = Callable[[Work, Result, bytes], Result]


def apply(work: Work, name: bytes, document: Result, argument: bytes) -> Result:
    """Apply a modifier. Raises: TooMuch past a bound, KeyError if it is not of this module."""
    return _MODIFIERS[name](work, document, argument)


def check_depth(work: Work, document: Result) -> None:
    """Raise TooMuch if a document is nested deeper than DEPTH_MAX."""
    if scan.depth(work, document) > DEPTH_MAX:
        raise TooMuch(f"a modifier would go more than {DEPTH_MAX} levels deep")


def _this(work: Work, document: Result, argument: bytes) -> Result:
    return document


def _valid(work: Work, document: Result, argument: bytes) -> Result:
    return document if is_valid(work, document.raw) else ABSENT


def _ugly(work: Work, document: Result, argument: bytes) -> Result:
    return whole(squeeze(work, document.raw))


def _pretty(work: Work, document: Result, argument: bytes) -> Result:
    squeezed = whole(squeeze(work, document.raw))
    if not _option(work, argument, b"sortKeys"):
        return squeezed
    check_depth(work, squeezed)
    return whole(sort_keys(work, squeezed))


def _reverse(work: Work, document: Result, argument: bytes) -> Result:
    value = scan.whole_value(work, document)
    if value is not None and value.begins_with(b"["):
        return work.make_list(reversed([each.raw for each in scan.elements(work, value)]))
    if value is not None and value.begins_with(b"{"):
        pairs = [_member(work, *pair) for pair in scan.members(work, value)]
        return work.make_list(reversed(pairs), b"{}")
    return document


def _keys(work: Work, document: Result, argument: bytes) -> Result:
    value = scan.whole_value(work, document)
    if value is not None and value.begins_with(b"{"):
        return work.make_list(key.raw for key, _ in scan.members(work, value))
    return work.make_list(b"null" for _ in _each(work, value))


def _values(work: Work, document: Result, argument: bytes) -> Result:
    value = scan.whole_value(work, document)
    if value is not None and value.begins_with(b"["):
        return document
    return work.make_list(each.raw for each in _each(work, value))


def _each(work: Work, value: Result | None) -> Iterator[Result]:
    """Yield what an array or object has, or a value that is neither; nothing if there is none."""
    if value is not None and value.type is Type.JSON:
        yield from scan.values(work, value)
    elif value is not None:
        yield value


def _flatten(work: Work, document: Result, argument: bytes) -> Result:
    value = scan.whole_value(work, document)
    if value is None or not value.begins_with(b"["):
        return document
    is_deep = _option(work, argument, b"deep")
    if is_deep:
        check_depth(work, value)
    flat: list[bytes] = []
    levels = [scan.elements(work, value)]
    while levels:
        element = next(levels[-1], None)
        if element is None:
            levels.pop()
        elif element.begins_with(b"[") and (is_deep or len(levels) == 1):
            levels.append(scan.elements(work, element))
        else:
            flat.append(element.raw)
    return work.make_list(flat)


def _join(work: Work, document: Result, argument: bytes) -> Result:
    value = scan.whole_value(work, document)
    if value is None or not value.begins_with(b"["):
        return document
    objects = [each for each in scan.elements(work, value) if each.begins_with(b"{")]
    pairs = [pair for each in objects for pair in scan.members(work, each)]
    if _option(work, argument, b"preserve"):
        return work.make_list((_member(work, *pair) for pair in pairs), b"{}")
    # A key stays where it was met first, with the value it was given last.
    joined: dict[bytes, tuple[Result, Result]] = {}
    for key, each in pairs:
        first, _ = joined.get(key.string, (key, each))
        joined[key.string] = first, each
    return work.make_list((_member(work, *pair) for pair in joined.values()), b"{}")


def _group(work: Work, document: Result, argument: bytes) -> Result:
    value = scan.whole_value(work, document)
    if value is None or not value.begins_with(b"{"):
        return ABSENT
    groups: list[list[bytes]] = []
    for key, array in scan.members(work, value):
        if array.begins_with(b"["):
            for place, each in enumerate(scan.elements(work, array)):
                if place == len(groups):
                    groups.append([])
                groups[place].append(_member(work, key, each))
    return work.make_list(work.make_list(group, b"{}").source for group in groups)


def _to_string(work: Work, document: Result, argument: bytes) -> Result:
    return whole(work.make(quote(document.raw)))


def _from_string(work: Work, document: Result, argument: bytes) -> Result:
    value = scan.whole_value(work, document)
    if value is None or not is_valid(work, document.raw):
        return ABSENT
    return whole(work.make(value.shown))


def _member(work: Work, key: Result, value: Result) -> bytes:
    return work.make(key.raw, b":", value.raw)


def _option(work: Work, argument: bytes, name: bytes) -> bool:
    """Read a switch from a modifier's argument, an object; the last of equal names counts."""
    options = scan.whole_value(work, whole(argument))
    if options is None or not options.begins_with(b"{"):
        return False
    given = [value for key, value in scan.members(work, options) if key.string == name]
    return bool(given) and _is_on(given[-1])


def _is_on(value: Result) -> bool:
    if value.type is Type.STRING:
        return value.string.lower() in (b"1", b"t", b"true")
    return value.type is Type.TRUE or value.number != 0


_MODIFIERS: dict[bytes, Modifier] = {
    b"flatten": _flatten,
    b"fromstr": _from_string,
    b"group": _group,
    b"join": _join,
    b"keys": _keys,
    b"pretty": _pretty,
    b"reverse": _reverse,
    b"this": _this,
    b"tostr": _to_string,
    b"ugly": _ugly,
    b"valid": _valid,
    b"values": _values,
}
