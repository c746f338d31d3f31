"""Numbers as gjson reads them: a token that is no number is 0, one out of range infinite.

Source: contracts/gjson.md 3.3 and 3.5; Go's `strconv.ParseFloat`, whose words gjson takes.
"""

from __future__ import annotations

import re

_DECIMAL = re.compile(rb"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)?")
_HEXADECIMAL = re.compile(
    rb"[+-]?0[xX](?:[0-9a-fA-F]++(?:\.[0-9a-fA-F]*+)?|\.[0-9a-fA-F]++)[pP][+-]?[0-9]++"
)
_INFINITE = re.compile(rb"[+-]?inf(?:inity)?", re.IGNORECASE)


def to_number(token: bytes) -> float:
    """Return the number that a token stands for."""
    if _DECIMAL.fullmatch(token) or _INFINITE.fullmatch(token) or token.lower() == b"nan":
        return float(token)
    if _HEXADECIMAL.fullmatch(token):
        try:
            return float.fromhex(token.decode())
        except OverflowError:
            return float("-inf") if token.startswith(b"-") else float("inf")
    return 0.0
