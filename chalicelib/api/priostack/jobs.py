"""Jobs: listed, completed, failed. One that has ended is not there any more."""

from __future__ import annotations

from datetime import timedelta

from chalice.app import Blueprint, Response

from chalicelib import wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.job_results import result_of
from chalicelib.api.operation import Operation
from chalicelib.api.priostack import errors, keys, pages, shapes
from chalicelib.api.priostack.views import JobView
from chalicelib.engine.commands import FailJob
from chalicelib.engine.state import JobState
from chalicelib.operations import claims, failures, jobs
from chalicelib.store.lists import WantedJobs

IS_HELD = {"pending": False, "waiting": False, "active": True}

routes = Blueprint(__name__)


@routes.route("/jobs", content_types=[])
@errors_as(errors.error)
@Operation("getJobs", query=shapes.JOBS_QUERY, answers={200: shapes.JOB_PAGE}, refusals=(400, 413))
def get_jobs() -> Response:
    """getJobs: 200 and a page of the open jobs, the oldest first; 400. Nothing is handed out."""
    asked = http.query(routes.current_request, shapes.JOBS_QUERY)
    ports = wiring.ports()
    now = ports.clock.now()
    wanted = WantedJobs(
        instance_key=asked.get("processInstanceKey"),
        type=asked.get("type"),
        states=frozenset({JobState.ACTIVE}),
        is_held=IS_HELD.get(asked.get("state", "")),
        at=now,
    )
    listed = jobs.get_jobs(ports, wanted, pages.cut(asked, ascending=True))
    roots = claims.roots_of(ports, listed.items)
    views = [JobView(job, roots[job.instance_key], now) for job in listed.items]
    return pages.answer(shapes.JOB_PAGE, views, listed)


@routes.route("/jobs/{job_key}/complete", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "completeJob",
    body=shapes.COMPLETE_JOB,
    is_body_optional=True,
    answers={200: shapes.DONE},
    refusals=(400, 404, 413, 415),
)
def complete_job(job_key: str) -> Response:
    """completeJob: 200, and the token moves on; 400, 404 also for a job that has ended, 413."""
    key = keys.job_key(job_key)
    body = http.optional_json_body(routes.current_request, shapes.COMPLETE_JOB)
    with errors.called(keys.JOB, hides_ended=True):
        jobs.complete_job(
            wiring.ports(), key, body.get("variables") or {}, result_of(body), is_once=True
        )
    return http.answer(200, shapes.DONE.write(None))


@routes.route("/jobs/{job_key}/fail", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "failJob",
    body=shapes.FAIL_JOB,
    is_body_optional=True,
    answers={200: shapes.DONE},
    refusals=(400, 404, 413, 415),
)
def fail_job(job_key: str) -> Response:
    """failJob: 200; 400, 404 also for a job that has ended, 413.

    `retries` is what the job has left, as it is sent; without it, or below 1, the job is over and
    an incident waits. With retries left the job is out again at once.
    """
    key = keys.job_key(job_key)
    body = http.optional_json_body(routes.current_request, shapes.FAIL_JOB)
    with errors.called(keys.JOB, hides_ended=True):
        failures.fail_job(
            wiring.ports(),
            FailJob(
                job_key=key,
                message=body.get("errorMessage") or "",
                retries=max(0, body.get("retries") or 0),
                backoff=timedelta(0),
                frees=True,
            ),
        )
    return http.answer(200, shapes.DONE.write(None))
