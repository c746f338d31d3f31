"""Workers racing for one type's jobs: is any with two at once, and what do collisions cost?

The operations run in this process, over the emulated AWS that `headrace serve` starts. In the
first way workers activate, so SQS spreads the bells; in the second each walks through all keys in
an order of its own and claims by key, so almost every job is raced for.
"""

from __future__ import annotations

import argparse
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from chalicelib import wiring
from chalicelib.engine.commands import CreateInstance
from chalicelib.engine.state import Job
from chalicelib.errors import Conflict, Rejected
from chalicelib.local.server import Options, Server
from chalicelib.operations import advance, claims, definitions
from chalicelib.operations.claims import Activation
from chalicelib.operations.handing_out import Claimant
from chalicelib.ports import Ports, Refused, Update
from chalicelib.profile import Profile
from chalicelib.store import definitions as stored

MODEL = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="urn:bench">
  <process id="{0}" isExecutable="true"><startEvent id="start"/>
    <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="{0}"/>
    </extensionElements></serviceTask>
    <sequenceFlow id="f" sourceRef="start" targetRef="work"/>
  </process></definitions>"""
LOCK = timedelta(hours=1)  # nothing lapses while it runs
BATCH = 10


class LosingTable:
    """Passes every call on, and counts the claims that another writer won."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.lost = 0
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def write(self, write: Any) -> Any:
        outcome = self._inner.write(write)
        if isinstance(outcome, Refused) and isinstance(write, Update) and write.add:
            with self._lock:
                self.lost += 1
        return outcome


def make_jobs(ports: Ports, name: str, count: int) -> None:
    """Start so many instances, each with one job."""
    deployed = definitions.create_process_definition(
        ports, MODEL.format(name).encode(), Profile.ZENBPM
    )
    definition = stored.get(ports.table, deployed.definitions[0].key)
    assert definition is not None
    command = CreateInstance(definition.key, definition.version, definition.profile)
    for _ in range(count):
        advance.start(ports, definition, command)


def by_activation(ports: Ports, name: str, worker: int) -> list[Job]:
    """Activate batches until nothing comes any more."""
    request = Activation(name, Claimant(f"w{worker}", LOCK), BATCH, timedelta(seconds=2))
    got: list[Job] = []
    while jobs := claims.activate(ports, request):
        got += jobs
    return got


def by_key(keys: list[int]) -> Callable[[Ports, str, int], list[Job]]:
    """Return a worker that claims every key, in an order of its own."""

    def work(ports: Ports, name: str, worker: int) -> list[Job]:
        mine, got = random.Random(worker).sample(keys, len(keys)), []
        for key in mine:
            try:
                got.append(claims.claim_by_key(ports, key, Claimant(f"w{worker}", LOCK)))
            except (Rejected, Conflict):
                continue
        return got

    return work


def race(
    ports: Ports, name: str, workers: int, work: Callable[[Ports, str, int], list[Job]]
) -> tuple[list[Job], float]:
    """Let the workers loose; return all that was handed out, and the seconds it took."""
    got: list[Job] = []
    threads = [
        threading.Thread(target=lambda number=n: got.extend(work(ports, name, number)))
        for n in range(workers)
    ]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return got, time.perf_counter() - start


def report(way: str, workers: int, got: list[Job], seconds: float, lost: int) -> str:
    twice = sum(times > 1 for times in Counter(job.key for job in got).values())
    cells = [way, workers, f"{len(got):,}", twice, f"{lost:,}", f"{len(got) / seconds:.0f}"]
    return "| " + " | ".join(map(str, cells)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=10_000)
    parser.add_argument("--keyed", type=int, default=200, help="jobs claimed by key")
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 8, 32])
    args = parser.parse_args()
    server = Server(Options(port=0))
    server.start()
    try:
        ports = wiring.ports()
        print("| way | workers | handed out | to two at once | claims lost | jobs/s |")
        print("|---|---:|---:|---:|---:|---:|")
        for workers in args.workers:
            table = LosingTable(ports.table)
            counted = replace(ports, table=table)
            make_jobs(ports, f"race-{workers}", args.jobs)
            got, seconds = race(counted, f"race-{workers}", workers, by_activation)
            print(report("activate", workers, got, seconds, table.lost), flush=True)
        for workers in args.workers:
            table = LosingTable(ports.table)
            counted = replace(ports, table=table)
            make_jobs(ports, f"keyed-{workers}", args.keyed)
            request = Activation(f"keyed-{workers}", Claimant("probe", timedelta(seconds=1)), 100)
            keys: list[int] = []
            while len(keys) < args.keyed:
                keys += [job.key for job in claims.activate(ports, request)]
            time.sleep(1.5)  # the probe's locks lapse
            got, seconds = race(counted, f"keyed-{workers}", workers, by_key(keys))
            print(report("claim by key", workers, got, seconds, table.lost), flush=True)
    finally:
        server.stop()


if __name__ == "__main__":
    main()
