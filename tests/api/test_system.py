"""The operational plane answers whatever happens."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app import app
from chalicelib import wiring
from chalicelib.ports import Ports
from tests.api.client import Client
from tests.api.driver import create, one_task
from tests.operations.sweeping import sweep_all
from tests.operations.test_health import Unreachable


def test_who_answers_is_alive(client: Client) -> None:
    answer = client.get("/system/health/live")

    assert (200, {"status": "UP", "reasons": []}) == (answer.status, answer.json)


def test_ready_is_up_while_the_table_answers(client: Client) -> None:
    answer = client.get("/system/health/ready")

    assert (200, {"status": "UP", "reasons": []}) == (answer.status, answer.json)


def test_ready_is_503_with_reasons_when_it_does_not(
    ports: Ports, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = replace(ports, table=Unreachable())
    monkeypatch.setattr(wiring, "ports", lambda: broken)

    answer = Client(app).get("/system/health/ready")

    assert (503, "application/json") == (answer.status, answer.headers["Content-Type"])
    assert "DOWN" == answer.json["status"]
    assert ["the live table does not answer: ConnectionError"] == answer.json["reasons"]


def test_alive_needs_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Ports:
        raise RuntimeError("nothing is set up")

    monkeypatch.setattr(wiring, "ports", none)

    assert 200 == Client(app).get("/system/health/live").status


def test_status_has_the_shape_of_a_cluster_of_one(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_COMMIT", "0123456789abcdef")

    answer = client.get("/system/status")

    assert 200 == answer.status
    assert ["git", "build", "clusterConfig", "partitions", "nodes"] == list(answer.json)
    assert {"branch": "unknown", "commitId": "0123456789ab"} == answer.json["git"]
    assert {"1": {"id": 1, "leaderId": "headrace"}} == answer.json["partitions"]
    assert ["headrace"] == list(answer.json["nodes"])


def test_metrics_tell_what_the_newest_sweep_found_open(client: Client, ports: Ports) -> None:
    assert "" == client.get("/system/metrics").text
    create(client, one_task())
    sweep_all(ports)

    answer = client.get("/system/metrics")

    assert (200, "text/plain; version=0.0.4; charset=utf-8") == (
        answer.status,
        answer.headers["Content-Type"],
    )
    told = [line for line in answer.text.splitlines() if not line.startswith("#")]
    assert ["processes_running 1", "process_instances_active 1", "jobs_waiting 1"] == told
    assert 3 == answer.text.count("# TYPE ")
