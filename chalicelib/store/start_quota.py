"""Starts counted against a quota: one counter, raised before a start and lowered if it is refused.

It guards nothing but the quota, so it is written alone and without a condition.
"""

from __future__ import annotations

from chalicelib.ports import Refused, Table, Update
from chalicelib.store.table import START_QUOTA


def add(store: Table, number: int) -> int:
    """Add to the starts that count, and return how many there are now."""
    outcome = store.write(Update(START_QUOTA, add={"used": number}))
    if isinstance(outcome, Refused) or outcome.item is None:
        raise RuntimeError(f"expected the counter of starts, found {outcome}")
    return int(str(outcome.item["used"]))
