"""Messages that wait for who subscribes to them later, beside those who wait for them.

One is put before its publisher looks who waits, and a subscription is there before it looks what
was published: whatever their order, one of the two sees the other. DynamoDB removes a message some
time after it expired; until then whoever reads it looks at the clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chalicelib import json_text
from chalicelib.json_text import JsonObject
from chalicelib.ports import LIVE, Item, Put, Query, Table, Written
from chalicelib.profile import Profile
from chalicelib.store import names, reading, table
from chalicelib.store.moments import from_ms, to_ms

NAME = "name"  # which those have not that were put before the sweeper looked at them


@dataclass(frozen=True, slots=True)
class Publication:
    """A message that was published, and until when it may be correlated."""

    id: str
    name: str
    correlation_key: str
    variables: JsonObject
    published_at: datetime
    expires_at: datetime
    profile: Profile = Profile.PRIOSTACK  # that it was published in


def put(store: Table, publication: Publication, marks: Sequence[Put], token: str) -> bool:
    """Let a message wait, and mark that it was published; False if one of the marks is there."""
    expires_ms = to_ms(publication.expires_at)
    place = names.publication_key(
        publication.name,
        publication.correlation_key,
        to_ms(publication.published_at),
        publication.id,
    )
    item: Item = {
        NAME: publication.name,
        "correlation_key": publication.correlation_key,
        "profile": publication.profile.value,
        "variables": json_text.dumps(publication.variables),
        "until": expires_ms,
        "expires_at": expires_ms // 1000 + 1,
    }
    return isinstance(store.transact([Put(place, item), *marks], token), Written)


def of_item(item: Item) -> Publication:
    """Read a message that says its own name."""
    published_ms, _, id_ = str(item["sk"]).removeprefix(names.BUFFERED).partition("#")
    values: Any = json_text.loads(str(item["variables"]))
    return Publication(
        id=id_,
        name=str(item[NAME]),
        correlation_key=str(item["correlation_key"]),
        variables=values,
        published_at=from_ms(int(published_ms)),
        expires_at=from_ms(int(str(item["until"]))),
        profile=Profile(str(item["profile"])),
    )


def read(store: Table, name: str, key: str, published_at: datetime, id_: str) -> Publication | None:
    """Return a message that waits, however late it is; None if there is none."""
    item = store.get(names.publication_key(name, key, to_ms(published_at), id_))
    if item is None:
        return None
    values: Any = json_text.loads(str(item["variables"]))
    until = from_ms(int(str(item["until"])))
    return Publication(id_, name, key, values, published_at, until)


def waiting(
    store: Table, name: str, key: str, now: datetime, behind: str = ""
) -> Iterator[Publication]:
    """Yield messages of a name and key that have not expired, the oldest first, consistently.

    Shapes: `behind` is the `place_of` one, which is not yielded again.
    """
    pk, first = names.message_pk(name, key), names.BUFFERED
    query = Query(LIVE, pk, first=f"{first}{behind}", last=table.after(first))
    for item in reading.every(store, query):
        place = str(item["sk"]).removeprefix(first)
        published_ms, _, id_ = place.partition("#")
        until = from_ms(int(str(item["until"])))
        if until > now and place != behind:
            values: Any = json_text.loads(str(item["variables"]))
            yield Publication(id_, name, key, values, from_ms(int(published_ms)), until)


def place_of(publication: Publication) -> str:
    """Return where a message stands among those of its name and key."""
    return names.publication_place(to_ms(publication.published_at), publication.id)
