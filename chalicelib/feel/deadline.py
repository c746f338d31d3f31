"""The time that evaluations may take, told by a clock that is handed in: FEEL has none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from chalicelib.feel.errors import FeelError
from chalicelib.feel.limits import SECONDS_MAX


class Deadline:
    """When an evaluation, or several, have to be over.

    Shapes: `clock` gives seconds that only grow, as `time.monotonic` does; without one the
        deadline never comes, and the same expression always gives the same.
    """

    __slots__ = ("_clock", "_ends_at", "limit_s")

    def __init__(
        self, clock: Callable[[], float] | None = None, limit_s: float = SECONDS_MAX
    ) -> None:
        self._clock = clock
        self.limit_s = limit_s
        self.restart()

    def restart(self) -> None:
        """Let the time begin anew."""
        self._ends_at = 0.0 if self._clock is None else self._clock() + self.limit_s

    def restart_within(self, whole: Deadline) -> bool:
        """Let the time begin anew; tell whether that of the whole, by the same clock, goes on."""
        if self._clock is None:
            return True
        now = self._clock()
        self._ends_at = now + self.limit_s
        return now < whole._ends_at

    def again(self) -> Deadline:
        """Give another one of the same clock and length, which begins now; what never comes needs
        no other."""
        return self if self._clock is None else Deadline(self._clock, self.limit_s)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Leave out of the time what is done within: it is no part of an evaluation."""
        began = 0.0 if self._clock is None else self._clock()
        try:
            yield
        finally:
            if self._clock is not None:
                self._ends_at += self._clock() - began

    def is_over(self) -> bool:
        """Tell whether it has come."""
        return self._clock is not None and self._clock() >= self._ends_at

    def check(self) -> None:
        """Raises: FeelError once it has come."""
        if self.is_over():
            raise FeelError(f"the evaluation takes more than {self.limit_s:g} seconds")


NEVER = Deadline()
