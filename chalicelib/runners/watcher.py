"""A watcher beside each script: it ends the script's processes if our own process is killed.

Whoever is killed (`kill -9`, out of memory) can end nothing any more, and a script of theirs would
run on beside the attempt that is made in place of the lost one. So a shell waits at a pipe that we
alone hold open: the kernel closes it however we die, and without a farewell it ends what is left.
Until it is told which group that is, it knows a script by its HOME, where the system shows such
things (proc(5), /proc/pid/environ): we may be killed between starting a script and naming it. A
script that is only just being forked holds our end of the pipe too, so none is looked for too soon.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

# It is told process groups, a line each, and then that all is over.
_FAREWELL = "over"
_PROGRAM = f"""
group=
while read -r line; do
  [ "$line" = {_FAREWELL} ] && exit
  group=$line
done
if [ -n "$group" ]; then
  kill -s KILL -- "-$group"
else
  for found in $(grep -l -s -F -e "HOME=$1/" /proc/[0-9]*/environ); do
    found=${{found#/proc/}}
    kill -s KILL -- "-${{found%/environ}}" "${{found%/environ}}"
  done
fi
rm -rf -- "$1"
"""


@contextlib.contextmanager
def watching(folder: Path) -> Iterator[Callable[[int], None]]:
    """Give the function that names the process group which is not to outlive us.

    Shapes: the folder is the group's, holds the HOME of its processes, and goes with them.
    Raises: OSError if this machine has no shell for it.
    """
    watcher = subprocess.Popen(
        ["/bin/sh", "-c", _PROGRAM, "sh", str(folder)],
        cwd="/",
        env={"PATH": "/usr/bin:/bin"},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,  # a signal from the terminal is not meant for it
    )

    def name(group: int) -> None:
        assert watcher.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the script may end it: it is the same user
            watcher.stdin.write(f"{group}\n")
            watcher.stdin.flush()

    try:
        yield name
    finally:
        watcher.communicate(f"{_FAREWELL}\n")
