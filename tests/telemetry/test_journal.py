"""What an operator sees of what happened: lines, metrics and spans, never a worker's words."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest

from chalicelib.engine.state import InstanceState
from chalicelib.ports import Settings
from chalicelib.telemetry import metrics, spans, xray
from chalicelib.telemetry.journal import LinesAndMore
from chalicelib.telemetry.xray import XRay
from tests.operations.models import typed_task
from tests.operations.stage import Stage
from tests.operations.watched import Crash, die, watched
from tests.telemetry.told import TRACE, Seen, Told

SECRET = "secret"


def failing(lines: Seen, retries: int) -> tuple[Told, int]:
    """Hand out a job of so many retries, and forget what that told."""
    stage = Told()
    stage.create(typed_task("work", str(retries)))
    (job,) = stage.activate("work")
    stage.clear(lines)
    return stage, job.key


# --- failures ----------------------------------------------------------------------------------


@pytest.mark.rule("R151")
def test_a_retried_failure_is_one_warning_and_two_metrics(lines: Seen) -> None:
    stage, key = failing(lines, 3)
    job = stage.job(key)

    stage.fail(key, SECRET, token=1, backoff=timedelta(seconds=5), variables={"a": SECRET})

    (line,) = lines
    assert {
        "level": "WARNING",
        "job_key": key,
        "job_type": "work",
        "instance_key": job.instance_key,
        "element_id": job.element_id,
        "attempt": 1,
        "retries": 2,
        "next_delivery": "2026-03-02T09:00:05.000+00:00",
    }.items() <= line.items()
    assert [
        ("jobs_retried", {"type": "work"}, 1),
        ("job_retry_backoff", {"type": "work"}, 5_000),
    ] == stage.counted()


@pytest.mark.rule("R152")
@pytest.mark.parametrize("said", [{}, {"error_code": "E"}])
def test_a_failure_that_needs_an_operator_is_one_error_and_counted(
    lines: Seen, said: dict[str, str]
) -> None:
    stage, key = failing(lines, 1)

    stage.fail(key, SECRET, token=1, variables={"a": SECRET}, **said)

    (line,) = lines
    assert ("ERROR", key, 0 if said else 1) == (line["level"], line["job_key"], line["attempt"])
    assert line["incident_key"]
    names = [name for name, _, _ in stage.counted()]
    assert ["incidents_created", "job_lifetime", "jobs_failed"] == sorted(names)


@pytest.mark.rule("R153")
def test_a_span_tells_what_a_failure_came_to(lines: Seen) -> None:
    stage, key = failing(lines, 2)

    stage.fail(key, SECRET, token=1, backoff=timedelta(seconds=5))
    stage.clock.move(5)
    stage.activate("work", wait_s=5)
    stage.fail(key, SECRET, token=2)

    retried, _, failed, _ = (span["metadata"]["headrace"] for span in stage.spans)
    assert {
        "zenbpm.job.key": key,
        "zenbpm.job.failure.outcome": "retry",
        "zenbpm.job.attempt": 1,
        "zenbpm.job.retries": 1,
        "zenbpm.job.retry_backoff_ms": 5_000,
    }.items() <= retried.items()
    assert {
        "zenbpm.job.failure.outcome": "incident",
        "zenbpm.job.attempt": 2,
        "zenbpm.job.retries": 0,
    }.items() <= failed.items()
    assert "zenbpm.job.retry_backoff_ms" not in failed


@pytest.mark.rule("R151", "R152", "R153")
@pytest.mark.parametrize("retries", [3, 1])
def test_what_is_not_committed_is_not_told(lines: Seen, retries: int) -> None:
    stage, key = failing(lines, retries)
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 1] = die
    stage.ports = ports

    with pytest.raises(Crash):
        stage.fail(key, SECRET, token=1)

    assert ([], [], []) == (lines, stage.counted(), stage.spans)


@pytest.mark.rule("R151", "R152", "R153")
@pytest.mark.parametrize("retries", [3, 1])
def test_a_repeated_failure_is_told_once(lines: Seen, retries: int) -> None:
    stage, key = failing(lines, retries)

    stage.fail(key, SECRET, token=1)
    told = len(lines), len(stage.counted()), len(stage.spans)
    stage.fail(key, SECRET, token=1)

    assert (told[0], 0, told[2]) == (len(lines), len(stage.counted()), len(stage.spans))


@pytest.mark.rule("R151", "R153")
@pytest.mark.parametrize("retries", [3, 1])
def test_what_a_worker_said_is_told_to_nobody(lines: Seen, retries: int) -> None:
    stage, key = failing(lines, retries)
    stage.fail(key, SECRET, token=1, variables={"a": SECRET})

    assert SECRET not in json.dumps([lines, stage.counted(), stage.spans])


# --- everything else ---------------------------------------------------------------------------


def test_a_stuck_element_is_one_error(lines: Seen) -> None:
    stage = Told()
    key = stage.create(typed_task("=nothing"))

    (line,) = lines
    assert ("ERROR", key, "task") == (line["level"], line["instance_key"], line["element_id"])
    assert line["incident_key"] and line["error_type"] and "job_key" not in line


def test_the_life_of_a_process_is_counted_under_the_published_names(lines: Seen) -> None:
    stage = Told()
    stage.create("one_task.bpmn")
    stage.clock.move(2)
    stage.work("charge")

    values = {name: (labels, value) for name, labels, value in stage.counted()}

    assert {
        "processes_started": ({"bpmn_process_id": "one_task"}, 1),
        "jobs_created": ({"type": "charge", "internal": "false"}, 1),
        "jobs_distributed": ({"type": "charge"}, 1),
        "job_activation_latency": ({"type": "charge"}, 2_000),
        "jobs_completed": ({"type": "charge", "internal": "false"}, 1),
        "job_lifetime": ({"type": "charge", "outcome": "completed"}, 2_000),
        "processes_completed": ({"bpmn_process_id": "one_task"}, 1),
        "process_instance_duration": (
            {"bpmn_process_id": "one_task", "state": "completed"},
            2_000,
        ),
    } == values
    assert [] == lines


def test_spans_have_the_published_names(lines: Seen) -> None:
    stage = Told()
    stage.create("one_task.bpmn")
    stage.work("charge")

    names = [span["name"] for span in stage.spans]

    of_elements = [name for name in names if name.startswith(("flow-node:", "token:"))]
    assert {"create-instance:one_task", "job:charge", "run-instance:one_task"} == {
        name for name in names if name not in of_elements
    }
    assert [
        "flow-node:start",
        "flow-node:charge",
        "token:charge",
        "flow-node:charge",
        "flow-node:end",
        "token:end",
    ] == of_elements
    assert {"type": "subsegment", "parent_id": "53995c3f42cd8ad8"}.items() <= stage.spans[0].items()
    assert "one_task" == stage.spans[0]["annotations"]["zenbpm_process_id"]


def test_a_journal_that_fails_fails_no_request() -> None:
    class Broken:
        def tell(self, facts: Any) -> None:
            raise RuntimeError("nobody listens")

    stage = Stage()
    stage.ports = replace(stage.ports, journal=Broken())

    key = stage.create("one_task.bpmn")
    stage.work("charge")

    assert InstanceState.COMPLETED == stage.state(key)


# --- how metrics and spans are written ---------------------------------------------------------


def test_metrics_of_equal_labels_are_one_object_on_standard_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    labels = (("type", "work"),)
    points = [
        metrics.Point("jobs_distributed", labels),
        metrics.Point("job_activation_latency", labels, 12.5),
        metrics.Point("jobs_distributed", labels),
        metrics.Point("jobs_distributed", (("type", "other"),)),
    ]

    metrics.write(points, "headrace-test")

    one, other = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert {
        "service": "headrace-test",
        "type": "work",
        "jobs_distributed": [1, 1],
        "job_activation_latency": [12.5],
    }.items() <= one.items()
    (directive,) = one["_aws"]["CloudWatchMetrics"]
    assert ("Headrace", [["type", "service"]]) == (directive["Namespace"], directive["Dimensions"])
    assert {
        "Name": "job_activation_latency",
        "Unit": "Milliseconds",
    } in directive["Metrics"]
    assert "other" == other["type"]


@pytest.mark.parametrize(
    ("value", "written"),
    [("bücher", "b\\xfccher"), (" ", "-"), ("::x", "x"), ("x" * 2_000, "x" * 1_024)],
)
def test_a_label_is_written_as_cloudwatch_takes_it(
    capsys: pytest.CaptureFixture[str], value: str, written: str
) -> None:
    metrics.write([metrics.Point("jobs_retried", (("type", value),))], "headrace-test")

    assert written == json.loads(capsys.readouterr().out)["type"]


def test_more_values_than_an_object_may_have_are_several(
    capsys: pytest.CaptureFixture[str],
) -> None:
    metrics.write([metrics.Point("jobs_created")] * 250, "headrace-test")

    objects = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [100, 100, 50] == [len(each["jobs_created"]) for each in objects]


@pytest.mark.parametrize(
    ("header", "share", "shown"),
    [
        (TRACE, 1, True),
        (TRACE.replace("Sampled=1", "Sampled=0"), 1, False),
        (TRACE, 0, False),
        (TRACE, "0.5", False),
        (TRACE.replace("94272793", "00000000"), "0.5", True),
        ("", 1, False),
        ("Root=x;Sampled=1", 1, False),
    ],
)
def test_a_trace_is_shown_if_it_is_sampled_and_within_the_share(
    header: str, share: Any, shown: bool
) -> None:
    assert shown == (xray.trace_of(header, Decimal(share)) is not None)


def test_one_invocation_sends_no_more_spans_than_a_trace_takes() -> None:
    sent: list[bytes] = []
    tracer = XRay(Settings(), partial(str, 1), sent.append)
    stage = Told()
    stage.ports = replace(stage.ports, journal=LinesAndMore(None, tracer))
    for _ in range(spans.SPANS_MAX // 2 + 1):
        stage.create("one_task.bpmn")
        stage.work("charge")

    assert spans.SPANS_MAX - 1 == len(sent)  # the last place is the request's


def test_a_daemon_that_is_not_there_harms_nobody() -> None:
    xray.to_daemon("127.0.0.1:9")(b"{}")
