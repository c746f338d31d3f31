"""What the first invocation of each function loads: processor time, modules, and the zip's size.

Every figure is of a fresh interpreter that imports what the function's handler does, then what its
first call does, without a call to AWS. Processor time is less disturbed by others than a clock's.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from infra import names, package  # noqa: E402
from tests.house.loading import FIRST_CALLS, Loading  # noqa: E402

REPEATS = 5
MODULES = """
import sys
ours = [name for name in sys.modules if name.startswith("chalicelib.")]
print(len(sys.modules), len(ours))
"""


def measured(loading: Loading, *, compiled: bool = True) -> tuple[float, str, str]:
    """Return the least processor time of several runs in ms, and how many modules it loads."""
    best, counts = float("inf"), ("", "")
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **loading.environment}
    if not compiled:
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPYCACHEPREFIX": "/nowhere"}
    for _ in range(REPEATS + 1):  # the first run compiles
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ran = subprocess.run(
            [sys.executable, "-c", loading.code + MODULES],
            check=True,
            capture_output=True,
            text=True,
            cwd=ROOT,
            env=environment,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = min(best, spent * 1_000)
        everything, ours = ran.stdout.split()
        counts = (everything, ours)
    return (best, *counts)


def sizes() -> tuple[int, int]:
    """Return the bytes of the zip as it is deployed, and without its compiled files."""
    with tempfile.TemporaryDirectory() as folder:
        made = package.build_zip(Path(folder))
        plain = Path(folder) / "plain.zip"
        with (
            zipfile.ZipFile(made) as source,
            zipfile.ZipFile(plain, "w", zipfile.ZIP_DEFLATED) as target,
        ):
            for entry in source.infolist():
                if not entry.filename.endswith(".pyc"):
                    target.writestr(entry, source.read(entry))
        return made.stat().st_size, plain.stat().st_size


def _seconds() -> float:
    """Return the processor time that all child processes took so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    stage = names.environment(stage="bench", account="000000000000", region="us-east-1")
    os.environ.update(stage)
    empty = measured(Loading("pass"))[0]
    print("| function | ms | ms without `.pyc` | modules | of ours |\n|---|---:|---:|---:|---:|")
    beside = {f"`{code}`": Loading(code) for code in ("import boto3", "import chalicelib.feel")}
    for function, loading in {**FIRST_CALLS, **beside}.items():
        ms, modules, ours = measured(loading)
        uncompiled = measured(loading, compiled=False)[0]
        print(f"| {function} | {ms - empty:.0f} | {uncompiled - empty:.0f} | {modules} | {ours} |")
    whole, plain = sizes()
    print(f"\nThe zip: {whole / 1e6:.1f} MB, {plain / 1e6:.1f} MB without `.pyc`.")


if __name__ == "__main__":
    main()
