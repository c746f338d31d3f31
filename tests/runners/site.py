"""A server on this machine that says exactly the bytes it is told, and keeps what it was sent."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable
from types import TracebackType

Answer = bytes | Callable[[bytes], bytes]
HANG_AFTER = b"hang after "  # what follows is sent, then the connection is kept open
DRIP = b"drip "  # what follows is sent byte by byte, more slowly than anybody waits
ENDLESS = b"endless "  # what follows is sent again and again until nobody listens
DRIP_S = 0.02
RESET_AFTER = b"reset after "  # what follows is sent, then the connection is reset


def answer(status: int, body: bytes = b"", *headers: str) -> bytes:
    """Return a whole answer."""
    lines = [f"HTTP/1.1 {status} Some Reason", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


def redirect(status: int, location: str) -> bytes:
    return answer(status, b"", f"Location: {location}")


class Site:
    """Answers one request on each connection; the last answer again and again."""

    def __init__(self, *answers: Answer, tls: ssl.SSLContext | None = None) -> None:
        self._answers = answers or (answer(200),)
        self._tls = tls
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listening.getsockname()[1])
        self._is_over = threading.Event()
        self._threads: list[threading.Thread] = []
        self.requests: list[bytes] = []

    @property
    def url(self) -> str:
        return f"http{'s' if self._tls else ''}://127.0.0.1:{self.port}"

    @property
    def heads(self) -> list[list[str]]:
        """Return the lines of each request's head."""
        return [
            request.partition(b"\r\n\r\n")[0].decode("latin-1").split("\r\n")
            for request in self.requests
        ]

    def __enter__(self) -> Site:
        self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over.set()
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        for thread in self._threads:
            thread.join()

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._is_over.is_set():
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                if self._tls is None:
                    self._answer(connection)
                else:
                    with self._tls.wrap_socket(connection, server_side=True) as wrapped:
                        self._answer(wrapped)
            except OSError:
                return

    def _answer(self, connection: socket.socket) -> None:
        request = _received(connection)
        said = self._answers[min(len(self.requests), len(self._answers) - 1)]
        self.requests.append(request)
        said = said(request) if callable(said) else said
        if said.startswith(HANG_AFTER):
            connection.sendall(said.removeprefix(HANG_AFTER))
            self._is_over.wait()
        elif said.startswith(DRIP):
            for byte in said.removeprefix(DRIP):
                connection.sendall(bytes([byte]))
                self._is_over.wait(DRIP_S)
        elif said.startswith(ENDLESS):
            while not self._is_over.is_set():
                connection.sendall(said.removeprefix(ENDLESS))
        elif said.startswith(RESET_AFTER):
            connection.sendall(said.removeprefix(RESET_AFTER))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            connection.sendall(said)


def _received(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65_536)
        if not piece:
            return data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    length = int(lengths[0].partition(b":")[2]) if lengths else 0
    while len(body) < length and (piece := connection.recv(65_536)):
        body += piece
    return head + b"\r\n\r\n" + body
