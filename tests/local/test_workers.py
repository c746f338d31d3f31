"""The workers of `examples` do what their pages say, against a running server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from chalicelib.json_text import JsonObject
from infra.package import ROOT
from tests.local.serving import Served, environment, serving
from tests.patience import PATIENCE_S, eventually

pytestmark = pytest.mark.aws

FOLDER = ROOT / "examples" / "workers"
FIRST_STEPS = ROOT / "examples" / "first-steps"
MODEL = (FOLDER / "order.bpmn").read_bytes()
WORKERS = {
    "python": [sys.executable, "worker.py"],
    "node": ["node", "worker.mjs"],
    "bash": ["bash", "worker.sh"],
}
FIRST_WORKER = [sys.executable, str(FIRST_STEPS / "worker.py")]
NEEDED = {"python": (), "node": ("node",), "bash": ("bash", "curl", "jq")}


def call(served: Served, path: str, body: Any = None, media_type: str = "application/json") -> Any:
    """Call `/api/v1`; bytes are sent as they are."""
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    headers = {"Content-Type": media_type}
    request = urllib.request.Request(f"{served.client.url}/api/v1{path}", data, headers)
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return json.load(answer)


def start(served: Served, **variables: Any) -> int:
    body = {"bpmnProcessId": "order-process", "variables": variables}
    return int(call(served, "/process-instances", body)["key"])


@contextmanager
def working(served: Served, worker: list[str]) -> Iterator[None]:
    """Run a worker until the block is left."""
    variables = environment(HEADRACE_URL=served.client.url, BACKOFF_S="0")
    with subprocess.Popen(
        worker,
        cwd=FOLDER,
        env={**os.environ, **variables},
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            yield
        finally:
            os.killpg(process.pid, 9)  # with the pipes of the shell's loop


def ended(served: Served, key: int) -> Any:
    """Wait until an instance is not ACTIVE any more, and return it."""

    def read() -> Any:
        return call(served, f"/process-instances/{key}")

    assert eventually(lambda: read()["state"] != "ACTIVE"), read()
    return read()


@pytest.mark.parametrize("name", WORKERS)
def test_a_worker_follows_the_documented_loop(name: str, tmp_path: Path) -> None:
    if not all(map(shutil.which, NEEDED[name])):
        pytest.skip(f"{', '.join(NEEDED[name])} are not all on this machine")
    with serving(tmp_path, "--ephemeral") as served:
        call(served, "/process-definitions", MODEL, "application/xml")
        with working(served, WORKERS[name]):
            good, large, bad = (start(served, amount=amount) for amount in (99.5, 5_000, "much"))
            found = [ended(served, key) for key in (good, large, bad)]
        (incident,) = call(served, "/incidents?status=open")["items"]

    assert ["COMPLETED", "COMPLETED", "INCIDENT"] == [each["state"] for each in found]
    assert [True, False] == [each["variables"]["valid"] for each in found[:2]]
    assert ("JOB_FAILED", bad) == (incident["error_code"], incident["process_instance_key"])
    assert "expected a number as amount" in incident["error_message"]


def test_the_worker_of_the_first_steps_completes_and_fails(tmp_path: Path) -> None:
    with serving(tmp_path, "--ephemeral") as served:
        definition = served.client.deploy((FIRST_STEPS / "payment.bpmn").read_bytes())
        with working(served, FIRST_WORKER):
            totals: list[JsonObject] = [{"total": 40}, {"total": -40}]
            keys = [served.client.create_instance(definition, each)["key"] for each in totals]
            paid, refused = (ended(served, int(key)) for key in keys)

    assert ("COMPLETED", "INCIDENT") == (paid["state"], refused["state"])
    assert paid["variables"]["receipt"].startswith("R-")
    assert "receipt" not in refused["variables"]


def test_what_a_worker_held_is_handed_out_again_after_a_restart(tmp_path: Path) -> None:
    with serving(tmp_path) as served:
        call(served, "/process-definitions", MODEL, "application/xml")
        key = start(served, amount=1)
        path = "/jobs/activate?type=validate-order&requestTimeout=20000"
        (job,) = call(served, path)["jobs"]
        held = call(served, "/jobs/activate?type=validate-order")["jobs"]
        served.end()

    with serving(tmp_path) as served:
        (again,) = call(served, path)["jobs"]
        call(served, f"/jobs/{again['key']}/complete", {"variables": {"valid": True}})

        assert ([], job["key"], job["retries"]) == (held, again["key"], again["retries"])
        assert "COMPLETED" == ended(served, key)["state"]
        served.end()
