"""What one evaluation has done so far, so that it ends."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any, TypeVar

from chalicelib.scheduler.gjson.limits import BYTES_PER_STEP, STEPS_MAX, TEXT_MAX
from chalicelib.scheduler.gjson.result import Result, Type

Step = TypeVar("Step")

# A piece of an evaluation: it yields the pieces it waits for, is sent what they return, and
# returns its own answer.
Piece = Generator["Piece[Any]", Any, Step]


class TooMuch(Exception):
    """An evaluation would pass one of its bounds."""


class Work:
    """What the pieces of one evaluation share: the steps spent, and what was read of the path."""

    __slots__ = ("_read", "spent", "steps_max")

    def __init__(self, steps_max: int = STEPS_MAX) -> None:
        self.spent = 0
        self.steps_max = steps_max
        self._read: dict[tuple[Callable[[bytes], Any], bytes], Any] = {}

    @property
    def left(self) -> int:
        """How many steps may still be spent."""
        return self.steps_max - self.spent

    def spend(self, steps: int = 1) -> None:
        """Count work done. Raises: TooMuch past the steps it may take."""
        self.spent += steps
        if self.spent > self.steps_max:
            raise TooMuch(f"the evaluation takes more than {self.steps_max} steps")

    def see(self, size: int) -> None:
        """Count one token or text by its bytes. Raises: TooMuch past STEPS_MAX."""
        self.spend(1 + size // BYTES_PER_STEP)

    def make(self, *parts: bytes) -> bytes:
        """Join the parts of a text. Raises: TooMuch past TEXT_MAX or STEPS_MAX."""
        size = sum(map(len, parts))
        self.see(size)
        if size > TEXT_MAX:
            raise TooMuch(f"a text would have {size} bytes, more than {TEXT_MAX}")
        return b"".join(parts)

    def make_list(self, values: Iterable[bytes], ends: bytes = b"[]") -> Result:
        """Make an array of raw values, or an object of raw members.

        Raises: TooMuch past TEXT_MAX or STEPS_MAX.
        """
        opening, closing = ends[:1], ends[1:]
        parts: list[bytes] = []
        size = 0
        for value in values:
            size += len(value) + 1
            if size > TEXT_MAX:
                raise TooMuch(f"a text would have {size} bytes, more than {TEXT_MAX}")
            self.see(len(value))
            parts.append(value)
        text = self.make(opening, b",".join(parts), closing)
        return Result(Type.JSON, text, 0, len(text))

    def read(self, reader: Callable[[bytes], Step], path: bytes) -> Step:
        """Read a piece of the path, each only once. Raises: TooMuch past STEPS_MAX."""
        if (reader, path) not in self._read:
            self.spend(len(path))
            self._read[reader, path] = reader(path)
        known: Step = self._read[reader, path]
        return known


def run(piece: Piece[Step]) -> Step:
    """Run a piece and all that it waits for, with a list for the stack of them.

    So what is nested in a path or a text never becomes recursion.
    """
    waiting: list[Piece[Any]] = [piece]
    answer: Any = None
    while waiting:
        try:
            waiting.append(waiting[-1].send(answer))
            answer = None
        except StopIteration as end:
            waiting.pop()
            answer = end.value
    done: Step = answer
    return done
