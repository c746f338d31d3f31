"""Spans and attributes under ZenBPM's names: what a trace shows of what happened.

Source: contracts/zenbpm.md 5.3, R153. Never a worker's message or variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from chalicelib.engine.facts import (
    Fact,
    IncidentCreated,
    IncidentResolved,
    InstanceEnded,
    InstanceStarted,
    JobEnded,
    JobFailed,
    JobHandedOut,
    JobRetried,
    TimerFired,
)
from chalicelib.engine.state import Incident, Job, Root

Attributes = Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class Span:
    """Something that happened within an invocation, by ZenBPM's name for it."""

    name: str
    attributes: Attributes


def span_of(fact: Fact) -> Span | None:
    """Return the span of a fact, None for what is part of another one."""
    match fact:
        case InstanceStarted(root):
            return Span(f"create-instance:{root.bpmn_process_id}", _of_root(root))
        case InstanceEnded(root):
            return Span(f"run-instance:{root.bpmn_process_id}", _of_root(root))
        case JobHandedOut(job) | JobRetried(job) | JobFailed(job) | JobEnded(job):
            return Span(f"job:{job.type}", _of_job(job) | _outcome(fact))
        case IncidentCreated(incident) | IncidentResolved(incident):
            return Span(f"incident:{incident.key}", _of_incident(incident) | _outcome(fact))
        case TimerFired(timer):
            attributes: Attributes = {
                "zenbpm.process.instance_key": timer.instance_key,
                "zenbpm.element.id": timer.element_id,
                "zenbpm.element.key": timer.element_key,
            }
            return Span(f"timer:{timer.key}", attributes)
        case _:
            return None


def _outcome(fact: Fact) -> dict[str, str | int]:
    match fact:
        case JobRetried(job):
            backoff_ms = fact.backoff // timedelta(milliseconds=1)
            return {**_failure("retry", job), "zenbpm.job.retry_backoff_ms": backoff_ms}
        case JobFailed(job, incident_key):
            return {**_failure("incident", job), "zenbpm.incident.key": incident_key}
        case IncidentResolved(job=Job() as job):
            return {"zenbpm.job.key": job.key, "zenbpm.job.retries": job.retries}
        case _:
            return {}


def _failure(outcome: str, job: Job) -> dict[str, str | int]:
    return {
        "zenbpm.job.failure.outcome": outcome,
        "zenbpm.job.attempt": job.attempts,
        "zenbpm.job.retries": job.retries,
    }


def _of_root(root: Root) -> dict[str, str | int]:
    return {
        "zenbpm.process.instance_key": root.key,
        "zenbpm.process.id": root.bpmn_process_id,
        "zenbpm.process.definition_key": root.definition_key,
    }


def _of_job(job: Job) -> dict[str, str | int]:
    return {
        "zenbpm.process.instance_key": job.instance_key,
        "zenbpm.job.key": job.key,
        "zenbpm.element.id": job.element_id,
        "zenbpm.element.key": job.element_key,
        "zenbpm.element.type": job.element_type,
    }


def _of_incident(incident: Incident) -> dict[str, str | int]:
    return {
        "zenbpm.process.instance_key": incident.instance_key,
        "zenbpm.incident.key": incident.key,
        "zenbpm.element.id": incident.element_id,
        "zenbpm.element.key": incident.element_key,
    }
