"""What older versions left in the tables is read, and goes on: `kept` has samples of everything.

They are never written anew. A new kind of item, of element or of event needs a sample of its own:
a new file beside these, which `python -m tests.store.keeping` writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import pytest

from chalicelib import bpmn
from chalicelib.bpmn import codec
from chalicelib.bpmn.model import Element, EventType, Kind, Process
from chalicelib.engine.state import InstanceState
from chalicelib.operations import api_keys
from chalicelib.operations.dmn_decisions import Asked, get_decision_instances
from chalicelib.profile import Profile
from chalicelib.routing.messages import Place, State
from chalicelib.scheduler.rows import RowState
from chalicelib.store import (
    dmn_definitions,
    entries,
    invocations,
    lists,
    routes,
    rows,
    runs,
    scheduled_jobs,
)
from chalicelib.store.lists import Cut, WantedInstances
from tests.store.keeping import KEPT, from_text, taken
from tests.store.left import Left, go_on, leave

PROCESSES: dict[str, dict[str, str]] = json.loads((KEPT / "processes_format_2.json").read_text())
TABLES = from_text((KEPT / "tables_1.json").read_text(encoding="utf-8"))


@pytest.fixture
def stage() -> Left:
    """A stage of today on the tables as they were left."""
    made = Left()
    made.put(TABLES.at, TABLES.items)
    made.keys = dict(TABLES.keys)
    return made


# --- compiled models ---------------------------------------------------------------------------


def elements(process: Process) -> Iterator[Element]:
    for element in process.elements.values():
        yield element
        yield from element.parts


@pytest.mark.parametrize("name", PROCESSES)
def test_a_compiled_process_is_read_as_it_is_compiled_today(name: str) -> None:
    kept = PROCESSES[name]

    assert bpmn.parse(kept["xml"].encode(), Profile.ZENBPM)[0] == codec.from_json(kept["compiled"])


def test_the_samples_have_every_kind_of_element_and_event_and_all_that_one_may_have() -> None:
    kept = [codec.from_json(each["compiled"]) for each in PROCESSES.values()]
    found = [element for process in kept for element in elements(process)]

    assert set(Kind) - {Kind.PROCESS} == {element.kind for element in found}
    assert set(EventType) == {element.event_type for element in found}
    plain = [
        field.name
        for field in fields(Element)
        if all(getattr(element, field.name) == field.default for element in found)
    ]
    assert [] == plain


# --- tables ------------------------------------------------------------------------------------


def test_the_samples_have_every_kind_of_item() -> None:
    assert set() == taken(leave()).places - TABLES.places


def test_all_that_was_left_goes_on_to_its_end(stage: Left) -> None:
    states = go_on(stage)

    assert dict.fromkeys(TABLES.keys, InstanceState.COMPLETED) == states


def test_instances_and_their_history_are_listed(stage: Left) -> None:
    found = lists.list_instances(stage.table, WantedInstances(), Cut(size=100))

    assert set(TABLES.keys.values()) <= {each.root.key for each in found.items}
    history = rows.element_rows(stage.table, TABLES.keys["over"])
    assert ["start", "f", "end"] == [row.element_id for row in history.values() if not row.is_flow]
    assert 1 == len(rows.timer_rows(stage.table, TABLES.keys["timed"]))
    assert 1 == len(rows.message_rows(stage.table, TABLES.keys["told"]))
    assert 1 == len(rows.child_rows(stage.table, TABLES.keys["calls"]))


def test_decisions_and_what_they_were_made_by_are_read(stage: Left) -> None:
    made = get_decision_instances(stage.ports, Asked(), Cut()).items

    assert ["discount"] == [each.decision_id for each in made]
    model = dmn_definitions.get(stage.table, made[0].definition_key)
    assert model is not None


def test_a_scheduled_job_its_runs_and_its_invocations_are_read(stage: Left) -> None:
    (job,) = list(scheduled_jobs.every(stage.table))

    assert ("looping", True) == (job.name, job.loop.enabled)
    assert 2 == len(list(invocations.newest(stage.table, job.id)))
    assert 1 == len(runs.locks_of(stage.table, job.id))
    (run_id,) = {attempt.run_id for attempt in invocations.newest(stage.table, job.id)}
    states = [row.state for row in runs.rows_of_run(stage.table, job.id, run_id)]
    assert [RowState.COMPLETED, RowState.RETRYABLE] == states


def test_what_is_routed_is_read(stage: Left) -> None:
    def entry(channel: str, id_: str) -> Any:
        return entries.read(stage.table, Place(channel, id_), stage.clock.now())

    assert State.RESTING is entry("out", "rests").state
    assert State.WAITING is entry("in", "goes").state
    assert entries.open_group(stage.table, "g", "open") is not None
    assert routes.aggregator(stage.table, "g") is not None
    assert routes.route_from(stage.table, "in") is not None


def test_an_api_key_is_known(stage: Left) -> None:
    assert ["charge-worker"] == [key.name for key in api_keys.list_keys(stage.ports)]
