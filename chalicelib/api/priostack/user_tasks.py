"""User tasks: people claim them, then complete them. They are in no list of jobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from chalice.app import Blueprint, Response

from chalicelib import wiring
from chalicelib.api import http
from chalicelib.api.http import errors_as
from chalicelib.api.operation import Operation
from chalicelib.api.priostack import errors, keys, pages, shapes, task_shapes
from chalicelib.engine.state import USER_TASK, JobState
from chalicelib.operations import user_tasks
from chalicelib.store.lists import WantedJobs

OPEN = frozenset({JobState.ACTIVE})
STATES: Mapping[str | None, WantedJobs] = {
    None: WantedJobs(kind=USER_TASK),
    "created": WantedJobs(kind=USER_TASK, states=OPEN, is_assigned=False),
    "claimed": WantedJobs(kind=USER_TASK, states=OPEN, is_assigned=True),
    "completed": WantedJobs(kind=USER_TASK, states=frozenset({JobState.COMPLETED})),
    "canceled": WantedJobs(kind=USER_TASK, states=frozenset({JobState.TERMINATED})),
}

routes = Blueprint(__name__)


@routes.route("/user-tasks", content_types=[])
@errors_as(errors.error)
@Operation(
    "getUserTasks",
    query=task_shapes.TASKS_QUERY,
    answers={200: task_shapes.TASK_PAGE},
    refusals=(400, 413),
)
def get_user_tasks() -> Response:
    """getUserTasks: 200 and a page, the oldest first; 400."""
    asked = http.query(routes.current_request, task_shapes.TASKS_QUERY)
    wanted = replace(
        STATES[asked.get("state")],
        assignee=asked.get("assignee"),
        candidate_group=asked.get("candidateGroup"),
        instance_key=asked.get("processInstanceKey"),
    )
    cut = pages.cut(asked, ascending=True)
    listed = user_tasks.get_user_tasks(wiring.ports(), wanted, cut)
    return pages.answer(task_shapes.TASK_PAGE, listed.items, listed)


@routes.route("/user-tasks/{user_task_key}", content_types=[])
@errors_as(errors.error)
@Operation("getUserTask", answers={200: task_shapes.TASK}, refusals=(404,))
def get_user_task(user_task_key: str) -> Response:
    """getUserTask: 200 and the task; 404."""
    key = keys.job_key(user_task_key, keys.USER_TASK)
    with errors.called(keys.USER_TASK):
        task = user_tasks.get_user_task(wiring.ports(), key)
    return http.answer(200, task_shapes.TASK.write(task))


@routes.route("/user-tasks/{user_task_key}/claim", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "claimUserTask",
    body=task_shapes.CLAIM,
    answers={200: task_shapes.TASK},
    refusals=(400, 404, 409, 413, 415),
)
def claim_user_task(user_task_key: str) -> Response:
    """claimUserTask: 200 and the task, again for a repeat; 400, 404, 409 if others have it."""
    key = keys.job_key(user_task_key, keys.USER_TASK)
    body = http.json_body(routes.current_request, task_shapes.CLAIM)
    with errors.called(keys.USER_TASK):
        task = user_tasks.claim_user_task(wiring.ports(), key, body["assignee"])
    return http.answer(200, task_shapes.TASK.write(task))


@routes.route("/user-tasks/{user_task_key}/unclaim", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation("unclaimUserTask", answers={200: task_shapes.TASK}, refusals=(404, 409))
def unclaim_user_task(user_task_key: str) -> Response:
    """unclaimUserTask: 200 and the task, which is nobody's; 404, 409 if it has ended."""
    key = keys.job_key(user_task_key, keys.USER_TASK)
    with errors.called(keys.USER_TASK):
        task = user_tasks.unclaim_user_task(wiring.ports(), key)
    return http.answer(200, task_shapes.TASK.write(task))


@routes.route("/user-tasks/{user_task_key}/complete", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "completeUserTask",
    body=shapes.COMPLETE_USER_TASK,
    is_body_optional=True,
    answers={200: shapes.DONE, 202: task_shapes.TASK},
    refusals=(400, 404, 409, 413, 415),
)
def complete_user_task(user_task_key: str) -> Response:
    """completeUserTask: 200, and the token moves on, or 202 and the task if its listeners are asked
    first; 400, 404, 409 unless somebody has it."""
    key = keys.job_key(user_task_key, keys.USER_TASK)
    body = http.optional_json_body(routes.current_request, shapes.COMPLETE_USER_TASK)
    with errors.called(keys.USER_TASK):
        task = user_tasks.complete_user_task(wiring.ports(), key, body.get("variables") or {})
    if task.transition is not None:
        return http.answer(202, task_shapes.TASK.write(task))
    return http.answer(200, shapes.DONE.write(None))
