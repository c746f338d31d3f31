"""The port of the emulated AWS: its own from the moment at which it is chosen."""

from __future__ import annotations

import socket
import sys
from contextlib import closing
from pathlib import Path

import pytest

from chalicelib.local import server, snapshots
from chalicelib.local.emulator import LOOPBACK, bound


def snapshot(folder: Path, port: int) -> Path:
    (folder / snapshots.ENDPOINT_FILE).write_text(f"http://{LOOPBACK}:{port}")
    return folder


def test_nobody_else_gets_a_port_while_its_emulator_is_only_starting() -> None:
    with closing(bound()) as chosen, pytest.raises(OSError, match="in use"):
        bound(chosen.getsockname()[1])


@pytest.mark.skipif(sys.platform != "linux", reason="others lend no port that nobody listens on")
def test_a_server_comes_up_where_it_was_before(tmp_path: Path) -> None:
    with socket.socket() as held:  # so that no other process is given it meanwhile
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind((LOOPBACK, 0))
        port = held.getsockname()[1]
        with closing(server._bound_like(snapshot(tmp_path, port))) as again:
            assert port == again.getsockname()[1]


def test_a_server_comes_up_elsewhere_if_that_port_is_taken(tmp_path: Path) -> None:
    with closing(bound()) as taken:
        port = taken.getsockname()[1]
        with closing(server._bound_like(snapshot(tmp_path, port))) as other:
            assert port != other.getsockname()[1]
