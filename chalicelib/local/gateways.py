"""Requests to the emulated API Gateway, over connections that are kept and shared."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException

from chalicelib.local.requests import BadRequest

TIMEOUT_S = 35.0  # a function ends after 30 s, and the gateway before that
KEPT_MAX = 64  # connections
IDLE_MAX_S = 60.0  # half of what the emulator keeps one, so that a request never meets its end


class GatewayFailed(Exception):
    """The emulated API Gateway did not answer."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the gateway answered."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass
class Gateway:
    """One REST API on the emulator. `prefix` is its path there."""

    host: str
    port: int
    prefix: str
    _idle: list[tuple[HTTPConnection, float]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, method: str, path: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Pass a request on, once. Raises: GatewayFailed, BadRequest."""
        target = self.prefix + gateway_path(path)
        connection = self._take()
        try:
            answer = _exchange(connection, method, target, body, headers)
        except (OSError, HTTPException) as error:
            connection.close()
            raise GatewayFailed(f"the emulated gateway did not answer: {error}") from error
        self._keep(connection)
        return answer

    def close(self) -> None:
        """Close the connections that wait for another request."""
        with self._lock:
            while self._idle:
                self._idle.pop()[0].close()

    def _take(self) -> HTTPConnection:
        """Return a kept connection that the other side has not yet thought of closing."""
        with self._lock:
            while self._idle:
                connection, since = self._idle.pop()
                if time.monotonic() - since < IDLE_MAX_S:
                    return connection
                connection.close()
        return HTTPConnection(self.host, self.port, timeout=TIMEOUT_S)

    def _keep(self, connection: HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < KEPT_MAX:
                self._idle.append((connection, time.monotonic()))
                return
        connection.close()


def gateway_path(path: str) -> str:
    """Return a path so that the emulator's one decoding leaves it as AWS's gateway does: encoded.

    Raises: BadRequest for what is no path.
    """
    if not path.startswith("/") or not path.isascii() or not path.isprintable() or " " in path:
        raise BadRequest(f"expected a path of printable ASCII, found {path[:100]!r}")
    place, mark, query = path.partition("?")
    if {".", ".."} & set(place.split("/")):  # the way out of the API, to the emulated AWS
        raise BadRequest(f"expected a path without dot segments, found {path[:100]!r}")
    return place.replace("%", "%25") + mark + query


def _exchange(
    connection: HTTPConnection, method: str, path: str, body: bytes, headers: Mapping[str, str]
) -> Answer:
    if connection.sock is None:
        connection.connect()
        assert connection.sock is not None
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.request(method, path, body=body, headers=dict(headers))
    answer = connection.getresponse()
    return Answer(answer.status, dict(answer.getheaders()), answer.read())
