"""Import time of `app` beside `import boto3`, in fresh interpreters with compiled files."""

from __future__ import annotations

import subprocess
import sys
import time

REPEATS = 7
STATEMENTS = ("pass", "import app", "import boto3", "import app, boto3", "import chalicelib.feel")


def best_ms(statement: str) -> float:
    """Return the fastest of several runs of a statement, in milliseconds."""
    times = []
    for _ in range(REPEATS + 1):  # the first run compiles
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True)
        times.append((time.perf_counter() - start) * 1000)
    return min(times[1:])


def main() -> None:
    empty = best_ms("pass")
    print("| import | ms over an empty interpreter |\n|---|---:|")
    for statement in STATEMENTS[1:]:
        print(f"| `{statement}` | {best_ms(statement) - empty:.0f} |")


if __name__ == "__main__":
    main()
