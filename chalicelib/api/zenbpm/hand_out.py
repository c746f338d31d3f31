"""Our own extension of ZenBPM's REST API: jobs are handed out without a stream.

A worker polls with `activate`, or is subscribed to a job type's queue and claims the job that each
bell names. Both are deliveries like those of the stream: a lock, a new token. Design section 5.
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
from chalicelib.api.zenbpm import errors, keys, shapes
from chalicelib.operations import claims, client_caps
from chalicelib.operations.claims import Activation
from chalicelib.operations.handing_out import Claimant
from chalicelib.ports import Ports
from chalicelib.profile import Profile

routes = Blueprint(__name__)


@routes.route("/jobs/activate", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "activateJobs",
    body=shapes.ACTIVATE_JOBS,
    answers={200: shapes.ACTIVATED},
    refusals=(400, 413, 415),
)
def activate_jobs() -> Response:
    """activateJobs: 200 with up to `maxJobs` jobs, perhaps none; 400, also unknown members.

    With a `requestId` a repeat gets the jobs that the client still holds by it.
    """
    body = http.json_body(routes.current_request, shapes.ACTIVATE_JOBS)
    ports = wiring.ports()
    client_id = _client_id(ports, body)
    activation = Activation(
        type=body["type"],
        claimant=_claimant(ports, client_id, body),
        max_jobs=body.get("maxJobs", 1),
        wait_for=body.get("waitFor", timedelta(0)),
        max_active=client_caps.max_active_jobs(ports, body.get("maxActiveJobs")),
        profile=Profile.ZENBPM,
    )
    jobs = claims.activate(ports, activation)
    logs.about(job_type=body["type"], client_id=client_id, job_keys=[job.key for job in jobs])
    return http.answer(200, shapes.ACTIVATED.write((client_id, jobs)))


@routes.route("/jobs/{job_key}/claim", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "claimJob",
    body=shapes.CLAIM_JOB,
    answers={200: shapes.DELIVERED_JOB},
    refusals=(400, 404, 409, 413, 415),
)
def claim_job(job_key: str) -> Response:
    """claimJob: 200 and the job; 400, 404, 409 with a reason: held, waiting, early or ended."""
    key = keys.job_key(job_key)
    body = http.json_body(routes.current_request, shapes.CLAIM_JOB)
    ports = wiring.ports()
    claimant = _claimant(ports, body["clientId"], body)
    job = claims.claim_by_key(ports, key, claimant, body.get("bell"))
    logs.about(job_type=job.type, instance_key=job.instance_key, element_id=job.element_id)
    return http.answer(200, shapes.DELIVERED_JOB.write(job))


def _client_id(ports: Ports, body: Mapping[str, Any]) -> str:
    """Return who asks: a client without a name gets one, the same again for the same request.

    Raises: Rejected if what is counted for a client has no client.
    """
    if "maxActiveJobs" in body and "clientId" not in body:
        raise http.body_error(
            'doesn\'t match schema: Error at "/clientId": property "clientId" is missing, '
            "maxActiveJobs counts the jobs of a client"
        )
    client_id: str = body.get("clientId") or body.get("requestId") or ports.chance.id()
    return client_id


def _claimant(ports: Ports, client_id: str, body: Mapping[str, Any]) -> Claimant:
    lock_duration = claims.lock_duration(ports, body.get("lockDuration"))
    return Claimant(client_id, lock_duration, body.get("requestId"))
