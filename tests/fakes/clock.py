"""A clock that a test moves by hand."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

BEGIN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


class ManualClock:
    """Time stands still until a test moves it, or somebody sleeps.

    Shapes: `on_sleep` is called in place of moving the time, so that others may act meanwhile;
        `listeners` are called whenever the time has moved.
    """

    def __init__(
        self, now: datetime = BEGIN, on_sleep: Callable[[float], None] | None = None
    ) -> None:
        self._now = now
        self._stopping = False
        self.on_sleep = on_sleep
        self.listeners: list[Callable[[], None]] = []
        self.slept: list[float] = []

    def now(self) -> datetime:
        return self._now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self.on_sleep is None:
            self.move(seconds)
        else:
            self.on_sleep(seconds)

    def is_stopping(self) -> bool:
        return self._stopping

    def stop(self) -> None:
        """Ask this process to end."""
        self._stopping = True

    def move(self, seconds: float) -> None:
        """Let time pass."""
        self._now += timedelta(milliseconds=round(seconds * 1000))
        for listener in self.listeners:
            listener()
