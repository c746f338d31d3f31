"""What an older version stored is read: samples of it are kept, and never written anew.

A change of what is stored must read them as they are. Where an older reader would misread the new,
its format number rises and a sample of the new one is added beside these.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from chalicelib import bpmn
from chalicelib.bpmn import codec
from chalicelib.bpmn.fingerprint import fingerprint
from chalicelib.engine.keys import FIRST_BLOCK, first_key
from chalicelib.engine.state import Incident, InstanceState, Job, Record, Timer, Variables
from chalicelib.ports import Item
from chalicelib.profile import Profile
from chalicelib.store import chunks, definitions, execution, items, table
from tests.fakes.table import MemoryTable
from tests.play import DIAGRAMS

KEPT = Path(__file__).parent / "kept"
STATE: dict[str, Item] = json.loads((KEPT / "state_format_1.json").read_text(encoding="utf-8"))
STATE_2: dict[str, Item] = json.loads((KEPT / "state_format_2.json").read_text(encoding="utf-8"))
PROCESS = (KEPT / "process_format_2.json").read_text(encoding="utf-8")
XML = (DIAGRAMS / "sequence.bpmn").read_bytes()
KEY = first_key(FIRST_BLOCK)
BEGAN = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def record(name: str) -> Record:
    found = items.to_record(STATE[name], {})
    assert found is not None
    return found


def test_a_root_of_format_1_is_read() -> None:
    root = items.to_root(STATE["root"])

    assert (KEY, 1, InstanceState.ACTIVE, BEGAN) == (
        root.key,
        root.version,
        root.state,
        root.created_at,
    )
    assert (3, 9, 1, 12) == (
        root.tokens,
        root.element_count,
        root.incident_count,
        root.next_offset,
    )
    assert ["charge", "body", "wait"] == [each.element_id for each in root.live.values()]
    assert KEY + 2 == root.live[KEY + 1].job
    assert BEGAN + timedelta(milliseconds=300) == root.live[KEY + 6].created_at
    assert (KEY + 7,) == tuple(root.live[KEY + 6].timers)
    assert [(KEY, "both")] == list(root.joins)
    assert [KEY + 5] == list(root.bodies)
    assert ["next"] == [move.element_id for move in root.agenda]
    assert root.parent is not None
    assert KEY - 4096 == root.parent.instance_key


def test_a_body_that_format_1_began_has_records_of_its_variables_and_results() -> None:
    (body,) = items.to_root(STATE["root"]).bodies.values()

    assert (False, None) == (body.told, body.results)


def test_a_body_of_format_2_has_its_results_and_needs_no_variables() -> None:
    """It fails when the format rises: then keep this one, and a new one beside it."""
    root = items.to_root(STATE_2["root"])
    (body,) = root.bodies.values()
    iterations = [each for each in root.live.values() if each.loop]

    assert (3, 1, True, {1: Decimal("12.50")}) == (
        *(body.total, body.completed, body.told),
        body.results,
    )
    assert [(2, True), (3, True)] == [(each.loop, each.is_untouched) for each in iterations]
    assert STATE_2["root"]["execution"] == execution.to_text(root)


def test_records_of_format_1_are_read() -> None:
    job, timer, incident = record("job"), record("timer"), record("incident")
    variables = record("variables")

    assert isinstance(job, Job)
    assert ("payment:charge", "12.50") == (job.type, str((job.inputs or {})["amount"]))
    assert isinstance(timer, Timer)
    assert BEGAN + timedelta(seconds=60) == timer.due
    assert isinstance(incident, Incident)
    assert ("no card", KEY + 2) == (incident.message, incident.job_key)
    assert isinstance(variables, Variables)
    assert {"amount": 1} == dict(variables.values)


def test_the_state_of_a_newer_version_is_not_misread() -> None:
    text = json.dumps({"format": execution.FORMAT + 1})

    with pytest.raises(execution.UnknownFormat, match="expected the state of an instance"):
        execution.from_text(text, KEY, BEGAN)


def test_a_process_of_the_kept_format_is_read_as_it_is_compiled_today() -> None:
    """It fails when the format rises: then keep this one for the next test, and a new one here."""
    (compiled,) = bpmn.parse(XML, Profile.ZENBPM)

    assert compiled == codec.from_json(PROCESS)


@pytest.mark.parametrize("old", ['{"format":1,"id":"sequence"}', "{}"])
def test_a_process_that_an_older_version_compiled_is_compiled_again(old: str) -> None:
    store = MemoryTable()
    made = definitions.Deployment(
        XML, fingerprint(XML), bpmn.parse(XML, Profile.ZENBPM), Profile.ZENBPM
    )
    (info,) = definitions.deploy(store, made, now=BEGAN, token="t").definitions
    chunks.put(store, {(info.key, table.MODEL): old.encode()})

    found: Any = definitions.get(store, info.key)

    assert found.process == codec.from_json(PROCESS)
