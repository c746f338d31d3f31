"""Ad-hoc subprocesses that a worker steers: it gets a job when one is entered, and another each
time that something inside is over; with each it says how to go on.

There is one job at a time: a new one takes the place of the one before, which can be completed no
more. One that was made in the same turn is none that anybody could have seen; it stays, with what
is there to see now.

Source: Camunda 8 documentation, "Ad-hoc sub-processes" (job worker implementation).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from chalicelib.engine import ad_hoc, jobs, variables
from chalicelib.engine.draft import Draft
from chalicelib.engine.guards import Guard
from chalicelib.engine.job_results import AdHocResult
from chalicelib.engine.state import ElementInstance, Incident, Job, JobState, RecordKey, Stage
from chalicelib.engine.stuck import Stuck, close_incident
from chalicelib.errors import Reason, Rejected
from chalicelib.json_text import JsonObject

if TYPE_CHECKING:
    from chalicelib.engine.plans import Node


def ask(draft: Draft, node: Node, element: ElementInstance) -> None:
    """Ask the worker how an ad-hoc subprocess goes on. Raises: Stuck, when completing."""
    key = element.key
    try:
        made = jobs.made(draft, node, element.scope, key, variables.visible(draft, key))
    except Stuck as stuck:
        stuck.stage = Stage.COMPLETING
        raise
    earlier = None if element.job is None else draft.find(Job, element.job)
    if earlier is not None and _is_of_this_turn(draft, earlier) and earlier.type == made.type:
        draft.put(made._replace(key=earlier.key))
        return
    end(draft, key)
    give(draft, made)


def give(draft: Draft, job: Job) -> None:
    """Give an ad-hoc subprocess its job, and ring for it."""
    draft.put(job)
    jobs.ring(draft, job, is_new=True)
    draft.live[job.element_key] = draft.live[job.element_key]._replace(job=job.key)


def _is_of_this_turn(draft: Draft, job: Job) -> bool:
    return draft.guards.get(RecordKey(Job, job.key)) is Guard.NEW


def is_listened_to(draft: Draft, element: ElementInstance) -> bool:
    """Say whether listeners are at work on an element: its scope is not open yet, or no more."""
    job = None if element.job is None else draft.find(Job, element.job)
    return job is not None and job.listener is not None


def end(draft: Draft, key: int) -> None:
    """Take the job of an ad-hoc subprocess back, and the incident that it raised."""
    element = draft.live[key]
    if element.job is None:
        return
    job = draft.find(Job, element.job)
    if job is not None and job.state in (JobState.ACTIVE, JobState.FAILED):
        draft.put(job._replace(state=JobState.TERMINATED), Guard.CANCEL)
    draft.live[key] = element = element._replace(job=None)
    incident = None if element.incident is None else draft.find(Incident, element.incident)
    if incident is not None and job is not None and incident.job_key == job.key:
        close_incident(draft, incident.key)
        draft.live[key] = element._replace(incident=None)


def check(node: Node, job: Job, result: AdHocResult) -> None:
    """Let what a worker orders pass. Raises: Rejected(INVALID_ARGUMENT)."""
    whose = f"result of job {job.key}"
    if result.is_fulfilled and result.activate:
        raise Rejected(
            Reason.INVALID_ARGUMENT,
            f"{whose}: expected elements to activate or isCompletionConditionFulfilled, found both",
        )
    unknown = ad_hoc.unknown_ids(ad_hoc.plan_of(node), (e.element_id for e in result.activate))
    if unknown is not None:
        raise Rejected(Reason.INVALID_ARGUMENT, f"{whose}: {unknown}")


def obey(
    draft: Draft, node: Node, element: ElementInstance, values: JsonObject, result: AdHocResult
) -> None:
    """Do what a worker ordered; its variables are set in the ad-hoc subprocess."""
    variables.merge(draft, element.key, values)
    if result.is_fulfilled:
        ad_hoc.fulfil(draft, node, element, cancels=result.cancels_remaining)
        return
    if result.cancels_remaining:
        ad_hoc.withdraw_all(draft, element.key)
    ad_hoc.order(draft, node, element.key, result.activate)
