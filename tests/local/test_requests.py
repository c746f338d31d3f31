"""Bodies of HTTP requests, by length and in chunks."""

from __future__ import annotations

from email.message import Message
from io import BufferedIOBase, BytesIO

import pytest

from chalicelib.local.requests import BadRequest, BodyTooLarge, read_body


class Sent:
    """A request as it came: headers, and the bytes after them."""

    def __init__(self, content: bytes, **headers: str) -> None:
        self.headers = Message()
        for name, value in headers.items():
            for each in value.split(" and "):
                self.headers[name.replace("_", "-")] = each
        self.rfile: BufferedIOBase = BytesIO(content)


def test_it_reads_as_many_bytes_as_were_announced() -> None:
    assert b"abc" == read_body(Sent(b"abcdef", Content_Length="3"), limit=3)


def test_a_request_without_a_length_has_no_body() -> None:
    assert b"" == read_body(Sent(b"abc"), limit=3)


def test_a_body_over_the_limit_is_refused_before_it_is_read() -> None:
    sent = Sent(b"abcd", Content_Length="4")

    with pytest.raises(BodyTooLarge, match="4 bytes is over the limit of 3 bytes"):
        read_body(sent, limit=3)

    assert b"abcd" == sent.rfile.read()


def test_a_body_shorter_than_announced_is_no_request() -> None:
    with pytest.raises(BadRequest, match="expected a body of 4 bytes, found 3"):
        read_body(Sent(b"abc", Content_Length="4"), limit=10)


@pytest.mark.parametrize("length", ["-1", "three", "1e3", "", "9" * 5_000])
def test_a_length_that_is_no_number_is_no_request(length: str) -> None:
    with pytest.raises(BadRequest, match="Content-Length"):
        read_body(Sent(b"", Content_Length=length), limit=10)


def test_it_joins_chunks_and_skips_their_extensions_and_trailers() -> None:
    chunks = b"3;name=value\r\nabc\r\n2\r\nde\r\n0\r\nTrailer: value\r\n\r\n"

    assert b"abcde" == read_body(Sent(chunks, Transfer_Encoding="chunked"), limit=5)


def test_chunks_over_the_limit_are_refused_with_the_first_that_passes_it() -> None:
    chunks = b"3\r\nabc\r\n3\r\ndef\r\n0\r\n\r\n"

    with pytest.raises(BodyTooLarge, match="6 bytes"):
        read_body(Sent(chunks, Transfer_Encoding="chunked"), limit=5)


@pytest.mark.parametrize("chunks", [b"zz\r\nabc\r\n", b"3\r\nab", b"3\r\nabcdef\r\n", b""])
def test_broken_chunks_are_no_request(chunks: bytes) -> None:
    with pytest.raises(BadRequest):
        read_body(Sent(chunks, Transfer_Encoding="chunked"), limit=100)


@pytest.mark.parametrize("length", [b"-1", b"-5", b"0x3", b"1_0", b"f" * 17])
def test_a_chunk_of_no_length_is_refused_before_it_is_read(length: bytes) -> None:
    """A length of -1 would read on until the sender ends, past every limit."""
    sent = Sent(length + b"\r\nabc\r\n0\r\n\r\n", Transfer_Encoding="chunked")

    with pytest.raises(BadRequest, match="expected the length of a chunk"):
        read_body(sent, limit=3)

    assert sent.rfile.read().startswith(b"abc")


@pytest.mark.parametrize("coding", ["gzip", "gzip, chunked", "xchunked", ""])
def test_another_transfer_coding_is_no_request(coding: str) -> None:
    with pytest.raises(BadRequest, match="Transfer-Encoding"):
        read_body(Sent(b"3\r\nabc\r\n0\r\n\r\n", Transfer_Encoding=coding), limit=3)


@pytest.mark.parametrize(
    "headers",
    [
        {"Content_Length": "3 and 4"},
        {"Content_Length": "3", "Transfer_Encoding": "chunked"},
        {"Transfer_Encoding": "chunked and chunked"},
    ],
)
def test_a_request_that_may_end_in_two_places_is_none(headers: dict[str, str]) -> None:
    """Else what follows the first of them would be taken for the next request."""
    sent = Sent(b"3\r\nabc\r\n0\r\n\r\n", **headers)

    with pytest.raises(BadRequest, match="found several"):
        read_body(sent, limit=100)

    assert sent.rfile.read().startswith(b"3")


def test_a_length_that_is_said_twice_is_one() -> None:
    assert b"abc" == read_body(Sent(b"abc", Content_Length="3 and 3"), limit=3)
