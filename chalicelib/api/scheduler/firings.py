"""What sets a scheduled job going: by hand, or by its schedule, and what holds it back."""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.scheduler import errors, ids, shapes
from chalicelib.operations import firings, schedules

routes = Blueprint(__name__)


@routes.route("/jobs/{job_id}/trigger", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation("triggerScheduledJob", answers={202: shapes.FIRED}, refusals=(400, 404, 409))
def trigger_scheduled_job(job_id: str) -> Response:
    """triggerScheduledJob: 202 with the pool indices fired and skipped; 404, 409 if all are held.

    A paused job can be triggered too.
    """
    fired = firings.trigger(wiring.ports(), ids.job_id(job_id))
    return http.answer(202, shapes.FIRED.write(fired))


@routes.route("/jobs/{job_id}/unlock", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "unlockScheduledJob",
    query=shapes.UNLOCK_QUERY,
    needed=("pool_idx",),
    answers={204: None},
    refusals=(400, 404),
)
def unlock_scheduled_job(job_id: str) -> Response:
    """unlockScheduledJob: 204, and the pool index is free; 400, 404. A run that goes on goes on."""
    named = ids.job_id(job_id)
    asked = http.query(routes.current_request, shapes.UNLOCK_QUERY)
    if "pool_idx" not in asked:
        raise http.parameter_error("pool_idx", "query", "value is required but missing")
    firings.unlock(wiring.ports(), named, asked["pool_idx"])
    return http.answer(204)


@routes.route("/jobs/{job_id}/firings", content_types=[])
@errors_as(errors.error)
@Operation("listNextFirings", answers={200: shapes.FIRINGS}, refusals=(400, 404))
def list_next_firings(job_id: str) -> Response:
    """listNextFirings: 200 and the next five at most, none of a job that is paused; 404."""
    moments = schedules.list_next_firings(wiring.ports(), ids.job_id(job_id))
    return http.answer(200, shapes.FIRINGS.write(moments))
