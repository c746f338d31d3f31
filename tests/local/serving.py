"""Runs the command `headrace` as a person does: a process of its own."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from chalicelib.local import attach
from chalicelib.local.client import Client
from chalicelib.local.server import NOTE
from infra.package import ROOT
from tests.patience import PATIENCE_S

READY = re.compile(r"Headrace is ready at (http://\S+)\n")
END_S = 5.0  # in which a server ends (issue 2)
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


class Served:
    """A running `headrace serve`."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.client = Client(url)

    def aws_endpoint(self, folder: Path) -> str:
        """Return where its emulated AWS listens, of a server whose state is kept in a folder."""
        note = json.loads((folder / attach.STATE / NOTE).read_text())
        return str(note["aws_endpoint"])

    def end(self, number: int = signal.SIGTERM) -> float:
        """Ask it to end; return the seconds of work that took it. Raises: TimeoutExpired.

        Units: time on a processor, which a busy machine does not make longer; that nothing is
            waited for too long is shown beside (`test_what_an_end_waits_for_has_bounds`).
        """
        before = worked_s(self.process.pid) + _ended_children_s()
        self.process.send_signal(number)
        self.process.wait(PATIENCE_S)
        return _ended_children_s() - before

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)


def environment(**more: str) -> dict[str, str]:
    """Return what the command needs of ours, whatever a test before has set."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, "PYTHONPATH": str(ROOT), **more}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "chalicelib.cli", *arguments]


def run(*arguments: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S * 5,
        check=False,
    )


@contextmanager
def serving(folder: Path, *arguments: str, **variables: str) -> Iterator[Served]:
    """Run a server on a free port until the block is left."""
    with subprocess.Popen(
        command("serve", "--port", "0", *arguments),
        cwd=folder,
        env=environment(**variables),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            line = process.stdout.readline()
            found = READY.fullmatch(line)
            assert found, (line, process.stderr.read())
            yield Served(process, found[1])
        finally:
            process.kill()


def worked_s(pid: int) -> float:
    """Return how long a process was on a processor, with its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) * TICK_S  # utime, stime, cutime, cstime of proc(5)


def _ended_children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def listeners(pid: int) -> set[str]:
    """Return the addresses that a process listens on, as Linux writes them in hexadecimal."""
    own = {_target(link) for link in Path(f"/proc/{pid}/fd").iterdir()}
    lines = [
        line.split()
        for table in ("tcp", "tcp6")
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]
    ]
    listening = "0A"
    return {each[1] for each in lines if each[3] == listening and f"socket:[{each[9]}]" in own}


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:  # closed meanwhile
        return ""


def children(pid: int) -> set[int]:
    """Return the processes that a process has started and that still are."""
    return {
        int(child)
        for thread in Path(f"/proc/{pid}/task").iterdir()
        for child in (thread / "children").read_text().split()
    }
