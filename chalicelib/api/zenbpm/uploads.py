"""The file of a deployment, in each of the media types that clients of any age send."""

from __future__ import annotations

from chalice.app import Request

from chalicelib.api import forms, http
from chalicelib.api.http import NotServed

RAW = ("application/octet-stream", "application/xml", "text/xml")
FORM = forms.MEDIA_TYPE
PART = "resource"  # of the form, as upstream's OpenAPI 1.6.0 had it


def uploaded(request: Request) -> bytes:
    """Return the file. Raises: Rejected if there is none, NotServed(415), TooLarge."""
    media_type = http.media_type(request)
    if media_type == FORM:
        return _part(http.raw_body(request), request.headers["content-type"])
    if media_type not in RAW:
        raise NotServed(
            415, f"expected a body of {', '.join((*RAW, FORM))}, found {media_type[:100]}"
        )
    body = http.raw_body(request)
    if not body.strip():
        raise http.body_error("value is required but missing")
    return body


def _part(body: bytes, content_type: str) -> bytes:
    """Return the part of a form that holds the file."""
    parts = [part for part in forms.parts_of(body, content_type) if part.name == PART]
    if not parts:
        raise http.body_error(f'expected a form with a part named "{PART}" that holds the file')
    forms.check_one([part.file_name or part.name for part in parts])
    return parts[0].content
