"""Whether a text is JSON throughout, as `@valid` and `@fromstr` ask.

Source: RFC 8259; control characters in a string are no JSON, bytes that are no UTF-8 are let be.
"""

from __future__ import annotations

import re

from chalicelib.scheduler.gjson.work import Work

_BLANK = rb"[ \t\n\r]*+"
_STRING = rb'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_OTHER = rb"-?+(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?+[0-9]++)?+|true|false|null"
_TOKEN = re.compile(
    rb"%b(?:(?P<string>%b)|(?P<other>%b)|(?P<sign>[{}\[\],:]))%b"
    % (_BLANK, _STRING, _OTHER, _BLANK)
)


# What may come after a token, by what was due before it: a table for each, of the tokens that may
# come. The comma's row is that of arrays.
_BEGINNINGS = {"string": "comma", "other": "comma", "{": "key or end", "[": "value or end"}
_AFTER: dict[str, dict[str, str]] = {
    "value": _BEGINNINGS,
    "value or end": {**_BEGINNINGS, "]": "comma"},
    "key": {"string": "colon"},
    "key or end": {"string": "colon", "}": "comma"},
    "colon": {":": "value"},
    "comma": {",": "value", "]": "comma", "}": "comma"},
}
_PAIRS = {"]": "[", "}": "{"}


def is_valid(work: Work, text: bytes) -> bool:
    """Say whether a text is one JSON value. Raises: TooMuch past STEPS_MAX."""
    open_: list[str] = []
    due, at = "value", 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or (due == "comma" and not open_):
            return False
        work.see(token.end() - at)
        at = token.end()
        kind = token.lastgroup or ""
        sign = chr(text[token.start(kind)]) if kind == "sign" else kind
        after = _AFTER[due].get(sign)
        if after is None or (sign in _PAIRS and open_.pop() != _PAIRS[sign]):
            return False
        if sign in ("{", "["):
            open_.append(sign)
        due = "key" if sign == "," and open_[-1] == "{" else after
    return due == "comma" and not open_
