"""Key blocks: taken from one counter, 64 at a time, so that a start need not write to it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from chalicelib.engine.keys import FIRST_BLOCK
from chalicelib.ports import Refused, Table, Update
from chalicelib.store.caches import PerTable
from chalicelib.store.table import BLOCK_COUNTER

RESERVED = 64  # blocks a container takes at once; those it does not use are never used


@dataclass(slots=True)
class _Range:
    """The blocks a container has in hand."""

    next: int = 0
    end: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


_RANGES = PerTable(_Range)


def take(store: Table) -> int:
    """Return a block that nobody else has.

    Nothing is locked while the counter is written: of two who reserve at once, one keeps the rest
    of what it reserved, the other's rest is lost.
    """
    held = _RANGES.of(store)
    with held.lock:
        if held.next < held.end:
            held.next += 1
            return held.next - 1
    end = FIRST_BLOCK + _reserve(store)
    first = end - RESERVED
    with held.lock:
        if held.next == held.end:
            held.next, held.end = first + 1, end
    return first


def _reserve(store: Table) -> int:
    """Return how many blocks are given out, the reserved ones included.

    A lost answer that is repeated reserves twice: blocks are lost then, never given out twice.
    """
    outcome = store.write(Update(BLOCK_COUNTER, add={"taken": RESERVED}))
    if isinstance(outcome, Refused) or outcome.item is None:
        raise RuntimeError(f"expected the counter of key blocks, found {outcome}")
    return int(str(outcome.item["taken"]))
