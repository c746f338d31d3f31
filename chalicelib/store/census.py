"""What a sweep counts: each segment writes its share, and the last to end knows the sum.

A share is written by its segment's number, so a part that is looked at twice counts once.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import NamedTuple

from chalicelib.ports import LIVE, Attribute, Item, Query, Table, Update, Written
from chalicelib.store import reading, table
from chalicelib.store.moments import to_ms

KEPT = timedelta(days=2)  # a sweep that lasts for a day is given up
TOTAL = "total"


class Share(NamedTuple):
    """What is open in a part of the table: active instances, and jobs a worker could have."""

    instances: int = 0
    jobs: int = 0


def add(store: Table, began: datetime, segment: int, segments: int, share: Share) -> Share | None:
    """Write what a segment has; return the sum, None while other segments are still looked at."""
    own: dict[str, Attribute] = {
        f"segment_{segment}": [*share],
        "expires_at": to_ms(began + KEPT) // 1000,
    }
    outcome = store.write(Update(table.census_key(to_ms(began)), own))
    assert isinstance(outcome, Written) and outcome.item is not None  # it has no condition
    shares = [_read(outcome.item, f"segment_{number}") for number in range(segments)]
    known = [each for each in shares if each is not None]
    if len(known) < segments:
        return None
    total = Share(sum(each.instances for each in known), sum(each.jobs for each in known))
    _put(store, began, total)
    return total


def newest(store: Table) -> Share | None:
    """Return the sum of the newest sweep that came to its end; None if none did of late."""
    query = Query(LIVE, table.CENSUS, ascending=False)
    sums = (_read(item, TOTAL) for item in reading.every(store, query))
    return next((each for each in sums if each is not None), None)


def _put(store: Table, began: datetime, total: Share) -> None:
    """Write the sum that a sweep knows."""
    told: dict[str, Attribute] = {TOTAL: [*total], "expires_at": to_ms(began + KEPT) // 1000}
    store.write(Update(table.census_key(to_ms(began)), told))


def _read(item: Item, name: str) -> Share | None:
    found = item.get(name)
    if not isinstance(found, list):
        return None
    instances, jobs = found
    return Share(int(str(instances)), int(str(jobs)))
