"""Timers: catch and boundary events, cycles, and what firing ends."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chalicelib.engine.commands import CompleteJob, FireTimer
from chalicelib.engine.effects import SetTimer
from chalicelib.engine.guards import Guard
from chalicelib.engine.state import InstanceState, Job, JobState, RecordKey
from chalicelib.engine.turn import Terminated
from chalicelib.errors import Rejected
from chalicelib.profile import Profile
from tests.engine.models import boundary, catch, end, io, line, process, service, start, sub, task
from tests.play import NOW, play


def with_boundary(*, interrupting: bool = True, **timer: str) -> bytes:
    event = boundary("late", "a", interrupting=interrupting, **timer)
    return process(
        *(start(), service("a"), event, end(), service("remind"), end("other")),
        flows="start > a > end; late > remind > other",
    )


@pytest.mark.parametrize(
    ("timer", "seconds"),
    [
        ({"duration": "PT2S"}, 2),
        ({"duration": "=wait"}, 90),
        ({"duration": '=duration("PT1M")'}, 60),
        ({"date": "2030-01-01T13:00:00Z"}, 3600),
        ({"date": '=date and time("2030-01-01T12:00:05Z")'}, 5),
        ({"cycle": "R3/PT10S"}, 10),
        ({"duration": "PT0S"}, 0),
        ({"date": "2020-01-01T00:00:00Z"}, 0),
    ],
)
def test_a_catch_event_waits_until_its_timer_is_due(timer: dict[str, str], seconds: int) -> None:
    game = play(line(catch("c", **timer))).create(wait="PT1M30S")

    due = NOW + timedelta(seconds=seconds)
    assert [due] == [t.due for t in game.timers]
    (set_timer,) = game.turns[0].effects
    assert SetTimer(game.root.key, game.timers[0].key, due, version=1) == set_timer
    if seconds:
        assert ["c"] == game.wait(seconds - 1).waiting
    assert InstanceState.COMPLETED == game.wait(1).state
    assert [] == game.timers


def test_a_timer_is_due_at_a_whole_second_and_never_early() -> None:
    now = datetime(2030, 1, 1, 0, 0, 0, 1, tzinfo=UTC)
    game = play(line(catch("c", duration="PT2S")), now=now).create()

    assert datetime(2030, 1, 1, 0, 0, 3, tzinfo=UTC) == game.timers[0].due


@pytest.mark.parametrize("timer", [{"duration": "=5"}, {"date": "=null"}, {"cycle": '="often"'}])
def test_a_timer_that_cannot_be_read_is_an_incident(timer: dict[str, str]) -> None:
    game = play(line(catch("c", **timer))).create()

    assert ("EXTRACT_VALUE_ERROR", "c") == (
        game.incident().error_type,
        game.incident().element_id,
    )


def test_a_timer_that_fired_or_is_for_another_second_changes_nothing() -> None:
    game = play(line(catch("c", duration="PT2S"), service("a"))).create()
    timer = game.timers[0]
    game.now += timedelta(seconds=5)

    assert not game.turn(FireTimer(timer.key, timer.due + timedelta(seconds=1))).changes
    assert game.turn(FireTimer(timer.key, timer.due)).changes
    assert not game.turn(FireTimer(timer.key, timer.due)).changes
    assert ["a"] == game.open_jobs


def test_a_timer_does_not_fire_early() -> None:
    game = play(line(catch("c", duration="PT2S"))).create()
    timer = game.timers[0]

    with pytest.raises(Rejected, match="is due at"):
        game.turn(FireTimer(timer.key, timer.due))


def test_an_interrupting_boundary_timer_ends_the_job_and_goes_its_own_way() -> None:
    game = play(with_boundary(duration="PT1M")).create()
    job = game.job("a")

    game.wait(60)

    ended = game.instance.records[RecordKey(Job, job.key)]  # type: ignore[union-attr]
    assert isinstance(ended, Job)
    assert JobState.TERMINATED == ended.state
    turn = game.turns[-1]
    assert Guard.CANCEL == turn.guards[RecordKey(Job, job.key)]
    assert Terminated(job.element_key) in turn.history
    assert ["remind"] == game.open_jobs
    assert InstanceState.COMPLETED == game.complete("remind").state
    with pytest.raises(Rejected):
        game.send(CompleteJob(job.key))


def test_a_non_interrupting_boundary_timer_sends_a_token_beside() -> None:
    game = play(with_boundary(interrupting=False, duration="PT1M")).create().wait(60)

    assert ["a", "remind"] == game.open_jobs
    assert [] == game.timers
    assert InstanceState.ACTIVE == game.complete("a").state
    assert InstanceState.COMPLETED == game.complete("remind").state


def test_a_cycle_fires_as_often_as_it_says() -> None:
    game = play(with_boundary(interrupting=False, cycle="R3/PT10S")).create()

    assert ["a", "remind"] == game.wait(10).open_jobs
    assert ["a", "remind", "remind"] == game.wait(10).open_jobs
    first, second = game.timers[0].key, game.timers[0].due
    assert ["a", "remind", "remind", "remind"] == game.wait(1000).open_jobs
    assert [] == game.timers
    assert second == NOW + timedelta(seconds=30)
    assert first > 0


def test_missed_firings_of_a_cycle_happen_once_and_the_grid_stays() -> None:
    """Row 41 of the known ways to get it wrong."""
    game = play(with_boundary(interrupting=False, cycle="R/PT10S")).create()
    timer = game.timers[0]
    game.now = NOW + timedelta(seconds=65)

    game.send(FireTimer(timer.key, timer.due))

    assert ["a", "remind"] == game.open_jobs
    (following,) = game.timers
    assert NOW + timedelta(seconds=70) == following.due
    assert following.key != timer.key


def test_an_endless_cycle_ends_with_its_activity() -> None:
    game = play(with_boundary(interrupting=False, cycle="R/PT10S")).create().wait(25)
    game.complete("a")

    assert [] == game.timers
    assert ["remind", "remind"] == game.open_jobs


def test_a_boundary_timer_that_cannot_be_armed_is_an_incident_while_the_job_waits() -> None:
    game = play(with_boundary(duration="=wait")).create()

    assert ["a"] == game.open_jobs
    assert ("EXTRACT_VALUE_ERROR", "a") == (
        game.incident().error_type,
        game.incident().element_id,
    )
    game.set(wait="PT5S").resolve()
    assert [] == game.incidents
    assert ["remind"] == game.wait(5).open_jobs


def test_completing_a_job_closes_the_incident_of_its_boundary_timer() -> None:
    game = play(with_boundary(duration="=wait")).create().complete("a")

    assert (InstanceState.COMPLETED, []) == (game.state, game.incidents)


def test_a_boundary_timer_interrupts_a_subprocess_with_all_inside() -> None:
    inner = sub(
        *("s", start("si"), service("a"), service("b"), catch("c", duration="PT1H")),
        flows="si > a; si > b; si > c",
    )
    xml = process(
        *(start(), inner, boundary("late", "s", duration="PT1M"), end(), service("after")),
        flows="start > s > end; late > after",
    )
    game = play(xml).create()
    assert ["a", "b"] == game.open_jobs

    game.wait(60)

    assert (["after"], ["after"]) == (game.open_jobs, game.waiting)
    assert [] == game.timers
    states = [job.state for job in game.records(Job)]
    assert [JobState.TERMINATED, JobState.TERMINATED, JobState.ACTIVE] == states
    assert InstanceState.COMPLETED == game.complete("after").state


def test_two_boundary_timers_due_together_make_one_path() -> None:
    """Row 14 of the known ways to get it wrong, for boundary timers."""
    xml = process(
        *(start(), service("a"), boundary("t1", "a", duration="PT1M")),
        *(boundary("t2", "a", duration="PT1M"), end(), task("x"), task("y")),
        flows="start > a > end; t1 > x; t2 > y",
    )
    game = play(xml).create()
    first, second = game.timers
    game.now += timedelta(minutes=1)
    game.send(FireTimer(second.key, second.due)).send(FireTimer(first.key, first.due))

    assert (InstanceState.COMPLETED, ["t2-y"]) == (game.state, game.flows[1:])


def test_no_job_is_left_when_a_task_in_a_loop_is_interrupted() -> None:
    """Row 50 of the known ways to get it wrong."""
    xml = process(
        *(start(), service("a"), boundary("late", "a", duration="PT1M"), task("again"), end()),
        flows="start > a > end; late > again > a",
    )
    game = play(xml).create().wait(60).wait(60)

    assert ["a"] == game.open_jobs
    assert 1 == len(game.timers)
    assert InstanceState.COMPLETED == game.complete("a").state


@given(st.datetimes(datetime(2020, 1, 1), datetime(2120, 1, 1), timezones=st.just(UTC)))
def test_two_boundary_timers_of_days_fire_one_after_the_other_whatever_the_date(
    began: datetime,
) -> None:
    """Row 44 of the known ways to get it wrong."""
    events = (
        boundary("first", "a", interrupting=False, duration="P10D"),
        boundary("second", "a", interrupting=False, duration="P20D"),
    )
    model = process(
        *(start(), service("a"), *events, end(), service("ten"), service("twenty")),
        flows="start > a > end; first > ten; second > twenty",
    )
    day = 86_400
    game = play(model, now=began).create()

    assert ["a"] == game.wait(10 * day - 1).open_jobs
    assert ["a", "ten"] == game.wait(2).open_jobs
    assert ["a", "ten"] == game.wait(10 * day - 3).open_jobs
    assert ["a", "ten", "twenty"] == game.wait(4).open_jobs


@pytest.mark.parametrize(
    "timer",
    [
        {"duration": "=length"},
        {"date": '=date("9999-12-31") + duration("P1Y")'},
        {"cycle": '="R/" + length'},
    ],
)
def test_what_leads_beyond_the_calendar_is_an_incident(timer: dict[str, str]) -> None:
    """Row 43 of the known ways to get it wrong."""
    game = play(with_boundary(interrupting=False, **timer)).create(length="P999999Y")

    assert ("EXTRACT_VALUE_ERROR", "a") == (
        game.incident().error_type,
        game.incident().element_id,
    )


def test_a_cron_expression_repeats_beside_its_activity() -> None:
    game = play(with_boundary(interrupting=False, cycle="0/20 * * * * *")).create()

    assert ["a", "remind"] == game.wait(20).open_jobs
    assert ["a", "remind", "remind", "remind"] == game.wait(40).open_jobs
    assert [NOW + timedelta(seconds=80)] == [timer.due for timer in game.timers]


def test_a_timer_fires_once_though_what_follows_is_an_incident() -> None:
    event = catch("t", duration="PT5S").replace(
        "<timerE", f"<extensionElements>{io(outputs={'a.b': '=1'})}</extensionElements><timerE"
    )
    game = play(line(event, service("after")), profile=Profile.PRIOSTACK).create(a=5)
    (timer,) = game.timers
    game.wait(5)
    (incident,) = game.incidents
    assert [] == game.timers

    game.set(a={})
    game.send(FireTimer(timer.key, timer.due))
    assert [incident] == game.incidents
    assert ["after"] == game.resolve().open_jobs
