"""Life cycles per second and latencies of `headrace serve`, with few and with many waiting."""

from __future__ import annotations

import argparse
import http.client
import json
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MODEL = """<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="urn:bench">
  <process id="{id}" isExecutable="true">
    <startEvent id="start"/>
    <serviceTask id="work"><extensionElements>
      <zeebe:taskDefinition type="{type}"/>
    </extensionElements></serviceTask>
    <endEvent id="end"/>
    <sequenceFlow id="f1" sourceRef="start" targetRef="work"/>
    <sequenceFlow id="f2" sourceRef="work" targetRef="end"/>
  </process>
</definitions>"""


class Client:
    """One keep-alive connection that remembers how long each call took."""

    def __init__(self, port: int, times: dict[str, list[float]]) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self.times = times

    def call(self, name: str, method: str, path: str, body: Any = None) -> Any:
        """Send one request and return its JSON; anything but a 2xx ends the run."""
        data, content_type = body, "application/octet-stream"
        if not isinstance(body, bytes | None):
            data, content_type = json.dumps(body).encode(), "application/json"
        start = time.perf_counter()
        self.connection.request(method, path, data, {"Content-Type": content_type})
        response = self.connection.getresponse()
        text = response.read()
        self.times[name].append((time.perf_counter() - start) * 1000)
        if response.status >= 300:
            raise SystemExit(f"{method} {path}: {response.status} {text[:300]!r}")
        return json.loads(text) if text else None


@contextmanager
def server() -> Iterator[int]:
    """Run `headrace serve --ephemeral` on a free port until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        Path(sys.executable).parent / "headrace",
        "serve",
        "--ephemeral",
        "--port",
        str(port),
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        if "ready" not in process.stdout.readline():
            raise SystemExit("the server did not start")
        yield port
    finally:
        process.terminate()
        process.wait(10)


def cycle(client: Client, process_key: int, job_type: str) -> None:
    """Create one instance, activate one job of its type, complete it."""
    client.call("create", "POST", "/v1/process-instances", {"processDefinitionKey": process_key})
    request = {"type": job_type, "maxJobs": 1, "waitFor": "PT5S"}
    jobs = client.call("activate", "POST", "/v1/jobs/activate", request)["jobs"]
    for job in jobs:
        client.call("complete", "POST", f"/v1/jobs/{job['key']}/complete", {"variables": {}})


def deploy(client: Client, name: str) -> int:
    model = MODEL.format(id=name, type=name).encode()
    key: int = client.call("deploy", "POST", "/v1/process-definitions", model)[
        "processDefinitionKey"
    ]
    return key


def fill(port: int, waiting: int) -> None:
    """Leave instances of another process waiting at their job."""
    client = Client(port, defaultdict(list))
    key = deploy(client, "waiting")
    for _ in range(waiting):
        client.call("create", "POST", "/v1/process-instances", {"processDefinitionKey": key})


def run(port: int, workers: int, seconds: float) -> tuple[float, dict[str, list[float]]]:
    """Let the workers cycle for some seconds; return cycles per second and all latencies."""
    times: dict[str, list[float]] = defaultdict(list)
    key = deploy(Client(port, times), f"bench-{workers}")
    end = time.perf_counter() + seconds

    def work() -> None:
        client = Client(port, times)
        while time.perf_counter() < end:
            cycle(client, key, f"bench-{workers}")

    threads = [threading.Thread(target=work) for _ in range(workers)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(times["complete"]) / (time.perf_counter() - start), times


def percentiles(values: list[float]) -> str:
    cuts = statistics.quantiles(values, n=100)
    return " / ".join(f"{cuts[at - 1]:.1f}" for at in (50, 95, 99))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--waiting", type=int, nargs="*", default=[100, 10_000])
    parser.add_argument("--workers", type=int, nargs="*", default=[1, 8])
    args = parser.parse_args()
    print("| waiting | workers | cycles/s | create ms p50 / p95 / p99 | activate | complete |")
    print("|---:|---:|---:|---|---|---|")
    for waiting in args.waiting:
        with server() as port:
            fill(port, waiting)
            for workers in args.workers:
                rate, times = run(port, workers, args.seconds)
                cells = [percentiles(times[name]) for name in ("create", "activate", "complete")]
                print(f"| {waiting:,} | {workers} | {rate:.1f} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
