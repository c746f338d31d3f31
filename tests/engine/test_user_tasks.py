"""User tasks that people claim: a record with all they are told, and neither bell nor worker."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.engine.commands import CompleteJob
from chalicelib.engine.state import USER_TASK, InstanceState, Job
from chalicelib.profile import Profile
from tests.bpmn.models import extended, refusal_of
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


def listeners(*events: str, type_: str = "") -> str:
    rows = (
        f'<zeebe:taskListener eventType="{event}" type="{type_ or event}"/>' for event in events
    )
    return f"<zeebe:taskListeners>{''.join(rows)}</zeebe:taskListeners>"


MAPPED = '<zeebe:ioMapping><zeebe:output source="=ok" target="approved"/></zeebe:ioMapping>'
CLAIMED = '<zeebe:assignmentDefinition assignee="eve"/>'


def test_listeners_come_before_a_task_is_made_and_before_its_outputs_are_mapped() -> None:
    heard = listeners("creating", "completing")
    played = game(f"<zeebe:userTask/>{CLAIMED}{MAPPED}{heard}")

    assert ["creating"] == [job.type for job in played.jobs]
    played.complete("creating")
    key = task(played).key
    played.send(CompleteJob(key, {"ok": True}, kind=USER_TASK))

    assert ["completing"] == [job.type for job in played.jobs]
    assert (True, {}) == (task(played).inputs["ok"], played.variables)
    played.complete("completing")
    assert (InstanceState.COMPLETED, {"approved": True}) == (played.state, played.variables)


def test_outputs_that_cannot_be_mapped_after_a_listener_are_mapped_again_on_resolve() -> None:
    mapped = MAPPED.replace('"approved"', '"approved.by"')
    played = game(f"{CLAIMED}{mapped}{listeners('completing')}", approved=1)

    played.send(CompleteJob(task(played).key, {"ok": "eve"}, kind=USER_TASK))
    played.complete("completing")
    assert "IO_MAPPING_ERROR" == played.incident().error_type
    played.set(approved={}).resolve()

    assert (InstanceState.COMPLETED, {"by": "eve"}) == (played.state, played.variables["approved"])


def test_a_listener_of_a_task_whose_type_cannot_be_said_is_an_incident() -> None:
    played = game(f"{CLAIMED}{listeners('completing', type_='=kind')}")

    played.send(CompleteJob(task(played).key, {}, kind=USER_TASK))
    assert "EXTRACT_VALUE_ERROR" == played.incident().error_type
    played.set(kind="late").resolve()

    assert ["late"] == [job.type for job in played.jobs]
    assert InstanceState.COMPLETED == played.complete("late").state


def test_a_task_is_cancelled_while_its_listener_is_at_work() -> None:
    played = game(f"{CLAIMED}{listeners('completing')}")
    played.send(CompleteJob(task(played).key, {}, kind=USER_TASK))

    assert ([], InstanceState.TERMINATED) == (played.cancel().jobs, played.state)


def test_a_listener_that_would_have_to_answer_is_refused() -> None:
    model = line_of(extended("userTask", listeners("assigning")))

    assert 'taskListener of eventType "assigning"' in refusal_of(model, Profile.PRIOSTACK)
    assert [] == play(model).create().incidents
