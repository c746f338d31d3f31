"""An emulated AWS (ministack) in a thread of this process, on one loopback port.

ministack keeps its state in its modules and reads its settings when it is imported, so a process
has at most one emulator. What of it is replaced is in `patches`.
Source: contracts/emulation.md section 5.
"""

from __future__ import annotations

import asyncio
import gc
import os
import socket
import threading
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from chalicelib.local import patches, snapshots

LOOPBACK = "127.0.0.1"
REGION = "us-east-1"
ACCOUNT = "000000000000"  # ministack's account for keys that are not twelve digits
START_TIMEOUT_S = 30.0
STOP_TIMEOUT_S = 3.0
BACKLOG = 128
GRACE_S = 0.5  # what requests in flight get when the emulator stops
WORKER_THREADS = 256  # of ministack; a long poll through its API Gateway holds one

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


def client_environment(endpoint: str) -> dict[str, str]:
    """Return the environment that makes any AWS SDK speak to the emulator, and to nothing else.

    Shapes: an empty value stands for a variable that must not be set.
    """
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": REGION,
        "AWS_REGION": REGION,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
        "AWS_PROFILE": "",
        "AWS_SESSION_TOKEN": "",
        "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "",
        "AWS_ENDPOINT_URL_DYNAMODB": "",
        "AWS_ENDPOINT_URL_SQS": "",
        "AWS_ENDPOINT_URL_SCHEDULER": "",
        "AWS_ENDPOINT_URL_SSM": "",
        "AWS_ENDPOINT_URL_SECRETS_MANAGER": "",
        "AWS_ENDPOINT_URL_SESV2": "",
    }


def set_environment(values: Mapping[str, str]) -> None:
    """Set this process's environment; an empty value removes the variable."""
    for name, value in values.items():
        if value:
            os.environ[name] = value
        else:
            os.environ.pop(name, None)


def bound(port: int = 0) -> socket.socket:
    """Return a socket for an emulator: a port that is its own from now on, any free one for 0.

    Raises: OSError if the port is taken.
    """
    listening = socket.socket()
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((LOOPBACK, port))
        listening.listen(BACKLOG)
    except OSError:
        listening.close()
        raise
    return listening


class Emulator:
    """The emulated AWS of this process: start it once, stop it once.

    Shapes: it listens on the socket that it is given, and closes it.
    """

    def __init__(self, listening: socket.socket, scratch: Path, *, auth: bool = False) -> None:
        self._listening = listening
        self.port = int(listening.getsockname()[1])
        self.endpoint = f"http://{LOOPBACK}:{self.port}"
        self._scratch = scratch
        self._auth = auth
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._hushed: asyncio.Event | None = None
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._touched = False
        self._thread = threading.Thread(target=self._run, name="emulated-aws", daemon=True)

    def start(self, state: Path | None = None) -> None:
        """Serve, with the state of a snapshot if one is given; return once a request succeeds."""
        set_environment(self._environment())
        import ministack.app as ministack  # noqa: PLC0415  reads the environment

        patches.apply()
        patches.pollers_may_work.set()
        self._app = ministack
        self._state = state
        self._thread.start()
        if not self._started.wait(START_TIMEOUT_S):
            raise RuntimeError(f"the emulated AWS did not start within {START_TIMEOUT_S:.0f} s")
        if self._failure is not None:
            raise RuntimeError(f"the emulated AWS did not start: {self._failure}")

    def stop(self) -> None:
        """Answer what waits, end the server and its thread."""
        if self._loop is None or self._stopping is None:
            self._listening.close()
            return
        self.hush()
        patches.end_functions()  # what waits for one of them fails now
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(STOP_TIMEOUT_S)
        patches.end_functions()  # and those that were just starting
        gc.freeze()  # else the interpreter takes seconds to look through all of it at its end

    def save(self, folder: Path) -> bool:
        """Write all state, as it is at one moment between two requests, into an empty folder.

        Returns False, having written nothing, if no request came since the last time.
        """
        if not self._touched:
            return False
        self._touched = False
        assert self._loop is not None
        work = asyncio.run_coroutine_threadsafe(self._snapshot(folder), self._loop)
        for name, text in work.result().items():
            (folder / name).write_text(text)
        return True

    def hush(self) -> None:
        """Let no receive wait for messages any more, and hand no message to a function."""
        patches.pollers_may_work.clear()
        if self._loop is not None and self._hushed is not None:
            self._loop.call_soon_threadsafe(self._hushed.set)

    def _environment(self) -> dict[str, str]:
        return {
            "GATEWAY_PORT": str(self.port),
            "BIND_HOST": LOOPBACK,
            "MINISTACK_HOST": LOOPBACK,
            "MINISTACK_REGION": REGION,
            "MINISTACK_WORKER_THREADS": str(WORKER_THREADS),
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            "PERSIST_STATE": "0",
            "STATE_DIR": str(self._scratch / "state"),
            "S3_DATA_DIR": str(self._scratch / "s3"),
            "LAMBDA_EXECUTOR": "local",
            "DOCKER_HOST": f"unix://{self._scratch}/no-docker.sock",  # or it removes containers
            "AUTH": "true" if self._auth else "false",
            "LOG_LEVEL": "WARNING",
            "TMPDIR": str(self._scratch),
        }

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:
            self._failure = error
            self._started.set()

    async def _serve(self) -> None:
        from hypercorn.asyncio import serve  # noqa: PLC0415
        from hypercorn.config import Config  # noqa: PLC0415

        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(_tell_unless_cancelled)
        patches.run_queues_on(self._loop)
        self._stopping = asyncio.Event()
        self._hushed = asyncio.Event()
        config = Config()
        config.bind = [f"fd://{self._listening.detach()}"]
        config.accesslog = None
        config.errorlog = None
        config.graceful_timeout = GRACE_S
        config.shutdown_timeout = GRACE_S
        config.keep_alive_timeout = 120.0
        if self._state is not None:
            snapshots.restore(self._app, self._state, self.endpoint)
        await serve(self._handle, config, shutdown_trigger=self._stopping.wait)  # type: ignore[arg-type]

    async def _snapshot(self, folder: Path) -> dict[str, str]:
        return snapshots.take(self._app, folder, self.endpoint)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to ministack; watch for what asks or tells us something."""
        if scope["type"] == "lifespan":
            send = self._announcing(send)
        elif scope["type"] == "http":
            self._touched = True
            if _is_receive(scope):
                await self._receive_messages(scope, receive, send)
                return
        await self._app.app(scope, receive, send)

    def _announcing(self, send: Send) -> Send:
        async def announce(message: dict[str, Any]) -> None:
            await send(message)
            if message["type"] == "lifespan.startup.complete":
                self._started.set()  # what connects from now on waits no longer for its answer

        return announce

    async def _receive_messages(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a receive wait, but no longer than until `hush`."""
        answered = False

        async def mark(message: dict[str, Any]) -> None:
            nonlocal answered
            answered = True
            await send(message)

        assert self._hushed is not None
        work = asyncio.ensure_future(self._app.app(scope, receive, mark))
        hushed = asyncio.ensure_future(self._hushed.wait())
        await asyncio.wait({work, hushed}, return_when=asyncio.FIRST_COMPLETED)
        hushed.cancel()
        if work.done() or answered:
            await work
        else:  # it sleeps between two looks at the queue, and has taken nothing
            work.cancel()
            await _answer_no_messages(send)


def _tell_unless_cancelled(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Say nothing of connections that are cut when the server stops."""
    if not isinstance(context.get("exception"), asyncio.CancelledError):
        loop.default_exception_handler(context)


def _is_receive(scope: Scope) -> bool:
    return (b"x-amz-target", b"AmazonSQS.ReceiveMessage") in scope["headers"]


async def _answer_no_messages(send: Send) -> None:
    headers = [(b"content-type", b"application/x-amz-json-1.0"), (b"content-length", b"2")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"{}"})
