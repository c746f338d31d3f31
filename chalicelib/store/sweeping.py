"""What a sweep reads: all of the live table, or only what can still wait for something.

The whole table costs by all that was ever stored, finished instances too. What is open is told by
the index of open instances, the list of scheduled jobs and the definitions, and costs by what is
open (docs/adr/0036).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum

from chalicelib.ports import LIVE, Attribute, Item, ItemKey, Page, Query, Table
from chalicelib.store import reading, table

COLLECTIONS = 25  # that are read between two looks at the time; each takes some milliseconds
SEGMENTS = 4  # of a scan: each reads some 20 MB a second, so a day is enough for 4 TB


class Of(StrEnum):
    """What the parts of a sweep look at."""

    ALL = "all"
    INSTANCES = "instances"  # those that are open
    SCHEDULED = "scheduled"  # jobs, with their rows
    STARTS = "starts"  # timer start events of the latest versions


# How many segments each is looked at in, side by side.
PARTS: Mapping[Of, int] = {
    Of.ALL: SEGMENTS,
    Of.INSTANCES: table.SHARDS,
    Of.SCHEDULED: 1,
    Of.STARTS: 1,
}
_Cursor = Mapping[str, Attribute] | None


def page(store: Table, of: Of, segment: int, segments: int, cursor: _Cursor) -> Page:
    """Read the next page of a segment; its cursor is None at the end."""
    match of:
        case Of.ALL:
            return store.scan(segment, segments, cursor)
        case Of.INSTANCES:
            shard = table.shard_pk(table.INSTANCES, segment)
            found = store.query(_listed(Query(LIVE, shard, index=table.OPEN), cursor))
            homes = [str(entry["pk"]) for entry in found.items]
        case Of.SCHEDULED:
            found = store.query(_listed(Query(LIVE, table.SCHEDULED_JOBS), cursor))
            homes = [table.scheduled_job_pk(str(entry["id"])) for entry in found.items]
        case Of.STARTS:
            found = store.query(_listed(Query(LIVE, table.DEFINITIONS), cursor))
            return Page(list(_pointers(store, found.items)), found.cursor)
    return Page(
        [item for home in homes for item in reading.every(store, Query(LIVE, home))], found.cursor
    )


def whole(store: Table) -> Iterator[Sequence[Item]]:
    """Yield the pages of the whole live table, one after the other."""
    cursor: _Cursor = None
    while True:
        found = store.scan(0, 1, cursor)
        yield found.items
        cursor = found.cursor
        if cursor is None:
            return


def _listed(query: Query, cursor: _Cursor) -> Query:
    return replace(query, limit=COLLECTIONS, cursor=cursor)


def _pointers(store: Table, definitions: Sequence[Item]) -> Iterator[Item]:
    """Yield the latest pointers that name one of these definitions: each is met once."""
    places: dict[ItemKey, int] = {
        table.latest_key(str(item["profile"]), str(item["bpmn_process_id"])): int(str(item["sk"]))
        for item in sorted(definitions, key=lambda item: str(item["sk"]))
    }
    for place, pointer in store.get_many(list(places)).items():
        if pointer["definition_key"] == places[place]:
            yield pointer
