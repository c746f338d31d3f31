"""Jobs handed out: a worker polls, and what it gets stays with it.

The hold has no end. It is over when the worker completes or fails the job, when the instance is
cancelled, or when the server starts anew (contracts/dialects.md rows 8 and 34).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from chalice.app import Blueprint, Response

from chalicelib import logs, wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.priostack import errors, shapes
from chalicelib.api.priostack.views import JobView
from chalicelib.operations import claims
from chalicelib.operations.claims import Activation
from chalicelib.operations.handing_out import Claimant
from chalicelib.profile import Profile

WAIT_MAX_MS = 20_000  # WaitTimeSeconds of one SQS receive, below the gateway's 29 s

routes = Blueprint(__name__)


@routes.route("/jobs/activate", content_types=[])
@errors_as(errors.error)
@Operation(
    "activateJobs",
    query=shapes.ACTIVATE_QUERY,
    needed=("type",),
    answers={200: shapes.ACTIVATED},
    refusals=(400, 413),
)
def activate_jobs() -> Response:
    """activateJobs: 200 with up to `maxJobs` jobs of a type, perhaps none; 400.

    They stay with the worker until it completes or fails them; `deadline` ends nothing. With a
    `requestTimeout` in milliseconds an empty answer takes so long, at most 20 seconds.
    """
    asked = http.query(routes.current_request, shapes.ACTIVATE_QUERY)
    if "type" not in asked:
        raise http.parameter_error("type", "query", "value is required but missing")
    ports = wiring.ports()
    worker = asked.get("worker") or ports.chance.id()
    activation = Activation(
        type=asked["type"],
        claimant=Claimant(worker, lock_duration=None),
        max_jobs=asked.get("maxJobs", asked.get("maxJobsToActivate", 1)),
        wait_for=timedelta(milliseconds=min(asked.get("requestTimeout", 0), WAIT_MAX_MS)),
        profile=Profile.PRIOSTACK,
    )
    claimed = claims.activate(ports, activation)
    logs.about(job_type=asked["type"], client_id=worker, job_keys=[job.key for job in claimed])
    now, roots = ports.clock.now(), claims.roots_of(ports, claimed)
    names = _names(asked)
    views = [
        JobView(job, roots[job.instance_key], now, is_handed_out=True, names=names)
        for job in claimed
    ]
    return http.answer(200, shapes.ACTIVATED.write(views), {"Cache-Control": "no-store"})


def _names(asked: Mapping[str, Any]) -> frozenset[str] | None:
    names = asked.get("fetchVariables")
    return None if names is None else frozenset(name.strip() for name in names)
