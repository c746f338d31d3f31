"""Failures: one decision in one order, and what it makes of job and instance."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.engine.commands import CompleteJob, FailJob
from chalicelib.engine.effects import Ring
from chalicelib.engine.failures import Exhausting, Judgement, Repeated, Retried, Thrown, judge
from chalicelib.engine.guards import Guard
from chalicelib.engine.limits import DEFAULT_LIMITS, Limits
from chalicelib.engine.state import Failure, InstanceState, Job, JobState, RecordKey, RetryPolicy
from chalicelib.errors import Reason, Rejected
from chalicelib.profile import Profile
from tests.engine.models import boundary_error, end, line, process, service, start, task
from tests.play import NOW, Play, play

SECOND = timedelta(seconds=1)
JOB = Job(
    key=7,
    instance_key=1,
    element_id="a",
    element_key=2,
    scope=1,
    kind="bpmn",
    type="a",
    created_at=NOW,
    retries=3,
    ring=4,
    ring_at=NOW,
)
LOCKED = JOB._replace(
    owner="me", lock_until=NOW + 30 * SECOND, lock_duration=30 * SECOND, delivery_token=2
)


def judged(job: Job = JOB, *, limits: Limits = DEFAULT_LIMITS, **request: Any) -> Judgement:
    recorded = request.pop("recorded", False)
    return judge(job, FailJob(job.key, **request), now=NOW, limits=limits, recorded=recorded)


def retried(job: Job = JOB, **request: Any) -> Retried:
    found = judged(job, **request)
    assert isinstance(found, Retried)
    return found


def refusal(job: Job = JOB, **request: Any) -> Rejected:
    with pytest.raises(Rejected) as refused:
        judged(job, **request)
    return refused.value


# --- without a code ------------------------------------------------------------------------


@pytest.mark.rule("R67", "R75", "R117")
def test_a_failure_spends_a_retry_and_is_recorded() -> None:
    found = retried(message="no paper")

    assert (2, 1, JobState.ACTIVE) == (found.job.retries, found.job.attempts, found.job.state)
    assert "no paper" == found.job.last_failure_message
    assert (5, NOW) == (found.job.ring, found.job.ring_at)
    expected = Failure(0, 7, 1, number=1, attempt=1, failed_at=NOW, message="no paper")
    assert expected == found.failure


@pytest.mark.rule("R75")
def test_an_absent_message_is_empty_and_a_long_one_is_cut_on_the_job_only() -> None:
    assert "" == retried().job.last_failure_message
    found = retried(message="x" * 500)
    assert "x" * 200 == found.job.last_failure_message
    assert "x" * 500 == found.failure.message


@pytest.mark.rule("R68", "R69")
def test_the_request_sets_retries_up_to_the_cap_where_the_profile_has_one() -> None:
    assert 5 == retried(JOB._replace(retries=1), retries=5).job.retries
    assert 100 == retried(retries=500).job.retries
    assert 500 == retried(JOB._replace(profile=Profile.PRIOSTACK), retries=500).job.retries


@pytest.mark.rule("R70", "R62")
def test_no_retries_left_exhausts_the_job() -> None:
    assert isinstance(judged(retries=0), Exhausting)
    assert isinstance(judged(JOB._replace(retries=1)), Exhausting)
    assert isinstance(judged(JOB._replace(retries=0)), Exhausting)


@pytest.mark.rule("R71", "R52", "R72")
def test_negative_words_of_the_request_are_refused_first() -> None:
    assert Reason.INVALID_ARGUMENT == refusal(retries=-1).reason
    assert Reason.INVALID_ARGUMENT == refusal(retries=-1, error_code="E").reason
    assert Reason.INVALID_ARGUMENT == refusal(backoff=-SECOND).reason
    assert "retries" in refusal(retries=-1, token=99).message


@pytest.mark.rule("R82", "R102")
@pytest.mark.parametrize("state", [JobState.COMPLETED, JobState.FAILED, JobState.TERMINATED])
def test_a_job_that_waits_for_nobody_cannot_fail(state: JobState) -> None:
    ended = LOCKED._replace(state=state)
    for request in ({}, {"token": 2}, {"error_code": "E"}):
        found = refusal(ended, **request)
        assert Reason.INVALID_STATE == found.reason
        assert (
            "failed to fail job 7: job no longer waits for a worker or an operator: "
            f"job 7 is already {state}" == found.message
        )


# --- locks ---------------------------------------------------------------------------------


@pytest.mark.rule("R86")
def test_the_current_delivery_releases_its_lock_whoever_reports() -> None:
    found = retried(LOCKED, token=2, client_id="somebody else")

    assert (None, None, NOW) == (found.job.owner, found.job.lock_until, found.job.ring_at)
    assert 2 == found.job.last_recorded_token
    assert 2 == found.failure.delivery_token


@pytest.mark.rule("R88")
def test_the_locks_client_releases_it_without_a_token() -> None:
    found = retried(LOCKED, client_id="me", backoff=10 * SECOND)

    assert (None, NOW + 10 * SECOND) == (found.job.owner, found.job.ring_at)


@pytest.mark.rule("R89", "R90", "R80")
@pytest.mark.parametrize("client_id", [None, "you"])
def test_anybody_else_spends_the_attempt_and_the_lock_stands(client_id: str | None) -> None:
    found = retried(LOCKED, client_id=client_id)

    assert ("me", LOCKED.lock_until) == (found.job.owner, found.job.lock_until)
    assert (1, None) == (found.job.attempts, found.job.retry_at)
    assert LOCKED.lock_until == found.job.ring_at


def test_a_hold_ends_with_any_failure_since_no_time_ends_it() -> None:
    found = retried(LOCKED._replace(lock_until=None))

    assert (None, NOW) == (found.job.owner, found.job.ring_at)


def test_a_failure_that_frees_the_job_frees_it_of_any_lock() -> None:
    found = retried(LOCKED, client_id="you", frees=True)

    assert (None, None, NOW) == (found.job.owner, found.job.lock_until, found.job.ring_at)


# --- delivery tokens -----------------------------------------------------------------------


@pytest.mark.rule("R97")
def test_the_latest_delivery_counts() -> None:
    assert 1 == retried(LOCKED, token=2).job.attempts


@pytest.mark.rule("R98", "R105")
def test_a_recorded_failure_is_repeated_for_nothing() -> None:
    once = retried(LOCKED, token=2).job
    again = once._replace(delivery_token=3)

    for job in (once, again, again._replace(state=JobState.FAILED)):
        assert Repeated() == judged(job, token=2)
    assert Repeated() == judged(again._replace(last_recorded_token=3), token=2, recorded=True)
    assert Repeated() == judged(once, token=2, error_code="E")


@pytest.mark.rule("R99", "R87", "R101")
@pytest.mark.parametrize("request_", [{}, {"retries": 0}, {"error_code": "E"}])
def test_a_superseded_delivery_is_refused(request_: dict[str, Any]) -> None:
    found = refusal(LOCKED, token=1, **request_)

    assert Reason.INVALID_STATE == found.reason
    assert "handed out again" in found.message


@pytest.mark.rule("R100", "R92")
@pytest.mark.parametrize("token", [0, -1, 3])
def test_a_token_that_was_never_handed_out_is_refused(token: int) -> None:
    assert Reason.INVALID_ARGUMENT == refusal(LOCKED, token=token).reason
    assert Reason.INVALID_ARGUMENT == refusal(LOCKED, token=token, error_code="E").reason
    assert Reason.INVALID_ARGUMENT == refusal(JOB, token=1).reason


@pytest.mark.rule("R81", "R79", "R103")
def test_token_less_failures_each_count_and_leave_the_delivery_its_own() -> None:
    once = retried(LOCKED).job
    twice = retried(once).job

    assert (1, 2) == (once.attempts, twice.attempts)
    assert 0 == twice.last_recorded_token
    assert isinstance(judged(twice, token=2), Exhausting)


# --- backoff -------------------------------------------------------------------------------


@pytest.mark.rule("R109", "R110", "R111", "R112")
def test_the_request_comes_before_the_policy_and_that_before_the_default() -> None:
    limits = Limits(default_backoffs=(9 * SECOND,))
    policy = JOB._replace(retry_policy=RetryPolicy((1 * SECOND, 3 * SECOND)))

    def waits(job: Job, **request: Any) -> timedelta:
        found = retried(job, limits=limits, **request)
        assert found.failure.retry_at == found.job.retry_at
        return (found.job.retry_at or NOW) - NOW

    assert 9 * SECOND == waits(JOB)
    assert 1 * SECOND == waits(policy)
    assert 3 * SECOND == waits(policy._replace(attempts=1, retries=9))
    assert 3 * SECOND == waits(policy._replace(attempts=7, retries=9))
    assert 5 * SECOND == waits(policy, backoff=5 * SECOND)
    assert 0 * SECOND == waits(policy, backoff=0 * SECOND)


@pytest.mark.rule("R113")
def test_every_backoff_is_lowered_to_the_cap() -> None:
    limits = Limits(max_backoff=timedelta(hours=1), default_backoffs=(timedelta(hours=2),))

    assert NOW + timedelta(hours=1) == retried(limits=limits).job.retry_at
    assert (
        NOW + timedelta(hours=1) == retried(limits=limits, backoff=timedelta(days=9)).job.retry_at
    )


# --- with a code ---------------------------------------------------------------------------


@pytest.mark.rule("R53", "R54")
def test_a_code_makes_it_a_bpmn_error_and_an_empty_one_does_not() -> None:
    found = judged(LOCKED, error_code="E", token=2, retries=7, message="m")
    assert Thrown(LOCKED._replace(last_recorded_token=2)) == found
    assert isinstance(judged(error_code=""), Retried)


# --- in a turn -----------------------------------------------------------------------------


def job_of(game: Play, key: int) -> Job:
    assert game.instance is not None
    job = game.instance.records[RecordKey(Job, key)]
    assert isinstance(job, Job)
    return job


@pytest.mark.rule("R67", "R73")
def test_a_retried_failure_in_a_turn_leaves_the_instance_alone_and_rings() -> None:
    game = play(line(service("a", retries="2"))).create(x=1)
    key = game.job("a").key
    game.fail("a", message="oops", variables={"junk": True}, backoff=10 * SECOND)

    turn = game.turns[-1]
    out = game.now + 10 * SECOND
    assert (Ring(key, "bpmn", "a", Profile.ZENBPM, 2, out),) == turn.effects
    assert Guard.RETRIED_FAILURE == turn.guards[RecordKey(Job, key)]
    assert {"x": 1} == game.job("a").inputs
    assert ([], InstanceState.ACTIVE) == (game.incidents, game.state)


@pytest.mark.rule("R76", "R74", "R117")
@pytest.mark.parametrize(
    ("message", "failures", "words"),
    [
        ("no paper", 3, "no paper (job {key}: 3 attempts, retries exhausted)"),
        ("no paper", 1, "no paper (job {key}: 1 attempt, retries exhausted)"),
        ("", 1, "job {key} failed without a message (1 attempt, retries exhausted)"),
    ],
)
def test_an_exhausting_failure_is_an_incident(message: str, failures: int, words: str) -> None:
    game = play(line(service("a", retries=str(failures)))).create()
    key = game.job("a").key
    for _ in range(failures):
        game.fail("a", message=message, variables={"why": "so"})

    (incident,) = game.incidents
    assert (words.format(key=key), key) == (incident.message, incident.job_key)
    job = job_of(game, key)
    assert (JobState.FAILED, 0, failures) == (job.state, job.retries, job.attempts)
    assert ({"why": "so"}, None) == (job.outputs, job.retry_at)
    rows = list(game.records(Failure))
    assert [None] * (failures - 1) + [incident.key] == [row.incident_key for row in rows]
    assert list(range(1, failures + 1)) == [row.number for row in rows]
    assert (InstanceState.ACTIVE, ["a"]) == (game.state, game.waiting)
    assert Guard.EXHAUSTING_FAILURE == game.turns[-1].guards[RecordKey(Job, key)]


@pytest.mark.rule("R83")
def test_an_unknown_job_is_not_found() -> None:
    game = play(line(service("a"))).create()
    with pytest.raises(Rejected) as refused:
        game.send(FailJob(game.root.key + 99))
    assert Reason.NOT_FOUND == refused.value.reason


def with_errors(*events: str) -> bytes:
    targets = "".join(task(f"to_{e.split(chr(34))[1]}") for e in events)
    flows = "; ".join(f"{e.split(chr(34))[1]} > to_{e.split(chr(34))[1]}" for e in events)
    return process(
        *(start(), service("a", retries="3"), *events, targets, end()),
        flows=f"start > a > end; {flows}",
        errors={"E1": "BROKE", "E2": "OTHER"},
    )


@pytest.mark.rule("R50")
def test_a_caught_error_ends_the_job_and_hands_its_variables_to_the_catcher() -> None:
    game = play(with_errors(boundary_error("b", "a", "E1"))).create()
    key = game.job("a").key
    game.fail("a", error_code="BROKE", message="m", variables={"why": "so"})

    job = job_of(game, key)
    assert (JobState.TERMINATED, 3, 0, None) == (
        job.state,
        job.retries,
        job.attempts,
        job.last_failure_message,
    )
    assert ["start", "a", "b", "to_b"] == game.path
    assert ({"why": "so"}, []) == (game.variables, list(game.records(Failure)))
    assert InstanceState.COMPLETED == game.state
    with pytest.raises(Rejected):
        game.send(CompleteJob(key))


@pytest.mark.rule("R51")
@pytest.mark.parametrize(("message", "words"), [("it", "it: OTHER"), ("", "OTHER")])
def test_an_error_nobody_catches_is_an_incident(message: str, words: str) -> None:
    game = play(with_errors(boundary_error("b", "a", "E1"))).create()
    key = game.job("a").key
    game.fail("a", error_code="OTHER", message=message)

    (incident,) = game.incidents
    assert ("UNHANDLED_ERROR_EVENT", words, key) == (
        incident.error_type,
        incident.message,
        incident.job_key,
    )
    job = job_of(game, key)
    assert (JobState.FAILED, 3, []) == (job.state, job.retries, list(game.records(Failure)))


@pytest.mark.rule("R55")
def test_a_catch_all_catches_any_code_but_the_exact_one_comes_first() -> None:
    xml = with_errors(boundary_error("all", "a"), boundary_error("b", "a", "E1"))

    assert "to_b" in play(xml).create().fail("a", error_code="BROKE").path
    assert "to_all" in play(xml).create().fail("a", error_code="ELSE").path
    assert ["a"] == play(xml).create().fail("a").open_jobs
