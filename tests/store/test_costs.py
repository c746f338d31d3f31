"""What the life of a job costs on DynamoDB; a change that adds a request or a unit shows here.

pytest -s tests/store/test_costs.py      prints the figures
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import pytest

from chalicelib.engine.state import InstanceState
from chalicelib.ports import LIVE, Query
from chalicelib.store import quotas, table
from chalicelib.store.definitions import Definition
from tests.counting import Costs, CountingTable
from tests.operations.dmn import RULE_TASK, deploy_dmn
from tests.operations.stage import Stage

WRITE_UNITS_AIM = 12  # per job of a process of three tasks; design section 9
JOBS = ("reserve", "charge", "ship")
LOOP100 = b"""<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="loops" targetNamespace="urn:loops">
  <bpmn:process id="loop100" isExecutable="true">
    <bpmn:startEvent id="s" />
    <bpmn:scriptTask id="t"><bpmn:extensionElements>
      <zeebe:script expression="=i + 1" resultVariable="i" />
      <zeebe:ioMapping><zeebe:output source="=i" target="i" /></zeebe:ioMapping>
    </bpmn:extensionElements></bpmn:scriptTask>
    <bpmn:exclusiveGateway id="g" default="on" />
    <bpmn:endEvent id="e" />
    <bpmn:sequenceFlow id="first" sourceRef="s" targetRef="t" />
    <bpmn:sequenceFlow id="then" sourceRef="t" targetRef="g" />
    <bpmn:sequenceFlow id="again" sourceRef="g" targetRef="t">
      <bpmn:conditionExpression>=i &lt; 100</bpmn:conditionExpression>
    </bpmn:sequenceFlow>
    <bpmn:sequenceFlow id="on" sourceRef="g" targetRef="e" />
  </bpmn:process>
</bpmn:definitions>"""
VARIABLES = {"order": "A-4711", "amount": Decimal("12.50"), "customer": "c-0815"}


class Counted(Stage):
    """A stage whose table counts."""

    def __init__(self) -> None:
        super().__init__()
        self.counter = CountingTable(self.table)
        self.ports = replace(self.ports, table=self.counter)
        self.figures: dict[str, Costs] = {}

    def note(self, what: str) -> Costs:
        self.figures[what] = costs = self.counter.costs()
        return costs


def show(*lines: str) -> None:
    sys.stdout.write("\n" + "\n".join(lines))


@pytest.fixture
def stage() -> Iterator[Counted]:
    made = Counted()
    yield made
    show(*(f"{what:24}{costs}" for what, costs in made.figures.items()))


def run(stage: Counted, definition: Definition) -> Costs:
    """Run an instance of three tasks from start to end, noting each step; return their sum."""
    total = Costs()

    def add(what: str) -> None:
        costs = stage.note(what)
        total.requests += costs.requests
        total.write_units += costs.write_units
        total.read_units += costs.read_units
        total.index_queries += costs.index_queries

    stage.counter.costs()
    stage.create(definition, **VARIABLES)
    add("create")
    for type_ in JOBS:
        (job,) = stage.activate(type_)
        add(f"activate {type_}")
        stage.complete(job, paid=True)
        add(f"complete {type_}")
    stage.figures["all of 3 jobs"] = total
    return total


def test_a_job_of_three_costs_at_most_twelve_write_units(stage: Counted) -> None:
    definition = stage.deploy("sequence.bpmn")
    run(stage, definition)  # the container reads the definition and takes its key blocks

    total = run(stage, definition)

    assert 0 == total.index_queries
    assert 34 == total.write_units <= WRITE_UNITS_AIM * len(JOBS)
    assert (16, Decimal(9)) == (total.requests, total.read_units)


def test_a_decision_costs_one_read_and_one_item_with_its_index_entry(stage: Counted) -> None:
    deploy_dmn(stage)

    def completed(source: str, type_: str) -> Costs:
        """Complete a first job, once to fill the container's memory and once to be counted."""
        definition = stage.deploy(source)
        for _ in range(2):
            stage.create(definition)
            (job,) = stage.activate(type_)
            stage.counter.costs()
            stage.complete(job, amount=550)
            costs = stage.note(f"complete {type_} of {source}")
        return costs

    decided, plain = completed(RULE_TASK, "before"), completed("sequence.bpmn", "reserve")

    assert 0 == decided.index_queries
    assert 1 == decided.requests - plain.requests == decided.read_units - plain.read_units
    assert 3 == decided.write_units - plain.write_units  # one of them for the entry


def test_a_small_instance_and_its_jobs_stay_below_a_kilobyte(stage: Counted) -> None:
    key = stage.create("sequence.bpmn", **VARIABLES)
    stage.activate("reserve", client="a worker with a name of some length")

    root, job = sizes_of(stage, key, table.ROOT), sizes_of(stage, key, table.JOB)

    assert max(root, job) < 1024
    show(f"root {root} bytes, locked job {job} bytes")


def test_the_root_of_a_finished_loop_stays_below_two_kilobytes(stage: Counted) -> None:
    key = stage.create(LOOP100, i=0)
    stage.pump()

    assert InstanceState.COMPLETED == stage.state(key)
    size = sizes_of(stage, key, table.ROOT)
    assert size < 2048
    show(f"root of a finished loop of 100: {size} bytes")


def sizes_of(stage: Counted, key: int, prefix: str) -> int:
    """Return the size of the largest item of an instance whose sort key begins so."""
    found = stage.table.query(
        Query(LIVE, table.instance_pk(key), first=prefix, last=table.after(prefix))
    )
    return max(quotas.size_of(item) for item in found.items)
