"""The BPMN file of a deployment, in each of the media types that clients of any age send."""

from __future__ import annotations

import re
from email.message import Message

from chalice.app import Request

from chalicelib.api import http
from chalicelib.api.http import NotServed

RAW = ("application/octet-stream", "application/xml", "text/xml")
FORM = "multipart/form-data"
PART = "resource"  # of the form, as upstream's OpenAPI 1.6.0 had it
PARTS_MAX = 100  # of a form, which has one

_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""")
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


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


def as_text(xml: bytes) -> str:
    """Return an XML file as text, in the encoding that it says it has."""
    marked = next((name for mark, name in _MARKS if xml.startswith(mark)), None)
    declared = _DECLARED.match(xml)
    encoding = marked or (declared[1].decode("ascii") if declared else "utf-8")
    try:
        return xml.decode(encoding)
    except (LookupError, UnicodeDecodeError):
        return xml.decode("utf-8", errors="replace")


def _part(body: bytes, content_type: str) -> bytes:
    """Return the part of a form that holds the file (RFC 7578, RFC 2046 section 5.1.1)."""
    boundary = _parameter(content_type, "boundary")
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary.encode("latin-1"), PARTS_MAX)
    for piece in pieces[1:] if boundary else []:
        head, _, content = piece.partition(b"\r\n\r\n")
        lines = head.decode("utf-8", errors="replace").splitlines()
        dispositions = [line for line in lines if line.lower().startswith("content-disposition:")]
        if content and dispositions and _parameter(dispositions[0], "name") == PART:
            return content
    raise http.body_error(f'expected a form with a part named "{PART}" that holds the file')


def _parameter(header: str, name: str) -> str:
    """Return a parameter of a header such as `form-data; name="resource"`."""
    message = Message()
    message["content-type"] = header.partition(":")[2] if ":" in header else header
    value = message.get_param(name, "")
    return value if isinstance(value, str) else ""
