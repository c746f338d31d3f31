"""Workers that poll `/api/v1` while one after another is killed: does every instance end?

So many pollers, each a process of its own, work so many instances of two tasks on `headrace
serve`. Every few seconds one is killed in the middle of whatever it does, and another takes its
place. What a dead one held is released by failing it with the retries it had. At the end every
instance has to be COMPLETED, and no job may have been worked twice without a release in between.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import random
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.server import server  # noqa: E402  (after the path)

MODEL = b"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">
  <process id="soak" isExecutable="true"><startEvent id="start"/>
    <serviceTask id="first"><extensionElements><zeebe:taskDefinition type="soak"/>
    </extensionElements></serviceTask>
    <serviceTask id="second"><extensionElements><zeebe:taskDefinition type="soak"/>
    </extensionElements></serviceTask><endEvent id="end"/>
    <sequenceFlow sourceRef="start" targetRef="first"/>
    <sequenceFlow sourceRef="first" targetRef="second"/>
    <sequenceFlow sourceRef="second" targetRef="end"/>
  </process></definitions>"""
API = "/api/v1"
WORK_S = 0.02
FAILED_SHARE = 0.05  # of the jobs that a poller gets it fails, with the retries they have
LOOK_S = 1.0  # between two looks for what the dead held
PATIENCE_S = 120.0  # without any progress


class Event(NamedTuple):
    """A job was got or is about to be let go, by the clock that all processes share."""

    at: float
    what: str  # "got", "released"
    job: int


class Client:
    """Calls the server, over one connection that is made again when it breaks."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def call(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send one request until it is answered."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        media_type = "application/xml" if isinstance(body, bytes) else "application/json"
        while True:
            try:
                self._connection.request(method, API + path, data, {"Content-Type": media_type})
                answer = self._connection.getresponse()
                text = answer.read()
            except OSError:
                self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
                continue
            if answer.status < 500:
                return answer.status, json.loads(text)


def poll(port: int, name: str) -> None:
    """Work for ever, and tell what was got and let go."""
    client = Client(port)
    while True:
        path = f"/jobs/activate?type=soak&maxJobs=4&requestTimeout=5000&worker={name}"
        for job in client.call("GET", path)[1]["jobs"]:
            print(time.monotonic(), "got", job["key"], flush=True)
            time.sleep(WORK_S * random.random() * 2)
            if random.random() < FAILED_SHARE:
                print(time.monotonic(), "released", job["key"], flush=True)
                client.call("POST", f"/jobs/{job['key']}/fail", {"retries": job["retries"]})
            else:
                client.call("POST", f"/jobs/{job['key']}/complete", {"variables": {"by": name}})


class Crew:
    """The pollers: those that live, and those that were killed."""

    def __init__(self, port: int, size: int) -> None:
        self._port = port
        self.events: list[Event] = []
        self.dead: set[str] = set()
        self._living: dict[str, subprocess.Popen[str]] = {}
        self._hired = 0
        for _ in range(size):
            self.hire()

    def hire(self) -> None:
        """Start one more."""
        self._hired += 1
        name = f"w{self._hired}"
        command = [sys.executable, __file__, "--poll", str(self._port), name]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._living[name] = process
        threading.Thread(target=self._listen, args=(process,), daemon=True).start()

    def kill_one(self) -> None:
        """Kill one, whatever it does, and hire another."""
        name = random.choice(sorted(self._living))
        process = self._living.pop(name)
        process.kill()
        process.wait()
        self.dead.add(name)
        self.hire()

    def dismiss(self) -> None:
        """End them all."""
        for process in self._living.values():
            process.kill()
            process.wait()

    def _listen(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            with contextlib.suppress(ValueError):  # a line cut short by the kill
                at, what, job = line.split()
                self.events.append(Event(float(at), what, int(job)))


def release(client: Client, crew: Crew) -> int:
    """Fail what the dead hold, with the retries it has; return how many jobs that were."""
    _, page = client.call("GET", "/jobs?state=active&limit=1000")
    held = [job for job in page["items"] if job.get("worker") in crew.dead]
    for job in held:
        crew.events.append(Event(time.monotonic(), "released", job["key"]))
        client.call("POST", f"/jobs/{job['key']}/fail", {"retries": job["retries"]})
    return len(held)


def doubled(events: list[Event]) -> list[int]:
    """Return the jobs that were got twice without being let go in between."""
    by_job: dict[int, list[Event]] = defaultdict(list)
    for event in sorted(events):
        by_job[event.job].append(event)
    return [
        job
        for job, told in by_job.items()
        if any(a.what == b.what == "got" for a, b in pairwise(told))
    ]


def soak(port: int, instances: int, pollers: int, kill_every_s: float) -> bool:
    """Run it once; print the result and say whether all is well."""
    client = Client(port)
    client.call("POST", "/process-definitions", MODEL)
    began = time.monotonic()
    crew = Crew(port, pollers)
    starter = threading.Thread(target=start, args=(port, instances), daemon=True)
    starter.start()
    killed = freed = open_before = 0
    progressed = kill_at = time.monotonic()
    try:
        while True:
            if time.monotonic() >= kill_at:
                crew.kill_one()
                killed, kill_at = killed + 1, time.monotonic() + kill_every_s
            freed += release(client, crew)
            still_open = client.call("GET", "/process-instances?state=ACTIVE&limit=1")[1]["total"]
            if not still_open and not starter.is_alive():
                break
            if still_open != open_before:
                open_before, progressed = still_open, time.monotonic()
            if time.monotonic() - progressed > PATIENCE_S:
                break
            time.sleep(LOOK_S)
    finally:
        crew.dismiss()
    return told(client, crew, instances, (killed, freed, time.monotonic() - began))


def start(port: int, instances: int) -> None:
    """Start so many instances."""
    client = Client(port)
    for number in range(instances):
        body = {"bpmnProcessId": "soak", "variables": {"number": number}}
        client.call("POST", "/process-instances", body)


def told(client: Client, crew: Crew, instances: int, run: tuple[int, int, float]) -> bool:
    """Print what came of it."""
    killed, freed, seconds = run
    states = {
        state: client.call("GET", f"/process-instances?state={state}&limit=1")[1]["total"]
        for state in ("ACTIVE", "INCIDENT", "COMPLETED", "TERMINATED")
    }
    twice = doubled(crew.events)
    got = Counter(event.job for event in crew.events if event.what == "got")
    print(f"| instances | {' / '.join(f'{n} {state}' for state, n in states.items() if n)} |")
    print(f"| jobs handed out | {len(got)}, {sum(got.values())} times |")
    print(f"| workers killed | {killed} |")
    print(f"| jobs released for the dead | {freed} |")
    print(f"| jobs with two at once | {len(twice)} {twice[:5] or ''} |")
    print(f"| seconds | {seconds:.0f} |")
    return states["COMPLETED"] == instances and not twice


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=2_000)
    parser.add_argument("--pollers", type=int, default=8)
    parser.add_argument("--kill-every", type=float, default=3.0, metavar="SECONDS")
    parser.add_argument("--poll", nargs=2, metavar=("PORT", "NAME"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.poll:
        poll(int(options.poll[0]), options.poll[1])
    with server() as port:
        fine = soak(port, options.instances, options.pollers, options.kill_every)
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
