"""Spans and attributes under ZenBPM's names: what a trace shows of what happened.

Source: contracts/zenbpm.md 5.3, R153. Never a worker's message or variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice

from chalicelib.engine.decided import DecisionMade
from chalicelib.engine.facts import (
    DecisionEvaluated,
    Fact,
    IncidentCreated,
    IncidentResolved,
    InstanceEnded,
    InstanceModified,
    InstanceStarted,
    JobEnded,
    JobFailed,
    JobHandedOut,
    JobRetried,
    Moved,
    TimerFired,
    VariableDeleted,
    passages,
)
from chalicelib.engine.state import Incident, Job, Root
from chalicelib.logs import Answered

SPANS_MAX = 100  # of one invocation; a trace holds 500 kB
OF_TOKENS_MAX = 50  # of which so many may be of tokens, so that jobs and incidents find room

Attributes = Mapping[str, str | int]


@dataclass(frozen=True, slots=True)
class Span:
    """Something that happened within an invocation, by ZenBPM's name for it.

    Shapes: it is sent only as one of the first `place_max` of its invocation; the last place is
        the request's own.
    """

    name: str
    attributes: Attributes
    place_max: int = SPANS_MAX - 1


def spans_of(fact: Fact) -> Iterator[Span]:
    """Yield the spans of a fact: one or none, but of `Moved`, which is many."""
    match fact:
        case InstanceStarted(root, ()):
            yield Span(f"create-instance:{root.bpmn_process_id}", _of_root(root))
        case InstanceStarted(root):
            yield Span(f"start-instance-on-elements:{root.bpmn_process_id}", _of_root(root))
        case InstanceEnded(root):
            yield Span(f"run-instance:{root.bpmn_process_id}", _of_root(root))
        case InstanceModified(root):
            yield Span(f"modify-instance:{root.bpmn_process_id}", _of_root(root))
        case VariableDeleted(root):
            yield Span(f"delete-instance-variable:{root.bpmn_process_id}", _of_root(root))
        case JobHandedOut(job) | JobRetried(job) | JobFailed(job) | JobEnded(job):
            yield Span(f"job:{job.type}", _of_job(job) | _outcome(fact))
        case IncidentCreated(incident) | IncidentResolved(incident):
            yield Span(f"incident:{incident.key}", _of_incident(incident) | _outcome(fact))
        case _:
            yield from _of_elements(fact)


def _of_elements(fact: Fact) -> Iterator[Span]:
    """Yield the spans of what happened at elements by itself."""
    match fact:
        case TimerFired(timer):
            attributes: Attributes = {
                "zenbpm.process.instance_key": timer.instance_key,
                "zenbpm.element.id": timer.element_id,
                "zenbpm.element.key": timer.element_key,
            }
            yield Span(f"timer:{timer.key}", attributes)
        case DecisionEvaluated(made):
            yield Span("dmn.evaluate-decision", _of_decision(made))
        case Moved():
            yield from islice(_of_tokens(fact), OF_TOKENS_MAX)


def span_of_answer(answered: Answered) -> Span:
    """Return the span of an HTTP request: ZenBPM's `request`, which is renamed to the route.

    Shapes: `/v1/jobs/:job_key`, for names of subsegments have no braces.
    """
    attributes: Attributes = {
        "http.request.method": answered.method,
        "http.route": answered.route,
        "http.response.status_code": answered.status,
    }
    name = answered.route.replace("{", ":").replace("}", "")
    return Span(name, attributes, SPANS_MAX)


def _of_tokens(moved: Moved) -> Iterator[Span]:
    """Yield each element that a turn passed, and each token where it stays or ends.

    A token has no key of its own here: it is known by the element instance that it is in.
    """
    instance = {"zenbpm.process.instance_key": moved.turn.after.key}
    for passage in passages(moved):
        element: dict[str, str | int] = {
            **instance,
            "zenbpm.element.id": passage.element_id,
            "zenbpm.element.key": passage.key,
            "zenbpm.element.type": passage.type,
        }
        if passage.name:
            element["zenbpm.element.name"] = passage.name
        yield Span(f"flow-node:{passage.element_id}", element, OF_TOKENS_MAX)
        if passage.is_rest:
            token: dict[str, str | int] = {
                "zenbpm.token.key": passage.key,
                "zenbpm.token.status": f"TokenState{passage.status.capitalize()}",
            }
            yield Span(f"token:{passage.element_id}", element | token, OF_TOKENS_MAX)


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


def _of_decision(made: DecisionMade) -> dict[str, str | int]:
    """Return what a decision is of; one that could not be made has no key that leads anywhere."""
    process: dict[str, str | int] = {
        "zenbpm.process.instance_key": made.instance_key,
        "zenbpm.element.id": made.element_id,
        "zenbpm.element.key": made.element_key,
    }
    decision: dict[str, str | int] = {
        "zenbpm.decision.id": made.decision_id,
        "zenbpm.decision.key": made.definition_key,
        "zenbpm.decision.drd_id": made.resource_id,
    }
    if made.evaluated.problem is None:
        decision["zenbpm.decision.instance_key"] = made.key
    return {**decision, **(process if made.instance_key else {})}


def _of_incident(incident: Incident) -> dict[str, str | int]:
    return {
        "zenbpm.process.instance_key": incident.instance_key,
        "zenbpm.incident.key": incident.key,
        "zenbpm.element.id": incident.element_id,
        "zenbpm.element.key": incident.element_key,
    }
