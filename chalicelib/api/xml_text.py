"""A model as text: the bytes of an XML file, in the encoding that it says it has."""

from __future__ import annotations

import re

_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


def as_bytes(text: str) -> bytes:
    """Return a file that came as text, in the encoding that it says it has."""
    declared = _DECLARED.match(text.encode("utf-8", errors="replace"))
    try:
        return text.encode(declared[1].decode("ascii") if declared else "utf-8")
    except (LookupError, UnicodeEncodeError):
        return text.encode("utf-8", errors="replace")


def as_text(xml: bytes) -> str:
    """Return an XML file as text, in the encoding that it says it has."""
    marked = next((name for mark, name in _MARKS if xml.startswith(mark)), None)
    declared = _DECLARED.match(xml)
    encoding = marked or (declared[1].decode("ascii") if declared else "utf-8")
    try:
        return xml.decode(encoding)
    except (LookupError, UnicodeDecodeError):
        return xml.decode("utf-8", errors="replace")
