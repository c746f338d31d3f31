"""What a turn did, one item per turn, and the history of an instance folded from them.

The item of a turn holds its events, each a JSON text; what does not fit into 100 kB is continued
in further items. Snapshots of variables are not stored: they are folded from the changes when
read.

    ["e", key, element id, scope]   entered       ["l", key, outputs]           left
    ["i", key, body]                iteration begun
    ["p", key, element]             child instance called
    ["t", key]                      terminated    ["f", key, flow id, scope]    flow taken
    ["c", scope, values, [removed]] variables changed
    ["s", key, element id, element, name, correlation key] subscribed
    ["u", key, came]                unsubscribed
    ["a", key, element id, element, due] timer set  ["d", key, fired]           timer over
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from chalicelib import json_text
from chalicelib.engine.turn import (
    Armed,
    Changed,
    ChildCalled,
    Disarmed,
    Entered,
    HistoryEvent,
    Iterated,
    Left,
    Subscribed,
    Taken,
    Terminated,
    Turn,
    Unsubscribed,
)
from chalicelib.ports import HISTORY, Attribute, Item, Put, Query, Table
from chalicelib.store import reading, table
from chalicelib.store.moments import from_ms, to_ms

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
    first, last = table.HISTORY_OF_TURN, table.after(table.HISTORY_OF_TURN)
    query = Query(HISTORY, table.instance_pk(instance_key), first=first, last=last)
    for item in reading.every(store, query):
        yield from _events(item)


def called(item: Item) -> list[int]:
    """Return the child instances that a turn called, if this is an item of its history."""
    if "events" not in item:
        return []
    return [event.key for _, event in _events(item) if isinstance(event, ChildCalled)]


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
    row = [_TAGS[type(event)], *event]
    match event:
        case Taken(scope=0):
            row.pop()
        case Changed(removed=removed):
            row[-1] = list(removed)
        case Armed(due=due):
            row[-1] = to_ms(due)
    return row


def _events(item: Item) -> Iterator[tuple[int, HistoryEvent]]:
    at, texts = item["at"], item["events"]
    assert isinstance(at, int) and isinstance(texts, list)
    for text in texts:
        yield at, _from_text(str(text))


def _from_text(text: str) -> HistoryEvent:
    match json_text.loads(text):
        case [str() as tag, *values] if tag in _KINDS:
            kind, readers = _KINDS[tag]
            return kind(*(read(value) for read, value in zip(readers, values, strict=False)))
    raise ValueError(f"expected an event of history, found {text[:100]}")


def _same(value: Any) -> Any:
    return value


def _moment(value: Any) -> datetime:
    return from_ms(int(value))


# What each tag stands for, and how the members of its row are read.
_KINDS: Mapping[str, tuple[Callable[..., HistoryEvent], tuple[Callable[[Any], Any], ...]]] = {
    "e": (Entered, (int, str, int)),
    "i": (Iterated, (int, int)),
    "p": (ChildCalled, (int, int)),
    "l": (Left, (int, _same)),
    "t": (Terminated, (int,)),
    "f": (Taken, (int, str, int)),
    "c": (Changed, (int, _same, tuple)),
    "a": (Armed, (int, str, int, _moment)),
    "d": (Disarmed, (int, bool)),
    "s": (Subscribed, (int, str, int, str, _same)),
    "u": (Unsubscribed, (int, bool)),
}
_TAGS = {kind: tag for tag, (kind, _) in _KINDS.items()}
