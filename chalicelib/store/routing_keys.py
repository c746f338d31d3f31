"""Where what is routed lies, beside what `table.py` names.

    ROUTING / C#<channel>, R#<route>, A#<aggregator>   declarations, in one partition: they are few
    ROUTING / F#<channel>                              the one route out of a channel
    MG#<channel and id> / M                            a message in a channel
    AG#<aggregator and key> / C                        the open group of a correlation key
    AG#<aggregator and key> / G#<group>                one that is closed

The index `listed` tells the messages of a channel, the newest last, in shards as instances are.
"""

from __future__ import annotations

from zlib import crc32

from chalicelib.ports import LIVE, ItemKey
from chalicelib.routing.messages import Place
from chalicelib.store import table
from chalicelib.store.table import SHARDS, name_of

ROUTING = "ROUTING"
CHANNEL, ROUTE, AGGREGATOR = "C#", "R#", "A#"
SOURCE = "F#"
ENTRY, GROUP = "MG#", "AG#"  # what the partitions begin with
MESSAGE, OPEN_GROUP, CLOSED_GROUP = "M", "C", "G#"


def declared_key(kind: str, name: str) -> ItemKey:
    """Return where a declaration is."""
    return ItemKey(LIVE, ROUTING, f"{kind}{name}")


def source_key(channel: str) -> ItemKey:
    """Return where the route out of a channel is."""
    return ItemKey(LIVE, ROUTING, f"{SOURCE}{channel}")


def entry_key(place: Place) -> ItemKey:
    """Return where a message in a channel is."""
    return ItemKey(LIVE, f"{ENTRY}{name_of(place.channel, place.id)}", MESSAGE)


def group_key(aggregator: str, correlation_key: str, closed: str | None = None) -> ItemKey:
    """Return where the open group of a key is, or one that is closed, by its id."""
    sk = OPEN_GROUP if closed is None else f"{CLOSED_GROUP}{closed}"
    return ItemKey(LIVE, f"{GROUP}{name_of(aggregator, correlation_key)}", sk)


def listed_in(channel: str, shard: int) -> str:
    """Return one of the index's partitions of a channel's messages."""
    return table.shard_pk(f"channel:{channel}", shard)


def listed_at(entered_ms: int, nonce: str) -> str:
    """Return where the index has a message: by the time it was put."""
    return f"{entered_ms:013}#{nonce}"


def shard_of(id_: str) -> int:
    """Return the shard that a message is listed in."""
    return crc32(id_.encode()) % SHARDS
