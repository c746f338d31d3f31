"""User tasks that people claim: no worker gets them, and they have no bell.

They are kept as jobs of a kind of their own, so that what ends a task around it ends them as well.
"""

from __future__ import annotations

from chalicelib.engine import lifecycle
from chalicelib.engine.commands import CompleteJob
from chalicelib.engine.state import USER_TASK, Job, JobState
from chalicelib.errors import Conflict, Reason, Rejected
from chalicelib.json_text import JsonObject
from chalicelib.operations.advance import advance
from chalicelib.operations.attempts import attempts
from chalicelib.ports import Ports
from chalicelib.store import jobs, lists
from chalicelib.store.lists import Cut, Listed, WantedJobs

NOUN = "user task"


def get_user_task(ports: Ports, key: int) -> Job:
    """Return a user task, also one that has ended. Raises: Rejected(NOT_FOUND)."""
    task = jobs.read(ports.table, [key], kind=USER_TASK).get(key)
    if task is None:
        raise lifecycle.no_such(NOUN, key)
    return task


def get_user_tasks(ports: Ports, wanted: WantedJobs, cut: Cut) -> Listed[Job]:
    """Return a page of user tasks; `wanted` is of their kind."""
    return lists.list_jobs(ports.table, wanted, cut)


def claim_user_task(ports: Ports, key: int, assignee: str) -> Job:
    """Give a task to somebody, if it is nobody's or theirs already.

    Raises: Rejected(NOT_FOUND); Rejected(INVALID_STATE) if it is somebody else's or has ended;
        Conflict.
    """
    return _assign(ports, key, assignee)


def unclaim_user_task(ports: Ports, key: int) -> Job:
    """Give a task back. Raises: Rejected(NOT_FOUND), Rejected(INVALID_STATE); Conflict."""
    return _assign(ports, key, None)


def complete_user_task(ports: Ports, key: int, variables: JsonObject) -> None:
    """Complete a task that is somebody's, and move its process instance on.

    Raises: Rejected, also TooLarge; Conflict.
    """
    advance(ports, key, CompleteJob(key, variables, is_once=True, kind=USER_TASK))


def _assign(ports: Ports, key: int, assignee: str | None) -> Job:
    for _ in attempts(ports):
        task = get_user_task(ports, key)
        if task.state is not JobState.ACTIVE:
            raise Rejected(Reason.INVALID_STATE, f"user task {key} is already {task.state}")
        if task.assignee == assignee:
            return task
        if assignee is not None and task.assignee is not None:
            raise Rejected(Reason.INVALID_STATE, f"user task {key} is claimed by {task.assignee}")
        claimed = jobs.claim_task(ports.table, task, assignee)
        if isinstance(claimed, Job):
            return claimed
    raise Conflict(f"user task {key} was changed by others until the deadline")
