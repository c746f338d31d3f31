"""Start marks: the records that make what a caller asks for happen once.

A mark is put in the very transaction of what it stands for, so there is no moment at which one is
there without the other. It is kept for a day; DynamoDB removes it some time after that, and until
then whoever reads it looks at the clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from chalicelib.engine.guards import Guard
from chalicelib.ports import Put, Table, Written
from chalicelib.store import table
from chalicelib.store.conditions import Asked, condition
from chalicelib.store.moments import to_ms

KEPT = timedelta(hours=24)  # contracts/zenbpm.md leaves it open; what payment APIs promise


@dataclass(frozen=True, slots=True)
class Once:
    """A request that is to be done once: its route, the key its caller gave it, what it says.

    Shapes: `fingerprint` tells one body from another; keys of different routes are strangers; the
        mark is kept for as long as a repeat may come.
    """

    route: str
    key: str
    fingerprint: str
    kept: timedelta = KEPT


@dataclass(frozen=True, slots=True)
class Mark:
    """What was done for a request, by the key of what it made or changed."""

    fingerprint: str
    subject: int


def read(store: Table, once: Once, *, now: datetime) -> Mark | None:
    """Return the mark of a request that was done before, unless a day has passed."""
    item = store.get(table.mark_key(once.route, once.key))
    if item is None or int(str(item["expires_at"])) <= to_ms(now) // 1000:
        return None
    return Mark(str(item["fingerprint"]), int(str(item["subject"])))


def those_done(store: Table, asked: Sequence[Once], *, now: datetime) -> set[Once]:
    """Return those of several requests that were done before."""
    places = {table.mark_key(once.route, once.key): once for once in asked}
    found = store.get_many(list(places))
    seconds = to_ms(now) // 1000
    return {
        places[place] for place, item in found.items() if int(str(item["expires_at"])) > seconds
    }


def write(once: Once, subject: int, *, now: datetime) -> Put:
    """Return the write that goes with what is done once."""
    return Put(
        table.mark_key(once.route, once.key),
        {
            "fingerprint": once.fingerprint,
            "subject": subject,
            "expires_at": to_ms(now + once.kept) // 1000,
        },
        condition(Guard.START_MARK, None, Asked(now=now)),
    )


def put(store: Table, asked: Sequence[Once], token: str, *, now: datetime) -> bool:
    """Mark requests that change nothing by themselves; False if one was done before."""
    puts = [write(once, 0, now=now) for once in asked]
    done = store.write(puts[0]) if len(puts) == 1 else store.transact(puts, token)
    return isinstance(done, Written)
