"""Checkpoints of the emulated AWS: complete folders, the newest of which counts.

A checkpoint is written beside the others under a name that does not count, and one rename makes
it the newest. So a process that is killed at any moment leaves its last whole checkpoint.

Shapes: `<state-dir>/checkpoints/000000012/dynamodb.json`, ...; `<state-dir>/lock` is held by the
    process that uses the folder.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

INTERVAL_S = 5.0  # between two checkpoints; with the writing they are at most 10 s old
KEPT = 2  # the newest, and the one before it for whoever looks at a broken one
UNFINISHED = ".part"
LOCK = "lock"


class InUse(Exception):
    """Another process works on this folder."""


class StateFolder:
    """A folder with the state of one server, locked while it is open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._checkpoints = path / "checkpoints"
        self._lock: IO[str] | None = None

    def open(self) -> None:
        """Lock the folder, making it if needed, and clear away what a killed process left.

        Raises: InUse if another process has it open; OSError if it cannot be written.
        """
        self._checkpoints.mkdir(parents=True, exist_ok=True)
        lock = (self.path / LOCK).open("a+")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock.seek(0)
            holder = lock.read().strip() or "unknown"
            lock.close()
            raise InUse(f"{self.path} is in use by another server (process {holder})") from error
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        self._lock = lock
        for leftover in self._checkpoints.glob(f"*{UNFINISHED}"):
            shutil.rmtree(leftover, ignore_errors=True)

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def newest(self) -> Path | None:
        """Return the checkpoint that counts, None before the first."""
        whole = self._whole()
        return whole[-1] if whole else None

    def write(self, save: Callable[[Path], bool]) -> bool:
        """Let `save` fill a folder and make it the newest; if it says False, leave all as it is."""
        newest = self.newest()
        number = int(newest.name) + 1 if newest else 1
        part = self._checkpoints / f"{number:09}{UNFINISHED}"
        part.mkdir()
        try:
            if not save(part):
                shutil.rmtree(part)
                return False
            _flush(part)
        except BaseException:
            shutil.rmtree(part, ignore_errors=True)
            raise
        part.rename(part.with_suffix(""))
        for old in self._whole()[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        return True

    def _whole(self) -> list[Path]:
        return sorted(path for path in self._checkpoints.iterdir() if path.name.isdigit())


class Checkpointer:
    """A thread that writes a checkpoint every few seconds while something changes."""

    def __init__(self, folder: StateFolder, save: Callable[[Path], bool]) -> None:
        self._folder = folder
        self._save = save
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="checkpoints", daemon=True)
        self.failures = 0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread and write the last checkpoint."""
        self._ending.set()
        self._thread.join()
        self._folder.write(self._save)

    def _run(self) -> None:
        while not self._ending.wait(INTERVAL_S):
            try:
                self._folder.write(self._save)
            except OSError as error:
                # A full disk must not end the server; the next checkpoint may succeed.
                self.failures += 1
                _report(f"checkpoint failed: {error}")


def _report(message: str) -> None:
    import sys  # noqa: PLC0415

    print(f"{time.strftime('%H:%M:%S')} {message}", file=sys.stderr)  # noqa: T201


def _flush(folder: Path) -> None:
    """Have the disk hold all of a folder before it is renamed."""
    for path in (*(path for path in folder.rglob("*") if path.is_file()), folder):
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
