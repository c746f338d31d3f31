"""What an evaluation is given from outside beside its variables; FEEL has none of it itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from chalicelib.feel.deadline import NEVER, Deadline


class Moment(NamedTuple):
    """When and by what chance something is evaluated, and how long it may take.

    Shapes: `random_bits(k)` gives a number of k random bits; without it, functions that draw give
        null.
    """

    now: datetime
    random_bits: Callable[[int], int] | None = None
    deadline: Deadline = NEVER
