"""What must still hold for a write of a scheduled job to stand, as data.

The counterpart of `conditions.py` for definitions, locks, rows and alarm marks: one row per guard,
one named clause per condition, from which the guard-mutation test takes one at a time.
Source: contracts/scheduled-jobs.md, Z82 to Z97.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from chalicelib.ports import Absent, AnyOf, AtMost, Condition, Equals, Test
from chalicelib.scheduler.overlap import STALE_AFTER
from chalicelib.scheduler.rows import Row, RowState
from chalicelib.store.moments import to_ms

_MS = timedelta(milliseconds=1)


class RunGuard(StrEnum):
    """What a write of a scheduled job rests on."""

    NEW_JOB = "new scheduled job"  # definition: absent
    REPLACE_JOB = "replace scheduled job"  # definition: revision as read
    DELETE_JOB = "delete scheduled job"  # definition: revision as read
    INSERT_ROW = "insert row"  # row: absent
    BEGIN = "begin attempt"  # row: open, attempt as read, due
    FINISH = "finish attempt"  # row: running, attempt as read
    TAKE_LOCK = "take lock"  # lock: absent, stale, or of this very run
    KEEP_LOCK = "keep lock"  # lock: of this very run
    RELEASE_LOCK = "release lock"  # lock: of this very run
    ALARM = "alarm"  # mark: absent, or older than the window


@dataclass(frozen=True, slots=True)
class Stands:
    """What a write rests on: the row or the revision as read, the run, the time.

    Shapes: `silent_since` is when an alarm's window began.
    """

    row: Row | None = None
    run_id: str = ""
    revision: int = 0
    now: datetime | None = None
    silent_since: datetime | None = None


class RunClause(NamedTuple):
    """One condition of a row of the table."""

    name: str
    test: Callable[[Stands], Test]


def condition(guard: RunGuard, stands: Stands) -> Condition:
    """Return what a write under that guard demands of the item."""
    return tuple(clause.test(stands) for clause in RUN_GUARDS[guard])


def _row(stands: Stands) -> Row:
    if stands.row is None:
        raise TypeError("expected a row as read, found none")
    return stands.row


def _ms(moment: datetime | None) -> int:
    if moment is None:
        raise TypeError("expected a time for a write to rest on, found none")
    return to_ms(moment)


def _is_open(_: Stands) -> Test:
    return AnyOf(tuple(Equals("state", state.value) for state in RowState if state.is_open))


def _is_free(stands: Stands) -> Test:
    """Demand what `overlap.is_free` says: a lock is stale after more than an hour."""
    stale_ms = _ms(stands.now) - STALE_AFTER // _MS - 1
    return AnyOf((Absent("pk"), AtMost("refreshed_at", stale_ms), Equals("run_id", stands.run_id)))


def _is_silent_no_more(stands: Stands) -> Test:
    return AnyOf((Absent("pk"), AtMost("fired_at", _ms(stands.silent_since))))


_ABSENT = RunClause("absent", lambda _: Absent("pk"))
_ATTEMPT = RunClause("attempt as read", lambda stands: Equals("attempt", _row(stands).attempt))
_REVISION = RunClause("revision as read", lambda stands: Equals("revision", stands.revision))
_OURS = RunClause("of this run", lambda stands: Equals("run_id", stands.run_id))

RUN_GUARDS: dict[RunGuard, tuple[RunClause, ...]] = {
    RunGuard.NEW_JOB: (_ABSENT,),
    RunGuard.REPLACE_JOB: (_REVISION,),
    RunGuard.DELETE_JOB: (_REVISION,),
    RunGuard.INSERT_ROW: (_ABSENT,),
    RunGuard.BEGIN: (
        RunClause("open", _is_open),
        _ATTEMPT,
        RunClause("due", lambda stands: AtMost("due", _ms(stands.now))),
    ),
    RunGuard.FINISH: (
        RunClause("running", lambda _: Equals("state", RowState.RUNNING.value)),
        _ATTEMPT,
    ),
    RunGuard.TAKE_LOCK: (RunClause("free", _is_free),),
    RunGuard.KEEP_LOCK: (_OURS,),
    RunGuard.RELEASE_LOCK: (_OURS,),
    RunGuard.ALARM: (RunClause("silent no more", _is_silent_no_more),),
}
