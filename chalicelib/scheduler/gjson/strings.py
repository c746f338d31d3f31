"""JSON strings: what their escapes stand for, and how a text is written as one.

Texts are bytes, for a body may be no UTF-8 at all.
"""

from __future__ import annotations

import re

_SPECIAL = re.compile(rb"[\x00-\x1f\\]")
_ESCAPES = {
    b"\\": b"\\",
    b"/": b"/",
    b'"': b'"',
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
}
_HEX = re.compile(rb"[0-9a-fA-F]{4}")
_NO_CHARACTER = "\ufffd".encode()
_NO_CHARACTER_MASK = r"\\ufffd"

# In the order in which they are masked, for the mask is masked first.
_MASKS = {
    "\\": "\\\\",
    '"': '\\"',
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    **{
        sign: f"\\u{ord(sign):04x}"
        for sign in (*map(chr, range(32)), *"<>&\u2028\u2029")
        if sign not in "\n\r\t"
    },
}
_NO_TEXT = re.compile("[\udc80-\udcff]")  # bytes that are no UTF-8, as `surrogateescape` reads them


def unescape(inner: bytes) -> bytes:
    """Return what stands between the quotes of a JSON string, without escapes.

    As in gjson an escape that does not exist, or a bare control character beside escapes, ends
    the string; half a surrogate pair becomes U+FFFD.
    """
    if b"\\" not in inner:
        return inner
    plain, at = bytearray(), 0
    while found := _SPECIAL.search(inner, at):
        plain += inner[at : found.start()]
        at = found.start()
        sign = inner[at + 1 : at + 2] if found[0] == b"\\" else b""
        if sign == b"u" and len(inner) >= at + 6:
            character, at = _unicode(inner, at)
            plain += character
        elif sign in _ESCAPES:
            plain += _ESCAPES[sign]
            at += 2
        else:
            return bytes(plain)
    return bytes(plain + inner[at:])


def _unicode(inner: bytes, at: int) -> tuple[bytes, int]:
    """Read the escape \\uXXXX at a place, or two that make a pair; return where it ends."""
    code, at = _hex(inner, at + 2), at + 6
    if not 0xD800 <= code <= 0xDFFF:
        return chr(code).encode(), at
    if inner[at : at + 2] != b"\\u" or len(inner) < at + 6:
        return _NO_CHARACTER, at
    low, at = _hex(inner, at + 2), at + 6
    if code >= 0xDC00 or not 0xDC00 <= low <= 0xDFFF:
        return _NO_CHARACTER, at
    return chr(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)).encode(), at


def _hex(inner: bytes, at: int) -> int:
    found = _HEX.match(inner, at)
    return int(found[0], 16) if found else 0


def quote(text: bytes) -> bytes:
    """Write a text as a JSON string; what is no UTF-8 is written as U+FFFD."""
    masked = text.decode(errors="surrogateescape")
    for sign, mask in _MASKS.items():
        masked = masked.replace(sign, mask)
    return f'"{_NO_TEXT.sub(_NO_CHARACTER_MASK, masked)}"'.encode()
