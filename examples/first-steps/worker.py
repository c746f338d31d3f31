"""A worker that polls `/v1`: its job is locked for 30 s, and comes again if the worker dies."""

from __future__ import annotations

import contextlib
import json
import os
import urllib.request
from typing import Any

URL = os.environ.get("HEADRACE_URL", "http://127.0.0.1:8080") + "/v1"
TIMEOUT_S = 30  # of a call; the poll itself waits for 20


def work(job: dict[str, Any]) -> dict[str, Any]:
    """Do the job: this is the part that is yours."""
    total = job["variables"]["total"]
    if total < 0:
        raise ValueError(f"expected a total of 0 or more, found {total}")
    return {"receipt": f"R-{job['key']}"}


def main() -> None:
    """Work until the process is ended."""
    print(f"waiting for jobs at {URL}", flush=True)
    while True:
        asked = {"type": "charge-card", "clientId": "charge-worker", "maxJobs": 1}
        for job in call("/jobs/activate", {**asked, "waitFor": "PT20S"})["jobs"]:
            path = f"/jobs/{job['key']}"
            try:
                variables = work(job)
            except Exception as error:  # one retry fewer; with none left an incident waits
                token = job["deliveryToken"]
                call(f"{path}/fail", {"message": str(error), "deliveryToken": token})
                print(f"job {job['key']}: {error}", flush=True)
            else:
                call(f"{path}/complete", {"variables": variables})
                print(f"job {job['key']}: done", flush=True)


def call(path: str, body: dict[str, Any]) -> dict[str, Any]:
    """POST to Headrace; return the answer's JSON. Raises: HTTPError for what is refused."""
    headers = {"Content-Type": "application/json"}
    if key := os.environ.get("HEADRACE_API_KEY"):
        headers["X-API-Key"] = key
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
        return dict(json.loads(answer.read() or b"{}"))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        main()
