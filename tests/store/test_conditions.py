from __future__ import annotations

import pytest

from chalicelib.engine.guards import Guard
from chalicelib.engine.state import Job, JobState, Record, Root
from chalicelib.ports import Above, Absent, AnyOf, AtMost, Condition, Equals
from chalicelib.store import conditions
from chalicelib.store.conditions import GUARDS, Asked, Clause
from chalicelib.store.moments import to_ms
from tests.store import samples
from tests.store.samples import NOW, seconds

LATER = NOW + seconds(30)
READ = samples.job(
    retries=3, attempts=1, delivery_token=4, ring=7, owner="worker", lock_until=LATER
)
ACTIVE = Equals("state", "active")
TOKEN, RING = Equals("delivery_token", 4), Equals("ring", 7)
ATTEMPTS, RETRIES = Equals("attempts", 1), Equals("retries", 3)
MS = to_ms(NOW)
FREE = AnyOf((Absent("owner"), AtMost("lock_until", MS)))
DUE = AnyOf((Absent("retry_at"), AtMost("retry_at", MS)))
HELD = (ACTIVE, Equals("owner", "me"), Above("lock_until", MS))

ROWS: list[tuple[Guard, Root | Record | None, Asked, Condition]] = [
    (Guard.START, None, Asked(), (Absent("pk"),)),
    (Guard.NEW, None, Asked(), (Absent("pk"),)),
    (Guard.TURN, samples.root(version=9), Asked(), (Equals("version", 9),)),
    (Guard.CHANGED, samples.timer(), Asked(), ()),
    (
        Guard.CLAIM,
        READ,
        Asked(now=NOW),
        (Equals("kind", "bpmn"), Equals("type", "payment:charge"), ACTIVE, DUE, FREE, RING),
    ),
    (
        Guard.EXTEND,
        READ,
        Asked(now=NOW, until=LATER, client_id="me"),
        (*HELD, AtMost("lock_until", to_ms(LATER))),
    ),
    (
        Guard.EXTEND,
        READ,
        Asked(now=NOW, until=NOW, client_id="me", token=4, rings=True),
        (*HELD, TOKEN, RING),
    ),
    (Guard.ASSIGN, READ, Asked(), (ACTIVE,)),
    (Guard.RETRIED_FAILURE, READ, Asked(), (ACTIVE, TOKEN, ATTEMPTS, RETRIES, RING)),
    (Guard.EXHAUSTING_FAILURE, READ, Asked(), (ACTIVE, TOKEN, ATTEMPTS, RETRIES)),
    (Guard.COMPLETE, READ, Asked(), (ACTIVE,)),
    (Guard.CANCEL, READ._replace(state=JobState.FAILED), Asked(), (Equals("state", "failed"),)),
    (Guard.SET_RETRIES, READ, Asked(), (ACTIVE, ATTEMPTS, RING)),
    (
        Guard.RESOLVE,
        READ,
        Asked(),
        (Equals("state", "failed"), Equals("retries_set_by_operator", False), RING),
    ),
    (Guard.RELEASE, READ, Asked(), (Equals("owner", "worker"), TOKEN, RING)),
    (Guard.RELEASE, READ._replace(owner=None), Asked(), (Absent("owner"), TOKEN, RING)),
    (Guard.RING_AGAIN, READ, Asked(), (ACTIVE, RING)),
    (
        Guard.START_MARK,
        None,
        Asked(now=NOW),
        (AnyOf((Absent("pk"), AtMost("expires_at", MS // 1000))),),
    ),
    (Guard.REQUEST, None, Asked(), (Absent("pk"),)),
    (Guard.REQUEST, None, Asked(version=2), (Equals("version", 2),)),
    (Guard.START_LOCK, None, Asked(), (Absent("pk"),)),
    (Guard.NAME, None, Asked(), (Absent("pk"),)),
    (Guard.NAME, None, Asked(holder=7), (Equals("subscription", 7),)),
    (
        Guard.START_TIMER,
        None,
        Asked(version=2, holder=7),
        (Equals("definition_key", 7), Equals("firings", 2)),
    ),
    (Guard.CLIENT_CAP, None, Asked(), (Absent("pk"),)),
    (Guard.CLIENT_CAP, None, Asked(version=2), (Equals("version", 2),)),
]


@pytest.mark.parametrize(("guard", "read", "asked", "expected"), ROWS, ids=lambda row: str(row)[:9])
def test_a_guard_demands_what_the_table_of_the_design_says(
    guard: Guard, read: Root | Record | None, asked: Asked, expected: Condition
) -> None:
    assert expected == conditions.condition(guard, read, asked)


def test_every_guard_has_a_row_and_every_clause_of_it_a_name_of_its_own() -> None:
    assert set(Guard) == GUARDS.keys() == {row[0] for row in ROWS}
    for rule in GUARDS.values():
        assert len(rule) == len({clause.name for clause in rule})


def test_a_clause_that_is_taken_out_of_the_table_is_not_demanded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept: tuple[Clause, ...] = tuple(c for c in GUARDS[Guard.RING_AGAIN] if c.name != "active")

    monkeypatch.setitem(GUARDS, Guard.RING_AGAIN, kept)

    assert (RING,) == conditions.condition(Guard.RING_AGAIN, READ)


def test_a_guard_on_the_wrong_record_or_without_a_time_is_our_own_mistake() -> None:
    wrong: list[tuple[Guard, Root | Job | None]] = [
        (Guard.COMPLETE, None),
        (Guard.CLAIM, samples.root()),
        (Guard.TURN, samples.job()),
        (Guard.CLAIM, samples.job()),
    ]
    for guard, read in wrong[1:]:
        with pytest.raises(TypeError):
            conditions.condition(guard, read)
