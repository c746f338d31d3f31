"""One HTTP exchange with all its redirects, through the guard, within one time limit.

httpcore sends the target byte for byte as it is given (adr/0015).
"""

from __future__ import annotations

import contextlib
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import httpcore

from chalicelib.runners import addresses, requests
from chalicelib.runners.deadline import Deadline
from chalicelib.runners.guard import AddressRefused, Guard, Judge, LookUp, look_up_in_dns
from chalicelib.runners.requests import REDIRECTS_MAX, Request
from chalicelib.runners.urls import Unparseable

BODY_MAX = 1_048_576  # bytes of a response that are read; a loop's path is looked for in these

SENDING = (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError)


class NoAnswer(Exception):
    """There is no whole answer; `status` is that of one whose body was cut.

    Shapes: the words name no header, no secret and nothing that the server sent.
    """

    def __init__(self, words: str, status: int | None = None) -> None:
        super().__init__(words)
        self.status = status


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said at last.

    Shapes: `body` is cut after BODY_MAX bytes, and then `is_cut`.
    """

    status: int
    body: bytes = b""
    is_cut: bool = False
    location: str | None = None


@cache
def trusted() -> ssl.SSLContext:
    """Return what certificates are checked by: certifi's list and the system's."""
    return httpcore.default_ssl_context()


@dataclass(frozen=True, slots=True)
class Client:
    """Sends requests; it keeps neither connections nor cookies."""

    judge: Judge = addresses.why_refused
    look_up: LookUp = look_up_in_dns
    tls: Callable[[], ssl.SSLContext] = trusted

    def send(self, request: Request, deadline: Deadline) -> Answer:
        """Return the last answer of a request and its redirects.

        Raises: NoAnswer.
        """
        first_host = request.url.host
        for _ in range(REDIRECTS_MAX + 1):
            answer = self._exchange(request, deadline)
            if answer.location is None:
                return answer
            try:
                request = requests.redirected(request, answer.status, answer.location, first_host)
            except Unparseable as error:
                raise NoAnswer(f"a redirect leads nowhere: {error}", answer.status) from error
        raise NoAnswer(f"expected at most {REDIRECTS_MAX} redirects, found more", answer.status)

    def _exchange(self, request: Request, deadline: Deadline) -> Answer:
        url = request.url
        scheme, host, target = (part.encode("ascii") for part in (url.scheme, url.host, url.target))
        connection = httpcore.HTTPConnection(
            httpcore.Origin(scheme, host, url.port),
            ssl_context=self.tls() if url.scheme == "https" else None,
            network_backend=Guard(deadline, self.judge, self.look_up),
        )
        with contextlib.closing(connection):
            sent = httpcore.Request(
                request.method.encode("ascii"),
                httpcore.URL(scheme=scheme, host=host, port=url.port, target=target),
                headers=requests.wire_headers(request),
                content=request.body or b"",
            )
            try:
                response = connection.handle_request(sent)
            except SENDING as error:
                raise NoAnswer(_worded(error, url.host)) from error
            with contextlib.closing(response):
                return _read(response, url.host)


def _read(response: httpcore.Response, host: str) -> Answer:
    location = _location(response)
    if requests.is_redirect(response.status, location):
        return Answer(response.status, location=location)
    body = bytearray()
    try:
        for part in response.iter_stream():
            body += part
            if len(body) > BODY_MAX:
                break
    except SENDING as error:
        raise NoAnswer(_worded(error, host), response.status) from error
    return Answer(response.status, bytes(body[:BODY_MAX]), is_cut=len(body) > BODY_MAX)


def _location(response: httpcore.Response) -> str | None:
    for name, value in response.headers:
        if name.lower() == b"location":
            return value.decode("utf-8", "replace")
    return None


def _worded(error: Exception, host: str) -> str:
    """Say what went wrong; of what the server sent nothing is told, for it may echo a secret."""
    match error:
        case AddressRefused():
            return f"refused to connect to {host}: {error}"
        case httpcore.ConnectTimeout():
            return f"expected a connection to {host} in time, found none"
        case httpcore.TimeoutException():
            return f"expected the whole answer of {host} in time, found it missing or incomplete"
        case httpcore.ConnectError():
            return f"could not connect to {host}: {error}"
        case httpcore.NetworkError():
            return f"the connection to {host} was cut: {error}"
    return f"the answer of {host} ended early, or is not HTTP/1.1"
