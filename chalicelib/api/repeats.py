"""The `Idempotency-Key` header: what a caller names, so that a repeat of its request is safe."""

from __future__ import annotations

from hashlib import sha256

from chalice.app import Request

from chalicelib import json_text
from chalicelib.api import http
from chalicelib.api.schema import Mismatch, Text
from chalicelib.errors import Reason, Rejected
from chalicelib.store.marks import Once

HEADER = "Idempotency-Key"
KEY = Text(1, 255)


def once(request: Request) -> Once | None:
    """Return what makes a request happen once, if its caller names a key for it.

    Shapes: keys are scoped to the method and the path as called; the body counts by its value,
        so neither blanks nor the order of members make it another one. Call it after the body
        was read and taken for right.
    Raises: Rejected for a key that is empty or too long.
    """
    sent = request.headers.get(HEADER)
    if sent is None:
        return None
    try:
        key = KEY.read(sent.strip())
    except Mismatch as mismatch:
        raise Rejected(
            Reason.INVALID_ARGUMENT, f'parameter "{HEADER}" in header has an error: {mismatch}'
        ) from mismatch
    path = "/".join([request.path, *(request.uri_params or {}).values()])
    value = json_text.loads(http.raw_body(request))
    fingerprint = sha256(json_text.canonical(value).encode()).hexdigest()
    return Once(f"{request.method} {path}", key, fingerprint)
