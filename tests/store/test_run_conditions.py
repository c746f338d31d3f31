"""The guards of scheduled jobs demand what the pure rules say."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from chalicelib.ports import Absent, AnyOf, AtMost, Condition, Equals, Item
from chalicelib.scheduler.overlap import Lock, is_free
from chalicelib.scheduler.rows import Row, RowState
from chalicelib.store import run_conditions
from chalicelib.store.moments import to_ms
from chalicelib.store.run_conditions import RUN_GUARDS, RunClause, RunGuard, Stands
from tests.fakes.table import holds
from tests.store.samples import NOW

MS = to_ms(NOW)
ROW = Row("j", "r", 0, 0, RowState.RETRYABLE, 3, 5, NOW)
OPEN = AnyOf(tuple(Equals("state", each) for each in ("available", "scheduled", "retryable")))
STALE_MS = MS - 3_600_000 - 1

ROWS: list[tuple[RunGuard, Stands, Condition]] = [
    (RunGuard.NEW_JOB, Stands(), (Absent("pk"),)),
    (RunGuard.REPLACE_JOB, Stands(revision=7), (Equals("revision", 7),)),
    (RunGuard.DELETE_JOB, Stands(revision=7), (Equals("revision", 7),)),
    (RunGuard.INSERT_ROW, Stands(), (Absent("pk"),)),
    (
        RunGuard.BEGIN,
        Stands(row=ROW, now=NOW),
        (OPEN, Equals("attempt", 3), AtMost("due", MS)),
    ),
    (RunGuard.FINISH, Stands(row=ROW), (Equals("state", "running"), Equals("attempt", 3))),
    (
        RunGuard.TAKE_LOCK,
        Stands(run_id="r", now=NOW),
        (AnyOf((Absent("pk"), AtMost("refreshed_at", STALE_MS), Equals("run_id", "r"))),),
    ),
    (RunGuard.KEEP_LOCK, Stands(run_id="r"), (Equals("run_id", "r"),)),
    (RunGuard.RELEASE_LOCK, Stands(run_id="r"), (Equals("run_id", "r"),)),
    (
        RunGuard.ALARM,
        Stands(silent_since=NOW),
        (AnyOf((Absent("pk"), AtMost("fired_at", MS))),),
    ),
]


@pytest.mark.parametrize(("guard", "stands", "expected"), ROWS, ids=lambda row: str(row)[:20])
def test_a_guard_demands_what_it_says(guard: RunGuard, stands: Stands, expected: Condition) -> None:
    assert expected == run_conditions.condition(guard, stands)


def test_every_guard_has_a_row_and_every_clause_of_it_a_name_of_its_own() -> None:
    assert set(RunGuard) == RUN_GUARDS.keys() == {row[0] for row in ROWS}
    for rule in RUN_GUARDS.values():
        assert len(rule) == len({clause.name for clause in rule})


@pytest.mark.rule("Z90", "Z91")
@pytest.mark.parametrize("age_s", [0, 3_540, 3_600, 3_600.001, 3_601])
@pytest.mark.parametrize("run_id", ["r", "other"])
def test_a_lock_is_free_for_the_table_when_it_is_for_the_rules(age_s: float, run_id: str) -> None:
    refreshed_at: datetime = NOW - timedelta(seconds=age_s)
    lock = Lock(0, run_id, refreshed_at, refreshed_at)
    item: Item = {"pk": "p", "run_id": run_id, "refreshed_at": to_ms(refreshed_at)}

    demanded = run_conditions.condition(RunGuard.TAKE_LOCK, Stands(run_id="r", now=NOW))

    assert is_free(lock, "r", NOW) == holds(demanded, item)
    assert holds(demanded, None)


def test_a_clause_that_is_taken_out_of_the_table_is_not_demanded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: tuple[RunClause, ...] = RUN_GUARDS[RunGuard.FINISH][1:]

    monkeypatch.setitem(RUN_GUARDS, RunGuard.FINISH, kept)

    demanded = run_conditions.condition(RunGuard.FINISH, Stands(row=ROW))
    assert (Equals("attempt", 3),) == demanded


@pytest.mark.parametrize("guard", [RunGuard.BEGIN, RunGuard.TAKE_LOCK, RunGuard.ALARM])
def test_a_guard_without_what_it_rests_on_is_our_own_mistake(guard: RunGuard) -> None:
    with pytest.raises(TypeError):
        run_conditions.condition(guard, Stands())
