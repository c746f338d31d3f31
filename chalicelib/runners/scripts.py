"""Runs of jobs of type "script": a child process that is given as little as it needs.

It has a session and a folder of its own, of our environment only what LANGUAGE_AND_PATHS names, no
input, and no file descriptor of ours. When it ends, or its time does, its whole process group is
killed, so nothing it left behind outlives the attempt; should this process be killed meanwhile, a
watcher does it (`watcher.py`). It is the same user on the same machine, though: docs/runs.md says
what that leaves open.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from chalicelib.runners import ending
from chalicelib.runners.deadline import Deadline
from chalicelib.runners.ending import Ending
from chalicelib.runners.pipes import Pipes
from chalicelib.runners.watcher import watching
from chalicelib.scheduler.definition import ScheduledJob

SETTING = "scheduler.scripts (SCHEDULER_SCRIPTS)"
POOL_INDEX = "ZILEAN_POOL_IDX"
# Of our own environment a script gets these: interpreters on Lambda find their libraries by it.
LANGUAGE_AND_PATHS = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "LD_LIBRARY_PATH": "",
}
STDOUT_MAX = 1_048_576  # bytes that are kept, as many as of a response's body
STDERR_MAX = 400  # bytes of it that the error of a failed attempt quotes
# What starting a process says when no attempt can succeed.
HOPELESS = frozenset({errno.ENOENT, errno.EACCES, errno.ENOEXEC, errno.E2BIG})
PR_SET_DUMPABLE = 4  # prctl(2)


class Unstartable(Exception):
    """The interpreter is there, but is no program, or takes no arguments of such a length."""


@dataclass(frozen=True, slots=True)
class ScriptRunner:
    """Runs scripts, if the operator allows any.

    Shapes: `environment` is this process's, of which little is passed on; `place` is where
        working folders are made, None for the system's own; once it `is_stopping`, this process
        is about to end, and no script may outlive it.
    """

    is_on: bool
    environment: Mapping[str, str] = field(repr=False)
    place: Path | None = None
    is_stopping: Callable[[], bool] = lambda: False

    def run(self, job: ScheduledJob, pool_idx: int, timeout: timedelta) -> Ending:
        """Run the script once: exit code 0 is a success, whatever is on stderr (Z59 to Z61)."""
        if not self.is_on:
            return ending.cancelled(f"scripts are not run, for {SETTING} is off")
        call = job.script
        interpreter = self._found(call.interpreter)
        if interpreter is None:
            name = call.interpreter[:100]
            return ending.cancelled(f"script.interpreter: expected a program, found {name!r}")
        deadline = Deadline.after(timeout)
        variables = {**dict(call.env), POOL_INDEX: str(pool_idx)}
        hide_environment()
        try:
            with _folders(self.place) as (script, working):
                script.write_text(call.script, encoding="utf-8", newline="")
                command = [interpreter, str(script), *call.args]
                with watching(script.parent) as watch:
                    process = self._started(command, working, variables)
                    watch(process.pid)
                    return self._finished(process, deadline, timeout)
        except Unstartable as error:
            return ending.cancelled(f"script.interpreter: {error}")
        except ValueError:  # a zero byte, half of a surrogate pair, = in a variable's name
            return ending.cancelled("script: no process can be given such a text, args or env")
        except OSError as error:
            return ending.failed(f"this machine could not run the script: {error.strerror}")

    def _found(self, interpreter: str) -> str | None:
        """Return the path of the interpreter; a relative one would mean our own folder."""
        if os.sep in interpreter and not interpreter.startswith(os.sep):
            return None
        try:
            return shutil.which(interpreter, path=self._own("PATH")) if interpreter else None
        except ValueError:  # a zero byte
            return None

    def _own(self, name: str) -> str:
        return self.environment.get(name) or LANGUAGE_AND_PATHS[name]

    def _started(
        self, command: list[str], working: Path, variables: Mapping[str, str]
    ) -> subprocess.Popen[bytes]:
        ours = {name: self._own(name) for name in LANGUAGE_AND_PATHS if self._own(name)}
        try:
            return subprocess.Popen(
                command,
                cwd=working,
                env={**ours, "HOME": str(working), "TMPDIR": str(working), **variables},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            if error.errno in HOPELESS:
                raise Unstartable(f"could not start it: {error.strerror}") from error
            raise

    def _finished(
        self, process: subprocess.Popen[bytes], deadline: Deadline, timeout: timedelta
    ) -> Ending:
        """Wait for the process, or for its time to be over, and say what became of it."""

        def goes_on() -> bool:
            return process.poll() is None and not deadline.is_over and not self.is_stopping()

        assert process.stdout is not None and process.stderr is not None
        outputs = (process.stdout, process.stderr)
        with process.stdout, process.stderr:
            pipes = Pipes(
                dict(zip((o.fileno() for o in outputs), (STDOUT_MAX, STDERR_MAX), strict=True))
            )
            try:
                pipes.read_while(goes_on)
                is_cut = process.poll() is None
            finally:
                _kill_group(process)
            pipes.read_rest()
            stdout, stderr = (pipes.kept(each.fileno()) for each in outputs)
        if not is_cut:
            return _ended(process.returncode, stdout, stderr)
        if not deadline.is_over:
            return ending.failed("expected the script to end before the server did", stdout)
        milliseconds = timeout // timedelta(milliseconds=1)
        return ending.failed(f"expected the script to end within {milliseconds} ms", stdout)


def hide_environment() -> None:
    """Keep other processes of our user from reading our environment and memory.

    They could read the credentials there out of /proc, which belongs to root for a process that
    may not be dumped. Source: prctl(2), PR_SET_DUMPABLE; proc(5), /proc/pid.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def _ended(code: int, stdout: bytes, stderr: bytes) -> Ending:
    """Say what it means that a process ended by itself."""
    if code == 0:
        return ending.succeeded(stdout, exit_code=0)
    told = stderr.decode("utf-8", "replace").strip()
    words = f"expected exit code 0, found {code}" + (f": {told}" if told else "")
    return ending.failed(words, stdout, exit_code=code)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and all that it started in its session, and wait for it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # nobody is left in it
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextlib.contextmanager
def _folders(place: Path | None) -> Iterator[tuple[Path, Path]]:
    """Give the path of a script and an empty folder to work in; both are gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="headrace-script-", dir=place))
    try:
        working = folder / "work"
        working.mkdir()
        yield folder / "script", working
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove a folder, also what the script forbade to be entered."""
    for parent, names, _ in os.walk(folder):
        for path in (Path(parent, name) for name in names):
            if not path.is_symlink():
                with contextlib.suppress(OSError):
                    path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
