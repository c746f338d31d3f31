"""What an item of a multi-instance activity costs, and that it costs the same however many.

pytest -s tests/store/test_many_costs.py      prints the figures
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import NamedTuple

import pytest

from chalicelib.engine.parts import AT_ONCE
from chalicelib.engine.state import InstanceState
from chalicelib.store import execution
from tests.counting import CountingQueues, CountingTable
from tests.engine.models import io, line, many, service
from tests.operations.stage import Stage

# Of one item: its share of the root's completions 2.9, history 2.3, job 5 (made, claimed,
# completed), and of its child instance and the parent 0.3.
WRITE_UNITS_MAX = 10.8
TABLE_REQUESTS_MAX = 4.8  # claimed in tens: to read it and its root, to claim and to complete it
QUEUE_REQUESTS_MAX = 0.6
WORK = service("work", extensions=io(outputs={"mine": "=answer"}))
MODEL = line(many(WORK, items="=items", item="item", results="done", result="=mine"))


class PerItem(NamedTuple):
    """What was used for one item, on average."""

    write_units: float
    table_requests: float
    queue_requests: float


def cost(items: int) -> PerItem:
    """Do a body of so many items, and count."""
    stage = Stage()
    definition = stage.deploy(MODEL)
    table, queues = CountingTable(stage.table), CountingQueues(stage.queues)
    stage.ports = replace(stage.ports, table=table, queues=queues)
    key = stage.create(definition, items=list(range(items)))
    while stage.state(key) is InstanceState.ACTIVE:
        for job in stage.activate("work", max_jobs=10):
            stage.complete(job, answer=job.inputs["item"])
        stage.wait(1)
    assert list(range(items)) == stage.variables(key)["done"]
    used = table.costs()
    return PerItem(used.write_units / items, used.requests / items, queues.requests / items)


def test_an_item_costs_the_same_however_many_there_are() -> None:
    few, more = cost(130), cost(520)
    sys.stdout.write(f"\n130 items: {few}\n520 items: {more}")

    for found in (few, more):
        assert found.write_units <= WRITE_UNITS_MAX
        assert found.table_requests <= TABLE_REQUESTS_MAX
        assert found.queue_requests <= QUEUE_REQUESTS_MAX
    assert more.write_units == pytest.approx(few.write_units, rel=0.05)


@pytest.mark.parametrize("items", [130, 520])
def test_the_parent_takes_a_turn_for_each_child_and_few_to_begin_them(items: int) -> None:
    stage = Stage()
    key = stage.create(MODEL, items=list(range(items)))
    while stage.state(key) is InstanceState.ACTIVE:
        for job in stage.activate("work", max_jobs=10):
            stage.complete(job)
        stage.wait(1)

    children = -(-items // AT_ONCE)
    assert 1 <= stage.instance(key).root.version - children <= 2


def test_a_long_execution_state_is_stored_in_a_fraction_of_its_length() -> None:
    stage = Stage()
    root = stage.instance(stage.create(MODEL, items=list(range(64)))).root
    text = execution.to_text(root)

    stored = execution.pack(text)

    assert isinstance(stored, bytes) and 4 * len(stored) < len(text)
    assert text == execution.unpack(stored)
    assert "short" == execution.pack("short") == execution.unpack("short")
