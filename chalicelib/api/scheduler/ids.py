"""Ids out of the path: read, and named in the line of their invocation."""

from __future__ import annotations

from chalicelib import logs
from chalicelib.api import http


def job_id(text: str) -> str:
    """Return the id of a scheduled job. Raises: Rejected if it is no UTF-8."""
    named = http.path_name(text, "job_id")
    logs.about(job_id=named[: logs.PATH_MAX])
    return named
