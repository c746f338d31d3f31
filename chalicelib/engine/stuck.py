"""What stops an element until an operator mends the cause: never an error of the caller."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from chalicelib.engine.draft import Draft
from chalicelib.engine.state import ElementInstance, Incident, Stage


class ErrorType(StrEnum):
    """Why an incident was opened, in Zeebe's words where Zeebe has one."""

    CONDITION_ERROR = "CONDITION_ERROR"  # no outgoing flow could be chosen
    CALLED_DECISION_ERROR = "CALLED_DECISION_ERROR"  # there is no such decision
    DECISION_EVALUATION_ERROR = "DECISION_EVALUATION_ERROR"  # it failed, or no rule matches
    EXTRACT_VALUE_ERROR = "EXTRACT_VALUE_ERROR"  # an expression gave what its place cannot take
    IO_MAPPING_ERROR = "IO_MAPPING_ERROR"
    JOB_NO_RETRIES = "JOB_NO_RETRIES"
    NAME_TAKEN = "NAME_TAKEN"  # another waits for the same message, where only one may
    VARIABLE_MISSING = "VARIABLE_MISSING"  # where the profile demands it (profiles.py)
    UNHANDLED_ERROR_EVENT = "UNHANDLED_ERROR_EVENT"
    EXECUTION_LIMIT = "EXECUTION_LIMIT"  # more elements than maxElementExecutionCount
    CALLED_ELEMENT_ERROR = "CALLED_ELEMENT_ERROR"  # what is called cannot be, or ended otherwise
    SIZE_LIMIT = "SIZE_LIMIT"  # what follows would pass a bound of a turn or an item


class Stuck(Exception):
    """An element cannot go on; it becomes an incident of that element at that stage."""

    def __init__(self, error_type: ErrorType, message: str, stage: Stage = Stage.ENTERING) -> None:
        super().__init__(message)
        self.error_type = error_type
        self.message = message
        self.stage = stage


def stop(draft: Draft, element: ElementInstance, stuck: Stuck, job: int | None = None) -> None:
    """Open the incident of an element that cannot go on; the element waits with it.

    Shapes: `job` is the job that raised it.
    """
    waiting = draft.live.get(element.key) or element._replace(
        tokens=0, job=None, timers=(), incident=None, subscriptions=()
    )
    earlier = None if waiting.incident is None else close_incident(draft, waiting.incident)
    incident = Incident(
        key=draft.keys.next(),
        instance_key=draft.key,
        element_id=element.element_id,
        element_key=element.key,
        error_type=stuck.error_type,
        message=stuck.message,
        created_at=draft.now,
        job_key=job,
        stage=stuck.stage,
        scope=draft.shown_scope(element.scope),
        is_unarmed=stuck.stage in (Stage.WORKING, Stage.HEARING) and _is_unarmed(earlier),
        is_listening=element.is_listening,
    )
    draft.put(incident)
    draft.incident_count += 1
    draft.live[element.key] = waiting._replace(incident=incident.key)


def close_incident(draft: Draft, key: int) -> Incident | None:
    """Mark an incident as resolved, by an operator or because its element ended; return it."""
    incident = draft.find(Incident, key)
    if incident is not None and incident.resolved_at is None:
        draft.put(replace(incident, resolved_at=draft.now))
        draft.incident_count -= 1
    return incident


def _is_unarmed(earlier: Incident | None) -> bool:
    return earlier is not None and (earlier.stage is Stage.ARMING or earlier.is_unarmed)
