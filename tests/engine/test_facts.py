"""Facts tell what a turn made happen, and nothing of what it did not."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest

from chalicelib.engine.commands import (
    Command,
    Continue,
    DeleteVariable,
    FireTimer,
    SetVariables,
)
from chalicelib.engine.facts import (
    Fact,
    IncidentResolved,
    JobFailed,
    JobRetried,
    Moved,
    TokenStatus,
    facts_of,
    passages,
)
from chalicelib.engine.state import Job
from chalicelib.engine.turn import Turn
from tests.engine import models
from tests.play import Play, play, to_json

SECOND = timedelta(seconds=1)


def told(stage: Play, command: Command | None = None) -> list[Fact]:
    """Return the facts of the last turn, without what its tokens did."""
    facts = facts_of(stage.turns[-1], command or Continue(), stage.process)
    return [fact for fact in facts if not isinstance(fact, Moved)]


def names(stage: Play, command: Command | None = None) -> dict[str, int]:
    return dict(Counter(type(fact).__name__ for fact in told(stage, command)))


def test_a_start_tells_of_the_instance_and_its_first_job() -> None:
    assert {"InstanceStarted": 1, "JobCreated": 1} == names(play("one_task.bpmn").create())


def test_a_completion_tells_of_the_end_and_of_what_follows() -> None:
    stage = play("sequence.bpmn").create().complete("reserve")

    assert {"JobEnded": 1, "JobCreated": 1} == names(stage)
    assert {"JobEnded": 1, "InstanceEnded": 1} == names(stage.complete("charge").complete("ship"))


def test_a_failure_that_leaves_retries_tells_of_a_retry_with_its_backoff() -> None:
    stage = play("one_task.bpmn").create().fail("charge", retries=2, backoff=5 * SECOND)

    (fact,) = told(stage)

    assert isinstance(fact, JobRetried)
    assert (1, 2, 5 * SECOND) == (fact.job.attempts, fact.job.retries, fact.backoff)


@pytest.mark.parametrize(
    ("said", "error_type"), [({}, "JOB_NO_RETRIES"), ({"error_code": "E"}, "UNHANDLED_ERROR_EVENT")]
)
def test_a_failure_that_needs_an_operator_tells_of_its_incident(
    said: dict[str, str], error_type: str
) -> None:
    stage = play("one_task.bpmn").create().fail("charge", **said)

    assert {"JobFailed": 1, "IncidentCreated": 1} == names(stage)
    (failed,) = (fact for fact in told(stage) if isinstance(fact, JobFailed))
    assert error_type == failed.error_type
    assert stage.incident().key == failed.incident_key


def test_resolving_tells_of_it_and_of_the_job_that_starts_anew() -> None:
    stage = play("one_task.bpmn").create().fail("charge").resolve()

    (fact,) = told(stage)

    assert isinstance(fact, IncidentResolved)
    assert isinstance(fact.job, Job) and fact.job.key == fact.incident.job_key


def test_cancelling_tells_of_all_that_ends() -> None:
    stage = play("one_task.bpmn").create().fail("charge").cancel()

    assert {"JobEnded": 1, "IncidentResolved": 1, "InstanceEnded": 1} == names(stage)
    (resolved,) = (fact for fact in told(stage) if isinstance(fact, IncidentResolved))
    assert resolved.job is None


def test_a_timer_is_scheduled_then_fired_or_cancelled() -> None:
    stage = play("boundary_timer.bpmn").create()
    assert 1 == names(stage)["TimerScheduled"]
    assert 1 == names(stage.complete("charge"))["TimerCancelled"]

    stage = play("boundary_timer.bpmn").create()
    (timer,) = stage.timers
    stage.wait(3_600)
    assert 1 == names(stage, FireTimer(timer.key, timer.due))["TimerFired"]


def test_a_repeat_tells_nothing() -> None:
    stage = play("sequence.bpmn").create()
    turn = stage.turns[-1]

    assert [] == list(facts_of(Turn(turn.after, turn.after, turn.at), Continue(), stage.process))


def test_what_callers_do_to_variables_is_told() -> None:
    stage = play("one_task.bpmn").create(old=1)

    assert {"InstanceModified": 1} == names(stage.set(new=2), SetVariables(to_json({"new": 2})))
    assert {"VariableDeleted": 1} == names(stage.delete("old"), DeleteVariable("old"))


# --- where tokens were -------------------------------------------------------------------------


def passed(stage: Play) -> list[tuple[str, TokenStatus, bool]]:
    """Return what the tokens of the last turn did."""
    moved = Moved(stage.turns[-1], stage.process)
    return [(each.element_id, each.status, each.is_rest) for each in passages(moved)]


def test_a_token_is_followed_through_the_elements_of_its_turn() -> None:
    stage = play("one_task.bpmn").create()

    started = passed(stage)
    ended = passed(stage.complete("charge"))

    done, waits = TokenStatus.COMPLETED, TokenStatus.WAITING
    assert [("start", done, False), ("charge", waits, True)] == started
    assert [("charge", done, False), ("end", done, True)] == ended


def test_a_token_that_is_interrupted_rests_where_it_was() -> None:
    stage = play("boundary_timer.bpmn").create()

    stage.wait(3_600)

    assert ("charge", TokenStatus.CANCELED, True) in passed(stage)


def test_an_incident_at_the_entry_keeps_a_token() -> None:
    stage = play(models.line(models.service("task", "=nothing"))).create()

    assert ("task", TokenStatus.FAILED, True) == passed(stage)[-1]
