"""People who claim user tasks and complete them."""

from __future__ import annotations

from chalicelib.engine.state import USER_TASK, Job
from chalicelib.errors import Rejected
from chalicelib.json_text import JsonObject
from chalicelib.operations import user_tasks
from tests.simulation import operators
from tests.simulation.stage import Stage
from tests.simulation.world import NoAnswer

LOOK_MS = 150  # between two looks for something to do


def claim_and_complete(stage: Stage, name: str) -> None:
    """Claim each task there is, and complete those that one was given, until the play is over.

    A claim is safe to repeat. Whoever got no answer asks again at the next look.
    """
    while not stage.is_over:
        for task in operators.open_jobs(stage):
            if task.kind == USER_TASK and _is_claimed(stage, name, task):
                _complete(stage, name, task, {"by": name})
        stage.world.pause(LOOK_MS)


def complete_surely(stage: Stage, name: str) -> None:
    """Complete each task there is whose listeners are not being asked, and say whether one is sure,
    which is so when somebody was denied it, until the play is over."""
    while not stage.is_over:
        for task in operators.open_jobs(stage):
            if task.kind == USER_TASK and task.transition is None:
                _complete(stage, name, task, {"by": name, "sure": task.denied is not None})
        stage.world.pause(LOOK_MS)


def _is_claimed(stage: Stage, name: str, task: Job) -> bool:
    try:
        stage.world.request(
            "claim task", lambda: user_tasks.claim_user_task(stage.ports, task.key, name)
        )
    except NoAnswer:
        return False
    except Rejected as rejected:
        stage.ledger.refused.append(f"{name}: {rejected.message}")
        return False
    stage.ledger.claimed.setdefault(task.key, set()).add(name)
    return True


def _complete(stage: Stage, name: str, task: Job, variables: JsonObject) -> None:
    stage.ledger.offer(task.key, variables)
    try:
        stage.repeat(
            "complete task",
            lambda: user_tasks.complete_user_task(stage.ports, task.key, variables),
        )
    except Rejected as rejected:  # a repeat of what was done
        stage.ledger.refused.append(f"{name}: {rejected.message}")
