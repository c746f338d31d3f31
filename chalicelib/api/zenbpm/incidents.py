"""Incidents: resolved by an operator (contracts/zenbpm.md section 1.6)."""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import logs, wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.zenbpm import errors, job_shapes
from chalicelib.operations import incidents
from chalicelib.operations.incidents import Mended

routes = Blueprint(__name__)


@routes.route("/incidents/{incident_key}/resolve", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "resolveIncident",
    body=job_shapes.RESOLVE_INCIDENT,
    is_body_optional=True,
    answers={201: None},
    refusals=(400, 404, 409, 413, 415),
)
def resolve_incident(incident_key: str) -> Response:
    """resolveIncident: 201 and no body, with or without one in the request; 400, 404, 409."""
    key = http.path_key(incident_key, "incidentKey")
    logs.about(incident_key=key)
    body = http.optional_json_body(routes.current_request, job_shapes.RESOLVE_INCIDENT)
    mended = Mended(body.get("retries"), body.get("retryAt"))
    incidents.resolve_incident(wiring.ports(), key, mended)
    return http.answer(201)
