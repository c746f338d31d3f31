"""Where what is waited for by a name is: subscriptions, publications, starts and their locks.

The keys are among those of `table.py`, whose list of them has these too.
"""

from __future__ import annotations

from chalicelib.ports import LIVE, ItemKey
from chalicelib.store import table

ALONE = "U"
BUFFERED = "B#"
WAITING = "W#"
SIGNAL_SHARDS = 16  # contracts/bpmn.md: a broadcast reaches 10,000 instances


def message_pk(name: str, key: str) -> str:
    """Return the partition of all who wait for a message of a name and key."""
    return f"N#{table.name_of(name, key)}"


def publication_key(name: str, key: str, published_ms: int, id_: str) -> ItemKey:
    """Return where a message waits for who subscribes to it later, the oldest first."""
    place = publication_place(published_ms, id_)
    return ItemKey(LIVE, message_pk(name, key), f"{BUFFERED}{place}")


def publication_place(published_ms: int, id_: str) -> str:
    """Return where a message stands among those of its name and key."""
    return f"{published_ms:013}#{id_}"


def signal_pk(name: str, shard: int) -> str:
    """Return one of the partitions of all who wait for a signal."""
    return f"G#{table.name_of(name)}#{shard:02}"


def starters_pk(kind: str, name: str) -> str:
    """Return the partition of the processes that a message or signal may start."""
    return f"B#{table.name_of(kind, name)}"


def start_lock_place(*words: str) -> str:
    """Return what names a start lock."""
    return table.name_of(*words)


def start_lock_key(place: str) -> ItemKey:
    """Return where it is said which instance has a start lock."""
    return ItemKey(LIVE, f"K#{place}", "K")


def waiting_sk(subscription: int) -> str:
    """Return the sort key of a subscription that need not wait alone."""
    return f"{WAITING}{subscription:016}"
