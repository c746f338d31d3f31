"""Subprocesses, terminate end events and cancelling: what a scope ends and what ends it."""

from __future__ import annotations

import pytest

from chalicelib.engine.commands import CancelInstance
from chalicelib.engine.guards import Guard
from chalicelib.engine.state import InstanceState, Job, JobState, Variables
from chalicelib.errors import Reason, Rejected
from tests.engine.models import (
    boundary,
    catch,
    end,
    line,
    parallel,
    process,
    service,
    start,
    sub,
    task,
    terminate,
)
from tests.play import play


def test_a_subprocess_completes_when_nothing_inside_is_left() -> None:
    inner = sub("s", start("si"), service("a"), service("b"), flows="si > a; si > b")
    game = play(line(inner, service("after"))).create()

    assert ["s", "a", "b"] == game.waiting
    assert ["s", "b"] == game.complete("a").waiting
    assert ["after"] == game.complete("b").waiting
    assert [game.root.key] == [record.scope for record in game.records(Variables)]


def test_subprocesses_nest() -> None:
    innermost = sub("s2", start("s2i"), service("a"), flows="s2i > a")
    inner = sub("s1", start("s1i"), innermost, end("s1e"), flows="s1i > s2 > s1e")
    game = play(line(inner)).create()

    assert ["s1", "s2", "a"] == game.waiting
    assert InstanceState.COMPLETED == game.complete("a").state


def test_a_subprocess_entered_by_two_tokens_is_two_instances_with_joins_of_their_own() -> None:
    """Row 56 of the known ways to get it wrong."""
    inner = sub(
        *("s", start("si"), parallel("f"), service("a"), service("b"), parallel("j"), task("t")),
        flows="si > f > a > j > t; f > b > j",
    )
    game = play(
        process(start(), inner, end(), flows="start > s > end").replace(
            b'id="start-s" sourceRef="start" targetRef="s"',
            b'id="twice" sourceRef="start" targetRef="s"/>'
            b'<sequenceFlow id="again" sourceRef="start" targetRef="s"',
        )
    ).create()

    assert ["a", "b", "a", "b"] == game.open_jobs
    one, two = (job.scope for job in game.jobs if job.element_id == "a")
    assert one != two
    game.complete("a").complete("a")
    assert "t" not in game.path
    game.complete("b")
    assert 1 == game.path.count("t")
    assert InstanceState.COMPLETED == game.complete("b").state


def test_a_terminate_end_event_ends_its_own_scope_only() -> None:
    """Row 55 of the known ways to get it wrong."""
    inner = sub(
        *(
            "s",
            start("si"),
            service("a"),
            service("b"),
            terminate("te"),
            catch("c", duration="P1D"),
        ),
        flows="si > a > te; si > b; si > c",
    )
    game = play(line(inner, service("after"))).create().complete("a")

    assert (["after"], []) == (game.open_jobs, game.timers)
    assert InstanceState.COMPLETED == game.complete("after").state


def test_a_terminate_end_event_at_the_top_completes_the_instance() -> None:
    xml = process(
        *(start(), service("a"), service("b"), boundary("late", "b", duration="P1D")),
        *(terminate("te"), task("t")),
        flows="start > a > te; start > b; late > t",
    )
    game = play(xml).create().complete("a")

    assert (InstanceState.COMPLETED, []) == (game.state, game.timers)
    assert [JobState.COMPLETED, JobState.TERMINATED] == [job.state for job in game.records(Job)]


def test_a_terminate_end_event_takes_tokens_that_still_move() -> None:
    xml = process(
        *(start(), terminate("te"), service("a"), service("b")),
        flows="start > te; start > a; start > b",
    )
    game = play(xml).create()

    assert (InstanceState.COMPLETED, []) == (game.state, game.open_jobs)


# --- cancel --------------------------------------------------------------------------------


def test_cancelling_ends_all_that_is_open() -> None:
    inner = sub("s", start("si"), service("a"), catch("c", duration="P1D"), flows="si > a; si > c")
    xml = process(
        *(start(), inner, service("b"), service("broken", "=null")),
        flows="start > s; start > b; start > broken",
    )
    game = play(xml).create()
    assert 1 == game.root.incident_count
    jobs = [job.key for job in game.jobs]

    game.cancel()

    assert (InstanceState.TERMINATED, game.now) == (game.state, game.root.ended_at)
    assert ([], [], []) == (game.open_jobs, game.timers, game.incidents)
    assert {JobState.TERMINATED} == {job.state for job in game.records(Job)}
    guards = game.turns[-1].guards
    assert {Guard.CANCEL} == {g for key, g in guards.items() if key.key in jobs}
    assert 0 == game.reads  # all was read with the root


@pytest.mark.parametrize("ends", ["complete", "cancel"])
def test_an_instance_that_ended_cannot_be_cancelled(ends: str) -> None:
    game = play(line(service("a"))).create()
    game.complete("a") if ends == "complete" else game.cancel()

    with pytest.raises(Rejected) as refused:
        game.send(CancelInstance())

    assert Reason.INVALID_STATE == refused.value.reason
    actual = "Completed" if ends == "complete" else "Terminated"
    assert "cannot cancel process instance" in refused.value.message
    assert (
        "it is not in correct state, expected=ActivityStateActive, "
        f"actual=ActivityState{actual}" in refused.value.message
    )


def test_failed_jobs_are_terminated_by_a_cancel_and_their_incidents_closed() -> None:
    game = play(line(service("a"))).create().fail("a")
    assert [JobState.FAILED] == [job.state for job in game.records(Job)]

    game.cancel()

    assert [JobState.TERMINATED] == [job.state for job in game.records(Job)]
    assert ([], 0) == (game.incidents, game.root.incident_count)
