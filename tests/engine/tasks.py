"""User tasks and their listeners, as tests of the engine play them."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.engine.commands import ChangeTask, CompleteJob
from chalicelib.engine.job_results import TaskResult
from chalicelib.engine.state import USER_TASK, Job
from chalicelib.errors import Rejected
from chalicelib.profile import Profile
from tests.bpmn.models import extended
from tests.bpmn.models import line as line_of
from tests.play import Play, play, to_json

MAPPED = '<zeebe:ioMapping><zeebe:output source="=ok" target="approved"/></zeebe:ioMapping>'
CLAIMED = '<zeebe:assignmentDefinition assignee="eve"/>'
FREE = "<zeebe:userTask/>"


def listeners(*events: str, type_: str = "", headers: str = "") -> str:
    rows = (
        f'<zeebe:taskListener eventType="{event}" type="{type_ or event}">{headers}'
        "</zeebe:taskListener>"
        for event in events
    )
    return f"<zeebe:taskListeners>{''.join(rows)}</zeebe:taskListeners>"


def heard_at(*events: str) -> str:
    """Return execution listeners, whose jobs are of the type of their events."""
    rows = (f'<zeebe:executionListener eventType="{each}" type="{each}"/>' for each in events)
    return f"<zeebe:executionListeners>{''.join(rows)}</zeebe:executionListeners>"


def game(extensions: str, **variables: Any) -> Play:
    model = line_of(extended("userTask", extensions))
    return play(model, profile=Profile.PRIOSTACK).create(variables)


def task(play: Play) -> Job:
    """The user task, in whatever state."""
    (found,) = [job for job in play.records(Job) if job.kind == USER_TASK]
    assert isinstance(found, Job)
    return found


def types(play: Play) -> list[str]:
    """The types of the jobs that wait for a worker."""
    return [job.type for job in play.jobs if job.kind != USER_TASK]


def answer(play: Play, type_: str, *, deny: str | None = None, **corrections: Any) -> Play:
    """Answer for the listener of a type."""
    (job,) = [job for job in play.jobs if job.type == type_]
    result = TaskResult(deny is not None, deny or "", to_json(corrections))
    return play.send(CompleteJob(job.key, result=result))


def change(play: Play, action: str = "", **changes: Any) -> Play:
    return play.send(ChangeTask(task(play).key, to_json(changes), action))


def do(play: Play, **variables: Any) -> Play:
    """Complete the user task."""
    return play.send(CompleteJob(task(play).key, to_json(variables), kind=USER_TASK))


def refused(play: Play, command: Any) -> Rejected:
    before = play.instance
    with pytest.raises(Rejected) as rejected:
        play.send(command)
    assert before is play.instance
    return rejected.value


def header(job: Job, name: str) -> str | None:
    return job.headers.get(f"io.camunda.zeebe:{name}")
