"""A worker that polls: activate, work, then complete or fail. Python's own library is enough."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlencode

URL = os.environ.get("HEADRACE_URL", "http://127.0.0.1:8080") + "/api/v1"
TYPE = os.environ.get("JOB_TYPE", "validate-order")
BACKOFF_S = float(os.environ.get("BACKOFF_S", "1"))  # before a failure is told
POLL_MS = 20_000  # how long the server waits for a first job
TIMEOUT_S = 30  # of a call
LATER_S = 1.0  # before a call that failed on the way is repeated


def work(job: dict[str, Any]) -> dict[str, Any]:
    """Do the job: this is the part that is yours."""
    amount = job["variables"].get("amount")
    if not isinstance(amount, int | float):
        raise ValueError(f"expected a number as amount, found {amount!r}")
    return {"valid": 0 < amount <= 1_000}


def main() -> None:
    """Work until the process is ended."""
    query = {
        "type": TYPE,
        "worker": f"python-{socket.gethostname()}-{os.getpid()}",
        "maxJobs": 1,
        "requestTimeout": POLL_MS,
    }
    print(f"waiting for jobs of type {TYPE} at {URL}", flush=True)
    while True:
        for job in call("GET", f"/jobs/activate?{urlencode(query)}").get("jobs", []):
            handle(job)


def handle(job: dict[str, Any]) -> None:
    """Do one job and say what came of it."""
    try:
        variables = work(job)
    except Exception as error:
        time.sleep(BACKOFF_S)  # the job stays ours meanwhile
        left = max(0, job["retries"] - 1)
        report(job, "fail", {"retries": left, "errorMessage": str(error)})
    else:
        report(job, "complete", {"variables": variables})


def report(job: dict[str, Any], verb: str, body: dict[str, Any]) -> None:
    """Complete or fail a job; one that is over needs neither."""
    answer = call("POST", f"/jobs/{job['key']}/{verb}", body)
    print(f"job {job['key']}: {answer.get('error', verb)}", flush=True)


def call(method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """Call the server until it answers; what is refused comes back as `{"error": …}`."""
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get("HEADRACE_API_KEY"):
        headers["X-API-Key"] = key
    data = None if body is None else json.dumps(body).encode()
    while True:
        request = urllib.request.Request(URL + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                return dict(json.load(answer))
        except urllib.error.HTTPError as refusal:
            if refusal.code == 404 and method == "POST":
                return dict(json.load(refusal))
            if refusal.code < 500:
                sys.exit(f"{method} {path}: {refusal.code} {refusal.read().decode()}")
            problem = str(refusal)
        except OSError as error:
            problem = str(error)
        print(f"{method} {path}: {problem}; again in {LATER_S} s", file=sys.stderr, flush=True)
        time.sleep(LATER_S)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
