"""What the OpenAPI documents allow, and what they do not, is sent to a running server.

Schemathesis makes the requests: of each parameter and member what is valid, at its bounds, of
another type, missing, of the wrong media type; of each path the methods that it does not have. No
answer may be a fault, of a status that is not published, or of another shape than is published.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from infra.package import ROOT
from tests.local.serving import Served, environment, serving

pytestmark = [pytest.mark.aws, pytest.mark.slow]

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "unsupported_method",
    "allow_header_conformance",
)
# What the summary counts: operations selected and tested, and the cases that were generated.
COUNTED = re.compile(r"^\s*(?:Selected|Tested|\d+ generated)\b", re.IGNORECASE)
TIME_MAX_S = 60  # of one run's fuzzing
SEED = 1
KEY = "a key of an operator"
POLL_MAX_S = 30  # a long poll takes 20
SCHEDULER = "/scheduler/v1"
PRIOSTACK = "/api/v1"
USER_TASK = b"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL">
  <process id="people" isExecutable="true"><startEvent id="s"/><userTask id="t"/>
    <sequenceFlow sourceRef="s" targetRef="t"/></process></definitions>"""
MODEL = (ROOT / "tests" / "diagrams" / "one_task.bpmn").read_bytes()


CALL = {"name": "fuzzed", "type": "http", "pool_count": 3, "schedule": {"every_ms": 86_400_000}}


class Keys(NamedTuple):
    """Keys that name something: an instance with a failed job, its incident, its definition."""

    definition: int
    instance: int
    job: int
    incident: int

    def as_parameters(self) -> str:
        """Return a configuration that puts them into every path."""
        named = {
            "processDefinitionKey": self.definition,
            "processInstanceKey": self.instance,
            "jobKey": self.job,
            "incidentKey": self.incident,
        }
        lines = (f'"path.{name}" = {key}' for name, key in named.items())
        return "\n".join(["[parameters]", *lines]) + "\n"


def prepared(served: Served) -> Keys:
    """Leave something behind that lists have to show."""
    client, url = served.client, served.client.url
    definition = client.deploy(MODEL)
    instances = [client.create_instance(definition, {"amount": n})["key"] for n in range(5)]
    first = int(instances[0])
    (job,) = client.jobs(first)
    fail = urllib.request.Request(
        f"{url}/v1/jobs/{job['key']}/fail", b"{}", {"Content-Type": "application/json"}
    )
    urllib.request.urlopen(fail).close()
    (incident,) = client.incidents(first)
    return Keys(definition, first, int(job["key"]), int(incident["key"]))


def scheduled(served: Served) -> str:
    """Leave a scheduled job behind; return its id."""
    url = f"{served.client.url}/scheduler/v1/jobs"
    create = urllib.request.Request(
        url, json.dumps(CALL).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(create) as answer:
        return str(json.load(answer)["id"])


def fuzz(
    served: Served,
    folder: Path,
    *arguments: str,
    prefix: str = "/v1",
    config: str = "",
    key: str = "",
) -> str:
    """Let schemathesis talk to a server; return what it has to say if anything is wrong.

    The `key` opens the document alone.
    """
    (folder / "schemathesis.toml").write_text(config)
    url = f"{served.client.url}{prefix}"
    document = urllib.request.Request(f"{url}/openapi.json", headers={"X-API-Key": key})
    with urllib.request.urlopen(document) as answer:
        (folder / "openapi.json").write_bytes(answer.read())
    done = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", "openapi.json"),
            *("--url", url, "--checks", ",".join(CHECKS), "--seed", str(SEED)),
            *("--continue-on-failure", "--warnings", "off", "--generation-database", "none"),
            *("--no-color", "--request-timeout", str(POLL_MAX_S), *arguments),
        ],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    _tell(prefix, done.stdout)
    return "" if done.returncode == 0 else done.stdout[-10_000:] + done.stderr[-2_000:]


def _tell(prefix: str, said: str) -> None:
    """Print how many operations were tried, by how many requests; `make fuzz` shows it."""
    counts = [line.strip() for line in said.splitlines() if COUNTED.search(line)]
    sys.stdout.write(f"\n{prefix}: {'; '.join(counts)}\n")


def test_keys_that_name_nothing_and_bodies_of_every_kind(tmp_path: Path) -> None:
    with serving(tmp_path, "--ephemeral") as served:
        prepared(served)

        assert "" == fuzz(served, tmp_path, "--phases", "examples,coverage")


def test_keys_that_name_something(tmp_path: Path) -> None:
    with serving(tmp_path, "--ephemeral") as served:
        keys = prepared(served)
        arguments = ("--phases", "fuzzing", "-n", "10", "--max-time", str(TIME_MAX_S))

        assert "" == fuzz(served, tmp_path, *arguments, config=keys.as_parameters())


def test_callers_with_a_key_and_without(tmp_path: Path) -> None:
    """The authorizer answers in the published shape too, whatever it is shown."""
    phases = ("--phases", "examples,coverage")
    with serving(tmp_path, "--ephemeral", HEADRACE_API_KEY=KEY) as served:
        for header in ("X-Other: 1", "X-API-Key: no such key", f"Authorization: Bearer {KEY}"):
            for prefix in (SCHEDULER, PRIOSTACK):
                arguments = ("-H", header, *phases)
                assert "" == fuzz(served, tmp_path, *arguments, prefix=prefix, key=KEY), header


def polled(served: Served) -> str:
    """Leave a held job, a user task and an incident behind; return their keys as configuration."""
    url = f"{served.client.url}{PRIOSTACK}"

    def call(path: str, body: bytes | None = None, media_type: str = "application/json") -> Any:
        request = urllib.request.Request(f"{url}{path}", body, {"Content-Type": media_type})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    definition = call("/process-definitions", MODEL, "application/xml")
    call("/process-definitions", USER_TASK, "application/xml")
    for id_ in ("one_task", "one_task", "people"):
        call("/process-instances", json.dumps({"bpmnProcessId": id_}).encode())
    first, second = call("/jobs")["items"]
    call(f"/jobs/{first['key']}/fail", b"{}")
    call(f"/jobs/activate?type={second['type']}")
    (incident,), (task,) = call("/incidents")["items"], call("/user-tasks")["items"]
    named = {
        "processDefinitionKey": definition["key"],
        "processInstanceKey": first["processInstanceKey"],
        "jobKey": second["key"],
        "incidentKey": incident["id"],
        "userTaskKey": task["key"],
    }
    lines = (f'"path.{name}" = {key}' for name, key in named.items())
    return "\n".join(["[parameters]", *lines]) + "\n"


def test_the_priostack_api_with_keys_that_name_nothing(tmp_path: Path) -> None:
    with serving(tmp_path, "--ephemeral") as served:
        polled(served)
        arguments = ("--phases", "examples,coverage")

        assert "" == fuzz(served, tmp_path, *arguments, prefix=PRIOSTACK)


def test_the_priostack_api_with_keys_that_name_something(tmp_path: Path) -> None:
    with serving(tmp_path, "--ephemeral") as served:
        config = polled(served)
        arguments = ("--phases", "fuzzing", "-n", "10", "--max-time", str(TIME_MAX_S))

        assert "" == fuzz(served, tmp_path, *arguments, prefix=PRIOSTACK, config=config)


def test_scheduled_jobs_of_every_kind(tmp_path: Path) -> None:
    with serving(tmp_path, "--ephemeral") as served:
        scheduled(served)
        arguments = ("--phases", "examples,coverage")

        assert "" == fuzz(served, tmp_path, *arguments, prefix=SCHEDULER)


def test_a_scheduled_job_that_is_there(tmp_path: Path) -> None:
    with serving(tmp_path, "--ephemeral") as served:
        config = f'[parameters]\n"path.job_id" = "{scheduled(served)}"\n'
        stays = ("--exclude-operation-id", "deleteScheduledJob")
        arguments = ("--phases", "fuzzing", "-n", "10", "--max-time", str(TIME_MAX_S), *stays)

        assert "" == fuzz(served, tmp_path, *arguments, prefix=SCHEDULER, config=config)
