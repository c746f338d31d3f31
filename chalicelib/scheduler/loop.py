"""The loop's settings: where an output says what remains, how often, and how long between.

Unusable numbers count as unset: an iteration cap below 1 as 50, a negative delay or jitter as 0,
an empty path as `result.remaining`.

Source: contracts/scheduled-jobs.md, Z1 to Z35.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import timedelta

PATH_DEFAULT = "result.remaining"
ITERATIONS_DEFAULT = 50


@dataclass(frozen=True, slots=True)
class Loop:
    """The settings as they were given. Units: milliseconds."""

    enabled: bool = False
    response_path: str = PATH_DEFAULT
    delay_ms: int = 0
    jitter_ms: int = 0
    max_iterations: int = ITERATIONS_DEFAULT


def path(loop: Loop) -> str:
    """Return the path at which an output says how much remains (Z9)."""
    return loop.response_path or PATH_DEFAULT


def cap(loop: Loop) -> int:
    """Return how many iterations one run may have (Z26, Z27)."""
    return loop.max_iterations if loop.max_iterations > 0 else ITERATIONS_DEFAULT


def delay(loop: Loop, share: float) -> timedelta:
    """Return the time from the end of an attempt to its continuation (Z21, Z22).

    Shapes: `share` is how much of the jitter to add, from 0 to 1; what it gives is rounded up to
        whole milliseconds, and so never more than the whole.
    """
    jitter_ms = math.ceil(max(loop.jitter_ms, 0) * share)
    return timedelta(milliseconds=max(loop.delay_ms, 0) + jitter_ms)


def longest_delay(loop: Loop) -> timedelta:
    """Return the longest time between two iterations."""
    return delay(loop, 1)
