"""A firing: the rows of its pool, whether a late one still runs, the lock, and the alarm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from chalicelib.scheduler import alarms
from chalicelib.scheduler.decisions import LATE_MAX, first_rows, should_run
from chalicelib.scheduler.definition import (
    Alarm,
    Cron,
    Every,
    Loop,
    Missed,
    Once,
    Overlap,
    Retry,
    Schedule,
    Watch,
)
from chalicelib.scheduler.overlap import STALE_AFTER, Lock, is_free, is_ours
from chalicelib.scheduler.rows import Attempt, Outcome, RowState, run_id_of
from tests.scheduler.play import LESS, MORE, NOW, RUN, failed, job, play, succeeded

MINUTE = timedelta(minutes=1)


# --- the pool --------------------------------------------------------------------------------


@pytest.mark.rule("Z68")
def test_a_job_without_a_pool_has_one_row_with_index_zero() -> None:
    (row,) = first_rows(job(), RUN, NOW)
    assert (0, 0, 0, RowState.AVAILABLE) == (row.pool_idx, row.iteration, row.attempt, row.state)


@pytest.mark.rule("Z69")
def test_a_pool_of_four_has_four_rows_for_each_firing() -> None:
    rows = first_rows(job(pool_count=4), RUN, NOW)
    assert [0, 1, 2, 3] == [row.pool_idx for row in rows]
    assert {(RUN, NOW)} == {(row.run_id, row.due) for row in rows}


def test_a_firing_is_named_by_its_second_in_utc() -> None:
    paris = datetime.fromisoformat("2026-03-02T10:00:00+01:00")
    assert "20260302T090000Z" == run_id_of(paris)


# --- a firing that comes late ----------------------------------------------------------------


@pytest.mark.parametrize("missed", list(Missed))
def test_a_firing_that_is_hardly_late_runs(missed: Missed) -> None:
    each_minute = job(schedule=Cron("* * * * *"), missed=missed)
    assert should_run(each_minute, NOW, NOW + LATE_MAX)


@pytest.mark.parametrize(
    ("schedule", "late", "runs"),
    [
        (Cron("0 * * * *"), timedelta(minutes=59), True),
        (Cron("0 * * * *"), timedelta(minutes=60), False),
        (Every(3_600_000), timedelta(minutes=59), True),
        (Every(3_600_000), timedelta(minutes=60), False),
        (Once(NOW), timedelta(days=30), True),
    ],
)
def test_a_missed_firing_runs_while_it_is_younger_than_one_interval(
    schedule: Schedule, late: timedelta, runs: bool
) -> None:
    hourly = job(schedule=schedule)
    assert runs is should_run(hourly, NOW, NOW + late)
    assert not should_run(replace(hourly, missed=Missed.SKIP), NOW, NOW + late)


# --- the overlap lock ------------------------------------------------------------------------


@pytest.mark.rule("Z81")
def test_a_job_without_a_policy_takes_locks() -> None:
    assert (Overlap.SKIP, True) == (job().overlap, job().is_locking)


@pytest.mark.rule("Z92")
def test_a_job_that_allows_overlaps_takes_none() -> None:
    assert not job(overlap=Overlap.ALLOW).is_locking


def test_an_index_without_a_lock_is_free() -> None:
    assert is_free(None, RUN, NOW)


@pytest.mark.rule("Z90", "Z91")
@pytest.mark.parametrize(
    ("age", "free"),
    [
        (timedelta(), False),
        (timedelta(minutes=59), False),
        (STALE_AFTER, False),
        (STALE_AFTER + timedelta(milliseconds=1), True),
    ],
)
def test_a_lock_stops_a_firing_until_an_hour_after_its_last_attempt(
    age: timedelta, free: bool
) -> None:
    lock = Lock(0, "another", NOW - timedelta(hours=9), NOW - age)
    assert free is is_free(lock, RUN, NOW)


def test_a_firing_finds_its_own_lock_free() -> None:
    assert is_free(Lock(0, RUN, NOW, NOW), RUN, NOW)


@pytest.mark.rule("Z89")
def test_a_loop_of_three_hours_keeps_its_lock() -> None:
    lock = Lock(0, RUN, NOW, NOW)
    for half_hour in range(1, 7):
        now = NOW + half_hour * timedelta(minutes=30)
        assert not is_free(lock, "another", now)
        lock = replace(lock, refreshed_at=now)
    assert NOW == lock.since


@pytest.mark.rule("Z93")
def test_only_the_run_that_holds_a_lock_releases_it() -> None:
    assert is_ours(Lock(0, RUN, NOW, NOW), RUN)
    assert not is_ours(Lock(0, "another", NOW, NOW), RUN)
    assert not is_ours(None, RUN)


# --- the alarm -------------------------------------------------------------------------------


@pytest.mark.rule("Z101")
def test_an_alarm_counts_every_attempt_or_the_failed_ones() -> None:
    more, less = partial(succeeded, MORE), partial(succeeded, LESS)
    attempts: list[Callable[..., Attempt]] = [more, failed, more, less]
    both = job(loop=Loop(enabled=True), retry=Retry(enabled=True))
    assert len(attempts) == len(play(both, attempts))

    outcomes = [make(at=NOW).outcome for make in attempts]
    for watch, count in ((Watch.ALL, 4), (Watch.FAILURES, 1)):
        alarm = Alarm(watch, threshold=1, window_ms=60_000)
        assert count == sum(alarms.is_watched(alarm, outcome) for outcome in outcomes)


@pytest.mark.rule("Z102")
@pytest.mark.parametrize("watch", list(Watch))
def test_a_cancelled_attempt_counts_as_a_failed_one(watch: Watch) -> None:
    assert alarms.is_watched(Alarm(watch, 1, 60_000), Outcome.CANCELLED)


def test_an_alarm_goes_off_once_per_window_when_the_count_reaches_the_threshold() -> None:
    alarm = Alarm(Watch.ALL, threshold=3, window_ms=60_000)

    assert NOW - MINUTE == alarms.since(alarm, NOW)
    assert not alarms.fires(alarm, 2, None, NOW)
    assert alarms.fires(alarm, 3, None, NOW)
    assert not alarms.fires(alarm, 9, NOW, NOW + MINUTE - timedelta(milliseconds=1))
    assert alarms.fires(alarm, 9, NOW, NOW + MINUTE)


def test_an_alarm_says_what_happened() -> None:
    alarm = Alarm(Watch.FAILURES, threshold=3, window_ms=300_000)
    text = "scheduled job drain (j1): 3 failed attempts within 0:05:00"
    assert text == alarms.words(alarm, "drain", "j1", 3)


def test_states_say_whether_an_attempt_may_begin() -> None:
    opened = {state for state in RowState if state.is_open}
    final = {state for state in RowState if state.is_final}
    assert {RowState.RUNNING} == set(RowState) - opened - final
    assert datetime(2026, 3, 2, 9, tzinfo=UTC) == NOW
