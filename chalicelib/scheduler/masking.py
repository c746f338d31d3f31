"""A secret in what was answered to it: hidden in each form in which an answer may write it.

An endpoint that echoes its request writes it into JSON, XML, HTML or a URL, each with its own
escapes, and may have read UTF-8 as Latin-1 before. What it computes of a secret is not looked for.
Source: RFC 8259 section 7; RFC 3986 section 2.1; RFC 9110 section 5.5.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator

_RESERVED = re.compile(rb"[^A-Za-z0-9._~-]")  # of a URL: RFC 3986 section 2.3

HIDDEN = b"********"  # in place of a secret


def hide(output: bytes, secrets: Iterable[str]) -> bytes:
    """Return an output with the mask in place of each secret that it shows."""
    forms = {form for secret in secrets for form in _forms(secret.strip(" \t")) if form}
    for form in sorted(forms, key=len, reverse=True):
        output = output.replace(form, HIDDEN)
    return output


def _forms(secret: str) -> Iterator[bytes]:
    for text in (secret, secret.encode().decode("latin-1")):
        in_json = json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1]
        written = text, html.escape(text), html.escape(text, quote=False), *in_json
        yield from (form.encode() for form in written)
        yield from (form.replace("/", "\\/").encode() for form in in_json)
        in_url = _RESERVED.sub(lambda found: b"%%%02X" % found[0][0], text.encode())
        yield from (in_url, in_url.replace(b"%2F", b"/"), in_url.replace(b"%20", b"+"))
