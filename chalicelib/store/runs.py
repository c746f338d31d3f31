"""Rows and overlap locks of scheduled jobs: taken, begun and finished, each in one write.

A row and the lock of its index are written together: under `skip` no row is ever inserted or
begun without the lock (Z82, Z97). Finished rows are kept for some days, so that a late duplicate
of a message still finds them; what was never finished goes much later, for nobody runs it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum

from chalicelib.ports import LIVE, Delete, Item, ItemKey, Put, Query, Refused, Table, Update, Write
from chalicelib.scheduler.overlap import Lock, is_free
from chalicelib.scheduler.rows import Row, RowState
from chalicelib.store import fields, reading, table
from chalicelib.store.invocations import Invocation
from chalicelib.store.invocations import write as written
from chalicelib.store.moments import to_ms
from chalicelib.store.run_conditions import RunGuard, Stands, condition

FINISHED_KEPT = timedelta(days=15)  # a queue keeps a message for 14 (SQS quota)
OPEN_KEPT = timedelta(days=60)  # after a row was due, or a lock refreshed: nobody waits for it
TOKEN_LENGTH = 30  # of a caller's token, to which the number of the write is added


@dataclass(frozen=True, slots=True)
class Inserted:
    """The row is there, and its lock is taken if it needs one."""

    row: Row


@dataclass(frozen=True, slots=True)
class Known:
    """The row was there before: the firing came again."""

    row: Row


@dataclass(frozen=True, slots=True)
class Held:
    """Another run has the pool index; nothing was written."""

    lock: Lock | None


@dataclass(frozen=True, slots=True)
class Begun:
    """The attempt is ours to make."""

    row: Row


@dataclass(frozen=True, slots=True)
class Changed:
    """The row is not as it was read; nothing was written."""

    row: Row | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """What the end of an attempt writes.

    Shapes: `row` is as read and running, `after` what becomes of it; `next_row` the continuation;
        `goes_on` keeps the lock, else it is released, if the run takes locks at all; `done` is
        the write that marks a one-off as done.
    """

    row: Row
    after: Row
    invocation: Invocation
    now: datetime
    locks: bool
    next_row: Row | None = None
    done: Put | None = None

    @property
    def goes_on(self) -> bool:
        return self.next_row is not None or not self.after.state.is_final


class Finished(Enum):
    """What came of the end of an attempt."""

    RECORDED = "recorded"
    LOST = "lost"  # the row moved on without us; nothing was written
    EDITED = "edited"  # the definition is of another revision; nothing was written


_ROW = (
    *fields.plain("job_id", "run_id", "pool_idx", "iteration"),
    *fields.words("state", RowState),
    *fields.plain("attempt", "budget"),
    *fields.times("due", "started_at"),
)
_MOVING = ("state", "attempt", "due", "started_at", "expires_at")  # what changes of a row
_LOCK = (*fields.plain("pool_idx", "run_id"), *fields.times("since", "refreshed_at"))


# --- reading -----------------------------------------------------------------------------------


def read(store: Table, job_id: str, run_id: str, pool_idx: int, iteration: int) -> Row | None:
    """Return a row."""
    item = store.get(table.row_key(job_id, run_id, pool_idx, iteration))
    return None if item is None else to_row(item)


def rows_of_run(store: Table, job_id: str, run_id: str) -> list[Row]:
    """Return all rows of a firing, by pool index and iteration."""
    prefix = table.rows_prefix(run_id)
    pk = table.scheduled_job_pk(job_id)
    found = reading.every(store, Query(LIVE, pk, first=prefix, last=table.after(prefix)))
    return [to_row(item) for item in found]


def latest_row(store: Table, job_id: str, run_id: str, pool_idx: int) -> Row | None:
    """Return the row of a run's last iteration so far."""
    prefix = f"{table.rows_prefix(run_id)}{pool_idx:02}#"
    pk = table.scheduled_job_pk(job_id)
    last = Query(LIVE, pk, first=prefix, last=table.after(prefix), ascending=False, limit=1)
    return next((to_row(item) for item in store.query(last).items), None)


def locks_of(store: Table, job_id: str) -> list[Lock]:
    """Return the lock entries of a job, stale ones too, by pool index."""
    pk = table.scheduled_job_pk(job_id)
    query = Query(LIVE, pk, first=table.POOL_LOCK, last=table.after(table.POOL_LOCK))
    return [_to_lock(item) for item in reading.every(store, query)]


def to_row(item: Mapping[str, object]) -> Row:
    """Read a row's item."""
    return Row(**fields.read(_ROW, item))  # type: ignore[arg-type]


def _to_lock(item: Item) -> Lock:
    return Lock(**fields.read(_LOCK, item))


# --- writing -----------------------------------------------------------------------------------


def insert(
    store: Table, row: Row, *, locks: bool, now: datetime, token: str
) -> Inserted | Known | Held:
    """Take the index's lock and insert the row, both or neither (Z82, Z97)."""
    put = Put(_place(row), _item(row, now), condition(RunGuard.INSERT_ROW, Stands()))
    if not locks:
        outcome = store.write(put)
        if isinstance(outcome, Refused) and outcome.item is not None:
            return Known(to_row(outcome.item))
        return Inserted(row)
    outcome = store.transact([_take(row, now), put], token)
    if not isinstance(outcome, Refused):
        return Inserted(row)
    if outcome.index == 1 and outcome.item is not None:
        return Known(to_row(outcome.item))
    known = read(store, row.job_id, row.run_id, row.pool_idx, row.iteration)
    if known is not None:  # its run is over, and another one has the index since
        return Known(known)
    return Held(None if outcome.item is None else _to_lock(outcome.item))


def drop(store: Table, row: Row, *, now: datetime) -> None:
    """Let a row never be inserted: its firing found the index held, and may be delivered again.

    So it does not run later either, when the index is free (Z83).
    """
    dropped = replace(row, state=RowState.CANCELLED)
    store.write(Put(_place(row), _item(dropped, now), condition(RunGuard.INSERT_ROW, Stands())))


def begin(
    store: Table, row: Row, begun: Row, *, locks: bool, now: datetime, token: str
) -> Begun | Changed | Held:
    """Begin the next attempt at a row as read; the lock is refreshed (Z88), or taken again.

    A run has lost its lock where it waited for longer than an hour, or where an operator removed
    the entry; if nobody took it since, the run takes it again.
    """
    asked = Stands(row=row, now=now)
    update = _update(begun, now, RunGuard.BEGIN, asked)
    if not locks:
        outcome = store.write(update)
        return _lost(outcome) if isinstance(outcome, Refused) else Begun(begun)
    outcome = store.transact([update, _keep(row, now)], f"{token[:TOKEN_LENGTH]}-0")
    if isinstance(outcome, Refused) and outcome.index == 1:
        lock = None if outcome.item is None else _to_lock(outcome.item)
        if not is_free(lock, row.run_id, now):
            return Held(lock)
        outcome = store.transact([update, _take(row, now)], f"{token[:TOKEN_LENGTH]}-1")
        if isinstance(outcome, Refused) and outcome.index == 1:
            return Held(None if outcome.item is None else _to_lock(outcome.item))
    return _lost(outcome) if isinstance(outcome, Refused) else Begun(begun)


def give_up(store: Table, row: Row, after: Row, *, now: datetime) -> bool:
    """End a row as read without an attempt; False if somebody was first."""
    update = _update(after, now, RunGuard.BEGIN, Stands(row=row, now=now))
    return not isinstance(store.write(update), Refused)


def finish(store: Table, asked: Finish, *, token: str) -> Finished:
    """Write the end of an attempt, with all that follows from it, in one transaction.

    A lock that was taken over, or removed, is left alone (Z93).
    """
    stands = Stands(row=asked.row)
    writes: list[Write] = [
        _update(asked.after, asked.now, RunGuard.FINISH, stands),
        written(asked.invocation),
    ]
    if asked.next_row is not None:
        item = _item(asked.next_row, asked.now)
        absent = condition(RunGuard.INSERT_ROW, Stands())
        writes.append(Put(_place(asked.next_row), item, absent))
    if asked.done is not None:
        writes.append(asked.done)
    lock: Write = _keep(asked.row, asked.now) if asked.goes_on else _release(asked.row)
    attempts: Sequence[list[Write]] = [[*writes, lock], writes] if asked.locks else [writes]
    for number, each in enumerate(attempts):
        outcome = store.transact(each, f"{token[:TOKEN_LENGTH]}-{number}")
        if not isinstance(outcome, Refused):
            return Finished.RECORDED
        refused = each[outcome.index]
        if refused is asked.done:
            return Finished.EDITED
        if refused is not lock:
            return Finished.LOST
    return Finished.LOST


def unlock(store: Table, job_id: str, pool_idx: int) -> None:
    """Remove a lock entry, whosever it is."""
    store.write(Delete(table.pool_lock_key(job_id, pool_idx)))


def _take(row: Row, now: datetime) -> Put:
    lock = Lock(row.pool_idx, row.run_id, now, now)
    return Put(
        table.pool_lock_key(row.job_id, row.pool_idx),
        fields.write(_LOCK, lock) | {"expires_at": _seconds(now + OPEN_KEPT)},
        condition(RunGuard.TAKE_LOCK, Stands(run_id=row.run_id, now=now)),
    )


def _keep(row: Row, now: datetime) -> Update:
    return Update(
        table.pool_lock_key(row.job_id, row.pool_idx),
        {"refreshed_at": to_ms(now), "expires_at": _seconds(now + OPEN_KEPT)},
        condition=condition(RunGuard.KEEP_LOCK, Stands(run_id=row.run_id)),
    )


def _release(row: Row) -> Delete:
    return Delete(
        table.pool_lock_key(row.job_id, row.pool_idx),
        condition(RunGuard.RELEASE_LOCK, Stands(run_id=row.run_id)),
    )


def _update(after: Row, now: datetime, guard: RunGuard, stands: Stands) -> Update:
    item = _item(after, now)
    changed = {name: item[name] for name in _MOVING if name in item}
    return Update(_place(after), changed, condition=condition(guard, stands))


def _item(row: Row, now: datetime) -> Item:
    ends = now + FINISHED_KEPT if row.state.is_final else max(now, row.due) + OPEN_KEPT
    return fields.write(_ROW, row) | {"expires_at": _seconds(ends)}


def _lost(outcome: Refused) -> Changed:
    return Changed(None if outcome.item is None else to_row(outcome.item))


def _place(row: Row) -> ItemKey:
    return table.row_key(row.job_id, row.run_id, row.pool_idx, row.iteration)


def _seconds(moment: datetime) -> int:
    return to_ms(moment) // 1000
