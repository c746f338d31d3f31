"""Scheduled jobs over HTTP: REST `/scheduler/v1` (contracts/scheduled-jobs.md)."""

from __future__ import annotations

from chalice.app import Chalice

from chalicelib.api.scheduler import document, errors, firings, invocations, jobs
from chalicelib.api.scheduler.document import PREFIX

PARTS = (jobs, firings, invocations, document)


def register(app: Chalice) -> None:
    """Register every route of the dialect."""
    for part in PARTS:
        app.register_blueprint(part.routes, url_prefix=PREFIX)


__all__ = ["PREFIX", "errors", "register"]
