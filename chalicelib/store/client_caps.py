"""The jobs of one type that one client holds, for clients that name how many they may be.

An entry is made before its job is claimed, so there is never one too few. Entries are not removed
when a job ends: whoever finds no room looks at the jobs. Design section 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from chalicelib.engine.guards import Guard
from chalicelib.ports import Attribute, ItemKey, Put, Table, Written
from chalicelib.store.conditions import Asked, condition
from chalicelib.store.moments import from_ms, to_ms

KEPT = timedelta(days=30)  # after the client's last job; a lock lasts a day unless it is extended


class Holding(NamedTuple):
    """A job of the client's: the delivery by which it got it, and when it asked for it."""

    token: int
    since: datetime


@dataclass(frozen=True, slots=True)
class Held:
    """What a client holds. `version` is what writers race for; None: there is no record."""

    version: int | None = None
    jobs: Mapping[int, Holding] = field(default_factory=dict)


def read(store: Table, place: ItemKey) -> Held:
    """Return what a client holds, and perhaps held."""
    item = store.get(place)
    if item is None:
        return Held()
    jobs = item["jobs"]
    assert isinstance(jobs, dict)
    return Held(int(str(item["version"])), {int(key): _holding(each) for key, each in jobs.items()})


def write(
    store: Table, place: ItemKey, before: Held, jobs: Mapping[int, Holding], now: datetime
) -> Held | None:
    """Write what a client holds in place of what it held; None if it asked twice at a time."""
    after = Held((before.version or 0) + 1, jobs)
    entries: dict[str, Attribute] = {
        str(key): [token, to_ms(since)] for key, (token, since) in jobs.items()
    }
    put = Put(
        place,
        {
            "version": after.version,
            "jobs": entries,
            "expires_at": to_ms(now + KEPT) // 1000,
        },
        condition(Guard.CLIENT_CAP, None, Asked(version=before.version)),
    )
    return after if isinstance(store.write(put), Written) else None


def _holding(entry: Attribute) -> Holding:
    assert isinstance(entry, list)
    token, since = entry
    return Holding(int(str(token)), from_ms(int(str(since))))
