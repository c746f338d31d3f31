"""User tasks that the engine manages: no job, no worker; people are assigned and complete them.

Upstream has no such tasks: these calls are Headrace's own, after Camunda's (docs/adr/0037).
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from chalice.app import Blueprint, Response

from chalicelib import wiring
from chalicelib.api import http
from chalicelib.api.fields import member
from chalicelib.api.http import errors_as
from chalicelib.api.job_results import TASK_CHANGES, changes_of
from chalicelib.api.operation import Operation
from chalicelib.api.schema import Anything, Choice, Field, Flag, Object, Text, Type
from chalicelib.api.task_members import TOLD
from chalicelib.api.zenbpm import errors, keys, pages
from chalicelib.api.zenbpm.pages import Order
from chalicelib.api.zenbpm.shapes import KEY, NAME_MAX, ORDER, PAGE_QUERY, page_of
from chalicelib.engine.state import USER_TASK, Job, JobState
from chalicelib.operations import user_tasks
from chalicelib.store.lists import WantedJobs

CREATED, COMPLETED, CANCELED = "created", "completed", "canceled"
TRANSITIONS = ("creating", "assigning", "updating", "completing", "canceling")
STATES = Choice((CREATED, *TRANSITIONS, COMPLETED, CANCELED))
SORTED = Order(
    {"createdAt": "created_at", "key": "key"},
    default="key",
    ascending=True,
)


def _state(task: Job) -> str:
    match task.state:
        case JobState.COMPLETED:
            return COMPLETED
        case JobState.TERMINATED:
            return CANCELED
        case _:
            return task.transition or CREATED


TASK = Object(
    "UserTask",
    {
        "key": member(KEY, attrgetter("key")),
        "state": member(STATES, _state),
        "processInstanceKey": member(KEY, attrgetter("scope")),
        "elementId": member(Text(), attrgetter("element_id")),
        "elementInstanceKey": member(KEY, attrgetter("element_key")),
        **TOLD,
    },
)
TASK_PAGE = page_of(TASK)
TASKS_QUERY: Mapping[str, Type] = {
    **PAGE_QUERY,
    "state": STATES,
    "assignee": Text(),
    "candidateGroup": Text(),
    "candidateUser": Text(),
    "processInstanceKey": KEY,
    "sortBy": Choice(tuple(SORTED.fields)),
    "sortOrder": ORDER,
}
_ACTION = {"action": Field(Text(0, NAME_MAX), nullable=True)}
ASSIGN = Object(
    "AssignUserTask",
    {
        "assignee": Field(Text(1, NAME_MAX), required=True),
        "allowOverride": Field(Flag(), nullable=True),
        **_ACTION,
    },
)
UPDATE = Object("UpdateUserTask", {"changeset": Field(TASK_CHANGES, required=True), **_ACTION})
COMPLETE = Object("CompleteUserTask", {"variables": Field(Anything(), nullable=True), **_ACTION})

routes = Blueprint(__name__)


@routes.route("/user-tasks", content_types=[])
@errors_as(errors.error)
@Operation("getUserTasks", query=TASKS_QUERY, answers={200: TASK_PAGE}, refusals=(400, 413))
def get_user_tasks() -> Response:
    """getUserTasks: 200 and a page; 400."""
    asked = http.query(routes.current_request, TASKS_QUERY)
    wanted = _wanted(asked)
    listed = user_tasks.get_user_tasks(wiring.ports(), wanted, pages.cut(asked, SORTED))
    return pages.answer(TASK_PAGE, asked, listed)


@routes.route("/user-tasks/{user_task_key}", content_types=[])
@errors_as(errors.error)
@Operation("getUserTask", answers={200: TASK}, refusals=(400, 404))
def get_user_task(user_task_key: str) -> Response:
    """getUserTask: 200 and the task, also one that has ended; 404."""
    key = keys.user_task_key(user_task_key)
    return http.answer(200, TASK.write(user_tasks.get_user_task(wiring.ports(), key)))


@routes.route("/user-tasks/{user_task_key}", methods=["PATCH"], content_types=[])
@errors_as(errors.error)
@Operation(
    "updateUserTask",
    body=UPDATE,
    answers={202: TASK, 204: None},
    refusals=(400, 404, 409, 413, 415),
)
def update_user_task(user_task_key: str) -> Response:
    """updateUserTask: 204, or 202 and the task if its listeners are asked first; 400, 404, 409."""
    key = keys.user_task_key(user_task_key)
    body = http.json_body(routes.current_request, UPDATE)
    changes = {n: v for n, v in changes_of(body["changeset"]).items() if n != "assignee"}
    action = body.get("action") or ""
    return _answer(user_tasks.update_user_task(wiring.ports(), key, changes, action))


@routes.route("/user-tasks/{user_task_key}/assignment", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "assignUserTask",
    body=ASSIGN,
    answers={202: TASK, 204: None},
    refusals=(400, 404, 409, 413, 415),
)
def assign_user_task(user_task_key: str) -> Response:
    """assignUserTask: 204, or 202 and the task if its listeners are asked first; 400, 404, 409."""
    key = keys.user_task_key(user_task_key)
    body = http.json_body(routes.current_request, ASSIGN)
    task = user_tasks.assign_user_task(
        wiring.ports(),
        key,
        body["assignee"],
        body.get("action") or "",
        allows_override=body.get("allowOverride") is not False,
    )
    return _answer(task)


@routes.route("/user-tasks/{user_task_key}/assignee", methods=["DELETE"], content_types=[])
@errors_as(errors.error)
@Operation("unassignUserTask", answers={202: TASK, 204: None}, refusals=(400, 404, 409))
def unassign_user_task(user_task_key: str) -> Response:
    """unassignUserTask: 204, or 202 and the task if its listeners are asked first; 404, 409."""
    key = keys.user_task_key(user_task_key)
    return _answer(user_tasks.unassign_user_task(wiring.ports(), key))


@routes.route("/user-tasks/{user_task_key}/completion", methods=["POST"], content_types=[])
@errors_as(errors.error)
@Operation(
    "completeUserTask",
    body=COMPLETE,
    is_body_optional=True,
    answers={202: TASK, 204: None},
    refusals=(400, 404, 409, 413, 415),
)
def complete_user_task(user_task_key: str) -> Response:
    """completeUserTask: 204, or 202 and the task if its listeners are asked first; 404, 409."""
    key = keys.user_task_key(user_task_key)
    body = http.optional_json_body(routes.current_request, COMPLETE)
    variables, action = body.get("variables") or {}, body.get("action") or ""
    return _answer(user_tasks.complete_user_task(wiring.ports(), key, variables, action))


def _answer(task: Job) -> Response:
    """Answer that what was asked is done, or that the task's listeners decide on it."""
    return http.answer(204) if task.transition is None else http.answer(202, TASK.write(task))


def _wanted(asked: Mapping[str, Any]) -> WantedJobs:
    state = asked.get("state")
    states, transition = None, None
    if state in (COMPLETED, CANCELED):
        ended = JobState.COMPLETED if state == COMPLETED else JobState.TERMINATED
        states = frozenset({ended})
    elif state is not None:
        states, transition = frozenset({JobState.ACTIVE}), "" if state == CREATED else state
    key = asked.get("processInstanceKey")
    return WantedJobs(
        kind=USER_TASK,
        instance_key=key,
        scope=key,
        states=states,
        transition=transition,
        assignee=asked.get("assignee"),
        candidate_group=asked.get("candidateGroup"),
        candidate_user=asked.get("candidateUser"),
    )
