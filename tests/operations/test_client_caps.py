"""A client that names a cap never holds more jobs of a type, and every slot comes free again."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from chalicelib.engine.state import Job
from chalicelib.operations import claims, locks
from chalicelib.operations.claims import Activation
from chalicelib.operations.client_caps import max_active_jobs
from chalicelib.operations.handing_out import Claimant
from chalicelib.operations.locks import Extension
from chalicelib.ports import Ports, Settings
from tests.operations.models import wide_fork
from tests.operations.stage import LOCK, Stage
from tests.operations.watched import Crash, die, watched

SECOND = timedelta(seconds=1)


def stage_with(jobs: int, *types: str) -> Stage:
    stage = Stage()
    for type_ in types or ("work",):
        stage.create(wide_fork(jobs, type_))
    return stage


def ask(ports: Ports, most: int, type_: str = "work", client: str = "a", **more: Any) -> list[Job]:
    asked = {"max_jobs": 100, **more}
    return claims.activate(
        ports, Activation(type_, Claimant(client, LOCK), max_active=most, **asked)
    )


@pytest.mark.rule("R24")
@pytest.mark.parametrize(
    ("asked", "counts"), [(None, None), (0, 10), (1, 1), (1_000, 1_000), (1_001, 1_000)]
)
def test_the_cap_is_the_default_for_zero_and_never_above_the_operators(
    asked: int | None, counts: int | None
) -> None:
    assert counts == max_active_jobs(Stage().ports, asked)


@pytest.mark.rule("R24")
def test_the_default_and_the_operators_cap_are_settings() -> None:
    ports = Stage(Settings(default_max_active=3, max_active_cap=7)).ports

    assert (3, 7) == (max_active_jobs(ports, 0), max_active_jobs(ports, 50))


@pytest.mark.rule("R25")
def test_a_client_gets_no_more_of_a_type_than_its_cap_but_still_those_of_another() -> None:
    stage = stage_with(8, "work", "other")

    assert 3 == len(ask(stage.ports, 3))
    assert [] == ask(stage.ports, 3)
    assert 3 == len(ask(stage.ports, 3, "other"))


def test_the_cap_is_each_clients_own() -> None:
    stage = stage_with(8)
    ask(stage.ports, 3)

    assert 5 == len(ask(stage.ports, 5, client="b"))


@pytest.mark.rule("R26")
@pytest.mark.parametrize("how", ["complete", "fail", "lapse", "exhaust"])
def test_every_end_of_a_hold_frees_its_slot(how: str) -> None:
    stage = stage_with(8)
    first, *_ = ask(stage.ports, 3)
    match how:
        case "complete":
            stage.complete(first)
        case "fail":
            stage.fail(first, token=1, retries=2)
        case "lapse":
            stage.clock.move(LOCK.total_seconds())
        case "exhaust":
            stage.fail(first, token=1, retries=0)

    assert (3 if how == "lapse" else 1) == len(ask(stage.ports, 3))
    assert [] == ask(stage.ports, 3)


@pytest.mark.rule("R28")
def test_a_lower_cap_takes_nothing_away_but_holds_for_what_comes() -> None:
    stage = stage_with(8)
    held = ask(stage.ports, 5)

    assert [] == ask(stage.ports, 2)
    for job in held[:4]:
        stage.complete(job)
    assert 1 == len(ask(stage.ports, 2))


@pytest.mark.rule("R29")
def test_no_more_is_received_than_there_is_room_for() -> None:
    stage = stage_with(8)
    ports, watch = watched(stage.ports)
    ask(ports, 3)
    watch.reset()

    assert [] == ask(ports, 3)
    assert [] == watch.named("queues.receive")
    ask(ports, 5)
    assert [2] == [limit for _, limit, *_ in watch.named("queues.receive")]


def test_it_waits_for_room_as_long_as_asked() -> None:
    stage = stage_with(8)
    (job,) = ask(stage.ports, 1)
    began = stage.clock.now()
    assert [] == ask(stage.ports, 1, wait_for=10 * SECOND)
    assert began + 10 * SECOND == stage.clock.now()

    def sleep(seconds: float) -> None:
        stage.clock.move(seconds)
        if stage.clock.now() == began + 15 * SECOND:
            stage.complete(job)

    stage.clock.on_sleep = sleep
    assert 1 == len(ask(stage.ports, 1, wait_for=15 * SECOND))
    assert began + 15 * SECOND == stage.clock.now()


def test_a_lock_that_was_extended_keeps_its_slot() -> None:
    stage = stage_with(8)
    (job,) = ask(stage.ports, 1)
    locks.extend_job_lock(stage.ports, Extension(job.key, "a", duration=300 * SECOND))
    stage.clock.move(LOCK.total_seconds() * 2)

    assert [] == ask(stage.ports, 1)


def test_the_jobs_are_looked_at_only_when_there_is_no_room() -> None:
    stage = stage_with(30)
    ports, watch = watched(stage.ports)
    for _ in range(3):
        for job in ask(ports, 100, max_jobs=5):
            stage.complete(job)

    places = [key.sk[:2] for (keys,) in watch.named("table.get_many") for key in keys]
    assert 15 == places.count("J#")  # each once, before it was claimed


def test_a_job_that_comes_back_to_its_client_takes_one_slot() -> None:
    stage = stage_with(1)
    for round_ in range(1, 4):
        (job,) = ask(stage.ports, 1)
        assert round_ == job.delivery_token
        stage.fail(job, token=round_, retries=5)


# --- crash windows and races -------------------------------------------------------------------


def test_a_claim_that_was_noted_and_never_made_frees_its_slot_after_the_function_is_over() -> None:
    stage = stage_with(8)
    ports, watch = watched(stage.ports)
    watch.after["table.write", 1] = die  # noted, not claimed
    with pytest.raises(Crash):
        ask(ports, 3)

    assert [] == ask(stage.ports, 3)
    stage.clock.move(31)
    assert 3 == len(ask(stage.ports, 3, wait_for=5 * SECOND))


def test_of_two_activations_of_a_client_at_once_together_no_more_than_the_cap_get_through() -> None:
    for number in range(1, 5):
        stage = stage_with(8)
        ports, watch = watched(stage.ports)
        taken: list[Job] = []
        watch.before["table.write", number] = lambda: taken.extend(ask(stage.ports, 3))  # noqa: B023

        taken += ask(ports, 3)

        assert 3 == len(taken) == len({job.key for job in taken})


def test_a_noted_claim_is_not_forgotten_while_it_may_still_be_made() -> None:
    stage = stage_with(8)
    ports, watch = watched(stage.ports)
    others: list[Job] = []
    watch.after["table.write", 1] = lambda: others.extend(ask(stage.ports, 1))

    assert 1 == len(ask(ports, 1))
    assert [] == others


def test_a_slot_lost_to_another_worker_comes_free() -> None:
    stage = Stage()
    (job,) = stage.jobs_of(stage.create(wide_fork(1)))
    ports, watch = watched(stage.ports)
    watch.after["table.write", 1] = lambda: void(stage.claim(job.key, "b"))
    assert [] == ask(ports, 1)

    stage.fail(job, token=1, retries=5)

    assert [job.key] == [each.key for each in ask(ports, 1, wait_for=5 * SECOND)]


def void(_: object) -> None:
    """Let nobody see what an action returns."""
