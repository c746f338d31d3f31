"""Keys out of the path: what is no key names nothing, and answers so."""

from __future__ import annotations

from chalicelib import logs
from chalicelib.api import http
from chalicelib.api.priostack import errors
from chalicelib.errors import Rejected

JOB = "job"
INSTANCE = "process instance"
DEFINITION = "process definition"
INCIDENT = "incident"
USER_TASK = "user task"


def job_key(text: str, noun: str = JOB) -> int:
    """Return the key of a job, or of a user task. Raises: Rejected(NOT_FOUND)."""
    key = _key(text, noun)
    logs.about(job_key=key)
    return key


def instance_key(text: str) -> int:
    """Return the key of a process instance. Raises: Rejected(NOT_FOUND)."""
    key = _key(text, INSTANCE)
    logs.about(instance_key=key)
    return key


def definition_key(text: str) -> int:
    """Return the key of a process definition. Raises: Rejected(NOT_FOUND)."""
    return _key(text, DEFINITION)


def incident_key(text: str) -> int:
    """Return the key of an incident. Raises: Rejected(NOT_FOUND)."""
    return _key(text, INCIDENT)


def _key(text: str, noun: str) -> int:
    try:
        return http.path_key(text, noun)
    except Rejected as problem:
        raise errors.not_found(noun) from problem
