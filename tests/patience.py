"""Waiting for facts, and for no time: how long says only when to give up."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
PATIENCE_S = 60.0  # with what is about to happen, on a machine that is busy
LOOK_S = 0.02
LEADS_S = (2, 10, 40)  # of what is to come soon, but not before a test has prepared it


def eventually(
    holds: Callable[[], Any], patience_s: float = PATIENCE_S, look_s: float = LOOK_S
) -> bool:
    """Wait until it holds; say whether it came to."""
    until = time.monotonic() + patience_s
    while not holds():
        if time.monotonic() > until:
            return bool(holds())
        time.sleep(look_s)
    return True


def in_time(
    prepare: Callable[[datetime], T],
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    leads_s: Sequence[int] = LEADS_S,
) -> tuple[T, datetime]:
    """Prepare something for a whole second to come; return what came of it, and the second.

    If the second comes while it is prepared, it is prepared anew for a later one.
    """
    for lead_s in leads_s:
        due = now().replace(microsecond=0) + timedelta(seconds=lead_s)
        made = prepare(due)
        if now() < due:
            return made, due
    raise AssertionError(f"not prepared within {leads_s[-1]} s")


def has_ended(pid: int) -> bool:
    """Say whether a process has ended; one that nobody has waited for has."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state in "ZX"
