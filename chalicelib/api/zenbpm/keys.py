"""Keys out of the path: read, and named in the line of their invocation."""

from __future__ import annotations

from chalicelib import logs
from chalicelib.api import http


def instance_key(text: str, name: str = "processInstanceKey") -> int:
    """Return the key of a process instance, or of a scope in one. Raises: Rejected if it is no
    int64."""
    key = http.path_key(text, name)
    logs.about(instance_key=key)
    return key


def user_task_key(text: str) -> int:
    """Return the key of a user task. Raises: Rejected if it is no int64."""
    key = http.path_key(text, "userTaskKey")
    logs.about(job_key=key)
    return key


def job_key(text: str) -> int:
    """Return the key of a job. Raises: Rejected if it is no int64."""
    key = http.path_key(text, "jobKey")
    logs.about(job_key=key)
    return key
