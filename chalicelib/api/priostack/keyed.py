"""Who may call `/api/v1`: whoever has one of the keys of `priostack.apiKeys`, if there are any.

It is asked before any route of the dialect, as middleware of the app.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable

from chalice.app import Request, Response

from chalicelib import wiring
from chalicelib.api.http import METHODS
from chalicelib.api.priostack import errors
from chalicelib.api.priostack.document import PREFIX

UNASKED = "OPTIONS"  # browsers send it without a key, before the request itself
assert UNASKED in METHODS


def guard(request: Request, answer: Callable[[Request], Response]) -> Response:
    """Let a request pass that has a key, or needs none; else 401."""
    is_ours = f"{request.path}/".startswith(f"{PREFIX}/")
    known = wiring.ports().settings.api_keys if is_ours else ()
    if not known or request.method == UNASKED:
        return answer(request)
    if any(hmac.compare_digest(_sent(request).encode(), key.encode()) for key in known):
        return answer(request)
    message = "expected an API key as `Authorization: Bearer` or `X-API-Key`"
    return errors.error(errors.KeyMissing(message))


def _sent(request: Request) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return str(token.strip())
    return str(request.headers.get("x-api-key", ""))
