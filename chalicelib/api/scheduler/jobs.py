"""Scheduled jobs: made, read, listed, changed, paused and removed."""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import logs, wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.scheduler import drafts, errors, ids, shapes
from chalicelib.api.scheduler.views import JobView
from chalicelib.operations import scheduled_jobs
from chalicelib.operations.scheduled_jobs import WantedJobs
from chalicelib.scheduler.definition import ScheduledJob

routes = Blueprint(__name__)


@routes.route("/jobs", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "createScheduledJob",
    body=shapes.CREATE_JOB,
    answers={201: shapes.JOB},
    refusals=(400, 413, 415),
)
def create_scheduled_job() -> Response:
    """createScheduledJob: 201 and the job with its id and `warnings`; 400 naming the field."""
    body = http.json_body(routes.current_request, shapes.CREATE_JOB)
    ports = wiring.ports()
    job = scheduled_jobs.create_scheduled_job(ports, drafts.made(body, ports.settings))
    logs.about(job_id=job.id)
    return _answer(201, job)


@routes.route("/jobs", content_types=[])
@errors_as(errors.error)
@Operation(
    "listScheduledJobs",
    query=shapes.JOBS_QUERY,
    answers={200: shapes.JOB_PAGE},
    refusals=(400, 413),
)
def list_scheduled_jobs() -> Response:
    """listScheduledJobs: 200 and a page, the oldest first, without `running_since_by_pool`; 400."""
    asked = http.query(routes.current_request, shapes.JOBS_QUERY)
    wanted = WantedJobs(asked.get("enabled"), asked.get("type"))
    limit, offset = asked.get("limit", shapes.LIMIT), asked.get("offset", 0)
    jobs, total = scheduled_jobs.list_scheduled_jobs(wiring.ports(), wanted, limit, offset)
    return http.answer(200, shapes.JOB_PAGE.write(([JobView(job) for job in jobs], total)))


@routes.route("/jobs/{job_id}", content_types=[])
@errors_as(errors.error)
@Operation("getScheduledJob", answers={200: shapes.JOB}, refusals=(400, 404))
def get_scheduled_job(job_id: str) -> Response:
    """getScheduledJob: 200 and the job, its secrets masked; 404."""
    return _answer(200, scheduled_jobs.get_scheduled_job(wiring.ports(), ids.job_id(job_id)))


@routes.route("/jobs/{job_id}", methods=["PUT"], content_types=[])
@errors_as(errors.error)
@Operation(
    "replaceScheduledJob",
    body=shapes.REPLACE_JOB,
    answers={200: shapes.JOB},
    refusals=(400, 404, 413, 415),
)
def replace_scheduled_job(job_id: str) -> Response:
    """replaceScheduledJob: 200 and the job; 400 naming the field, 404.

    What is not sent has its default. A job as it is shown may be sent back: its masks keep the
    stored secrets, and its id, creation, revision and other members that are ours are ignored.
    """
    named = ids.job_id(job_id)
    body = http.json_body(routes.current_request, shapes.REPLACE_JOB)
    ports = wiring.ports()
    change = drafts.replaced(body, ports.settings)
    return _answer(200, scheduled_jobs.patch_scheduled_job(ports, named, change))


@routes.route("/jobs/{job_id}", methods=["PATCH"], content_types=[])
@errors_as(errors.error)
@Operation(
    "patchScheduledJob",
    body=shapes.PATCH_JOB,
    answers={200: shapes.JOB},
    refusals=(400, 404, 413, 415),
)
def patch_scheduled_job(job_id: str) -> Response:
    """patchScheduledJob: 200 and the job; 400 naming the field, 404.

    A member that is sent is replaced whole, `auth` and `alarm` too; null takes it away.
    """
    named = ids.job_id(job_id)
    body = http.json_body(routes.current_request, shapes.PATCH_JOB)
    ports = wiring.ports()
    change = drafts.patched(body, ports.settings)
    return _answer(200, scheduled_jobs.patch_scheduled_job(ports, named, change))


@routes.route("/jobs/{job_id}", methods=["DELETE"], content_types=[])
@errors_as(errors.error)
@Operation("deleteScheduledJob", answers={204: None}, refusals=(400, 404))
def delete_scheduled_job(job_id: str) -> Response:
    """deleteScheduledJob: 204; 404. What is queued for it finds nothing."""
    scheduled_jobs.delete_scheduled_job(wiring.ports(), ids.job_id(job_id))
    return http.answer(204)


@routes.route("/jobs/{job_id}/pause", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation("pauseScheduledJob", answers={200: shapes.JOB}, refusals=(400, 404))
def pause_scheduled_job(job_id: str) -> Response:
    """pauseScheduledJob: 200 and the job, which fires no more; 404. Runs under way go on."""
    return _answer(200, scheduled_jobs.pause_scheduled_job(wiring.ports(), ids.job_id(job_id)))


@routes.route("/jobs/{job_id}/resume", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation("resumeScheduledJob", answers={200: shapes.JOB}, refusals=(400, 404))
def resume_scheduled_job(job_id: str) -> Response:
    """resumeScheduledJob: 200 and the job, which fires again; 404."""
    return _answer(200, scheduled_jobs.resume_scheduled_job(wiring.ports(), ids.job_id(job_id)))


def _answer(status: int, job: ScheduledJob) -> Response:
    running = scheduled_jobs.running_since_by_pool(wiring.ports(), job.id)
    return http.answer(status, shapes.JOB.write(JobView(job, running)))
