"""An activation, or a claim, that its client named loses nothing when its answer is lost."""

from __future__ import annotations

from datetime import timedelta

import pytest

from chalicelib.engine.state import Job
from chalicelib.operations import claims
from chalicelib.operations.claims import Activation
from chalicelib.operations.handing_out import Claimant
from chalicelib.ports import Ports
from tests.operations.models import wide_fork
from tests.operations.stage import LOCK, Stage
from tests.operations.watched import Crash, die, watched

SECOND = timedelta(seconds=1)


def claimant(request_id: str | None = "r1", client: str = "a") -> Claimant:
    return Claimant(client, LOCK, request_id)


def ask(
    ports: Ports, request_id: str | None = "r1", client: str = "a", max_jobs: int = 10
) -> list[Job]:
    asked = Activation("work", claimant(request_id, client), max_jobs, wait_for=5 * SECOND)
    return claims.activate(ports, asked)


def stage_with(jobs: int) -> Stage:
    stage = Stage()
    stage.create(wide_fork(jobs))
    return stage


def owned(stage: Stage) -> set[int]:
    """Return the jobs that somebody has."""
    page = stage.table.scan(0, 1)
    roots = [int(str(item["pk"])[2:]) for item in page.items if item["sk"] == "R"]
    return {job.key for root in roots for job in stage.jobs_of(root) if job.owner}


def keys(jobs: list[Job]) -> list[int]:
    return [job.key for job in jobs]


# --- activate ----------------------------------------------------------------------------------


def test_a_repeat_answers_the_same_jobs_under_the_same_deliveries() -> None:
    stage = stage_with(8)
    first = ask(stage.ports, max_jobs=3)

    assert first == ask(stage.ports, max_jobs=3)
    assert [1, 1, 1] == [stage.job(job.key).delivery_token for job in first]


def test_another_request_another_client_and_none_get_other_jobs() -> None:
    stage = stage_with(20)
    asked = [
        ask(stage.ports, "r1", "a", 3),
        ask(stage.ports, "r2", "a", 3),
        ask(stage.ports, "r1", "b", 3),
        ask(stage.ports, None, "a", 3),
    ]

    assert 12 == len({job.key for jobs in asked for job in jobs})


def test_a_repeat_answers_what_of_it_the_client_still_holds() -> None:
    stage = stage_with(3)
    one, two, three = ask(stage.ports)
    stage.complete(one)
    stage.fail(two, token=1, retries=2, backoff=60 * SECOND)

    assert [three.key] == keys(ask(stage.ports))


def test_what_lapsed_is_not_answered_but_handed_out_anew() -> None:
    stage = stage_with(2)
    first = ask(stage.ports)
    stage.clock.move(LOCK.total_seconds())

    again = ask(stage.ports)

    assert sorted(keys(first)) == sorted(keys(again))
    assert [2, 2] == [job.delivery_token for job in again]


def test_what_another_client_got_meanwhile_is_not_answered() -> None:
    stage = stage_with(1)
    ask(stage.ports)
    stage.clock.move(LOCK.total_seconds())
    (other,) = stage.activate("work", "b", wait_s=2)
    assert other.owner == "b"

    assert [] == ask(stage.ports)


def test_a_request_that_got_nothing_may_get_something_when_repeated() -> None:
    stage = stage_with(1)
    (job,) = stage.activate("work", "b")
    assert [] == ask(stage.ports)
    stage.fail(job, token=1, retries=2)

    assert [job.key] == keys(ask(stage.ports))


def test_an_id_that_is_used_for_ever_lists_no_jobs_that_have_ended() -> None:
    stage = stage_with(20)
    ports, watch = watched(stage.ports)
    for _ in range(5):
        for job in ask(ports, max_jobs=4):
            stage.complete(job)

    listed = [put.item["job_keys"] for (put,) in watch.named("table.write") if "Q#" in put.key.pk]
    assert [4, 4, 4, 4, 4] == [len(each) for each in listed]


# --- crash windows -----------------------------------------------------------------------------


@pytest.mark.parametrize("number", range(1, 6))
@pytest.mark.parametrize("when", ["before", "after"])
def test_whatever_write_it_dies_at_the_repeat_answers_every_job_that_it_claimed(
    number: int, when: str
) -> None:
    stage = stage_with(3)
    ports, watch = watched(stage.ports)
    getattr(watch, when)["table.write", number] = die
    died = False
    try:
        ask(ports)
    except Crash:
        died = True
    claimed = owned(stage)

    again = {job.key for job in ask(stage.ports)}

    assert claimed <= again
    assert died == (number <= 4)
    assert all(1 == stage.job(key).delivery_token for key in claimed)


def test_a_crash_before_anything_is_claimed_hands_out_anew() -> None:
    stage = stage_with(3)
    ports, watch = watched(stage.ports)
    watch.after["queues.send", 1] = die
    with pytest.raises(Crash):
        ask(ports)

    stage.clock.move(claims.VISIBILITY_S)
    assert 3 == len(ask(stage.ports))


@pytest.mark.parametrize("number", range(1, 5))
def test_two_attempts_at_once_answer_no_job_to_two_and_lose_none(number: int) -> None:
    stage = stage_with(3)
    ports, watch = watched(stage.ports)
    other: list[Job] = []
    watch.before["table.write", number] = lambda: other.extend(ask(stage.ports))

    mine = ask(ports)

    held = owned(stage)
    assert held == {job.key for job in [*mine, *other]}
    assert all(1 == stage.job(key).delivery_token for key in held)
    assert sorted(keys(ask(stage.ports))) == sorted(held)


# --- by key ------------------------------------------------------------------------------------


def claim(ports: Ports, key: int, request_id: str | None = "r1", client: str = "a") -> Job:
    return claims.claim_by_key(ports, key, claimant(request_id, client))


def test_a_repeated_claim_answers_the_job_under_the_same_delivery() -> None:
    stage = Stage()
    (made,) = stage.jobs_of(stage.create(wide_fork(1)))
    (bell,) = stage.bells(made)
    first = claims.claim_by_key(stage.ports, made.key, claimant(), bell)

    again = claims.claim_by_key(stage.ports, made.key, claimant(), bell)

    assert (first, 1) == (again, again.delivery_token)


@pytest.mark.parametrize(("request_id", "client"), [("r2", "a"), ("r1", "b"), (None, "a")])
def test_a_claim_of_another_request_or_client_finds_the_job_held(
    request_id: str | None, client: str
) -> None:
    stage = Stage()
    (made,) = stage.jobs_of(stage.create(wide_fork(1)))
    claim(stage.ports, made.key)

    with pytest.raises(Exception, match="is held by client a"):
        claim(stage.ports, made.key, request_id, client)


def test_a_claim_whose_answer_is_lost_is_found_again() -> None:
    stage = Stage()
    (made,) = stage.jobs_of(stage.create(wide_fork(1)))
    ports, watch = watched(stage.ports)
    watch.after["table.write", 1] = die
    with pytest.raises(Crash):
        claim(ports, made.key)

    assert 1 == claim(stage.ports, made.key).delivery_token


def test_a_repeated_claim_after_the_lock_lapsed_is_a_new_delivery() -> None:
    stage = Stage()
    (made,) = stage.jobs_of(stage.create(wide_fork(1)))
    claim(stage.ports, made.key)
    stage.clock.move(LOCK.total_seconds())

    assert 2 == claim(stage.ports, made.key).delivery_token
