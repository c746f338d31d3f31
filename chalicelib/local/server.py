"""`headrace serve`: an emulated AWS with Headrace deployed on it, in one process.

Starting and stopping are each one list of steps, in an order that matters: the port is bound
before anything is changed, our handlers can be called before the emulator wakes up to messages
that wait for them, and requests are let in when one of our own has succeeded.
"""

from __future__ import annotations

import errno
import gc
import ipaddress
import json
import os
import shutil
import socket
import tempfile
import threading
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from chalicelib import settings, wiring
from chalicelib.access import Access
from chalicelib.engine.state import Job
from chalicelib.local import snapshots, stack
from chalicelib.local.checkpoints import Checkpointer, InUse, StateFolder
from chalicelib.local.emulator import (
    LOOPBACK,
    Emulator,
    bound,
    client_environment,
    set_environment,
)
from chalicelib.local.front import Front
from chalicelib.local.gateways import Gateway
from chalicelib.operations import holds, run_sweep, sweep
from infra import names, package

DRAIN_S = 1.5  # of the 5 s in which a server ends; the last checkpoint of 20,000 items takes one
PROBE_TIMEOUT_S = 20.0
API_KEY = settings.OPERATOR_KEY
NOTE = "server.json"  # in the state folder, while its server runs


class StartFailed(Exception):
    """The server cannot start; the message says why in one line."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a server is started. `state` None: nothing is kept."""

    host: str = LOOPBACK
    port: int = 8080
    state: Path | None = None
    api_key: str | None = None


class Server:
    """One running server; start it once, stop it once."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._front: Front | None = None
        self._folder: StateFolder | None = None
        self._temporary: Path | None = None
        self._emulator: Emulator | None = None
        self._checkpointer: Checkpointer | None = None
        self._held: Sequence[Job] = ()

    @property
    def url(self) -> str:
        """Where the server is reached, once it is started."""
        host, port = self._options.host, self._front.port if self._front else self._options.port
        return f"http://{f'[{host}]' if ':' in host else host}:{port}"

    @property
    def aws_endpoint(self) -> str:
        """Where the emulated AWS is reached, once it is started."""
        return self._emulator.endpoint if self._emulator else ""

    def start(self) -> None:
        """Return once a request would succeed. Raises: StartFailed, with nothing left behind."""
        try:
            self._start()
        except BaseException:
            self.stop()
            raise

    def _start(self) -> None:
        started_at = wiring.clock.now()
        for variable, value in package.configured().items():
            os.environ.setdefault(variable, value)
        self._front = self._bind()
        self._folder = self._open_state()
        newest = self._folder.newest() if self._folder else None
        self._emulator = Emulator(_bound_like(newest), self._scratch())
        set_environment(_environment(self._emulator.endpoint, self._options.api_key))
        template = stack.build_template()
        stack.call_here(template, self._front)
        self._front.listen()
        try:
            self._emulator.start(newest)
        except ModuleNotFoundError as error:
            raise StartFailed(f"{error.name} is missing: pip install 'headrace[local]'") from error
        self._deploy(template)
        self._probe()
        # Nothing waits for it: 5,000 open jobs take ten seconds, and are right without it as well.
        after = threading.Thread(
            target=_ring_all, args=(started_at, self._held), name="ring-all", daemon=True
        )
        after.start()
        if self._folder is not None:
            self._checkpointer = Checkpointer(self._folder, self._emulator.save)
            self._checkpointer.start()
            self._tell()
        gc.freeze()  # what was imported stays, so nobody has to look through it again

    def stop(self) -> None:
        """End all that was started: answer what waits, keep the state, free the ports."""
        wiring.clock.stop()
        if self._emulator is not None:
            self._emulator.hush()
        if self._front is not None:
            self._front.drain(DRAIN_S)
        if self._checkpointer is not None:
            self._checkpointer.stop()
        if self._emulator is not None:
            self._emulator.stop()
        if self._front is not None:
            self._front.close()
        if self._folder is not None:
            (self._folder.path / NOTE).unlink(missing_ok=True)
            self._folder.close()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def _bind(self) -> Front:
        options = self._options
        if not is_loopback(options.host) and not options.api_key:
            raise StartFailed(
                f"--host {options.host} can be reached from other machines: "
                f"set {API_KEY} to the key that requests must carry"
            )
        chosen = settings.read(os.environ)
        try:
            body_max, origins = chosen.max_body_bytes, chosen.origins
            return Front(options.host, options.port, body_max=body_max, origins=origins)
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise StartFailed(
                    f"port {options.port} of {options.host} is in use; choose another with --port"
                ) from error
            raise StartFailed(
                f"cannot listen on {options.host} port {options.port}: {error.strerror}"
            ) from error

    def _open_state(self) -> StateFolder | None:
        if self._options.state is None:
            return None
        folder = StateFolder(self._options.state)
        try:
            folder.open()
        except InUse as error:
            raise StartFailed(f"{error}; choose another with --state-dir") from error
        except OSError as error:
            raise StartFailed(f"cannot use {folder.path}: {error.strerror}") from error
        return folder

    def _scratch(self) -> Path:
        """Return an empty folder for what the emulator puts aside."""
        if self._folder is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="headrace-"))
            return self._temporary
        scratch = self._folder.path / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        return scratch

    def _deploy(self, template: dict[str, object]) -> None:
        import boto3  # noqa: PLC0415  after the environment is set

        assert self._front is not None and self._emulator is not None
        boto3.setup_default_session()  # the one that `wiring` makes its clients with
        assert boto3.DEFAULT_SESSION is not None
        api = stack.deploy(template, boto3.DEFAULT_SESSION)
        # Read before anybody is let in: what is handed out from now on is not to be freed.
        self._held = holds.held(wiring.ports(), with_locks=True)
        path = f"/_aws/execute-api/{api}/{names.API_STAGE}"
        self._front.open(Gateway(LOOPBACK, self._emulator.port, path))

    def _probe(self) -> None:
        """Make one request, the whole way through."""
        request = urllib.request.Request(f"{_reachable(self.url)}/system/health/ready")
        if self._options.api_key:
            request.add_header("X-Api-Key", self._options.api_key)
        try:
            with urllib.request.urlopen(request, timeout=PROBE_TIMEOUT_S):
                pass
        except OSError as error:
            raise StartFailed(f"the server started but does not answer: {error}") from error

    def _tell(self) -> None:
        """Leave a note where the server is, for `headrace demo` and other tools."""
        assert self._folder is not None
        note = {"url": self.url, "aws_endpoint": self.aws_endpoint, "pid": os.getpid()}
        (self._folder.path / NOTE).write_text(json.dumps(note))


def is_loopback(host: str) -> bool:
    """Say whether a host can be reached from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _environment(endpoint: str, api_key: str | None) -> dict[str, str]:
    # On the laptop a key is asked for where one is set, or where the operator says so.
    unless_set = os.environ.get(settings.ACCESS, Access.OPEN.value)
    return {
        **client_environment(endpoint),
        settings.ACCESS: Access.KEYS.value if api_key else unless_set,
        settings.OPERATOR_KEY: api_key or "",
        **stack.environment(),
        "POWERTOOLS_LOG_LEVEL": os.environ.get("POWERTOOLS_LOG_LEVEL", "WARNING"),
    }


def _bound_like(snapshot: Path | None) -> socket.socket:
    """Bind the snapshot's own port if it is free, as tools keep its address, or else any other."""
    wanted = int(snapshots.endpoint_of(snapshot).rpartition(":")[2]) if snapshot else 0
    for port in (wanted, 0):
        try:
            return bound(port)
        except OSError:
            continue
    raise StartFailed("no free port for the emulated AWS")


def _reachable(url: str) -> str:
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


def _ring_all(started_at: datetime, held: Sequence[Job]) -> None:
    """Make up for what a killed server, or the checkpoint it came up on, has forgotten.

    Shapes: `held` are the jobs that workers had before it started.
    """
    ports = wiring.ports()
    run_sweep.end_attempts(ports, started_at)
    holds.release(ports, held)
    sweep.ring_all(ports)
