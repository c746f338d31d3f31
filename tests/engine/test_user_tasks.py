"""User tasks that people claim: a record with all they are told, and neither bell nor worker."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.engine.commands import CompleteJob
from chalicelib.engine.state import USER_TASK, InstanceState, Job
from chalicelib.profile import Profile
from tests.bpmn.models import extended
from tests.bpmn.models import line as line_of
from tests.bpmn.test_user_tasks import WHOLE
from tests.play import NOW, Play, play


def game(extensions: str, **variables: Any) -> Play:
    model = line_of(extended("userTask", extensions))
    return play(model, profile=Profile.PRIOSTACK).create(variables)


def task(play: Play) -> Job:
    (job,) = play.jobs
    return job


def test_a_task_has_all_that_people_are_told_and_rings_for_nobody() -> None:
    played = game(WHOLE, clerk="eve", teams=["sales", "risk"], reminded="2030-01-15")

    found = task(played)

    assert (USER_TASK, "eve", "ann,bob", "sales,risk") == (
        found.kind,
        found.assignee,
        found.candidate_users,
        found.candidate_groups,
    )
    assert NOW + timedelta(days=30) == found.due_at
    assert (80, 15) == (found.priority, found.follow_up_at and found.follow_up_at.day)
    assert {"formId": "approve", "bindingType": "versionTag", "versionTag": "v1"} == found.form
    assert ((), 0) == (played.turns[0].effects, found.ring)


def test_a_task_without_a_priority_has_50() -> None:
    schedule = '<zeebe:taskSchedule dueDate="=date and time(&quot;2030-01-31T12:00:00Z&quot;)"/>'
    found = task(game(schedule))

    assert (50, NOW + timedelta(days=30), None) == (found.priority, found.due_at, found.form)


def test_a_task_that_is_claimed_is_completed_and_goes_on() -> None:
    played = game(WHOLE, clerk="eve", teams=[], reminded=None)

    played.send(CompleteJob(task(played).key, {}, kind=USER_TASK))

    assert InstanceState.COMPLETED == played.state


@pytest.mark.parametrize(
    ("extensions", "where"),
    [
        ('<zeebe:taskSchedule dueDate="=x"/>', "dueDate of a: expected a date and time, found 7"),
        ('<zeebe:taskSchedule followUpDate="=y"/>', "followUpDate of a: expected an ISO 8601"),
        ('<zeebe:priorityDefinition priority="=x * 100"/>', "priority of a: expected a whole"),
        ('<zeebe:priorityDefinition priority="=x / 2"/>', "priority of a: expected a whole"),
        (
            '<zeebe:assignmentDefinition candidateUsers="=x"/>',
            "candidateUsers of a: expected",
        ),
        ('<zeebe:formDefinition formId="=x"/>', "formId of a: expected a text, found 7"),
    ],
)
def test_a_value_that_does_not_fit_is_an_incident(extensions: str, where: str) -> None:
    if "candidateUsers" in extensions:
        extensions += '<zeebe:priorityDefinition priority="1"/>'
    played = game(extensions, x=7, y="soon")

    assert [] == played.jobs
    assert "EXTRACT_VALUE_ERROR" == played.incident().error_type
    assert where in played.incident().message
