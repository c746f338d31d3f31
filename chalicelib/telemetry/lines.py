"""Which facts are a line of the log, and which keys every line of their invocation carries.

A failure that is retried is a WARNING, one that needs an operator an ERROR (R151, R152). Lines name
keys, ids, types and times; never what a worker sent, its message included.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from chalicelib.engine.facts import (
    Fact,
    IncidentCreated,
    IncidentResolved,
    InstanceEnded,
    InstanceStarted,
    JobEnded,
    JobFailed,
    JobRetried,
    TimerFired,
)
from chalicelib.engine.state import Job


@dataclass(frozen=True, slots=True)
class Line:
    """One line: how bad it is, what happened, and to what."""

    level: int
    message: str
    fields: Mapping[str, object]


def line_of(fact: Fact) -> Line | None:
    """Return the line that a fact is worth, None for what happens all the time."""
    match fact:
        case JobRetried(job):
            at = None if job.ring_at is None else job.ring_at.isoformat(timespec="milliseconds")
            more = {"attempt": job.attempts, "retries": job.retries, "next_delivery": at}
            return Line(logging.WARNING, "job failed and is retried", _of_job(job) | more)
        case JobFailed(job, incident_key, error_type):
            more = {
                "attempt": job.attempts,
                "incident_key": incident_key,
                "error_type": error_type,
            }
            return Line(logging.ERROR, "job failed and waits for an operator", _of_job(job) | more)
        case IncidentCreated(incident) if incident.job_key is None:
            fields = {
                "instance_key": incident.instance_key,
                "element_id": incident.element_id,
                "incident_key": incident.key,
                "error_type": incident.error_type,
            }
            return Line(logging.ERROR, "element is stuck and waits for an operator", fields)
        case _:
            return None


def subject_of(fact: Fact) -> Mapping[str, object]:
    """Return what the invocation is about, as far as a fact tells: its keys, by their names."""
    match fact:
        case InstanceStarted(root) | InstanceEnded(root):
            return {"instance_key": root.key, "bpmn_process_id": root.bpmn_process_id}
        case JobRetried(job) | JobFailed(job) | JobEnded(job):
            return _of_job(job)
        case IncidentResolved(incident):
            return {
                "instance_key": incident.instance_key,
                "element_id": incident.element_id,
                "incident_key": incident.key,
            }
        case TimerFired(timer):
            return {
                "instance_key": timer.instance_key,
                "element_id": timer.element_id,
                "timer_key": timer.key,
            }
        case _:
            return {}


def _of_job(job: Job) -> dict[str, object]:
    return {
        "job_key": job.key,
        "job_type": job.type,
        "instance_key": job.instance_key,
        "element_id": job.element_id,
    }
