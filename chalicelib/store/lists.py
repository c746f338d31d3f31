"""Lists across instances: few indexes, a bound on what is looked at, the newest first.

The indexes tell when an instance was made and of which definition; all else is read from the
items themselves, consistently. A list looks at no more than LIST_MAX index entries, and says when
it stopped there. Nothing here runs when an instance is created or a job handed out or completed.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Generic, NamedTuple, TypeVar

from chalicelib.engine.state import (
    BPMN,
    ElementInstance,
    Incident,
    Instance,
    InstanceState,
    Job,
    JobState,
    RecordKey,
    Root,
    Variables,
    key_of,
)
from chalicelib.ports import LIVE, Item, Query, Table
from chalicelib.store import aliases, instances, items, jobs, reading, table
from chalicelib.store.moments import to_ms

LIST_MAX = 10_000  # index entries, or jobs, that one list looks at; design section 3
QUERY_COSTS = 10  # entries that a query for one instance's jobs counts for
MS_MAX = 10**13 - 1  # of the thirteen digits in an index entry: the year 2286

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Listed(Generic[T]):
    """One page of what was found; `total` counts all of it.

    Shapes: `is_floor` says that the search stopped at its bound, so there may be more.
    """

    items: Sequence[T]
    total: int
    is_floor: bool = False


@dataclass(frozen=True, slots=True)
class Cut:
    """Which part of a list is asked for, in which order, and how much is looked at for it."""

    first: int = 0
    size: int = 10
    sort_by: str = "created_at"
    ascending: bool = False
    looks_max: int = LIST_MAX

    def page_of(self, found: Sequence[T], *, is_floor: bool = False) -> Listed[T]:
        """Return the part of what was found, all of it in the order that is asked for."""
        return Listed(found[self.first : self.first + self.size], len(found), is_floor)

    def page_by_time(self, found: Sequence[T]) -> Listed[T]:
        """Return the part of what was found in the order of time."""
        return self.page_of(found if self.ascending else found[::-1])


@dataclass(frozen=True, slots=True)
class WantedInstances:
    """Which instances to list; None leaves a question open.

    Shapes: times are both included; `element_id` is that of an element instance that is live;
        `is_stuck` asks for a token at the top that an incident keeps from going on,
        `has_incident` for any incident that is open; one that `includes_parts` asks for the child
        instances that do parts of multi-instance bodies, too.
    """

    definition_keys: frozenset[int] | None = None
    states: frozenset[InstanceState] | None = None
    is_stuck: bool | None = None
    has_incident: bool | None = None
    business_key: str | None = None
    element_id: str | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None
    includes_parts: bool = False

    @property
    def asks_roots(self) -> bool:
        """Whether the index does not tell; of a part it does not tell the definition."""
        return (self.includes_parts and self.definition_keys is not None) or any(
            question is not None
            for question in (
                self.states,
                self.is_stuck,
                self.has_incident,
                self.business_key,
                self.element_id,
            )
        )


@dataclass(frozen=True, slots=True)
class WantedJobs:
    """Which jobs to list; None leaves a question open.

    Shapes: `scope` is the element instance that owns the variables the job sees; `parts` are the
        instances that do parts of what the key names, whose jobs are its own; `is_held` asks
        whether somebody has it at the moment `at`, `transition` about which step the listeners of a
        user task are asked, "" for none.
    """

    instance_key: int | None = None
    scope: int | None = None
    parts: Sequence[int] = ()
    type: str | None = None
    states: frozenset[JobState] | None = None
    assignee: str | None = None
    candidate_group: str | None = None
    candidate_user: str | None = None
    transition: str | None = None
    is_assigned: bool | None = None
    kind: str = BPMN
    is_held: bool | None = None
    at: datetime | None = None


class Entry(NamedTuple):
    """What the index says of an instance, or of an incident (which has no definition)."""

    created_ms: int
    key: int
    definition_key: int


_OPEN_JOBS = frozenset({JobState.ACTIVE, JobState.FAILED})
# Upstream's order: active, completed, failed, terminated (contracts/zenbpm.md section 1.4).
_STATE_ORDER = {
    InstanceState.ACTIVE: 0,
    InstanceState.COMPLETED: 1,
    InstanceState.TERMINATING: 3,
    InstanceState.TERMINATED: 3,
}
_STUCK = 2


def _state_order(root: Root) -> int:
    is_stuck = root.state is InstanceState.ACTIVE and root.is_stuck
    return _STUCK if is_stuck else _STATE_ORDER[root.state]


# By the names of fields; what is equal is in the order of creation, so pages do not overlap.
INSTANCE_ORDERS: Mapping[str, Callable[[Root], Any]] = {
    "created_at": lambda root: (root.created_at, root.key),
    "key": lambda root: root.key,
    "state": lambda root: (_state_order(root), root.created_at, root.key),
    "business_key": lambda root: (root.business_key or "", root.created_at, root.key),
    "bpmn_process_id": lambda root: (root.bpmn_process_id, root.created_at, root.key),
}
JOB_ORDERS: Mapping[str, Callable[[Job], Any]] = {
    "created_at": lambda job: (job.created_at, job.key),
    "key": lambda job: job.key,
    "type": lambda job: (job.type, job.key),
    "state": lambda job: (list(JobState).index(job.state), job.key),
}


# --- instances ---------------------------------------------------------------------------------


def list_instances(store: Table, wanted: WantedInstances, cut: Cut) -> Listed[Instance]:
    """Return a page of process instances, each with the variables of its top scope."""
    is_open = wanted.states is not None and wanted.states <= items.OPEN_STATES
    entries, is_floor = newest(
        store, table.OPEN if is_open else table.LISTED, cut.looks_max, wanted
    )
    found = [entry for entry in entries if _is_of(entry, wanted)]
    if wanted.asks_roots or cut.sort_by != "created_at":
        matching = [root for root in roots(store, found) if _matches(root, wanted)]
        matching.sort(key=INSTANCE_ORDERS[cut.sort_by], reverse=not cut.ascending)
        keys = [root.key for root in matching]
    else:
        keys = [entry.key for entry in (found[::-1] if cut.ascending else found)]
    page = keys[cut.first : cut.first + cut.size]
    return Listed(whole(store, page), len(keys), is_floor)


def newest(
    store: Table,
    index: str,
    bound: int,
    wanted: WantedInstances | None = None,
    kind: str = table.INSTANCES,
) -> tuple[list[Entry], bool]:
    """Return the newest entries of an index, at most so many, and whether there are more."""
    entries = _entries(store, index, kind, wanted or WantedInstances(), bound)
    looked = list(islice(entries, bound + 1))
    return looked[:bound], len(looked) > bound


def _entries(
    store: Table, index: str, kind: str, wanted: WantedInstances, bound: int
) -> Iterator[Entry]:
    """Yield the entries of all shards within the times asked for, the newest first."""
    low = to_ms(wanted.created_from) if wanted.created_from else 0
    high = to_ms(wanted.created_to) if wanted.created_to else MS_MAX
    queries = (
        Query(
            LIVE,
            table.shard_pk(kind, shard),
            index=index,
            first=f"{low:013}",
            last=table.after(f"{min(high, MS_MAX):013}"),
            ascending=False,
            limit=table.page_of(bound),
        )
        for shard in range(table.SHARDS)
    )
    shards = [map(_entry, reading.every(store, query)) for query in queries]
    return heapq.merge(*shards, reverse=True)


def _entry(item: Item) -> Entry:
    return Entry(*table.listed_parts(str(item["listed_at"])))


def _is_of(entry: Entry, wanted: WantedInstances) -> bool:
    if entry.definition_key == 0:  # a part of a body
        return wanted.includes_parts
    return wanted.definition_keys is None or entry.definition_key in wanted.definition_keys


def _matches(root: Root, wanted: WantedInstances) -> bool:
    return (
        (wanted.definition_keys is None or root.definition_key in wanted.definition_keys)
        and (wanted.states is None or root.state in wanted.states)
        and (wanted.is_stuck is None or wanted.is_stuck is root.is_stuck)
        and (wanted.has_incident is None or wanted.has_incident is (root.incident_count > 0))
        and (wanted.business_key is None or root.business_key == wanted.business_key)
        and (
            wanted.element_id is None
            or any(_is_at(element, wanted.element_id) for element in root.live.values())
        )
    )


def _is_at(element: ElementInstance, element_id: str) -> bool:
    return element.element_id == element_id and not element.is_listening


def roots(store: Table, entries: Iterable[Entry]) -> list[Root]:
    """Read the roots of index entries, each consistently; those that are gone are left out."""
    found = store.get_many([table.root_key(entry.key) for entry in entries])
    return [items.to_root(item) for item in found.values()]


def whole(store: Table, keys: Sequence[int]) -> list[Instance]:
    """Read instances in that order, as far as they are there, with their top scopes' variables."""
    found = instances.root_items(store, keys)
    read = [instances.of_item(found[key]) for key in keys if key in found]
    bare = [each.key for each in read if RecordKey(Variables, each.key) not in each.records]
    apart = [items.place_of(key, RecordKey(Variables, key)) for key in bare]
    records = reading.records(store, apart) if apart else {}
    tops = {record.scope: record for record in records.values() if isinstance(record, Variables)}
    return [
        each._replace(records={**each.records, key_of(top): top})
        if (top := tops.get(each.key)) is not None
        else each
        for each in read
    ]


# --- jobs --------------------------------------------------------------------------------------


def list_jobs(store: Table, wanted: WantedJobs, cut: Cut) -> Listed[Job]:
    """Return a page of jobs, whatever locks them or makes them wait.

    Open ones are found by what is live in open instances, all others in the collections of the
    newest instances.
    """
    if wanted.instance_key is not None:
        looked, is_floor = _jobs_around(store, wanted.instance_key, wanted.parts, cut.looks_max)
    elif wanted.states is not None and wanted.states <= _OPEN_JOBS:
        looked, is_floor = _open_jobs(store, cut.looks_max)
    else:
        looked, is_floor = _all_jobs(store, cut.looks_max)
    hot = [job for item in looked if _is_asked(job := _without_parts(item), wanted)]
    hot.sort(key=JOB_ORDERS[cut.sort_by], reverse=not cut.ascending)
    page = [job.key for job in hot[cut.first : cut.first + cut.size]]
    whole = jobs.read(store, page, kind=wanted.kind)
    return Listed([whole[key] for key in page if key in whole], len(hot), is_floor)


def _is_asked(job: Job, wanted: WantedJobs) -> bool:
    return (
        job.kind == wanted.kind
        and (wanted.scope is None or job.scope == wanted.scope or job.scope in wanted.parts)
        and (wanted.type is None or job.type == wanted.type)
        and (wanted.states is None or job.state in wanted.states)
        and (wanted.assignee is None or job.assignee == wanted.assignee)
        and (wanted.is_assigned is None or wanted.is_assigned is (job.assignee is not None))
        and wanted.candidate_group in (None, *(job.candidate_groups or "").split(","))
        and wanted.candidate_user in (None, *(job.candidate_users or "").split(","))
        and wanted.transition in (None, job.transition or "")
        and (wanted.is_held is None or wanted.is_held is is_held(job, wanted.at))
    )


def is_held(job: Job, at: datetime | None) -> bool:
    """Say whether a lock or a hold keeps a job for somebody at a moment."""
    return job.owner is not None and (job.lock_until is None or at is None or job.lock_until > at)


def _without_parts(item: Item) -> Job:
    return items.to_job(item, {place: {} for place in items.parts_of(item)})


def _jobs_of(store: Table, instance_key: int) -> Iterator[Item]:
    pk, prefix = table.instance_pk(instance_key), table.JOB
    return reading.every(store, Query(LIVE, pk, first=prefix, last=table.after(prefix)))


def _jobs_around(
    store: Table, key: int, parts: Sequence[int], looks_max: int
) -> tuple[Iterable[Item], bool]:
    """Return the jobs of the instance that a key belongs to, all of them, and those of instances
    that do parts of it; a key that names nothing has none."""
    home = aliases.instances_of(store, [key]).get(key)
    own = [] if home is None else list(_jobs_of(store, home))
    bound = max(0, looks_max - len(own))
    theirs = list(islice((item for part in parts for item in _jobs_of(store, part)), bound + 1))
    return own + theirs[:bound], len(theirs) > bound


def _open_jobs(store: Table, looks_max: int) -> tuple[Iterable[Item], bool]:
    entries, is_floor = newest(store, table.OPEN, looks_max)
    places = [
        table.record_key(root.key, table.JOB, job)
        for root in roots(store, entries)
        for element in root.live.values()
        for job in element.jobs
    ]
    found = store.get_many(places[:looks_max])
    return found.values(), is_floor or len(places) > looks_max


def _all_jobs(store: Table, looks_max: int) -> tuple[Iterable[Item], bool]:
    entries, is_floor = newest(store, table.LISTED, looks_max // QUERY_COSTS)
    found = (item for entry in entries for item in _jobs_of(store, entry.key))
    looked = list(islice(found, looks_max + 1))
    return looked[:looks_max], is_floor or len(looked) > looks_max


# --- incidents ---------------------------------------------------------------------------------


def incidents_of(store: Table, instance_key: int) -> list[Incident]:
    """Return all incidents of an instance, open and resolved, by key."""
    pk, prefix = table.instance_pk(instance_key), table.INCIDENT
    query = Query(LIVE, pk, first=prefix, last=table.after(prefix))
    found = (items.to_record(item, {}) for item in reading.every(store, query))
    return [record for record in found if isinstance(record, Incident)]
