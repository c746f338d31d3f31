"""The file of a deployment: the body itself, a part of a form, or a member of a JSON object."""

from __future__ import annotations

import re

from chalice.app import Request

from chalicelib.api import forms, http
from chalicelib.api.http import NotServed
from chalicelib.api.priostack import shapes
from chalicelib.api.xml_text import as_bytes, as_text

RAW = ("application/xml", "text/xml", "application/octet-stream")
HEAD_BYTES = 20_000  # in which the first element of a model begins
_FIRST = re.compile(r"<[A-Za-z_][^>]*")
TAKEN = (*RAW, forms.MEDIA_TYPE, http.JSON)


def uploaded(request: Request) -> bytes:
    """Return the file. Raises: Rejected if there is none, NotServed(415), TooLarge."""
    media_type = http.media_type(request)
    if media_type == http.JSON:
        xml: str = http.json_body(request, shapes.DEPLOY)["xml"]
        return as_bytes(xml)
    if media_type == forms.MEDIA_TYPE:
        return _file_of(http.raw_body(request), request.headers["content-type"])
    if media_type not in RAW:
        raise NotServed(415, f"expected a body of {', '.join(TAKEN)}, found {media_type[:100]}")
    body = http.raw_body(request)
    if not body.strip():
        raise http.body_error("value is required but missing")
    return body


def is_of_decisions(xml: bytes) -> bool:
    """Say whether a file is a model of decisions, by the namespace of its first element."""
    found = _FIRST.search(as_text(xml[:HEAD_BYTES]))
    return found is not None and "/spec/DMN/" in found[0]


def _file_of(body: bytes, content_type: str) -> bytes:
    """Return the one part that was sent as a file, else the first of all."""
    parts = list(forms.parts_of(body, content_type))
    if not parts:
        raise http.body_error("expected a form with a part that holds the file, found none")
    files = [part for part in parts if part.file_name]
    forms.check_one([part.file_name for part in files])
    return (files or parts)[0].content
