"""One line per invocation says what it was about, and nothing a worker sent."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from app import app
from chalicelib import logs, wiring
from chalicelib.ports import Item, ItemKey, LogMode, Ports, Settings
from chalicelib.telemetry.journal import LinesAndMore
from tests.api.client import Client, LambdaContext
from tests.api.driver import activate, create, one_task
from tests.fakes.table import MemoryTable
from tests.house.source import ROOT

Choose = Callable[[Settings], None]


@pytest.fixture
def chosen() -> Iterator[Choose]:
    """Let an operator's settings count for one test."""
    yield logs.configure
    logs.configure(Settings())


def test_a_request_has_one_line(ports: Ports, lines: list[dict[str, Any]]) -> None:
    Client(app).get("/v1/jobs/77")

    (line,) = lines
    assert {
        "level": "INFO",
        "message": "invocation",
        "service": "headrace",
        "request_id": "request-1",
        "trigger": "http",
        "method": "GET",
        "route": "/v1/jobs/{job_key}",
        "path": "/v1/jobs/77",
        "status": 404,
        "job_key": 77,
    }.items() <= line.items()
    assert 0 <= line["duration_ms"]


def test_what_a_worker_sent_is_not_logged(
    ports: Ports,
    lines: list[dict[str, Any]],
) -> None:
    client = Client(app)
    create(client, one_task(), {"card": "secret"})
    (job,) = activate(client)
    client.post(f"/v1/jobs/{job['key']}/complete", {"variables": {"pin": "secret"}})
    client.post(f"/v1/jobs/{job['key']}/fail", {"message": "secret", "variables": {"a": "secret"}})

    assert 5 == len(lines)
    assert "secret" not in json.dumps(lines)
    assert [job["key"]] == lines[2]["job_keys"]


def test_a_fault_has_a_line_of_its_own_with_its_trace(
    ports: Ports,
    monkeypatch: pytest.MonkeyPatch,
    lines: list[dict[str, Any]],
) -> None:
    broken = replace(ports, table=Broken())
    monkeypatch.setattr(wiring, "ports", lambda: broken)

    assert 500 == Client(app).get("/v1/jobs/77").status

    fault, line = lines
    assert ("ERROR", "RuntimeError", 77) == (
        fault["level"],
        fault["exception_name"],
        fault["job_key"],
    )
    assert ("invocation", 500) == (line["message"], line["status"])


def test_every_line_of_a_request_carries_what_it_is_about(
    ports: Ports, monkeypatch: pytest.MonkeyPatch, lines: list[dict[str, Any]]
) -> None:
    telling = replace(ports, journal=LinesAndMore())
    monkeypatch.setattr(wiring, "ports", lambda: telling)
    client = Client(app)
    instance_key = create(client, one_task(definition='retries="2"'))
    (job,) = activate(client)
    lines.clear()
    client.post(f"/v1/jobs/{job['key']}/fail", {"message": "secret"})
    client.post(f"/v1/jobs/{job['key']}/complete", {})

    assert ["WARNING", "INFO", "INFO"] == [line["level"] for line in lines]
    for line in lines:
        assert {
            "request_id": "request-1",
            "instance_key": instance_key,
            "job_key": job["key"],
            "element_id": "task",
        }.items() <= line.items()


@pytest.mark.parametrize(
    ("mode", "statuses"),
    [(LogMode.ALL, [200, 404]), (LogMode.ERRORS, [404]), (LogMode.OFF, [])],
)
def test_an_operator_chooses_which_requests_have_a_line(
    ports: Ports, chosen: Choose, lines: list[dict[str, Any]], mode: LogMode, statuses: list[int]
) -> None:
    chosen(Settings(log_mode=mode))

    Client(app).get("/v1/jobs")
    Client(app).get("/v1/jobs/77")

    assert statuses == [line["status"] for line in lines]


def test_bodies_are_logged_if_asked_for_but_never_variables(
    ports: Ports, chosen: Choose, lines: list[dict[str, Any]]
) -> None:
    chosen(Settings(log_body=True))
    client = Client(app)
    create(client, one_task(), {"card": "secret"})

    deployed, created = lines
    assert f"{len(one_task())} bytes" == deployed["body"]
    assert '"variables":"not logged"' in created["body"]
    assert "secret" not in json.dumps(lines)


def test_what_a_module_logs_before_the_first_line_has_its_form() -> None:
    script = (
        "import logging, app\n"
        "logging.getLogger('chalicelib.operations').warning('early', extra={'job_key': 7})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )

    line = json.loads(done.stderr)
    assert ("WARNING", "early", 7) == (line["level"], line["message"], line["job_key"])
    assert "" == done.stdout


def test_a_trigger_has_a_line_that_counts_its_records(
    ports: Ports,
    lines: list[dict[str, Any]],
) -> None:
    import app as doors  # noqa: PLC0415

    event = {"Records": [{"messageId": "m", "body": "no timer", "receiptHandle": "r"}]}

    assert {"batchItemFailures": []} == doors.on_timers(event, LambdaContext())

    (line,) = [line for line in lines if line["message"] == "invocation"]
    assert ("SQSEvent", 1, 0) == (line["trigger"], line["records"], line["failed_records"])


class Broken(MemoryTable):
    """A table that cannot be read."""

    def get_many(self, keys: object) -> dict[ItemKey, Item]:
        raise RuntimeError("the table is gone")
