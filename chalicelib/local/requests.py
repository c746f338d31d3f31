"""Reads the body of an HTTP request, by length or in chunks, up to a limit."""

from __future__ import annotations

import re
from email.message import Message
from io import BufferedIOBase
from typing import Protocol

LINE_MAX = 1_024  # bytes of the line that says how long a chunk is
_LENGTH = re.compile(r"[0-9]{1,20}")
_CHUNK_LENGTH = re.compile(rb"[0-9A-Fa-f]{1,16}")  # neither a sign nor 0x (RFC 9112 section 7.1)


class BadRequest(Exception):
    """What came is not a request as HTTP has it."""


class BodyTooLarge(Exception):
    """The body is over the limit."""


class Request(Protocol):
    """A request whose headers are read."""

    headers: Message
    rfile: BufferedIOBase


def read_body(request: Request, limit: int | None) -> bytes:
    """Return the body; of one that is too large no more is read than tells so.

    Raises: BadRequest, BodyTooLarge.
    """
    lengths = set(request.headers.get_all("Content-Length", []))
    codings = request.headers.get_all("Transfer-Encoding", [])
    # Of two, somebody on the way may have taken the other one (RFC 9112 sections 6.3 and 11.2).
    if len(lengths) + len(codings) > 1:
        raise BadRequest("expected one Content-Length or one Transfer-Encoding, found several")
    for coding in codings:
        if coding.strip().lower() != "chunked":
            raise BadRequest(f"expected Transfer-Encoding to be chunked, found {coding[:50]!r}")
        return _read_chunks(request.rfile, limit)
    text = next(iter(lengths), "0")
    if not _LENGTH.fullmatch(text):
        raise BadRequest(f"expected Content-Length to be a number, found {text[:50]!r}")
    length = int(text)
    _check(length, limit)
    body = request.rfile.read(length)
    if len(body) != length:
        raise BadRequest(f"expected a body of {length} bytes, found {len(body)}")
    return body


def _read_chunks(stream: BufferedIOBase, limit: int | None) -> bytes:
    """Read a chunked body and its trailers (RFC 9112 section 7.1)."""
    body = bytearray()
    while length := _chunk_length(stream):
        _check(len(body) + length, limit)
        chunk = stream.read(length)
        if len(chunk) != length or stream.readline(LINE_MAX).strip():
            raise BadRequest(f"expected a chunk of {length} bytes")
        body += chunk
    while stream.readline(LINE_MAX).strip():
        pass
    return bytes(body)


def _chunk_length(stream: BufferedIOBase) -> int:
    line = stream.readline(LINE_MAX).partition(b";")[0].strip()
    if not _CHUNK_LENGTH.fullmatch(line):
        raise BadRequest(f"expected the length of a chunk, found {line[:50]!r}")
    return int(line, 16)


def _check(length: int, limit: int | None) -> None:
    if limit is not None and length > limit:
        raise BodyTooLarge(
            f"request body of {length} bytes is over the limit of {limit} bytes "
            "(httpServer.maxRequestBodyBytes)"
        )
