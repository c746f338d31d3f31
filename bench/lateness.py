"""How late scheduled jobs fire on `headrace serve`: from when a firing was due to its HTTP call.

Jobs that run once are created with their moments ahead: one after the other over two minutes, and
all in one second. What is measured has gone through EventBridge Scheduler, SQS, our function (one
firing message and one run message) and the HTTP client, all emulated or run in one process.
"""

from __future__ import annotations

import argparse
import os
import statistics
import threading
import time
from collections import defaultdict
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from server import Client, server

AHEAD_S = 5  # until the first is due: they are all created by then
PATIENCE_S = 60
JOBS = "/scheduler/v1/jobs"


class Endpoint(ThreadingHTTPServer):
    """Notes when each path was called for the first time."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.called_at: dict[str, float] = {}
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: Endpoint

    def do_GET(self) -> None:
        self.server.called_at.setdefault(self.path, time.time())
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def measure(client: Client, endpoint: Endpoint, name: str, dues: list[int]) -> list[float]:
    """Create a job for each due second; return the lateness of each call, in milliseconds."""
    due_of = {f"/{name}-{number}": due for number, due in enumerate(dues)}
    for path, due in due_of.items():
        job = {
            "name": path,
            "type": "http",
            "url": f"http://127.0.0.1:{endpoint.server_address[1]}{path}",
            "schedule": {"run_at": datetime.fromtimestamp(due, UTC).isoformat()},
        }
        client.call("create", "POST", JOBS, job)
    if time.time() >= min(dues):
        raise SystemExit(f"{name}: not all jobs were created before the first was due")
    deadline = max(dues) + PATIENCE_S
    while not due_of.keys() <= endpoint.called_at.keys():
        if time.time() > deadline:
            missing = len(due_of.keys() - endpoint.called_at.keys())
            raise SystemExit(f"{name}: {missing} of {len(dues)} jobs did not fire")
        time.sleep(0.1)
    return [(endpoint.called_at[path] - due) * 1000 for path, due in due_of.items()]


def report(name: str, lateness: list[float]) -> str:
    worst, mean = max(lateness), statistics.mean(lateness)
    p95 = statistics.quantiles(lateness, n=20)[-1]
    early = sum(each < 0 for each in lateness)
    return f"| {name} | {len(lateness)} | {mean:.0f} | {p95:.0f} | {worst:.0f} | {early} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=60)
    parser.add_argument("--seconds", type=int, default=120, help="over which they are spread")
    args = parser.parse_args()
    os.environ["SCHEDULER_ALLOW_PRIVATE_ADDRESSES"] = "true"
    endpoint = Endpoint()
    with server() as port:
        client = Client(port, defaultdict(list))
        print("| firings | jobs | mean ms late | p95 | worst | early |")
        print("|---|---:|---:|---:|---:|---:|")
        first = int(time.time()) + AHEAD_S
        spread = [first + number * args.seconds // args.jobs for number in range(args.jobs)]
        late = measure(client, endpoint, "spread", spread)
        print(report(f"over {args.seconds} s", late), flush=True)
        burst = [int(time.time()) + AHEAD_S] * args.jobs
        print(report("in one second", measure(client, endpoint, "burst", burst)), flush=True)


if __name__ == "__main__":
    main()
