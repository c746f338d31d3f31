"""Every name of the contract's tables is told, or the documentation says why it never is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chalicelib.logs import Answered
from chalicelib.telemetry import metrics, spans
from tests.house.source import ROOT

PAGE = ROOT / "docs" / "configuration.md"

# contracts/zenbpm.md 5.2
METRICS = """
    processes_started processes_completed processes_running process_instance_duration
    jobs_created jobs_completed jobs_failed job_lifetime
    incidents_created incidents_resolved
    timers_scheduled timers_fired timers_cancelled
    messages_correlated message_correlation_failed
    jobs_retried job_retry_backoff
    dmn_evaluations dmn_evaluation_duration
    jobs_distributed job_activation_latency
    jobs_waiting process_instances_active
    partition_raft_has_leader partition_node_is_leader partition_leader_changes
    rqlite_db_size_bytes rqlite_raft_log_size_bytes
    rqlite_snapshot_age_seconds rqlite_snapshot_observation_age_seconds
    rqlite_exec_duration rqlite_query_duration
    cluster_has_leader cluster_leader_info node_is_leader cluster_node_up cluster_node_role
    cluster_partitions cluster_desired_partitions partition_has_leader
    raft_term raft_last_log_index raft_applied_index raft_fsm_pending
    request_total request_uri_total request_body_size response_body_size request_duration
"""

# contracts/zenbpm.md 5.3; what follows a colon is of the instance, and `request` is renamed.
SPANS = """
    request create-instance start-instance-on-elements run-instance modify-instance
    delete-instance-variable token flow-node job incident timer
    dmn.evaluate-decision rqlite-exec rqlite-query rqlite-batch
"""
ATTRIBUTES = """
    process.instance_key process.id process.definition_key token.key token.status
    element.id element.key element.name element.type job.key incident.key
    decision.id decision.key decision.instance_key decision.drd_id
    job.failure.outcome job.attempt job.retries job.retry_backoff_ms
"""


def source(module: object) -> str:
    return Path(str(getattr(module, "__file__", ""))).read_text(encoding="utf-8")


def untold() -> set[str]:
    """Return the names which the page says are never told, and why."""
    _, _, section = PAGE.read_text(encoding="utf-8").partition("### What is not told")
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    assert all(row.split("|")[2].strip() for row in rows)  # each has its reason
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])}


def told_spans() -> frozenset[str]:
    named = frozenset(re.findall(r'Span\(f?"([a-z.-]+)[:"]', source(spans)))
    request = spans.span_of_answer(Answered("GET", "/", 200, 0, 0, 0.0))
    return named | {"request"} if request.name == "/" else named


def told_attributes() -> frozenset[str]:
    return frozenset(re.findall(r'"zenbpm\.([a-z_.]+)"', source(spans)))


@pytest.mark.parametrize(
    ("published", "told"),
    [
        (METRICS, frozenset(metrics.UNITS)),
        (SPANS, told_spans()),
        (ATTRIBUTES, told_attributes()),
    ],
    ids=["metrics", "spans", "attributes"],
)
def test_what_is_published_is_told_or_said_not_to_be(published: str, told: frozenset[str]) -> None:
    names = set(published.split())

    assert set() == names - told - untold()
    assert set() == told - names
    assert set() == told & untold()


def test_what_is_said_not_to_be_told_is_published() -> None:
    assert set() == untold() - {*METRICS.split(), *SPANS.split(), *ATTRIBUTES.split()}


def test_each_metric_that_has_a_unit_is_made_somewhere() -> None:
    text = source(metrics)
    assert [] == [name for name in metrics.UNITS if text.count(f'"{name}"') < 2]
