"""An emulated AWS that enforces IAM, in a process of its own: `python -m ... PORT FOLDER`.

Whether it enforces is read when the emulator is imported, and every process has at most one.
It ends when its standard input does.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from chalicelib.local.emulator import Emulator


def main() -> None:
    port, folder = sys.argv[1:]
    emulator = Emulator(int(port), Path(folder), auth=True)
    emulator.start()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.read()
    emulator.stop()
    os._exit(0)  # the interpreter would wait for threads of the emulator


if __name__ == "__main__":
    main()
