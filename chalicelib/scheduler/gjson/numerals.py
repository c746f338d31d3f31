"""Numbers as gjson reads them: a token that is no number is 0, one out of range infinite.

Source: contracts/gjson.md 3.3 and 3.5; Go's `strconv.ParseFloat`, whose words gjson takes.
"""

from __future__ import annotations

import re

_DIGITS = rb"[0-9]++(?:_[0-9]++)*+"
_HEX = rb"[0-9a-fA-F]++(?:_[0-9a-fA-F]++)*+"
_DECIMAL = re.compile(
    rb"[+-]?(?:%b(?:\.(?:%b)?)?|\.%b)(?:[eE][+-]?%b)?" % (_DIGITS, _DIGITS, _DIGITS, _DIGITS)
)
_HEXADECIMAL = re.compile(
    rb"[+-]?0[xX](?:_?%b(?:\.(?:%b)?)?|\.%b)[pP][+-]?%b" % (_HEX, _HEX, _HEX, _DIGITS)
)
_INFINITE = re.compile(rb"[+-]?inf(?:inity)?", re.IGNORECASE)


def to_number(token: bytes) -> float:
    """Return the number that a token stands for."""
    if _DECIMAL.fullmatch(token) or _INFINITE.fullmatch(token) or token.lower() == b"nan":
        return float(token)
    if _HEXADECIMAL.fullmatch(token):
        try:
            return float.fromhex(token.decode().replace("_", ""))
        except OverflowError:
            return float("-inf") if token.startswith(b"-") else float("inf")
    return 0.0
