"""What a child process writes: the first bytes are kept, and the rest is drained.

So the process never waits for a reader, and memory has a bound.
"""

from __future__ import annotations

import os
import selectors
from collections.abc import Callable, Mapping

PIECE = 65_536  # bytes read at once
POLL_S = 0.02  # how often the end of the process is looked for
PIECES_AT_THE_END_MAX = 64  # 4 MB: more than a pipe holds (pipe(7): 1 MB at most)


class Pipes:
    """The reading ends of pipes.

    Shapes: `limits` is how many bytes of each file descriptor are kept. Whoever else holds a pipe
        open (a child's child) is not waited for.
    """

    def __init__(self, limits: Mapping[int, int]) -> None:
        self._limits = limits
        self._kept: dict[int, bytearray] = {pipe: bytearray() for pipe in limits}
        self._open = set(limits)
        for pipe in limits:
            os.set_blocking(pipe, False)

    def read_while(self, goes_on: Callable[[], bool]) -> None:
        """Read what comes as long as that holds."""
        with selectors.DefaultSelector() as selector:
            for pipe in self._open:
                selector.register(pipe, selectors.EVENT_READ)
            while goes_on():
                for key, _ in selector.select(POLL_S):
                    self._read(key.fd)
                    if key.fd not in self._open:
                        selector.unregister(key.fd)

    def read_rest(self) -> None:
        """Read what is in the pipes now."""
        for pipe in self._limits:
            for _ in range(PIECES_AT_THE_END_MAX):
                if pipe not in self._open or not self._read(pipe):
                    break

    def kept(self, pipe: int) -> bytes:
        """Return the first bytes of what was written."""
        return bytes(self._kept[pipe])

    def _read(self, pipe: int) -> bool:
        """Read one piece; return False if none is there."""
        try:
            piece = os.read(pipe, PIECE)
        except BlockingIOError:
            return False
        if not piece:
            self._open.discard(pipe)
            return False
        room = self._limits[pipe] - len(self._kept[pipe])
        self._kept[pipe] += piece[:room] if room > 0 else b""
        return True
