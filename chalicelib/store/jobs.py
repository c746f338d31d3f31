"""What is written to one job alone: each a single conditional write to its hot item.

A turn writes jobs as part of its instance (`difference.py`); a claim, an extension or a retried
failure concerns the job only and does not move the root. Those that make a new bell the live one
write ring n+1 on condition that the ring is n; the caller has rung n+1 before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from chalicelib.engine.guards import Guard
from chalicelib.engine.limits import ITEM_BYTES_MAX
from chalicelib.engine.state import BPMN, Failure, Job
from chalicelib.errors import TooLarge
from chalicelib.ports import Condition, Item, ItemKey, Put, Refused, Table, Update
from chalicelib.store import aliases, items, quotas, reading, table
from chalicelib.store.conditions import NOTHING_ASKED, Asked, condition
from chalicelib.store.difference import update


@dataclass(frozen=True, slots=True)
class Lock:
    """A worker's hold on a job: a lock until a time, or a hold without one.

    Shapes: `claim_id` is the caller's request id, by which a repeat finds what it claimed.
    """

    owner: str
    until: datetime | None = None
    duration: timedelta | None = None
    claim_id: str | None = None


@dataclass(frozen=True, slots=True)
class Lost:
    """Somebody was first; `current` is the job as it is now, None if there is none."""

    current: Job | None


def read(
    store: Table, job_keys: Iterable[int], *, whole: bool = True, kind: str | None = BPMN
) -> dict[int, Job]:
    """Read jobs, each consistently; those that are not there, or of another kind, are left out.

    Shapes: if not `whole`, then without what lies apart of a job: large inputs and outputs.
    """
    keys = list(dict.fromkeys(job_keys))
    own = {key: table.record_key(aliases.own(key), table.JOB, key) for key in keys}
    found = _read_at(store, own, whole)
    missing = [key for key in keys if key not in found]
    if missing:
        homes = aliases.instances_of(store, missing)
        moved = {
            key: table.record_key(home, table.JOB, key)
            for key, home in homes.items()
            if home != aliases.own(key)
        }
        found |= _read_at(store, moved, whole)
    return {key: job for key, job in found.items() if kind in (None, job.kind)}


def claim(store: Table, job: Job, lock: Lock, *, now: datetime) -> Job | Lost:
    """Hand the job, as read, to a worker: the delivery token rises by one."""
    after = job._replace(
        owner=lock.owner,
        lock_until=lock.until,
        lock_duration=lock.duration,
        claim_id=lock.claim_id,
        ring=job.ring + 1,
        ring_at=lock.until,
    )
    write = _set(
        job,
        after,
        ("owner", "lock_until", "lock_duration", "claim_id", "ring", "ring_at"),
        condition(Guard.CLAIM, job, Asked(now=now)),
    )
    return _write(store, job, replace(write, add={"delivery_token": 1}))


def shortens(job: Job, until: datetime) -> bool:
    """Say whether a lock until then would end before the bell of the one it has."""
    return job.lock_until is None or until < job.lock_until


def extend(
    store: Table,
    job: Job,
    client_id: str,
    until: datetime,
    *,
    now: datetime,
    token: int | None = None,
) -> Job | Lost:
    """Move the end of a client's lock; an earlier one makes ring n+1 the live bell."""
    rings = shortens(job, until)
    asked = Asked(now=now, until=until, client_id=client_id, token=token, rings=rings)
    after = job._replace(lock_until=until)
    if rings:
        after = after._replace(ring=job.ring + 1, ring_at=until)
    names = ("lock_until", "ring", "ring_at") if rings else ("lock_until",)
    return _write(store, job, _set(job, after, names, condition(Guard.EXTEND, job, asked)))


def assign(store: Table, job: Job, assignee: str | None) -> Job | Lost:
    """Say who is to do the job; None says nobody."""
    after = job._replace(assignee=assignee)
    return _write(store, job, _set(job, after, ("assignee",), condition(Guard.ASSIGN, job)))


def set_retries(store: Table, before: Job, after: Job) -> Job | Lost:
    """Write what an operator set: retries, retry time, marker, and the next ring."""
    return _change(store, Guard.SET_RETRIES, before, after)


def release(store: Table, job: Job, at: datetime) -> Job | Lost:
    """Take a lock or a hold away; the next ring is for the given time."""
    after = job._replace(
        owner=None,
        lock_until=None,
        lock_duration=None,
        claim_id=None,
        ring=job.ring + 1,
        ring_at=at,
    )
    return _change(store, Guard.RELEASE, job, after)


def ring_again(store: Table, job: Job, at: datetime) -> Job | Lost:
    """Make ring n+1 the live bell, for the given time."""
    after = job._replace(ring=job.ring + 1, ring_at=at)
    return _change(store, Guard.RING_AGAIN, job, after)


def record_retried_failure(
    store: Table,
    before: Job,
    after: Job,
    failure: Failure,
    *,
    token: str,
    mark: Put | None = None,
) -> Job | Lost:
    """Write a failure that leaves retries: the job, the failure's row, and a start mark if any.

    Shapes: `token` is a fresh random id, which makes a repeat of the same write the same.
    Raises: TooLarge if the worker's message is; nothing is written then.
    """
    place = table.failure_key(before.instance_key, before.key, failure.number)
    row = _fitting(before, items.of_record(before.instance_key, failure)[place])
    write = difference(before, after, condition(Guard.RETRIED_FAILURE, before))
    rows = [Put(place, row, condition(Guard.NEW, None)), *([] if mark is None else [mark])]
    outcome = store.transact([write, *rows], token)
    return _lost(store, before) if isinstance(outcome, Refused) else after


def _change(store: Table, guard: Guard, before: Job, after: Job) -> Job | Lost:
    return _write(store, before, difference(before, after, condition(guard, before, NOTHING_ASKED)))


def difference(before: Job, after: Job, demanded: Condition) -> Update:
    place = _place(before)
    write = update(place, _hot(before), _hot(after), demanded)
    if write is None:
        raise ValueError(f"job {before.key}: expected a change, found none")
    return write


def _set(job: Job, after: Job, names: Iterable[str], demanded: Condition) -> Update:
    """Set or remove these attributes, whatever they were when the job was read."""
    hot = _hot(after)
    return Update(
        _place(job),
        {name: hot[name] for name in names if name in hot},
        tuple(name for name in names if name not in hot),
        condition=demanded,
    )


def _write(store: Table, job: Job, write: Update) -> Job | Lost:
    outcome = store.write(write)
    if isinstance(outcome, Refused) or outcome.item is None:
        return _lost(store, job)
    return items.to_job_again(outcome.item, job)


def _lost(store: Table, job: Job) -> Lost:
    return Lost(read(store, [job.key], kind=None).get(job.key))


def _place(job: Job) -> ItemKey:
    return table.record_key(job.instance_key, table.JOB, job.key)


def _hot(job: Job) -> Item:
    return _fitting(job, items.of_record(job.instance_key, job)[_place(job)])


def _fitting(job: Job, item: Item) -> Item:
    """Return the item. Raises: TooLarge if what somebody sent does not fit into one."""
    size = quotas.size_of(item)
    if size > ITEM_BYTES_MAX:
        raise TooLarge(
            f"job {job.key}: expected at most {ITEM_BYTES_MAX} bytes an item, found {size}"
        )
    return item


def _read_at(store: Table, places: Mapping[int, ItemKey], whole: bool) -> dict[int, Job]:
    if not whole:
        hot = store.get_many(list(places.values()))
        return {key: items.to_hot_job(hot[place]) for key, place in places.items() if place in hot}
    found = reading.records(store, places.values()) if places else {}
    return {record.key: record for record in found.values() if isinstance(record, Job)}
