"""Whether a text is JSON throughout, as `@valid` and `@fromstr` ask.

Source: RFC 8259; control characters in a string are no JSON, bytes that are no UTF-8 are let be.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from chalicelib.scheduler.gjson.work import Work

_BLANK = rb"[ \t\n\r]*+"
_STRING = rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_OTHER = rb"-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?+[0-9]++)?+|true|false|null"
_TOKEN = re.compile(
    rb"%b(?:(?P<string>%b)|(?P<other>%b)|(?P<sign>[{}\[\],:]))%b"
    % (_BLANK, _STRING, _OTHER, _BLANK)
)


class _Due(Enum):
    """What may come next."""

    VALUE = auto()
    VALUE_OR_END = auto()
    KEY = auto()
    KEY_OR_END = auto()
    COLON = auto()
    COMMA_OR_END = auto()


# What is due after a token; the comma's row is that of arrays.
_AFTER: dict[tuple[_Due, str], _Due] = {
    (_Due.VALUE, "string"): _Due.COMMA_OR_END,
    (_Due.VALUE, "other"): _Due.COMMA_OR_END,
    (_Due.VALUE, "{"): _Due.KEY_OR_END,
    (_Due.VALUE, "["): _Due.VALUE_OR_END,
    (_Due.VALUE_OR_END, "string"): _Due.COMMA_OR_END,
    (_Due.VALUE_OR_END, "other"): _Due.COMMA_OR_END,
    (_Due.VALUE_OR_END, "{"): _Due.KEY_OR_END,
    (_Due.VALUE_OR_END, "["): _Due.VALUE_OR_END,
    (_Due.VALUE_OR_END, "]"): _Due.COMMA_OR_END,
    (_Due.KEY, "string"): _Due.COLON,
    (_Due.KEY_OR_END, "string"): _Due.COLON,
    (_Due.KEY_OR_END, "}"): _Due.COMMA_OR_END,
    (_Due.COLON, ":"): _Due.VALUE,
    (_Due.COMMA_OR_END, ","): _Due.VALUE,
    (_Due.COMMA_OR_END, "]"): _Due.COMMA_OR_END,
    (_Due.COMMA_OR_END, "}"): _Due.COMMA_OR_END,
}
_PAIRS = {"]": "[", "}": "{"}


def is_valid(work: Work, text: bytes) -> bool:
    """Say whether a text is one JSON value. Raises: TooMuch past STEPS_MAX."""
    open_: list[str] = []
    due, at = _Due.VALUE, 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or (due is _Due.COMMA_OR_END and not open_):
            return False
        work.see(token.end() - at)
        at = token.end()
        sign = token["sign"].decode() if token["sign"] else str(token.lastgroup)
        after = _AFTER.get((due, sign))
        if after is None or (sign in _PAIRS and open_.pop() != _PAIRS[sign]):
            return False
        if sign in ("{", "["):
            open_.append(sign)
        due = _Due.KEY if sign == "," and open_[-1] == "{" else after
    return due is _Due.COMMA_OR_END and not open_
