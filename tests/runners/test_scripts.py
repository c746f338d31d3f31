"""Scripts: a child process that gets little, leaves nothing, and ends in time."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from chalicelib.runners.ending import Ending
from chalicelib.runners.scripts import STDOUT_MAX, ScriptRunner
from chalicelib.scheduler.definition import ScriptCall
from chalicelib.scheduler.rows import Outcome
from tests.house.source import ROOT
from tests.patience import eventually, has_ended
from tests.runners.definitions import IMPATIENCE, PATIENCE, cut, running

OURS = {
    "PATH": os.environ["PATH"],
    "LANG": "C.UTF-8",
    "AWS_ACCESS_KEY_ID": "AKIA",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_SESSION_TOKEN": "token",
    "HEADRACE_TABLE": "headrace",
    "HOME": "/root",
}


@pytest.fixture
def runner(tmp_path: Path) -> ScriptRunner:
    return ScriptRunner(is_on=True, environment=OURS, place=tmp_path)


def ran(
    runner: ScriptRunner,
    script: str,
    *args: str,
    interpreter: str = "sh",
    env: tuple[tuple[str, str], ...] = (),
    timeout: timedelta = PATIENCE,
    pool_idx: int = 0,
) -> Ending:
    call = ScriptCall(interpreter, script, args, env)
    return runner.run(running(call), pool_idx, timeout)


@pytest.mark.rule("Z13")
def test_stdout_is_what_a_loop_will_look_into(runner: ScriptRunner) -> None:
    ended = ran(runner, 'echo \'{"result":{"remaining":3}}\'')

    assert Ending(Outcome.SUCCEEDED, None, 0, "", b'{"result":{"remaining":3}}\n') == ended


@pytest.mark.rule("Z59")
def test_another_exit_code_than_0_is_a_failure(runner: ScriptRunner) -> None:
    ended = ran(runner, 'echo \'{"result":{"remaining":3}}\'; echo oh >&2; exit 1')

    assert (Outcome.FAILED, 1) == (ended.outcome, ended.exit_code)
    assert "expected exit code 0, found 1: oh" == ended.error


def test_the_end_by_a_signal_is_a_failure(runner: ScriptRunner) -> None:
    ended = ran(runner, "kill -TERM $$")

    assert (Outcome.FAILED, -15) == (ended.outcome, ended.exit_code)


@pytest.mark.rule("Z60")
@pytest.mark.parametrize(
    "script",
    [
        "sleep 600",
        "trap '' TERM INT; sleep 600; sleep 600",
        "exec >&- 2>&-; sleep 600",
        "while :; do echo more; done",
    ],
    ids=["sleeps", "ignores signals", "closes its output", "writes for ever"],
)
def test_a_script_over_its_timeout_is_a_failure(runner: ScriptRunner, script: str) -> None:
    ended = ran(runner, script, timeout=IMPATIENCE)

    assert (Outcome.FAILED, None) == (ended.outcome, ended.exit_code)
    assert "expected the script to end within 150 ms" == ended.error


def test_no_script_outlives_the_server(tmp_path: Path) -> None:
    looks = iter([False, False, True])
    runner = ScriptRunner(
        is_on=True, environment=OURS, place=tmp_path, is_stopping=lambda: next(looks, True)
    )
    ended = ran(runner, "sleep 600")

    assert (Outcome.FAILED, None) == (ended.outcome, ended.exit_code)
    assert "expected the script to end before the server did" == ended.error


SERVER = """
import sys
from datetime import timedelta
from pathlib import Path
from chalicelib.runners.scripts import ScriptRunner
from chalicelib.scheduler.definition import ScriptCall
from tests.runners.definitions import running

runner = ScriptRunner(is_on=True, environment={}, place=Path(sys.argv[1]))
runner.run(running(ScriptCall("sh", sys.argv[2])), 0, timedelta(seconds=600))
"""
# It is killed after it started a script, and before it can say which process group that is.
SILENT_SERVER = """
import subprocess, sys, time
from pathlib import Path
from chalicelib.runners.watcher import watching

folder = Path(sys.argv[1], "script")
folder.mkdir()
with watching(folder):
    subprocess.Popen(
        ["sh", "-c", sys.argv[2]], env={"HOME": f"{folder}/work"}, start_new_session=True
    )
    time.sleep(600)
"""


@pytest.mark.parametrize(
    "program",
    [
        pytest.param(SERVER, id="at any time"),
        pytest.param(
            SILENT_SERVER,
            id="before it names the group",
            marks=pytest.mark.skipif(
                not Path("/proc/self/environ").exists(), reason="the system shows no environments"
            ),
        ),
    ],
)
def test_no_script_outlives_a_server_that_is_killed(tmp_path: Path, program: str) -> None:
    told, place = tmp_path / "told", tmp_path / "place"
    os.mkfifo(told)
    place.mkdir()
    script = f"exec 9>{told}; echo runs >&9; sleep 600 & sleep 600"
    # It reads on until nobody who could write is left.
    with subprocess.Popen(["cat", told], stdout=subprocess.PIPE) as reader:
        with subprocess.Popen([sys.executable, "-c", program, place, script], cwd=ROOT) as server:
            assert reader.stdout is not None
            assert b"runs\n" == reader.stdout.readline()
            server.kill()
        try:
            assert b"" == reader.communicate(timeout=PATIENCE.total_seconds())[0]
        finally:
            reader.kill()

    assert eventually(lambda: not list(place.iterdir()))


@pytest.mark.rule("Z61")
def test_text_on_stderr_is_not_evaluated(runner: ScriptRunner) -> None:
    ended = ran(runner, 'echo \'{"result":{"remaining":3}}\' >&2')

    assert Ending(Outcome.SUCCEEDED, exit_code=0) == ended


@pytest.mark.rule("Z65")
@pytest.mark.parametrize(
    "interpreter", ["", "no-such-program", "/no/such/program", "bin/sh", "/tmp", "sh\0", "sh -e"]
)
def test_a_missing_interpreter_is_cancelled(runner: ScriptRunner, interpreter: str) -> None:
    ended = ran(runner, "exit 0", interpreter=interpreter)

    assert Outcome.CANCELLED == ended.outcome
    assert ended.error.startswith("script.interpreter: expected a program, found ")


def test_an_interpreter_is_not_looked_for_in_our_folder(
    runner: ScriptRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")

    ended = ran(runner, "exit 0", interpreter="bin/sh")

    assert Outcome.CANCELLED == ended.outcome
    assert "script.interpreter: expected a program, found 'bin/sh'" == ended.error


def test_an_interpreter_that_is_no_program_is_cancelled(
    runner: ScriptRunner, tmp_path: Path
) -> None:
    program = tmp_path / "program"
    program.write_text("no program\n")
    program.chmod(0o755)

    ended = ran(runner, "exit 0", interpreter=str(program))

    assert Outcome.CANCELLED == ended.outcome
    assert "script.interpreter: could not start it: Exec format error" == ended.error


@pytest.mark.parametrize(
    ("args", "env"), [(("a\0b",), ()), ((), (("a=b", "c"),)), ((), (("a", "\ud800"),))]
)
def test_what_no_process_can_be_given_is_cancelled(
    runner: ScriptRunner, args: tuple[str, ...], env: tuple[tuple[str, str], ...]
) -> None:
    assert Outcome.CANCELLED == ran(runner, "exit 0", *args, env=env).outcome


def test_a_machine_without_room_is_a_failure(tmp_path: Path) -> None:
    runner = ScriptRunner(is_on=True, environment=OURS, place=tmp_path / "file" / "below")
    (tmp_path / "file").touch()

    ended = ran(runner, "exit 0")

    assert Outcome.FAILED == ended.outcome
    assert "this machine could not run the script: Not a directory" == ended.error


@pytest.mark.rule("Z74")
@pytest.mark.parametrize("pool_idx", [0, 3])
def test_a_script_always_knows_its_pool_index(runner: ScriptRunner, pool_idx: int) -> None:
    env = (("ZILEAN_POOL_IDX", "given"),)

    ended = ran(runner, "printf %s $ZILEAN_POOL_IDX", env=env, pool_idx=pool_idx)

    assert str(pool_idx).encode() == ended.output


def test_a_script_gets_its_args_and_env_and_of_ours_almost_nothing(runner: ScriptRunner) -> None:
    script = "import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ)]))"

    ended = ran(
        runner, script, "a b", "$HOME", interpreter=sys.executable, env=(("GREETING", "hé llo"),)
    )

    args, environment = json.loads(ended.output)
    environment.pop("LC_CTYPE", None)  # Python's own doing
    assert ["a b", "$HOME"] == args
    assert {"PATH", "LANG", "HOME", "TMPDIR", "GREETING", "ZILEAN_POOL_IDX"} == set(environment)
    assert "hé llo" == environment["GREETING"]


def test_a_script_gets_no_input_and_no_file_of_ours(runner: ScriptRunner) -> None:
    secret, other = os.pipe()
    os.set_inheritable(secret, True)
    script = f"cat; [ -e /proc/self/fd/{secret} ] && echo open || echo closed"

    try:
        ended = ran(runner, script)
    finally:
        os.close(secret)
        os.close(other)

    assert b"closed\n" == ended.output


def test_a_script_works_in_an_empty_folder_that_is_gone_afterwards(
    runner: ScriptRunner, tmp_path: Path
) -> None:
    script = 'ls -A; touch left; mkdir -p a/b; touch a/b/c; chmod 0 a; pwd; [ "$PWD" = "$HOME" ]'

    ended = ran(runner, script)

    (working,) = ended.output.decode().splitlines()
    assert (0, True) == (ended.exit_code, working.startswith(str(tmp_path)))
    assert [] == list(tmp_path.iterdir())


def test_the_first_bytes_of_stdout_are_kept_and_the_rest_is_drained(runner: ScriptRunner) -> None:
    script = "head -c 3000000 /dev/zero | tr '\\0' x; head -c 3000000 /dev/zero >&2; printf end"

    ended = ran(runner, script)

    assert (Outcome.SUCCEEDED, 0) == (ended.outcome, ended.exit_code)
    assert b"x" * STDOUT_MAX == ended.output


@pytest.mark.rule("Z60")
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    ("end", "outcome", "came_far"),
    [
        ("sleep 600", Outcome.FAILED, lambda ended: ended.output),
        ("exit 0", Outcome.SUCCEEDED, lambda ended: ended.outcome == Outcome.SUCCEEDED),
    ],
    ids=["by its time", "by itself"],
)
def test_nothing_that_a_script_started_outlives_it(
    runner: ScriptRunner, end: str, outcome: Outcome, came_far: Callable[[Ending], object]
) -> None:
    """The grandchild holds stdout open, for which nobody waits."""
    script = f"(sleep 600 & echo $!); {end}"
    ended = cut(lambda timeout: ran(runner, script, timeout=timeout), came_far)

    assert outcome == ended.outcome
    assert eventually(lambda: has_ended(int(ended.output)))


@pytest.mark.skipif(shutil.which("setsid") is None, reason="needs setsid")
def test_a_grandchild_that_leaves_the_group_is_not_waited_for(runner: ScriptRunner) -> None:
    leaving = "setsid sh -c 'echo $$; : > started; exec sleep 600' &"
    ended = ran(runner, f"{leaving} while [ ! -e started ]; do sleep 0.01; done")

    os.kill(int(ended.output), 9)
    assert Outcome.SUCCEEDED == ended.outcome


def test_scripts_that_are_off_are_cancelled_with_the_settings_name(tmp_path: Path) -> None:
    off = ScriptRunner(is_on=False, environment=OURS, place=tmp_path)

    ended = ran(off, "exit 0")

    assert Outcome.CANCELLED == ended.outcome
    assert "scripts are not run, for scheduler.scripts (SCHEDULER_SCRIPTS) is off" == ended.error


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_our_environment_cannot_be_read_by_others_of_our_user() -> None:
    code = (
        "import ctypes; from chalicelib.runners.scripts import hide_environment as hide\n"
        "print(ctypes.CDLL(None).prctl(3)); hide(); print(ctypes.CDLL(None).prctl(3))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert ["1", "0"] == done.stdout.split()
