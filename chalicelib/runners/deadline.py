"""One time limit over many steps."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment of the monotonic clock, in seconds, at which patience ends."""

    at: float

    @classmethod
    def after(cls, period: timedelta) -> Deadline:
        """Return the deadline of something that begins now."""
        return cls(time.monotonic() + period.total_seconds())

    @property
    def is_over(self) -> bool:
        """Whether no time is left."""
        return time.monotonic() >= self.at

    def left(self) -> float:
        """Return the seconds that are left, above 0. Raises: TimeoutError if none are."""
        seconds = self.at - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("the time is over")
        return seconds
