"""API keys as they are kept: a name, a role and a hash, never the key itself.

A key is `hr_<id>_<secret>`: the id says which item describes it, the secret is 256 random bits.
So a plain hash is enough (nobody guesses what it is of), and looking it up tells nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from chalicelib.access import Role
from chalicelib.engine.guards import Guard
from chalicelib.ports import LIVE, Delete, Item, Put, Query, Table, Written
from chalicelib.store import table
from chalicelib.store.conditions import condition
from chalicelib.store.moments import from_ms, to_ms


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One key. Shapes: `digest` is the hash of its secret, in hexadecimal."""

    id: str
    name: str
    role: Role
    digest: str
    created_at: datetime


def add(store: Table, key: ApiKey) -> bool:
    """Write a new key; False if its id is another's."""
    item: Item = {
        "name": key.name,
        "role": key.role.value,
        "digest": key.digest,
        "created_at": to_ms(key.created_at),
    }
    guarded = condition(Guard.NEW, None)
    return isinstance(store.write(Put(table.api_key_key(key.id), item, guarded)), Written)


def read(store: Table, id_: str) -> ApiKey | None:
    """Return the key of an id, None if it was never made or is revoked."""
    item = store.get(table.api_key_key(id_))
    return None if item is None else _key(item)


def read_all(store: Table) -> list[ApiKey]:
    """Return all keys, the oldest first."""
    keys: list[ApiKey] = []
    cursor = None
    while True:
        page = store.query(Query(LIVE, table.API_KEYS, cursor=cursor))
        keys += map(_key, page.items)
        cursor = page.cursor
        if cursor is None:
            return sorted(keys, key=lambda key: (key.created_at, key.id))


def remove(store: Table, id_: str) -> None:
    """Forget a key; one that is not there is forgotten already."""
    store.write(Delete(table.api_key_key(id_)))


def _key(item: Item) -> ApiKey:
    return ApiKey(
        str(item["sk"]),
        str(item["name"]),
        Role(str(item["role"])),
        str(item["digest"]),
        from_ms(int(str(item["created_at"]))),
    )
