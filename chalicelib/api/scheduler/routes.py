"""Every route of the dialect under `/scheduler/v1`."""

from __future__ import annotations

from chalice.app import Chalice

from chalicelib.api.scheduler import PREFIX, document, firings, invocations, jobs

PARTS = (jobs, firings, invocations, document)


def register(app: Chalice) -> None:
    """Register every route of the dialect."""
    for part in PARTS:
        app.register_blueprint(part.routes, url_prefix=PREFIX)
