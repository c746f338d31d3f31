"""Instances and turns made by hand, to store and to load."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from chalicelib.engine.guards import Guard
from chalicelib.engine.keys import FIRST_BLOCK, first_key
from chalicelib.engine.state import (
    ElementInstance,
    Incident,
    Instance,
    Job,
    Record,
    RecordKey,
    Root,
    Timer,
    Variables,
    key_of,
)
from chalicelib.engine.turn import Changed, Entered, HistoryEvent, Taken, Turn
from chalicelib.profile import Profile

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
KEY = first_key(FIRST_BLOCK)
JOB = KEY + 2
TASK = KEY + 1


def seconds(number: float) -> timedelta:
    return timedelta(seconds=number)


def root(**changes: object) -> Root:
    task = ElementInstance(TASK, "charge", KEY, NOW, job=JOB)
    made = Root(
        key=KEY,
        definition_key=first_key(FIRST_BLOCK + 9) + 1,
        bpmn_process_id="order",
        definition_version=1,
        profile=Profile.ZENBPM,
        created_at=NOW,
        version=1,
        tokens=1,
        element_count=2,
        blocks=(FIRST_BLOCK,),
        next_offset=3,
        live={TASK: task},
        turn_id="t1",
    )
    return made._replace(**changes)  # type: ignore[arg-type]


def job(**changes: object) -> Job:
    made = Job(
        key=JOB,
        instance_key=KEY,
        element_id="charge",
        element_key=TASK,
        scope=KEY,
        kind="bpmn",
        type="payment:charge",
        created_at=NOW,
        ring=1,
        ring_at=NOW,
        inputs={"amount": Decimal("12.50")},
        headers={"method": "card"},
    )
    return made._replace(**changes)  # type: ignore[arg-type]


def timer(**changes: object) -> Timer:
    made = Timer(KEY + 7, KEY, "reminder", TASK, NOW + seconds(60), NOW)
    return replace(made, **changes)  # type: ignore[arg-type]


def incident(**changes: object) -> Incident:
    made = Incident(KEY + 8, KEY, "charge", TASK, "JOB_NO_RETRIES", "no card", NOW, job_key=JOB)
    return replace(made, **changes)  # type: ignore[arg-type]


def variables(**values: object) -> Variables:
    return Variables(KEY, dict(values))


def instance(the_root: Root, *records: Record) -> Instance:
    return Instance(the_root, {key_of(record): record for record in records})


START_HISTORY: tuple[HistoryEvent, ...] = (
    Changed(KEY, {"amount": Decimal("12.50")}),
    Entered(KEY + 3, "start", KEY),
    Taken(KEY + 4, "flow1"),
    Entered(TASK, "charge", KEY),
)


def start(*records: Record, **changes: object) -> Turn:
    """A turn that starts an instance with these records: one job if none are named."""
    made = records or (job(), variables(amount=Decimal("12.50")))
    after = instance(root(**changes), *made)
    guards = {key_of(record): Guard.NEW for record in made}
    return Turn(None, after, NOW, history=START_HISTORY, guards=guards)


def then(
    before: Instance,
    *records: Record,
    turn_id: str = "t2",
    gone: tuple[RecordKey, ...] = (),
    guards: Mapping[RecordKey, Guard] | None = None,
    **changes: object,
) -> Turn:
    """A turn that puts records, takes others away and changes the root."""
    kept = {key: record for key, record in before.records.items() if key not in gone}
    new = kept | {key_of(record): record for record in records}
    after_root = before.root._replace(
        version=before.root.version + 1,
        turn_id=turn_id,
        **changes,  # type: ignore[arg-type]
    )
    return Turn(before, Instance(after_root, new), NOW + seconds(1), guards=guards or {})
