"""User tasks that people claim: no worker gets them, and they have no bell.

They are kept as jobs of a kind of their own, so that what ends a task around it ends them as well.
Whatever is done to one is a turn of its instance: its listeners may have to be asked first.
"""

from __future__ import annotations

from chalicelib.engine import lifecycle
from chalicelib.engine.commands import ChangeTask, CompleteJob
from chalicelib.engine.state import USER_TASK, Job
from chalicelib.engine.task_attributes import ASSIGNEE
from chalicelib.json_text import JsonObject
from chalicelib.operations.advance import advance
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
    """Give a task to somebody, if it is nobody's or theirs already; return it as it is then, which
    its listeners may still be asked about.

    Raises: Rejected(NOT_FOUND); Rejected(INVALID_STATE) if it is somebody else's, is about to take
        another step, or has ended; Conflict.
    """
    return _change(ports, ChangeTask(key, {ASSIGNEE: assignee}, is_claim=True))


def unclaim_user_task(ports: Ports, key: int) -> Job:
    """Give a task back. Raises: Rejected(NOT_FOUND), Rejected(INVALID_STATE); Conflict."""
    return _change(ports, ChangeTask(key, {ASSIGNEE: ""}))


def assign_user_task(
    ports: Ports, key: int, assignee: str, action: str = "", *, allows_override: bool = True
) -> Job:
    """Give a task to somebody, whoever had it unless that is not allowed.

    Raises: Rejected(NOT_FOUND), Rejected(INVALID_STATE); Conflict.
    """
    changes: JsonObject = {ASSIGNEE: assignee}
    return _change(ports, ChangeTask(key, changes, action, is_claim=not allows_override))


def unassign_user_task(ports: Ports, key: int) -> Job:
    """Take a task away from whoever has it. Raises: as `assign_user_task` does."""
    return unclaim_user_task(ports, key)


def update_user_task(ports: Ports, key: int, changes: JsonObject, action: str = "") -> Job:
    """Change what people are told of a task: all but whose it is.

    Shapes: `changes` as `engine/task_attributes.py` has them.
    Raises: Rejected(INVALID_ARGUMENT), and as `assign_user_task` does.
    """
    return _change(ports, ChangeTask(key, changes, action))


def complete_user_task(ports: Ports, key: int, variables: JsonObject, action: str = "") -> Job:
    """Complete a task, and move its process instance on, or let its listeners come first; return
    the task as it is then.

    Raises: Rejected, also TooLarge; Conflict.
    """
    command = CompleteJob(key, variables, is_once=True, kind=USER_TASK, action=action)
    advance(ports, key, command)
    return get_user_task(ports, key)


def _change(ports: Ports, command: ChangeTask) -> Job:
    advance(ports, command.task_key, command)
    return get_user_task(ports, command.task_key)
