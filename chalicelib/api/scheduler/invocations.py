"""The history of scheduled jobs: one invocation for each attempt."""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.scheduler import errors, ids, shapes
from chalicelib.operations import invocations
from chalicelib.store import moments

EVER = moments.from_ms(0)

routes = Blueprint(__name__)


@routes.route("/jobs/{job_id}/invocations", content_types=[])
@errors_as(errors.error)
@Operation(
    "listInvocations",
    query=shapes.PAGE_QUERY,
    answers={200: shapes.INVOCATION_PAGE},
    refusals=(400, 404, 413),
)
def list_invocations(job_id: str) -> Response:
    """listInvocations: 200 and a page, the newest first; 400, 404."""
    named = ids.job_id(job_id)
    asked = http.query(routes.current_request, shapes.PAGE_QUERY)
    limit, offset = asked.get("limit", shapes.LIMIT), asked.get("offset", 0)
    page = invocations.list_invocations(wiring.ports(), named, limit, offset)
    body = shapes.INVOCATION_PAGE.write((page.items, page.total))
    return http.answer(200, body, http.floor_headers(page.is_floor))


@routes.route("/jobs/{job_id}/invocations/count", content_types=[])
@errors_as(errors.error)
@Operation(
    "countInvocations",
    query=shapes.COUNT_QUERY,
    answers={200: shapes.COUNT},
    refusals=(400, 404),
)
def count_invocations(job_id: str) -> Response:
    """countInvocations: 200 and how many ended `since` a moment, or are kept; 400, 404."""
    named = ids.job_id(job_id)
    asked = http.query(routes.current_request, shapes.COUNT_QUERY)
    since = max(asked.get("since", EVER), EVER)
    failures_only = asked.get("failures_only", False)
    counted = invocations.count_invocations(wiring.ports(), named, since, failures_only)
    body = shapes.COUNT.write(counted.count)
    return http.answer(200, body, http.floor_headers(counted.is_floor))
