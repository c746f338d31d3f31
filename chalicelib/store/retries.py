"""Repeating a request that DynamoDB may serve the next time: full jitter, until a deadline.

Source: AWS Architecture Blog, "Exponential Backoff And Jitter"; design section 3.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

FIRST_WAIT_S = 0.020
WAIT_MAX_S = 1.0
DEADLINE_S = 10.0  # then the fault is the caller's to deal with

T = TypeVar("T")


class Repeatable(Exception):
    """This request may succeed when it is repeated; `__cause__` says why it did not.

    Shapes: `is_unknown` says that it may have been done all the same.
    """

    def __init__(self, *, is_unknown: bool = False) -> None:
        super().__init__()
        self.is_unknown = is_unknown


@dataclass(frozen=True, slots=True)
class Retries:
    """How to wait between attempts; a test gives a sleep and a chance of its own."""

    sleep: Callable[[float], None] = time.sleep
    share: Callable[[], float] = random.random
    elapsed: Callable[[], float] = time.monotonic

    def run(self, attempt: Callable[[], T]) -> T:
        """Return what an attempt returns that does not raise Repeatable.

        Raises: when the next attempt would be too late, the cause of the last Repeatable, but
            rather that of one after which the request may have been done.
        """
        began, wait_max = self.elapsed(), FIRST_WAIT_S
        worst: Repeatable | None = None
        while True:
            try:
                return attempt()
            except Repeatable as reason:
                if worst is None or reason.is_unknown or not worst.is_unknown:
                    worst = reason
            wait = wait_max * self.share()
            if self.elapsed() - began + wait > DEADLINE_S:
                raise worst.__cause__ or worst
            self.sleep(wait)
            wait_max = min(WAIT_MAX_S, 2 * wait_max)
