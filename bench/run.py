"""Run every benchmark, one after another, and print their tables as Markdown."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PARTS = ("engine", "server", "race", "multi_instance", "lateness", "feel", "imports")


def main() -> None:
    for part in PARTS:
        print(f"\n## {part}\n", flush=True)
        subprocess.run([sys.executable, Path(__file__).with_name(f"{part}.py")], check=True)


if __name__ == "__main__":
    main()
