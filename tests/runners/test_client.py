"""Whatever a server says is an answer, or there is none: nothing else comes of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from chalicelib.runners import urls
from chalicelib.runners.addresses import refuse_nothing
from chalicelib.runners.client import Client, NoAnswer
from chalicelib.runners.deadline import Deadline
from chalicelib.runners.requests import Request
from tests.runners.definitions import PATIENCE
from tests.runners.site import Site

PIECES = (
    b"HTTP/1.1 200 OK\r\n",
    b"HTTP/1.1 302 Found\r\n",
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.0 500\r\n",
    b"HTTP/1.1 999 \xff\r\n",
    b"Content-Length: 3\r\n",
    b"Content-Length: -1\r\n",
    b"Content-Length: 99999999999999999999\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: gzip\r\n",
    b"Location: http://[\r\n",
    b"Location: \xff\x01\r\n",
    b"Connection: upgrade\r\nUpgrade: h2c\r\n",
    b" folded\r\n",
    b"\r\n",
    b"\n",
    b"abc",
    b"3\r\nabc\r\n",
    b"0\r\n\r\n",
    b"\x00",
    b"ffffffffffffffffffffff\r\n",
)
SAID = st.lists(st.sampled_from(PIECES), max_size=8).map(b"".join)


class Talker:
    """Says what it is told next."""

    said = b""

    def __call__(self, request: bytes) -> bytes:
        return self.said


@pytest.fixture(scope="module")
def talker() -> Iterator[tuple[Talker, str]]:
    talker = Talker()
    with Site(talker) as site:
        yield talker, site.url


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(said=SAID, method=st.sampled_from(["GET", "HEAD", "POST", "CONNECT"]))
@example(said=b"HTTP/1.1 302 Found\r\nLocation: http://[\r\n\r\n", method="GET")
@example(said=b"HTTP/1.1 101 X\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\nabc", method="GET")
def test_nothing_but_an_answer_or_none(
    talker: tuple[Talker, str], said: bytes, method: str
) -> None:
    talks, url = talker
    talks.said = said
    try:
        answer = Client(refuse_nothing).send(
            Request(method, urls.parse(url), body=b"x"), Deadline.after(PATIENCE)
        )
    except NoAnswer:
        return

    assert 100 <= answer.status <= 999
