"""Texts of deployed models, compressed, in chunks that fit into items; they never change.

Chunks are put before the transaction that makes their definition known, so nobody sees half of it.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from chalicelib.errors import TooLarge
from chalicelib.ports import LIVE, Put, Query, Table
from chalicelib.store import reading, table

CHUNK_BYTES = 350_000  # of DynamoDB's 400 kB an item
CHUNKS_MAX = 12  # design section 3


def put(store: Table, texts: Mapping[tuple[int, str], bytes]) -> None:
    """Write texts, each under the key of a definition and a prefix. Raises: TooLarge."""
    chunks = [
        Put(table.chunk_key(key, prefix, number), {"bytes": chunk})
        for (key, prefix), text in texts.items()
        for number, chunk in enumerate(pack(text))
    ]
    for chunk in chunks:
        store.write(chunk)


def pack(text: bytes) -> list[bytes]:
    """Compress a text into chunks that fit into items. Raises: TooLarge."""
    packed = zlib.compress(text)
    if len(packed) > CHUNKS_MAX * CHUNK_BYTES:
        raise TooLarge(
            f"expected a model of at most {CHUNKS_MAX * CHUNK_BYTES} bytes when compressed, "
            f"found {len(packed)}"
        )
    return [packed[at : at + CHUNK_BYTES] for at in range(0, len(packed), CHUNK_BYTES)]


def read(store: Table, key: int, prefix: str) -> bytes:
    """Read a text that was put."""
    pk = table.chunk_key(key, prefix, 0).pk
    query = Query(LIVE, pk, first=prefix, last=table.after(prefix))
    found = [item["bytes"] for item in reading.every(store, query)]
    return zlib.decompress(b"".join(chunk for chunk in found if isinstance(chunk, bytes)))
