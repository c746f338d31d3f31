"""Every route of the dialect under `/v1`."""

from __future__ import annotations

from chalice.app import Chalice

from chalicelib.api import shared
from chalicelib.api.zenbpm import (
    PREFIX,
    definitions,
    dmn_decisions,
    dmn_definitions,
    document,
    errors,
    hand_out,
    incidents,
    instances,
    jobs,
    messages,
    modification,
    statistics,
    subscriptions,
    system,
    user_tasks,
)

PARTS = (
    *(definitions, instances, modification, jobs, hand_out, incidents, statistics, subscriptions),
    *(user_tasks, messages, dmn_definitions, dmn_decisions, document),
)


def register(app: Chalice) -> None:
    """Register every route of the dialect."""
    for part in PARTS:
        app.register_blueprint(part.routes, url_prefix=PREFIX)
    shared.register(app, PREFIX, errors.error)
    app.register_blueprint(system.routes, url_prefix="/system")
