"""Jobs: listed, read, and all that is said about one (contracts/zenbpm.md section 1.5)."""

from __future__ import annotations

from chalice.app import Blueprint, Response

from chalicelib import wiring
from chalicelib.api import http, repeats
from chalicelib.api.http import errors_as
from chalicelib.api.job_results import result_of
from chalicelib.api.operation import Operation
from chalicelib.api.zenbpm import errors, job_shapes, keys, pages, shapes
from chalicelib.api.zenbpm.pages import Order
from chalicelib.engine.commands import FailJob
from chalicelib.engine.state import JobState
from chalicelib.operations import failures, jobs, locks, retries
from chalicelib.operations.locks import Extension
from chalicelib.store.lists import Listed, WantedJobs

ORDER = Order(
    {"createdAt": "created_at", "key": "key", "type": "type", "state": "state"},
    default="key",
    ascending=True,
)

routes = Blueprint(__name__)


@routes.route("/jobs", content_types=[])
@errors_as(errors.error)
@Operation(
    "getJobs", query=shapes.JOBS_QUERY, answers={200: shapes.JOB_PARTITIONS}, refusals=(400, 413)
)
def get_jobs() -> Response:
    """getJobs: 200 and a page; 400. Nothing is handed out."""
    asked = http.query(routes.current_request, shapes.JOBS_QUERY)
    key = asked.get("processInstanceKey")
    wanted = WantedJobs(
        instance_key=key,
        scope=key,
        type=asked.get("jobType"),
        states=frozenset({JobState(asked["state"])}) if "state" in asked else None,
        assignee=asked.get("assignee"),
    )
    listed = jobs.get_jobs(wiring.ports(), wanted, pages.cut(asked, ORDER))
    return pages.answer(shapes.JOB_PARTITIONS, asked, listed)


@routes.route("/process-instances/{process_instance_key}/jobs", content_types=[])
@errors_as(errors.error)
@Operation(
    "getProcessInstanceJobs",
    query=shapes.PAGE_QUERY,
    answers={200: shapes.JOB_PAGE},
    refusals=(400, 413),
)
def get_process_instance_jobs(process_instance_key: str) -> Response:
    """getProcessInstanceJobs: 200 and a page, empty for a key that names nothing (R15).

    An instance's jobs are those of its subprocesses too, though they name these as theirs.
    """
    asked = http.query(routes.current_request, shapes.PAGE_QUERY)
    key = keys.instance_key(process_instance_key)
    listed = jobs.get_process_instance_jobs(wiring.ports(), key, pages.cut(asked, ORDER))
    return pages.answer(shapes.JOB_PAGE, asked, listed)


@routes.route("/jobs/{job_key}", content_types=[])
@errors_as(errors.error)
@Operation("getJob", answers={200: shapes.JOB}, refusals=(400, 404))
def get_job(job_key: str) -> Response:
    """getJob: 200 and the job; 404."""
    key = keys.job_key(job_key)
    return http.answer(200, shapes.JOB.write(jobs.get_job(wiring.ports(), key)))


@routes.route("/jobs/{job_key}/complete", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "completeJob", body=shapes.COMPLETE_JOB, answers={201: None}, refusals=(400, 404, 409, 413, 415)
)
def complete_job(job_key: str) -> Response:
    """completeJob: 201 and no body, again for a repeat; 400, 404, 409, 413."""
    key = keys.job_key(job_key)
    body = http.json_body(routes.current_request, shapes.COMPLETE_JOB)
    jobs.complete_job(wiring.ports(), key, body.get("variables") or {}, result_of(body))
    return http.answer(201)


@routes.route("/jobs/{job_key}/fail", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "failJob",
    headers={repeats.HEADER: repeats.KEY},
    body=shapes.FAIL_JOB,
    answers={204: None},
    refusals=(400, 404, 409, 413, 415),
)
def fail_job(job_key: str) -> Response:
    """failJob: 204; 400, 404, 409, also for an `Idempotency-Key` that came with another body."""
    key = keys.job_key(job_key)
    body = http.json_body(routes.current_request, shapes.FAIL_JOB)
    failures.fail_job(
        wiring.ports(),
        FailJob(
            job_key=key,
            message=body.get("message", ""),
            error_code=body.get("errorCode", ""),
            variables=body.get("variables") or {},
            retries=body.get("retries"),
            backoff=body.get("retryBackoff"),
            token=body.get("deliveryToken"),
            client_id=body.get("clientId"),
        ),
        repeats.once(routes.current_request),
    )
    return http.answer(204)


@routes.route("/jobs/{job_key}/extend-lock", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "extendJobLock",
    body=job_shapes.EXTEND_LOCK,
    answers={200: job_shapes.LOCK_EXTENDED},
    refusals=(400, 404, 409, 413, 415),
)
def extend_job_lock(job_key: str) -> Response:
    """extendJobLock: 200 and when the lock ends; 400, 404, 409 if it is not the client's."""
    key = keys.job_key(job_key)
    body = http.json_body(routes.current_request, job_shapes.EXTEND_LOCK)
    asked = Extension(key, body["clientId"], body.get("deliveryToken"), body.get("lockDuration"))
    until = locks.extend_job_lock(wiring.ports(), asked)
    return http.answer(200, job_shapes.LOCK_EXTENDED.write(until))


@routes.route("/jobs/{job_key}/assign", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "assignJob", body=job_shapes.ASSIGN_JOB, answers={204: None}, refusals=(400, 404, 409, 413, 415)
)
def assign_job(job_key: str) -> Response:
    """assignJob: 204, an empty name for nobody; 400, 404, 409 if the job has ended."""
    key = keys.job_key(job_key)
    body = http.json_body(routes.current_request, job_shapes.ASSIGN_JOB)
    jobs.assign_job(wiring.ports(), key, body["assignee"] or None)
    return http.answer(204)


@routes.route("/jobs/{job_key}/retries", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "updateJobRetries",
    body=job_shapes.SET_RETRIES,
    answers={204: None},
    refusals=(400, 404, 409, 413, 415),
)
def update_job_retries(job_key: str) -> Response:
    """updateJobRetries: 204; 400 out of bounds, 404, 409 if the job has ended."""
    key = keys.job_key(job_key)
    body = http.json_body(routes.current_request, job_shapes.SET_RETRIES)
    retries.update_job_retries(wiring.ports(), key, body["retries"], body.get("retryAt"))
    return http.answer(204)


@routes.route("/jobs/{job_key}/failures", content_types=[])
@errors_as(errors.error)
@Operation(
    "getJobFailures",
    query=shapes.LONG_PAGE_QUERY,
    answers={200: job_shapes.JOB_FAILURE_PAGE},
    refusals=(400, 404, 413),
)
def get_job_failures(job_key: str) -> Response:
    """getJobFailures: 200 and a page, the newest first, of failures without a code; 400, 404."""
    asked = http.query(routes.current_request, shapes.LONG_PAGE_QUERY)
    cut = pages.cut(asked, ORDER)
    job, listed = jobs.get_job_failures(wiring.ports(), keys.job_key(job_key), cut)
    shown = Listed([(job, failure) for failure in listed.items], listed.total)
    return pages.answer(job_shapes.JOB_FAILURE_PAGE, asked, shown)
