"""Jobs: what they are made of, and what completing them does."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.engine.commands import CompleteJob
from chalicelib.engine.effects import Ring
from chalicelib.engine.guards import Guard
from chalicelib.engine.limits import Limits
from chalicelib.engine.state import InstanceState, Job, JobState, RecordKey
from chalicelib.errors import Reason, Rejected
from chalicelib.profile import Profile
from tests.engine.models import boundary, line, service, start, user
from tests.engine.models import process as model
from tests.play import Play, play

LIMITS = Limits(default_retries=1, max_retries=100)


def one_job(game: Play) -> Job:
    (job,) = game.jobs
    return job


def refused(game: Play, command: object) -> Rejected:
    before = game.instance
    with pytest.raises(Rejected) as caught:
        game.send(command)  # type: ignore[arg-type]
    assert before is game.instance
    return caught.value


# --- making them ---------------------------------------------------------------------------


def test_a_new_job_is_waiting_with_its_bell_rung() -> None:
    game = play(line(service("pay", "payment:charge"))).create(amount=5)

    job = one_job(game)
    assert ("payment:charge", "SERVICE_TASK", "pay") == (job.type, job.element_type, job.element_id)
    assert (JobState.ACTIVE, 1, 0) == (job.state, job.retries, job.attempts)
    assert {"amount": 5} == job.inputs
    bell = Ring(job.key, "bpmn", job.type, Profile.ZENBPM, 1, game.now, version=1)
    assert (bell,) == game.turns[0].effects
    assert Guard.NEW == game.turns[0].guards[RecordKey(Job, job.key)]


def test_a_job_type_may_be_an_expression() -> None:
    game = play(line(service("a", '="mail-" + lower case(country)'))).create(country="DE")

    assert "mail-de" == one_job(game).type


@pytest.mark.parametrize("variables", [{}, {"kind": ""}, {"kind": 5}])
def test_a_job_type_that_is_no_text_is_an_incident(variables: dict[str, object]) -> None:
    game = play(line(service("a", "=kind"))).create(variables)

    assert [] == game.jobs
    assert "EXTRACT_VALUE_ERROR" == game.incident("a").error_type
    assert "worker" == one_job(game.set(kind="worker").resolve()).type


@pytest.mark.rule("R56", "R57", "R58", "R59", "R61", "R62")
@pytest.mark.parametrize(
    ("attributes", "profile", "retries"),
    [
        ({}, Profile.ZENBPM, 1),  # R57
        ({}, Profile.PRIOSTACK, 3),  # X1
        ({"retries": "3"}, Profile.ZENBPM, 3),  # R56
        ({"retries": "=attemptsAllowed + 1"}, Profile.ZENBPM, 5),  # R58
        ({"retries": '="7"'}, Profile.ZENBPM, 7),  # R61
        ({"retries": "=2.0"}, Profile.ZENBPM, 2),  # R61
        ({"retries": "500"}, Profile.ZENBPM, 100),  # R59
        ({"retries": "0"}, Profile.ZENBPM, 0),  # R62
    ],
)
def test_a_job_starts_with_the_retries_of_its_definition(
    attributes: dict[str, str], profile: Profile, retries: int
) -> None:
    xml = line(service("a", **attributes))
    game = play(xml, profile=profile, limits=LIMITS).create(attemptsAllowed=4)

    assert retries == one_job(game).retries


@pytest.mark.rule("R61")
@pytest.mark.parametrize("retries", ["=null", '="many"', "=1.5", "=-1", "=true"])
def test_retries_that_are_no_count_are_an_incident_and_no_job(retries: str) -> None:
    game = play(line(service("a", retries=retries))).create()

    assert [] == game.jobs
    assert "retries of a" in game.incident("a").message


@pytest.mark.rule("R64", "R65", "R113", "R115")
@pytest.mark.parametrize(
    ("policy", "seconds"),
    [
        ("PT1S,PT3S", [1, 3]),
        ('="PT1S, PT3S"', [1, 3]),
        ('=duration("PT1M")', [60]),
        ('=["PT1S,PT2S", duration("PT3S")]', [1, 2, 3]),
        ("P9W", [86_400]),
    ],
)
def test_a_retry_policy_is_frozen_into_the_job(policy: str, seconds: list[int]) -> None:
    game = play(line(service("a", retryBackoff=policy))).create()

    found = one_job(game).retry_policy
    assert found is not None
    assert [timedelta(seconds=n) for n in seconds] == list(found.backoffs)


@pytest.mark.rule("R64", "R115")
@pytest.mark.parametrize("policy", ["=5", '="soon"', "=[]", "=[1]", '=duration("P1Y")'])
def test_a_retry_policy_that_is_none_is_an_incident(policy: str) -> None:
    game = play(line(service("a", retryBackoff=policy))).create()

    assert [] == game.jobs
    assert "retryBackoff of a" in game.incident("a").message


@pytest.mark.rule("R149", "R150")
def test_headers_are_on_every_job_of_the_element() -> None:
    headers = '<zeebe:taskHeaders><zeebe:header key="to" value="=x"/></zeebe:taskHeaders>'
    game = play(line(service("a", extensions=headers))).create()

    assert {"to": "=x"} == one_job(game).headers


def test_a_user_task_is_a_job_with_its_assignee() -> None:
    assigned = '<zeebe:assignmentDefinition assignee="=boss"/>'
    game = play(line(user("approve", extensions=assigned))).create(boss="ada")

    job = one_job(game)
    assert ("user-task-type", "USER_TASK", "ada") == (job.type, job.element_type, job.assignee)


# --- completing them -----------------------------------------------------------------------


@pytest.mark.rule("R1")
def test_completing_a_job_moves_its_token_on() -> None:
    game = play(line(service("a"), service("b"))).create()
    job = one_job(game)

    game.complete("a", paid=True)

    done = game.instance.records[RecordKey(Job, job.key)]  # type: ignore[union-attr]
    assert isinstance(done, Job)
    assert (JobState.COMPLETED, {"paid": True}) == (done.state, done.outputs)
    assert ["b"] == game.open_jobs
    assert Guard.COMPLETE == game.turns[-1].guards[RecordKey(Job, job.key)]


@pytest.mark.rule("R2")
def test_completing_a_completed_job_again_changes_nothing() -> None:
    game = play(line(service("a"), service("b"))).create()
    key = one_job(game).key
    game.complete("a")

    turn = game.turn(CompleteJob(key, {"late": "yes"}))

    assert not turn.changes
    assert turn.done
    assert ["b"] == game.open_jobs


@pytest.mark.rule("R3")
def test_completing_a_completed_job_moves_on_an_instance_that_stopped() -> None:
    game = play(line(service("a"), service("b")), limits=Limits(moves_max=1)).create()
    key = one_job(game).key
    game.limits = Limits(moves_max=0)
    game.turn(CompleteJob(key))
    assert [] == game.open_jobs

    game.limits = Limits()
    turn = game.turn(CompleteJob(key))

    assert turn.changes
    assert ["b"] == game.open_jobs


@pytest.mark.rule("R4", "R5")
def test_a_terminated_or_failed_job_cannot_be_completed() -> None:
    game = play(line(service("a"))).create()
    key = one_job(game).key
    game.fail("a", message="no")

    assert Reason.INVALID_STATE == refused(game, CompleteJob(key)).reason
    assert ["JOB_NO_RETRIES"] == [incident.error_type for incident in game.incidents]
    game.cancel()
    assert f"job {key} is already terminated" in refused(game, CompleteJob(key)).message


@pytest.mark.rule("R6")
def test_a_job_that_does_not_exist_is_not_found() -> None:
    game = play(line(service("a"))).create()

    assert Reason.NOT_FOUND == refused(game, CompleteJob(game.root.key + 77)).reason


def test_completing_ends_the_boundary_timers_of_the_element() -> None:
    xml = model(
        start(),
        service("a"),
        boundary("late", "a", duration="PT1H"),
        flows="start > a; late > b",
    ).replace(b"</process>", b'<endEvent id="b"/></process>')
    game = play(xml).create()
    assert 1 == len(game.timers)

    game.complete("a")

    assert [] == game.timers
    assert InstanceState.COMPLETED == game.state


@pytest.mark.rule("R66")
def test_a_thrown_message_is_a_job_and_its_end_event_ends_the_token() -> None:
    sends = '<messageEventDefinition messageRef="m"/>'
    definition = '<extensionElements><zeebe:taskDefinition type="send"/></extensionElements>'
    throw = f'<intermediateThrowEvent id="throw">{definition}{sends}</intermediateThrowEvent>'
    last = f'<endEvent id="last">{definition}{sends}</endEvent>'
    game = play(model(start(), throw, last, flows="start > throw > last")).create()

    assert ["INTERMEDIATE_THROW_EVENT"] == [job.element_type for job in game.jobs]
    game.complete("throw")
    assert ["END_EVENT"] == [job.element_type for job in game.jobs]
    game.complete("last")

    assert InstanceState.COMPLETED is game.state


@pytest.mark.parametrize(
    ("own", "around", "expected"),
    [
        ("7", "", 7),
        ("=urgency", "5", 30),
        ("", "-5", -5),
        ("", "", None),
    ],
)
def test_a_job_is_as_urgent_as_its_element_or_else_its_process_says(
    own: str, around: str, expected: int | None
) -> None:
    def said(priority: str) -> str:
        return f'<zeebe:jobPriorityDefinition priority="{priority}"/>' if priority else ""

    model = line(service("a", extensions=said(own)))
    if around:
        extended = f"<extensionElements>{said(around)}</extensionElements></process>"
        model = model.replace(b"</process>", extended.encode())

    assert expected == play(model).create(urgency=30).job("a").priority


def test_a_priority_that_is_no_number_is_an_incident() -> None:
    game = play(
        line(service("a", extensions='<zeebe:jobPriorityDefinition priority="=word"/>'))
    ).create(word="high")

    assert "priority of a: expected a whole number" in game.incident().message
