"""What a turn did, one item per turn, and the history of an instance folded from them.

The item of a turn holds its events, each a JSON text; what does not fit into 100 kB is continued
in further items. Snapshots of variables are not stored: they are folded from the changes when
read.

    ["e", key, element id, scope]   entered       ["l", key, outputs]           left
    ["t", key]                      terminated    ["f", key, flow id]           flow taken
    ["c", scope, values, [removed]] variables changed
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_never

from chalicelib import json_text
from chalicelib.engine.turn import Changed, Entered, HistoryEvent, Left, Taken, Terminated, Turn
from chalicelib.ports import HISTORY, Attribute, Item, Put, Query, Table
from chalicelib.store import reading, table
from chalicelib.store.moments import to_ms

PART_BYTES = 100_000  # of one item of history; design section 3


def puts(turn: Turn) -> list[Put]:
    """Return the writes that record a turn: at least one, for it also says which turn it was."""
    root, now = turn.after.root, to_ms(turn.at)
    return [
        Put(
            table.history_key(root.key, root.version, number),
            {"turn_id": root.turn_id, "at": now, "events": part},
        )
        for number, part in enumerate(_parts(turn.history))
    ]


def turn_id(store: Table, instance_key: int, version: int) -> str | None:
    """Return which turn made that version of a root, None if none did (yet)."""
    item = store.get(table.history_key(instance_key, version))
    return None if item is None else str(item["turn_id"])


def events(store: Table, instance_key: int) -> Iterator[tuple[int, HistoryEvent]]:
    """Yield all that happened in an instance, in order, with its epoch milliseconds."""
    query = Query(HISTORY, table.instance_pk(instance_key))
    for item in reading.every(store, query):
        yield from _events(item)


def _parts(history: tuple[HistoryEvent, ...]) -> list[list[Attribute]]:
    parts: list[list[Attribute]] = []
    texts: list[Attribute] = []
    total = 0
    for event in history:
        text = json_text.dumps(_to_row(event))
        size = len(text.encode()) + 1
        if texts and total + size > PART_BYTES:
            parts.append(texts)
            texts, total = [], 0
        texts.append(text)
        total += size
    return [*parts, texts]


def _to_row(event: HistoryEvent) -> list[Any]:
    match event:
        case Entered(key, element_id, scope):
            return ["e", key, element_id, scope]
        case Left(key, outputs):
            return ["l", key, outputs]
        case Terminated(key):
            return ["t", key]
        case Taken(key, flow_id):
            return ["f", key, flow_id]
        case Changed(scope, values, removed):
            return ["c", scope, values, list(removed)]
        case _:
            assert_never(event)


def _events(item: Item) -> Iterator[tuple[int, HistoryEvent]]:
    at, texts = item["at"], item["events"]
    assert isinstance(at, int) and isinstance(texts, list)
    for text in texts:
        yield at, _from_text(str(text))


def _from_text(text: str) -> HistoryEvent:
    match json_text.loads(text):
        case ["e", key, element_id, scope]:
            return Entered(int(key), element_id, int(scope))
        case ["l", key, outputs]:
            return Left(int(key), outputs)
        case ["t", key]:
            return Terminated(int(key))
        case ["f", key, flow_id]:
            return Taken(int(key), flow_id)
        case ["c", scope, values, removed]:
            return Changed(int(scope), values, tuple(removed))
        case _:
            raise ValueError(f"expected an event of history, found {text[:100]}")
