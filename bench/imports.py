"""Processor time of importing `app` beside `boto3`, in fresh interpreters with compiled files."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

REPEATS = 7
STATEMENTS = ("pass", "import app", "import boto3", "import app, boto3", "import chalicelib.feel")


def best_ms(statement: str) -> float:
    """Return the fastest of several runs of a statement, in milliseconds."""
    writing = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    times = []
    for _ in range(REPEATS + 1):  # the first run compiles
        start = _seconds()
        subprocess.run([sys.executable, "-c", statement], check=True, env=writing)
        times.append((_seconds() - start) * 1000)
    return min(times[1:])


def _seconds() -> float:
    """Return the processor time that all child processes took so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    empty = best_ms("pass")
    print("| import | ms over an empty interpreter |\n|---|---:|")
    for statement in STATEMENTS[1:]:
        print(f"| `{statement}` | {best_ms(statement) - empty:.0f} |")


if __name__ == "__main__":
    main()
