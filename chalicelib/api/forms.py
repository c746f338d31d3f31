"""Forms with files in them: multipart/form-data (RFC 7578, RFC 2046 section 5.1.1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from email.message import Message
from typing import NamedTuple

from chalicelib.api import http

MEDIA_TYPE = "multipart/form-data"
PARTS_MAX = 100  # of a form, which has one or a few


class Part(NamedTuple):
    """One part of a form; `file_name` is empty where none was sent."""

    name: str
    file_name: str
    content: bytes


def parts_of(body: bytes, content_type: str) -> Iterator[Part]:
    """Yield the parts of a form that have a name and a content."""
    boundary = _parameter(content_type, "boundary")
    pieces = (b"\r\n" + body).split(b"\r\n--" + boundary.encode("latin-1"), PARTS_MAX)
    for piece in pieces[1:] if boundary else []:
        head, _, content = piece.partition(b"\r\n\r\n")
        lines = head.decode("utf-8", errors="replace").splitlines()
        dispositions = [line for line in lines if line.lower().startswith("content-disposition:")]
        if content and dispositions:
            named, file_name = (_parameter(dispositions[0], of) for of in ("name", "filename"))
            yield Part(named, file_name, content)


def check_one(files: Sequence[str]) -> None:
    """Let a form pass that brings no second file. Raises: Rejected, naming them."""
    if len(files) > 1:
        raise http.body_error(f"expected one file in the form, found {', '.join(files)}")


def _parameter(header: str, name: str) -> str:
    """Return a parameter of a header such as `form-data; name="resource"`."""
    message = Message()
    message["content-type"] = header.partition(":")[2] if ":" in header else header
    value = message.get_param(name, "")
    return value if isinstance(value, str) else ""
