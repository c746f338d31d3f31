"""Lists of decisions that were made: by time, by definition, and of one process instance."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from chalicelib.engine.decided import DecisionMade
from chalicelib.ports import HISTORY, Item, ItemKey, Query, Table
from chalicelib.store import aliases, dmn_decisions, reading, table
from chalicelib.store.lists import MS_MAX, Cut, Listed
from chalicelib.store.moments import to_ms


@dataclass(frozen=True, slots=True)
class WantedDecisions:
    """Which decisions to list; None leaves a question open.

    Shapes: times are both included; `scope` is the process instance, or the subprocess in one,
        that called them.
    """

    definition_keys: frozenset[int] | None = None
    scope: int | None = None
    decided_from: datetime | None = None
    decided_to: datetime | None = None


def find(store: Table, wanted: WantedDecisions, cut: Cut) -> Listed[DecisionMade]:
    """Return a page of the decisions that were made."""
    if wanted.scope is not None:
        found, is_floor = list(_of_instance(store, wanted)), False
    else:
        looked = list(islice(_entries(store, wanted, cut.looks_max), cut.looks_max + 1))
        found, is_floor = looked[: cut.looks_max], len(looked) > cut.looks_max
    chosen = [each for each in found if _is_asked(each, wanted)]
    keyed = cut.sort_by == "key"
    chosen.sort(key=lambda each: each[1] if keyed else each[0], reverse=not cut.ascending)
    page = [place for _, _, place in chosen[cut.first : cut.first + cut.size]]
    read = store.get_many(page)
    made = [dmn_decisions.of_item(read[place]) for place in page if place in read]
    return Listed(made, len(chosen), is_floor)


# When and of which definition, the key, and where it is.
_Entry = tuple[tuple[int, int, int], int, ItemKey]


def _is_asked(entry: _Entry, wanted: WantedDecisions) -> bool:
    at, _, definition = entry[0]
    low = 0 if wanted.decided_from is None else to_ms(wanted.decided_from)
    high = MS_MAX if wanted.decided_to is None else to_ms(wanted.decided_to)
    is_of = wanted.definition_keys is None or definition in wanted.definition_keys
    return is_of and low <= at <= high


def _entries(store: Table, wanted: WantedDecisions, bound: int) -> Iterator[_Entry]:
    """Yield the entries of the index within the times asked for, the newest first."""
    low = to_ms(wanted.decided_from) if wanted.decided_from else 0
    high = to_ms(wanted.decided_to) if wanted.decided_to else MS_MAX
    queries = (
        Query(
            HISTORY,
            table.shard_pk(table.DECISIONS, shard),
            index=table.DECIDED,
            first=f"{max(low, 0):013}",
            last=table.after(f"{max(min(high, MS_MAX), 0):013}"),
            ascending=False,
            limit=table.page_of(bound),
        )
        for shard in range(table.SHARDS)
    )
    shards = [map(_entry, reading.every(store, query)) for query in queries]
    return heapq.merge(*shards, reverse=True)


def _of_instance(store: Table, wanted: WantedDecisions) -> Iterable[_Entry]:
    """Return what an instance, or a subprocess in it, decided, read consistently."""
    scope = wanted.scope or 0
    home = aliases.instances_of(store, [scope]).get(scope)
    if home is None:
        return
    first, last = table.DECISION, table.after(table.DECISION)
    for item in reading.every(
        store, Query(HISTORY, table.instance_pk(home), first=first, last=last)
    ):
        if item["scope"] == scope:
            yield _entry(item)


def _entry(item: Item) -> _Entry:
    told = table.listed_parts(str(item["decided_at"]))
    return told, told[1], ItemKey(HISTORY, str(item["pk"]), str(item["sk"]))
