"""Incidents: listed, and called resolved. No call of this dialect lets an instance go on."""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.priostack import errors, keys, pages, shapes
from chalicelib.operations import incidents

routes = Blueprint(__name__)


@routes.route("/incidents", content_types=[])
@errors_as(errors.error)
@Operation(
    "getIncidents",
    query=shapes.INCIDENTS_QUERY,
    answers={200: shapes.INCIDENT_PAGE},
    refusals=(400, 413),
)
def get_incidents() -> Response:
    """getIncidents: 200 and a page, the newest first; 400."""
    asked = http.query(routes.current_request, shapes.INCIDENTS_QUERY)
    is_marked = {"open": False, "resolved": True}.get(asked.get("status", ""))
    listed = incidents.get_incidents(
        wiring.ports(), asked.get("process_instance_key"), is_marked, pages.cut(asked)
    )
    return pages.answer(shapes.INCIDENT_PAGE, listed.items, listed)


@routes.route("/incidents/{incident_key}", methods=["PATCH"], content_types=[])
@errors_as(errors.error)
@Operation(
    "markIncident",
    body=shapes.MARK_INCIDENT,
    is_body_optional=True,
    answers={200: shapes.INCIDENT},
    refusals=(400, 404, 413, 415),
)
def mark_incident(incident_key: str) -> Response:
    """markIncident: 200 and the incident, now called resolved; 400, 404.

    Its instance stays as it is. A second mark changes nothing.
    """
    key = keys.incident_key(incident_key)
    http.optional_json_body(routes.current_request, shapes.MARK_INCIDENT)
    with errors.called(keys.INCIDENT):
        marked = incidents.mark_incident(wiring.ports(), key)
    return http.answer(200, shapes.INCIDENT.write(marked))
