"""One parallel multi-instance task of many items: does an item cost the same, however many?

In memory the operations run over the tables of the tests, whose units are counted; on the emulated
AWS that `headrace serve` starts every trigger is real, and several workers share the jobs. Up to
10,000 items are a collection with results in order; more of them pass what one variable may hold,
so they are a cardinality without results.
"""

from __future__ import annotations

import argparse
import resource
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from chalicelib import wiring
from chalicelib.engine.commands import CompleteJob, CreateInstance
from chalicelib.engine.state import Instance, InstanceState, RecordKey, Variables
from chalicelib.json_text import JsonObject
from chalicelib.local.server import Options, Server
from chalicelib.operations import advance, claims, definitions
from chalicelib.operations.claims import Activation
from chalicelib.operations.handing_out import Claimant
from chalicelib.ports import Ports
from chalicelib.profile import Profile
from chalicelib.store import definitions as stored
from chalicelib.store import instances
from tests.counting import CountingTable
from tests.operations.stage import Stage

MODEL = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="urn:bench">
  <process id="{0}" isExecutable="true"><startEvent id="start"/>
    <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="{0}"/>
      <zeebe:ioMapping><zeebe:output source="=answer" target="mine"/></zeebe:ioMapping>
      </extensionElements>
      <multiInstanceLoopCharacteristics>{1}</multiInstanceLoopCharacteristics></serviceTask>
    <sequenceFlow id="f" sourceRef="start" targetRef="work"/>
  </process></definitions>"""
COLLECTION = (
    '<extensionElements><zeebe:loopCharacteristics inputCollection="=items" inputElement="item" '
    'outputCollection="done" outputElement="=mine"/></extensionElements>'
)
CARDINALITY = "<loopCardinality>=n</loopCardinality>"
COLLECTED_MAX = 10_000
LOCK = timedelta(hours=1)  # nothing lapses while it runs
BATCH = 10


@dataclass(frozen=True)
class Run:
    """What one body of many took."""

    where: str
    items: int
    seconds: float
    units: int | None
    turns: int

    @property
    def peak_mb(self) -> int:
        """The most memory that this process had so far, tables and all."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024  # kB on Linux


def begin(ports: Ports, name: str, items: int) -> int:
    """Start the instance; return its key."""
    is_collected = items <= COLLECTED_MAX
    xml = MODEL.format(name, COLLECTION if is_collected else CARDINALITY)
    deployed = definitions.create_process_definition(ports, xml.encode(), Profile.ZENBPM)
    definition = stored.get(ports.table, deployed.definitions[0].key)
    assert definition is not None
    given: JsonObject = {"n": Decimal(items)}
    if is_collected:
        given = {"items": [Decimal(number) for number in range(items)]}
    command = CreateInstance(definition.key, definition.version, definition.profile, given)
    return advance.start(ports, definition, command).after.key


def work(ports: Ports, name: str, worker: str, is_over: Callable[[], bool]) -> None:
    """Take jobs and complete them until all is over."""
    request = Activation(name, Claimant(worker, LOCK), BATCH, timedelta(seconds=1))
    while not is_over():
        for job in claims.activate(ports, request):
            answer = job.inputs.get("item", job.inputs["loopCounter"])
            advance.advance(ports, job.key, CompleteJob(job.key, {"answer": answer}))


def check(ports: Ports, key: int, items: int) -> Instance:
    """Return the instance at its end, after a look at its results."""
    instance = instances.load(ports.table, key, [RecordKey(Variables, key)])
    assert instance is not None and instance.root.state is InstanceState.COMPLETED
    top = instance.records.get(RecordKey(Variables, key))
    if items <= COLLECTED_MAX:
        assert isinstance(top, Variables) and top.values["done"] == list(range(items))
    return instance


def in_memory(items: int) -> Run:
    """Run one body over the fakes; the queues are served by and by, as messages come."""
    stage = Stage()
    table = CountingTable(stage.table)
    ports = replace(stage.ports, table=table)
    stage.ports = ports
    began = time.perf_counter()
    key = begin(ports, "many", items)
    while stage.state(key) is InstanceState.ACTIVE:
        stage.wait(6)
        done = 0
        while (found := stage.activate("many", max_jobs=50)) and (done := done + len(found)):
            for job in found:
                answer = job.inputs.get("item", job.inputs["loopCounter"])
                advance.advance(ports, job.key, CompleteJob(job.key, {"answer": answer}))
    seconds = time.perf_counter() - began
    turns = check(ports, key, items).root.version
    return Run("memory", items, seconds, table.costs().write_units, turns)


def emulated(ports: Ports, items: int, workers: int) -> Run:
    """Run one body on the emulated AWS, with so many workers."""
    name = f"many-{items}"
    began = time.perf_counter()
    key = begin(ports, name, items)

    def is_over() -> bool:
        found = instances.load(ports.table, key)
        return found is not None and found.root.state is not InstanceState.ACTIVE

    threads = [
        threading.Thread(target=work, args=(ports, name, f"w{number}", is_over))
        for number in range(workers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    return Run("emulated AWS", items, seconds, None, check(ports, key, items).root.version)


def show(run: Run) -> None:
    """Print a row."""
    units = "" if run.units is None else f"{run.units / run.items:.1f}"
    each = f"{1000 * run.seconds / run.items:.2f}"
    cells = [run.where, f"{run.items:,}", f"{run.seconds:.0f}", each, units, run.turns, run.peak_mb]
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memory", type=int, nargs="*", default=[100, 1_000, 10_000, 100_000])
    parser.add_argument("--emulated", type=int, nargs="*", default=[2_500, 5_000, 10_000])
    parser.add_argument("--workers", type=int, default=4)
    args = parser.parse_args()
    print(
        "| where | items | s | ms an item | write units an item | turns of the parent | peak MB |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|")
    for items in args.memory:
        show(in_memory(items))
    if not args.emulated:
        return
    server = Server(Options(port=0))
    server.start()
    try:
        for items in args.emulated:
            show(emulated(wiring.ports(), items, args.workers))
    finally:
        server.stop()


if __name__ == "__main__":
    main()
