"""Every route of the dialect under `/api/v1`."""

from __future__ import annotations

from chalice.app import Chalice

from chalicelib.api import shared
from chalicelib.api.priostack import (
    PREFIX,
    decisions,
    definitions,
    document,
    errors,
    hand_out,
    incidents,
    instances,
    jobs,
    messages,
    routed,
    routing,
    user_tasks,
)

PARTS = (
    *(definitions, instances, hand_out, jobs, incidents, user_tasks, messages, decisions),
    *(routing, routed, document),
)


def register(app: Chalice) -> None:
    """Register every route of the dialect."""
    for part in PARTS:
        app.register_blueprint(part.routes, url_prefix=PREFIX)
    shared.register(app, PREFIX, errors.error)
