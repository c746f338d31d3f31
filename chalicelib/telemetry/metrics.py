"""Metrics under ZenBPM's names, in CloudWatch's embedded metric format.

What is written to standard output of a Lambda function in that form, CloudWatch makes metrics of:
no call, no agent. Labels are dimensions, and each combination of their values is a metric that is
paid for; so a client's id, which callers choose freely, is none.

Source: contracts/zenbpm.md 5.2; CloudWatch User Guide, "Embedded metric format specification".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import NamedTuple

from chalicelib.engine.facts import (
    Census,
    DecisionEvaluated,
    Fact,
    IncidentCreated,
    IncidentResolved,
    InstanceEnded,
    InstanceStarted,
    JobCreated,
    JobEnded,
    JobFailed,
    JobHandedOut,
    JobRetried,
    MessageCorrelated,
    MessageNotCorrelated,
    TimerCancelled,
    TimerFired,
    TimerScheduled,
)
from chalicelib.engine.state import Job, JobState
from chalicelib.logs import Answered

NAMESPACE = "Headrace"
COUNT, MILLISECONDS, BYTES = "Count", "Milliseconds", "Bytes"
# All that is ever written; a test compares it with the contract's tables.
UNITS: Mapping[str, str] = {
    "processes_started": COUNT,
    "processes_completed": COUNT,
    "processes_running": COUNT,
    "process_instances_active": COUNT,
    "process_instance_duration": MILLISECONDS,
    "jobs_created": COUNT,
    "jobs_completed": COUNT,
    "jobs_failed": COUNT,
    "jobs_retried": COUNT,
    "jobs_distributed": COUNT,
    "jobs_waiting": COUNT,
    "job_lifetime": MILLISECONDS,
    "job_retry_backoff": MILLISECONDS,
    "job_activation_latency": MILLISECONDS,
    "incidents_created": COUNT,
    "incidents_resolved": COUNT,
    "timers_scheduled": COUNT,
    "timers_fired": COUNT,
    "timers_cancelled": COUNT,
    "messages_correlated": COUNT,
    "message_correlation_failed": COUNT,
    "dmn_evaluations": COUNT,
    "dmn_evaluation_duration": MILLISECONDS,
    "request_total": COUNT,
    "request_uri_total": COUNT,
    "request_body_size": BYTES,
    "response_body_size": BYTES,
    "request_duration": MILLISECONDS,
}
VALUE_MAX = 1_024  # characters of a dimension's value (CloudWatch)

Labels = tuple[tuple[str, str], ...]


class Point(NamedTuple):
    """One value of one metric, whose name is one of UNITS."""

    name: str
    labels: Labels = ()
    value: float = 1


def points_of(fact: Fact) -> Iterator[Point]:
    """Yield what a fact counts and measures."""
    match fact:
        case JobCreated(job) | JobHandedOut(job) | JobRetried(job) | JobFailed(job) | JobEnded(job):
            yield from _of_job(fact, job)
        case InstanceStarted(root):
            yield Point("processes_started", (("bpmn_process_id", root.bpmn_process_id),))
        case InstanceEnded(root):
            process = ("bpmn_process_id", root.bpmn_process_id)
            yield Point("processes_completed", (process,))
            if root.ended_at is not None:
                lasted, state = root.ended_at - root.created_at, ("state", root.state.value)
                yield _duration("process_instance_duration", (process, state), lasted)
        case IncidentCreated(incident) | IncidentResolved(incident):
            yield Point(_INCIDENTS[type(fact)], (("element_id", incident.element_id),))
        case TimerScheduled() | TimerFired() | TimerCancelled():
            yield Point(_TIMERS[type(fact)])
        case MessageCorrelated() | MessageNotCorrelated():
            yield _of_message(fact)
        case DecisionEvaluated(made):
            decision, evaluated = ("decision_id", made.decision_id), made.evaluated
            outcome = "success" if evaluated.problem is None else "failure"
            yield Point("dmn_evaluations", (decision, ("outcome", outcome)))
            yield _duration("dmn_evaluation_duration", (decision,), evaluated.lasted)
        case Census(instances, jobs):
            # An instance runs until it ends, so these two of ZenBPM's are the same here.
            yield Point("processes_running", (), instances)
            yield Point("process_instances_active", (), instances)
            yield Point("jobs_waiting", (), jobs)


def points_of_answer(answered: Answered) -> Iterator[Point]:
    """Yield what is counted of an HTTP request."""
    status = str(answered.status)
    route = (("path", answered.route), ("method", answered.method), ("status", status))
    yield Point("request_total")
    yield Point("request_uri_total", route)
    yield Point("request_body_size", (), answered.request_bytes)
    yield Point("response_body_size", (), answered.response_bytes)
    yield Point("request_duration", (), answered.lasted_ms)


_INCIDENTS: Mapping[type[Fact], str] = {
    IncidentCreated: "incidents_created",
    IncidentResolved: "incidents_resolved",
}
_TIMERS: Mapping[type[Fact], str] = {
    TimerScheduled: "timers_scheduled",
    TimerFired: "timers_fired",
    TimerCancelled: "timers_cancelled",
}


def _of_message(fact: MessageCorrelated | MessageNotCorrelated) -> Point:
    name = ("message_name", fact.name)
    if isinstance(fact, MessageCorrelated):
        return Point("messages_correlated", (name,))
    return Point("message_correlation_failed", (name, ("reason", fact.reason)))


def _of_job(fact: Fact, job: Job) -> Iterator[Point]:
    type_ = ("type", job.type)
    both = (type_, ("internal", "false"))  # jobs that the engine does itself are later work
    match fact:
        case JobCreated():
            yield Point("jobs_created", both)
        case JobHandedOut(latency=latency):
            yield Point("jobs_distributed", (type_,))
            yield _duration("job_activation_latency", (type_,), latency)
        case JobRetried(backoff=backoff):
            yield Point("jobs_retried", (type_,))
            yield _duration("job_retry_backoff", (type_,), backoff)
        case JobFailed(at=at):
            yield Point("jobs_failed", both)
            lasted = at - job.created_at
            yield _duration("job_lifetime", (type_, ("outcome", "failed")), lasted)
        case JobEnded(at=at):
            if job.state is JobState.COMPLETED:
                yield Point("jobs_completed", both)
            outcome = ("outcome", job.state.value)
            yield _duration("job_lifetime", (type_, outcome), at - job.created_at)


def _duration(name: str, labels: Labels, lasted: timedelta) -> Point:
    return Point(name, labels, lasted / timedelta(milliseconds=1))


def write(points: Sequence[Point], service: str) -> None:
    """Write metrics to standard output: one object for all that have the same labels.

    Shapes: equal names under equal labels become one list of values, of which CloudWatch makes
        sums and percentiles.
    """
    from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import (  # noqa: PLC0415
        AmazonCloudWatchEMFProvider,  # a few ms beside the logger's
    )

    groups: dict[Labels, list[Point]] = {}
    for point in points:
        groups.setdefault(point.labels, []).append(point)
    for labels, group in groups.items():
        written = AmazonCloudWatchEMFProvider(
            namespace=None, service=service, default_dimensions=dict(_dimensions(labels))
        )
        written.namespace = written.namespace or NAMESPACE
        for point in group:
            written.add_metric(point.name, UNITS[point.name], point.value)
        if written.metric_set:  # it writes by itself what is a hundred values
            written.flush_metrics()


def _dimensions(labels: Labels) -> Iterator[tuple[str, str]]:
    """Yield labels as CloudWatch takes them: ASCII, not empty, no colon in front."""
    for name, value in labels:
        plain = value.encode("ascii", "backslashreplace").decode("ascii").strip()[:VALUE_MAX]
        yield name, plain.lstrip(":") or "-"
