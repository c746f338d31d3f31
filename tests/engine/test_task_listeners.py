"""Task listeners are asked before a user task takes a step: they correct it, or deny it."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from chalicelib.engine.commands import ChangeTask, CompleteJob, FailJob
from chalicelib.engine.job_results import AdHocResult, TaskResult
from chalicelib.engine.state import USER_TASK, InstanceState, JobState
from chalicelib.errors import Reason
from chalicelib.json_text import JsonObject
from chalicelib.profile import Profile
from tests.bpmn.models import extended, refusal_of
from tests.bpmn.models import line as line_of
from tests.engine.tasks import (
    CLAIMED,
    FREE,
    MAPPED,
    answer,
    change,
    do,
    game,
    header,
    listeners,
    refused,
    task,
    types,
)
from tests.play import NOW, play

# --- creating ------------------------------------------------------------------------------------


def test_listeners_of_its_creation_come_before_anybody_can_do_a_task() -> None:
    played = game(f"{FREE}{listeners('creating')}")

    assert (["creating"], "creating") == (types(played), task(played).transition)
    early = refused(played, ChangeTask(task(played).key, {"assignee": "ann"}))
    assert Reason.INVALID_STATE == early.reason
    assert "is creating: its listeners have to answer first" in early.message

    answer(played, "creating", assignee="ann", priority=80, dueDate="2030-02-01T12:00:00Z")

    found = task(played)
    assert ([], None, "ann", 80) == (
        types(played),
        found.transition,
        found.assignee,
        found.priority,
    )
    assert NOW + timedelta(days=31) == found.due_at
    assert InstanceState.COMPLETED == do(played).state


def test_listeners_of_one_event_come_in_order_and_see_earlier_corrections() -> None:
    played = game(f"{FREE}{listeners('creating', 'creating', type_='=kind')}", kind="one")

    first = played.job("one")
    assert None is header(first, "changedAttributes")
    answer(played, "one", priority=80, candidateUsers=["bob"])
    (second,) = [job for job in played.jobs if job.kind != USER_TASK]

    assert ('["candidateUsers", "priority"]', "80", '["bob"]') == (
        header(second, "changedAttributes"),
        header(second, "priority"),
        header(second, "candidateUsers"),
    )
    answer(played, "one", priority=50, candidateUsers=[])
    assert (50, None) == (task(played).priority, task(played).candidate_users)


def test_an_assignee_of_the_model_is_not_corrected_before_it_is_assigned() -> None:
    played = game(f"{CLAIMED}{listeners('creating', 'assigning')}")
    (job,) = [job for job in played.jobs if job.type == "creating"]

    result = TaskResult(corrections={"assignee": "bob"})
    assert "the model names one" in refused(played, CompleteJob(job.key, result=result)).message

    answer(played, "creating")
    assert (["assigning"], None) == (types(played), task(played).assignee)
    answer(played, "assigning", assignee="bob")
    assert ("bob", None) == (task(played).assignee, task(played).transition)


# --- assigning and updating ----------------------------------------------------------------------


def test_a_task_is_assigned_when_its_listeners_have_answered() -> None:
    played = game(f"{FREE}{listeners('assigning')}")

    change(played, action="pick", assignee="ann")
    (job,) = [job for job in played.jobs if job.type == "assigning"]
    assert (None, "ann", "pick", '["assignee"]', str(task(played).key)) == (
        task(played).assignee,
        header(job, "assignee"),
        header(job, "action"),
        header(job, "changedAttributes"),
        header(job, "userTaskKey"),
    )
    answer(played, "assigning", followUpDate="2030-01-02T12:00:00Z")

    assert ("ann", NOW + timedelta(days=1)) == (task(played).assignee, task(played).follow_up_at)


@pytest.mark.parametrize("changes", [{"assignee": "ann"}, {"priority": Decimal(90)}])
def test_what_a_listener_denies_does_not_happen(changes: JsonObject) -> None:
    played = game(f"{FREE}{listeners('assigning', 'updating')}")
    event = "assigning" if "assignee" in changes else "updating"

    change(played, **changes)
    answer(played, event, deny="not today")

    found = task(played)
    assert (None, 50, None) == (found.assignee, found.priority, found.transition)
    assert {"event": event, "reason": "not today"} == found.denied
    change(played, **changes)
    assert None is task(played).denied
    answer(played, event)
    assert changes.get("assignee") == task(played).assignee
    assert changes.get("priority", 50) == task(played).priority


def test_asking_for_the_same_again_while_listeners_are_asked_changes_nothing() -> None:
    played = game(f"{FREE}{listeners('assigning')}")
    change(played, assignee="ann")

    turns = len(played.turns)
    change(played, assignee="ann")
    assert not played.turns[turns].changes
    late = refused(played, ChangeTask(task(played).key, {"assignee": "bob"}))
    assert Reason.INVALID_STATE == late.reason


def test_an_update_without_listeners_is_done_at_once() -> None:
    played = game(FREE)

    change(played, candidateGroups=["it", "law"], dueDate="2030-02-01T12:00:00Z", priority=None)
    assert ("it,law", 50) == (task(played).candidate_groups, task(played).priority)
    turns = len(played.turns)
    change(played, candidateGroups=["it", "law"])
    assert not played.turns[turns].changes
    change(played, candidateGroups=[], dueDate="")

    assert (None, None) == (task(played).candidate_groups, task(played).due_at)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"priority": Decimal(101)}, "priority of a user task: expected a whole number from 0 to"),
        ({"priority": "high"}, "priority of a user task: expected"),
        ({"dueDate": "soon"}, "dueDate: expected an ISO 8601"),
        ({"dueDate": Decimal(1)}, "dueDate of a user task: expected a date and time, found 1"),
        ({"candidateUsers": "ann"}, "candidateUsers of a user task: expected a list of texts"),
        ({"candidateUsers": ["ann,bob"]}, "candidateUsers of a user task: expected a list"),
        ({"assignee": []}, "assignee of a user task: expected a text"),
        ({"form": "x"}, "attribute of a user task: expected one of assignee, candidateGroups"),
    ],
)
def test_a_change_that_does_not_fit_is_refused(changes: JsonObject, problem: str) -> None:
    played = game(FREE)

    assert refused(played, ChangeTask(task(played).key, changes)).message.startswith(problem)


def test_a_correction_that_does_not_fit_is_refused_and_the_job_waits() -> None:
    played = game(f"{FREE}{listeners('assigning')}")
    change(played, assignee="ann")
    (job,) = [job for job in played.jobs if job.type == "assigning"]

    result = TaskResult(corrections={"priority": Decimal(101)})

    assert Reason.INVALID_ARGUMENT == refused(played, CompleteJob(job.key, result=result)).reason
    assert "ann" == task(answer(played, "assigning")).assignee


def test_a_task_is_claimed_by_one_and_assigned_to_anybody() -> None:
    played = game(FREE)
    key = task(played).key

    played.send(ChangeTask(key, {"assignee": "ann"}, is_claim=True))
    turns = len(played.turns)
    played.send(ChangeTask(key, {"assignee": "ann"}, is_claim=True))
    assert not played.turns[turns].changes
    late = refused(played, ChangeTask(key, {"assignee": "bob"}, is_claim=True))
    assert (Reason.INVALID_STATE, f"user task {key} is claimed by ann") == (
        late.reason,
        late.message,
    )
    change(played, assignee="bob")
    assert "bob" == task(played).assignee
    assert None is task(change(played, assignee="")).assignee


def test_a_job_is_no_task_and_a_task_that_ended_is_not_changed() -> None:
    played = play(line_of(extended("serviceTask", '<zeebe:taskDefinition type="x"/>'))).create()
    assert Reason.NOT_FOUND == refused(played, ChangeTask(played.job("x").key, {})).reason

    played = game(CLAIMED)
    key = task(do(played)).key
    assert Reason.INVALID_STATE == refused(played, ChangeTask(key, {"assignee": ""})).reason


# --- completing ----------------------------------------------------------------------------------


def test_listeners_come_before_a_task_is_made_and_before_its_outputs_are_mapped() -> None:
    heard = listeners("creating", "completing")
    played = game(f"{FREE}{CLAIMED}{MAPPED}{heard}")

    assert ["creating"] == types(played)
    answer(played, "creating")
    do(played, ok=True)

    assert (["completing"], JobState.ACTIVE) == (types(played), task(played).state)
    assert (True, {}) == (played.job("completing").inputs["ok"], played.variables)
    answer(played, "completing", priority=7)
    assert (InstanceState.COMPLETED, {"approved": True}) == (played.state, played.variables)
    assert (7, JobState.COMPLETED) == (task(played).priority, task(played).state)


def test_a_task_whose_completion_is_denied_can_be_done_again() -> None:
    played = game(f"{CLAIMED}{MAPPED}{listeners('completing')}")

    do(played, ok=False)
    answer(played, "completing", deny="say yes")
    assert (JobState.ACTIVE, None, {}) == (
        task(played).state,
        task(played).outputs,
        played.variables,
    )
    do(played, ok=True)
    answer(played, "completing")

    assert (InstanceState.COMPLETED, {"approved": True}) == (played.state, played.variables)


def test_outputs_that_cannot_be_mapped_after_a_listener_are_mapped_again_on_resolve() -> None:
    mapped = MAPPED.replace('"approved"', '"approved.by"')
    played = game(f"{CLAIMED}{mapped}{listeners('completing')}", approved=1)

    do(played, ok="eve")
    answer(played, "completing")
    assert "IO_MAPPING_ERROR" == played.incident().error_type
    played.set(approved={}).resolve()

    assert (InstanceState.COMPLETED, {"by": "eve"}) == (played.state, played.variables["approved"])


@pytest.mark.parametrize("number", [1, 2])
def test_a_listener_of_a_task_whose_type_cannot_be_said_is_an_incident(number: int) -> None:
    heard = listeners("completing") + listeners("completing", type_="=kind")
    heard = (
        listeners("completing", type_="=kind")
        if number == 1
        else heard.replace("</zeebe:taskListeners><zeebe:taskListeners>", "")
    )
    played = game(f"{CLAIMED}{heard}")

    do(played)
    if number == 2:
        answer(played, "completing")
    assert "EXTRACT_VALUE_ERROR" == played.incident().error_type
    played.set(kind="late").resolve()

    assert ["late"] == types(played)
    assert InstanceState.COMPLETED == answer(played, "late").state


def test_a_listener_out_of_retries_is_an_incident_and_its_resolve_asks_it_again() -> None:
    played = game(f"{CLAIMED}{listeners('completing')}")
    do(played, ok=True)
    (job,) = [job for job in played.jobs if job.type == "completing"]

    played.send(FailJob(job.key, retries=0))
    assert "JOB_NO_RETRIES" == played.incident().error_type
    played.resolve()

    assert ([job.key], 3) == (
        [each.key for each in played.jobs if each.kind != USER_TASK],
        played.job("completing").retries,
    )
    assert InstanceState.COMPLETED == answer(played, "completing").state


# --- what a listener may say ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ({"variables": {"x": True}}, "expected no variables, found x"),
        ({"result": AdHocResult()}, "expected none of type adHocSubProcess, found one"),
        (
            {"result": TaskResult(denied=True, corrections={"priority": Decimal(1)})},
            "expected corrections or a denial, found both",
        ),
    ],
)
def test_an_answer_that_makes_no_sense_is_refused(command: Any, problem: str) -> None:
    played = game(f"{CLAIMED}{listeners('completing')}")
    key = do(played).job("completing").key

    assert problem in refused(played, CompleteJob(key, **command)).message


def test_a_task_that_is_made_or_ended_cannot_be_kept_from_it() -> None:
    played = game(f"{FREE}{listeners('creating', 'canceling')}")
    denial = TaskResult(denied=True)

    first = CompleteJob(played.job("creating").key, result=denial)
    assert "a task that is creating cannot be kept from it" in refused(played, first).message
    played.cancel()
    last = CompleteJob(played.job("canceling").key, result=denial)
    assert "a task that is canceling cannot be kept from it" in refused(played, last).message


def test_a_result_is_refused_with_a_job_of_another_kind() -> None:
    played = game(CLAIMED)
    result = TaskResult()

    command = CompleteJob(task(played).key, kind=USER_TASK, result=result)
    assert "expected none of type userTask" in refused(played, command).message


# --- what the model says -------------------------------------------------------------------------


def test_headers_of_a_listener_are_its_tasks_and_its_own() -> None:
    theirs = (
        '<zeebe:taskHeaders><zeebe:header key="a" value="task"/><zeebe:header key="b" value="task"'
        "/></zeebe:taskHeaders>"
    )
    own = '<zeebe:headers><zeebe:header key="b" value="own"/></zeebe:headers>'
    played = game(f"{FREE}{theirs}{listeners('creating', headers=own)}")

    job = played.job("creating")
    assert ("task", "own") == (job.headers["a"], job.headers["b"])


def test_a_listener_of_an_unknown_event_is_refused() -> None:
    model = line_of(extended("userTask", f"{FREE}{listeners('dreaming')}"))

    assert 'taskListener of eventType "dreaming"' in refusal_of(model, Profile.PRIOSTACK)
