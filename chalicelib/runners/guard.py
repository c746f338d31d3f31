"""The network as jobs see it: every address is judged after its name was resolved, then used.

The guard is httpcore's network backend, so there is no way round it: it resolves a name once,
judges each address and connects to the very address it judged; a name that answers differently the
next time gains nothing. Each request of a chain of redirects has a guard of its own. All that is
done through it ends at one deadline.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import httpcore

from chalicelib.runners.deadline import Deadline

ALLOWS_PRIVATE = "scheduler.allowPrivateAddresses (SCHEDULER_ALLOW_PRIVATE_ADDRESSES)"
PIECE = 65_536  # bytes written before the deadline is looked at again

# The family and the address as `socket.connect` takes it, host first.
Place = tuple[int, tuple[Any, ...]]
LookUp = Callable[[str, int, float], list[Place]]
Judge = Callable[[str], str]  # says why a numeric address is refused, "" if it is not


class AddressRefused(httpcore.ConnectError):
    """The host is at an address that jobs may not reach."""


class Guard(httpcore.NetworkBackend):
    """Connects to addresses that are not refused, and to no other."""

    def __init__(self, deadline: Deadline, judge: Judge, look_up: LookUp) -> None:
        self._deadline = deadline
        self._judge = judge
        self._look_up = look_up

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> Stream:
        """Connect to the first address that may be reached and answers.

        Units: as Go's dialer does, each address gets an equal share of the time that is left.
        Raises: AddressRefused; httpcore.ConnectError; httpcore.ConnectTimeout.
        """
        with _raised_as(httpcore.ConnectTimeout, httpcore.ConnectError):
            places = self._look_up(host, port, self._deadline.left())
        error: Exception = httpcore.ConnectError("its name has no address")
        for number, (family, address) in enumerate(places):
            try:
                self._check(address[0])
                with _raised_as(httpcore.ConnectTimeout, httpcore.ConnectError):
                    seconds = self._deadline.left() / (len(places) - number)
                    return Stream(_connected(family, address, seconds), self._deadline)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as problem:
                error = problem
        raise error

    def _check(self, address: str) -> None:
        if kind := self._judge(address):
            raise AddressRefused(f"{address} is {kind}, and {ALLOWS_PRIVATE} is off")


class Stream(httpcore.NetworkStream):
    """A connection on which every step ends at the deadline, whatever time httpcore would give."""

    def __init__(self, connection: socket.socket, deadline: Deadline) -> None:
        self._connection = connection
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return what has come, b"" at the end."""
        with _raised_as(httpcore.ReadTimeout, httpcore.ReadError):
            self._connection.settimeout(self._deadline.left())
            return self._connection.recv(max_bytes)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it."""
        view = memoryview(buffer)
        with _raised_as(httpcore.WriteTimeout, httpcore.WriteError):
            while view:
                self._connection.settimeout(self._deadline.left())
                view = view[self._connection.send(view[:PIECE]) :]

    def close(self) -> None:
        """Be done with it."""
        self._connection.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> Stream:
        """Go on under TLS; a connection that is cut without TLS's farewell is then an error."""
        try:
            with _raised_as(httpcore.ConnectTimeout, httpcore.ConnectError):
                self._connection.settimeout(self._deadline.left())
                wrapped = ssl_context.wrap_socket(
                    self._connection,
                    server_hostname=server_hostname,
                    suppress_ragged_eofs=False,
                )
        except Exception:
            self.close()
            raise
        return Stream(wrapped, self._deadline)

    def get_extra_info(self, info: str) -> Any:
        """Return the TLS of the connection, the one thing that httpcore asks for here."""
        is_tls = info == "ssl_object" and isinstance(self._connection, ssl.SSLSocket)
        return self._connection if is_tls else None


def look_up_in_dns(
    host: str, port: int, seconds: float, resolve: Callable[..., Any] = socket.getaddrinfo
) -> list[Place]:
    """Return the addresses of a host.

    The resolver has no time limit of its own, so it is asked in a thread that nobody waits for
    longer than that.
    Raises: OSError; TimeoutError.
    """
    answers: list[list[Place] | OSError] = []

    def ask() -> None:
        try:
            # As bytes: a name goes to the resolver as it is, without Python's own encoding.
            found = resolve(host.encode("ascii"), port, type=socket.SOCK_STREAM)
            answers.append([(int(family), address) for family, _, _, _, address in found])
        except OSError as error:
            answers.append(error)

    asking = threading.Thread(target=ask, name="look up", daemon=True)
    asking.start()
    asking.join(seconds)
    if not answers:
        raise TimeoutError("the name was not resolved in time")
    if isinstance(answers[0], OSError):
        raise answers[0]
    return answers[0]


def _connected(family: int, address: tuple[Any, ...], seconds: float) -> socket.socket:
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(address)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def _raised_as(
    timeout: type[httpcore.TimeoutException], error: type[httpcore.NetworkError]
) -> Iterator[None]:
    """Turn the errors of sockets and TLS into httpcore's."""
    try:
        yield
    except TimeoutError as problem:
        raise timeout(str(problem)) from problem
    except OSError as problem:
        raise error(problem.strerror or type(problem).__name__) from problem
