"""The HTTP server of `headrace serve`: its public port, and where the emulated Lambda calls us.

A public request is passed on to the emulated API Gateway, so that routing, payloads and the
handler are what they are on AWS. The gateway, and the emulated event sources, call the handlers
of `app.py` back on a path that nobody can guess, which makes this the only listener but the
emulator's own.
"""

from __future__ import annotations

import json
import secrets
import select
import socket
import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from chalicelib import wiring
from chalicelib.access import ANY_ORIGIN, shared_with
from chalicelib.local.functions import call_function
from chalicelib.local.gateways import Gateway, GatewayFailed
from chalicelib.local.requests import BadRequest, BodyTooLarge, read_body

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
IDLE_TIMEOUT_S = 120.0  # of a connection that is kept alive
BACKLOG = 128
DRAIN_POLL_S = 0.01
ACCEPT_POLL_S = 0.1  # how long `close` may take; a connection is taken at once
LINGER_S = 2.0  # how long a refused body is read away, so that its sender sees our answer
LINGER_BYTES = 65_536

# Headers that belong to one connection (RFC 9110 section 7.6.1), or that we write ourselves.
_HOP = frozenset(
    {
        "connection",
        "content-length",
        "date",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "server",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)
# What the emulator would take for itself: whose account, which of its services.
_PRIVATE = ("authorization", "x-amz", "x-amzn", "x-ministack")
KEY = "X-Api-Key"  # which the emulator leaves to us
CALLER = "X-Headrace-Caller"  # by which a handler's call is told to be a caller's
# Paths of the dialects whose errors are `{"error"}`; those of all others are code and message.
ERRORS_ARE_ONE_TEXT = ("/api/v1/", "/scheduler/v1/")


class Front(ThreadingHTTPServer):
    """Binds its port when it is made, serves from `open` on, and drains before it closes."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = BACKLOG

    def __init__(
        self, host: str, port: int, *, body_max: int, origins: Collection[str] = (ANY_ORIGIN,)
    ) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, port), _Handler)
        self.body_max = body_max
        self.origins = origins
        self.secret = secrets.token_urlsafe(24)
        self.gateway: Gateway | None = None
        self.draining = False
        self._in_flight = 0
        self._callers: dict[str, socket.socket] = {}
        self._counting = threading.Lock()
        self._thread = threading.Thread(
            target=self.serve_forever, args=(ACCEPT_POLL_S,), name="front", daemon=True
        )

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def listen(self) -> None:
        """Serve the emulator's calls; public requests wait for `open` with a 503."""
        self._thread.start()

    def open(self, gateway: Gateway) -> None:
        """Pass public requests on to this gateway from now on."""
        self.gateway = gateway

    def function_url(self, handler: str) -> str:
        """Return where the emulated Lambda reaches a handler of `app.py`."""
        host = str(self.server_address[0])
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/{self.secret}/{handler}"

    def drain(self, timeout_s: float) -> bool:
        """Refuse new requests; return whether all those in flight were answered in time.

        Handlers can still be called: a request in flight needs its own.
        """
        self.draining = True
        deadline = time.monotonic() + timeout_s
        while self._in_flight and time.monotonic() < deadline:
            time.sleep(DRAIN_POLL_S)
        return not self._in_flight

    def close(self) -> None:
        """Stop serving and free the port."""
        if self._thread.is_alive():
            self.shutdown()
        self.server_close()
        if self.gateway is not None:
            self.gateway.close()

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count a request as in flight."""
        with self._counting:
            self._in_flight += 1
        try:
            yield
        finally:
            with self._counting:
                self._in_flight -= 1

    @contextmanager
    def called_by(self, connection: socket.socket) -> Iterator[str]:
        """Know a caller by a name while it waits for its answer."""
        name = secrets.token_hex(8)
        self._callers[name] = connection
        try:
            yield name
        finally:
            del self._callers[name]

    def is_gone(self, caller: str) -> bool:
        """Say whether a caller has hung up, so that nobody would read its answer."""
        connection = self._callers.get(caller)
        return connection is not None and has_hung_up(connection)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away; anything else is ours and is told."""
        import sys  # noqa: PLC0415

        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else a kept connection waits 40 ms for each answer
    wbufsize = -1  # headers and body in one packet
    timeout = IDLE_TIMEOUT_S
    server: Front

    def _serve(self) -> None:
        with self.server.counted():
            try:
                self._answer()
            except BodyTooLarge as error:
                self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "PAYLOAD_TOO_LARGE", str(error))
            except BadRequest as error:
                self._refuse(HTTPStatus.BAD_REQUEST, "BAD_REQUEST", str(error))
            except GatewayFailed as error:
                self._refuse(HTTPStatus.BAD_GATEWAY, "CLUSTER_ERROR", str(error))

    # One for each of METHODS.
    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _serve  # noqa: N815

    def _answer(self) -> None:
        prefix = f"/{self.server.secret}/"
        if self.path.startswith(prefix):
            self._call(self.path.removeprefix(prefix))
        elif self.server.gateway is None or self.server.draining:
            self._refuse(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "UNAVAILABLE",
                "the server is starting or stopping",
                {"Retry-After": "1"},
            )
        else:
            self._pass_on(self.server.gateway)

    def _call(self, handler: str) -> None:
        event = json.loads(read_body(self, limit=None))
        with wiring.clock.asked_by(partial(self.server.is_gone, _caller_of(event))):
            status, answer = call_function(handler, event, dict(self.headers))
        self._send(status, {"Content-Type": "application/json"}, answer)

    def _pass_on(self, gateway: Gateway) -> None:
        body = read_body(self, limit=self.server.body_max)
        with self.server.called_by(self.connection) as caller:
            passed = {**self._passed(), CALLER: caller}
            answer = gateway.ask(self.command, self.path, body, passed)
        headers = {
            name: value for name, value in answer.headers.items() if _is_for_the_client(name)
        }
        self._send(answer.status, headers, answer.content)

    def _passed(self) -> dict[str, str]:
        """Return the headers for the gateway, a bearer's key in the one place it may be there."""
        passed = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in _HOP and not name.lower().startswith(_PRIVATE)
        }
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if scheme.lower() == "bearer" and KEY not in self.headers:
            passed[KEY] = token.strip()
        return passed

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is no HTTP, or of a method that no route has, in the contract's shape."""
        if self.request_version == self.default_request_version:
            self.request_version = self.protocol_version  # 0.9 would leave out status and headers
        status = HTTPStatus(code)
        if status is HTTPStatus.NOT_IMPLEMENTED:  # a method that nobody serves, such as TRACE
            allow = {"Allow": ", ".join(METHODS)}
            refused = HTTPStatus.METHOD_NOT_ALLOWED
            self._refuse(refused, "METHOD_NOT_ALLOWED", "method not allowed", allow)
            return
        self._refuse(status, "BAD_REQUEST", message or status.phrase)

    def _refuse(
        self, status: HTTPStatus, code: str, message: str, headers: Mapping[str, str] | None = None
    ) -> None:
        """Answer in the dialect's shape; the body was not read, so the connection ends."""
        self.close_connection = True
        is_one_text = getattr(self, "path", "").startswith(ERRORS_ARE_ONE_TEXT)
        error = {"error": message} if is_one_text else {"code": code, "message": message}
        content = json.dumps(error).encode()
        # Read by pages of other origins as any answer is; of a line that is no HTTP there are none.
        sent = getattr(self, "headers", None)
        shared = shared_with(self.server.origins, sent.get("Origin") if sent else None)
        typed = {"Content-Type": "application/json"}
        self._send(status, {**shared, **typed, **(headers or {})}, content)
        self._read_away()

    def _read_away(self) -> None:
        """Read what is still being sent: to close at once would take our answer from its sender."""
        deadline = time.monotonic() + LINGER_S
        try:
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(LINGER_S)
            while time.monotonic() < deadline and self.connection.recv(LINGER_BYTES):
                pass
        except OSError:
            pass  # it went away, which is what we wait for

    def _send(self, status: int, headers: Mapping[str, str], content: bytes) -> None:
        if self.server.draining:
            self.close_connection = True
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != HTTPStatus.NO_CONTENT:
            self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Write no access log: each invocation writes its own line."""


def has_hung_up(connection: socket.socket) -> bool:
    """Say whether the other side has closed a connection, without reading what it sent."""
    poll = select.poll()
    try:
        poll.register(connection, select.POLLIN)
        return bool(poll.poll(0)) and not connection.recv(1, socket.MSG_PEEK)
    except (OSError, ValueError):
        return True


def _caller_of(event: Any) -> str:
    """Return whose request an event is; of those that are none, of nobody."""
    headers = event.get("headers") if isinstance(event, dict) else None
    named = {name.lower(): value for name, value in (headers or {}).items()}
    return str(named.get(CALLER.lower(), ""))


def _is_for_the_client(name: str) -> bool:
    lower = name.lower()
    return lower not in _HOP and not lower.startswith("x-amz")
