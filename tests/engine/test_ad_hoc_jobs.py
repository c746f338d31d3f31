"""Ad-hoc subprocesses that a worker steers, by the results of the jobs that they make."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.engine.commands import CompleteJob, ModifyInstance
from chalicelib.engine.effects import Ring
from chalicelib.engine.job_results import AdHocResult
from chalicelib.engine.state import InstanceState, Job, JobState
from chalicelib.engine.stuck import ErrorType
from chalicelib.errors import Reason, Rejected
from chalicelib.profile import Profile
from tests.engine.event_models import error, message
from tests.engine.models import (
    ad_hoc,
    boundary_error,
    event_sub,
    io,
    line,
    process,
    script,
    service,
    start,
)
from tests.play import Play, activations, play, to_json

A, B = service("a"), service("b")


def one(*parts: str, **more: Any) -> bytes:
    """Return a process of one ad-hoc subprocess `h` with a worker, and what comes after it."""
    return line(ad_hoc("h", *(parts or (A, B)), job="agent", **more), service("after"))


def key_of(game: Play, element_id: str) -> int:
    return next(e.key for e in game.root.live.values() if e.element_id == element_id)


def test_the_worker_gets_a_job_when_it_is_entered() -> None:
    game = play(one()).create(goal="x")

    (job,) = game.jobs
    assert ("h", "agent", "AD_HOC_SUB_PROCESS") == (job.element_id, job.type, job.element_type)
    assert ("x", 2) == (job.inputs["goal"], len(job.inputs["adHocSubProcessElements"]))


def test_the_worker_orders_what_is_activated_with_variables_for_each() -> None:
    game = play(one()).create().order("h", "b", ("a", {"city": "Bern"}))

    assert ["b", "a"] == game.open_jobs
    assert "Bern" == game.job("a").inputs["city"]
    assert "city" not in game.job("b").inputs


def test_the_worker_is_asked_again_each_time_a_path_is_over() -> None:
    game = play(one(A, B, flows="a > b")).create().order("h", "a")

    assert ["b"] == game.complete("a").open_jobs
    assert ["h"] == game.complete("b").open_jobs
    assert ["after"] == game.order("h", is_fulfilled=True).open_jobs
    assert InstanceState.COMPLETED == game.complete("after").state


def test_a_new_job_takes_the_place_of_the_one_before() -> None:
    game = play(one()).create().order("h", "a", "b").complete("a")
    first = game.job("h")

    game.complete("b")

    assert [first.key] < [game.job("h").key]
    with pytest.raises(Rejected) as refused:
        game.send(CompleteJob(first.key, result=AdHocResult(activations("a"))))
    assert Reason.INVALID_STATE == refused.value.reason
    assert ["h"] == game.open_jobs


def test_paths_that_end_in_one_turn_ask_once() -> None:
    tool = script("a", "r", "n * 2")
    game = play(one(tool, results=("all", "r"))).create()
    game.order("h", *(("a", {"n": n}) for n in (1, 2, 3)))

    (job,) = game.jobs
    assert to_json([2, 4, 6]) == job.inputs["all"]
    assert 2 == len(list(game.records(Job)))
    rings = [e for e in game.turns[-1].effects if isinstance(e, Ring)]
    assert [job.key] == [ring.job_key for ring in rings]


def test_a_completion_that_comes_again_changes_nothing() -> None:
    game = play(one()).create()
    job = game.job("h")
    order = CompleteJob(job.key, result=AdHocResult(activations("a")))

    game.send(order).send(order)

    assert ["a"] == game.open_jobs


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (AdHocResult(activations("x")), 'elements that can be activated, found ["x"]'),
        (AdHocResult(activations("a"), is_fulfilled=True), "Fulfilled, found both"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused(result: AdHocResult, message: str) -> None:
    game = play(one()).create()

    with pytest.raises(Rejected) as refused:
        game.send(CompleteJob(game.job("h").key, to_json({"x": 1}), result=result))

    assert Reason.INVALID_ARGUMENT == refused.value.reason
    assert refused.value.message.endswith(message)
    assert ["h"] == game.open_jobs


def test_a_completion_without_an_order_leaves_it_to_what_is_active() -> None:
    game = play(one()).create().order("h", "a", "b").complete("a").complete("h")

    assert ["b"] == game.open_jobs
    assert ["h"] == game.complete("b").open_jobs


def test_one_that_nobody_asks_about_may_be_woken_by_a_caller() -> None:
    game = play(one()).create().complete("h")

    assert ([], ["h"]) == (game.open_jobs, game.waiting)
    assert ["h"] == game.activate("h", "a").complete("a").open_jobs


def test_when_it_is_fulfilled_it_waits_for_what_is_active_and_asks_no_more() -> None:
    game = play(one()).create().order("h", "a", "a", "b").complete("b")
    game.order("h", is_fulfilled=True)

    assert ["a"] == game.complete("a").open_jobs
    assert ["after"] == game.complete("a").open_jobs


def test_when_it_is_fulfilled_the_worker_may_end_what_is_active() -> None:
    game = play(one()).create().order("h", "a", "b").complete("b")

    assert ["after"] == game.order("h", is_fulfilled=True, cancels_remaining=True).open_jobs


def test_the_worker_may_end_what_is_active_and_order_something_else() -> None:
    game = play(one()).create().order("h", "a", "a", "b").complete("b")

    assert ["b"] == game.order("h", "b", cancels_remaining=True).open_jobs
    assert ["h"] == game.complete("b").open_jobs


def test_a_worker_that_ends_all_and_orders_nothing_is_asked_again() -> None:
    game = play(one()).create().order("h", "a", "b").complete("b")

    assert ["h"] == game.order("h", cancels_remaining=True).open_jobs


@pytest.mark.parametrize(
    ("profile", "inside", "outside"),
    [(Profile.ZENBPM, {"x": 1, "own": 2}, {"x": 0}), (Profile.PRIOSTACK, {"own": 2}, {"x": 1})],
)
def test_what_the_worker_sends_is_set_where_the_subprocess_sees_it(
    profile: Profile, inside: Any, outside: Any
) -> None:
    inputs = io(inputs={"own": "=0"})
    game = play(one(extensions=inputs), profile=profile).create(x=0)
    game.order("h", "a", values={"x": 1, "own": 2})

    found = game.variables_of(key_of(game, "h"))
    assert to_json(inside) == {name: found[name] for name in inside}
    assert to_json(outside) == game.variables


def test_outputs_are_mapped_from_what_the_worker_sent() -> None:
    game = play(one(extensions=io(outputs={"answer": "=text"}))).create()

    assert "done" == game.order("h", is_fulfilled=True, values={"text": "done"}).variables["answer"]


def test_its_condition_is_the_workers_alone() -> None:
    game = play(one(until="true")).create().order("h", "a").complete("a")

    assert ["h"] == game.open_jobs


# --- failures ----------------------------------------------------------------------------------


def test_a_job_without_retries_left_is_an_incident_and_is_resolved_with_what_is_there() -> None:
    game = play(one(results=("all", "1"))).create().order("h", "a", "b").complete("a")
    game.fail("h", message="no")

    assert ErrorType.JOB_NO_RETRIES == game.incident("h").error_type
    game.resolve("h")
    assert to_json([1]) == game.job("h").inputs["all"]


def test_a_path_that_ends_meanwhile_makes_a_new_job_and_ends_the_incident() -> None:
    game = play(one()).create().order("h", "a", "b").complete("a").fail("h")

    game.complete("b")

    assert (["h"], []) == (game.open_jobs, game.incidents)
    states = [job.state for job in game.records(Job) if job.element_id == "h"]
    assert [JobState.COMPLETED, JobState.TERMINATED, JobState.ACTIVE] == states


def test_an_error_of_the_worker_is_caught_on_it() -> None:
    xml = process(
        start(),
        ad_hoc("h", A, job="agent"),
        boundary_error("no", "h"),
        service("mend"),
        flows="start > h; no > mend",
    )
    game = play(xml).create().order("h", "a", "a").complete("a")

    assert ["mend"] == game.fail("h", error_code="E").open_jobs


def test_a_worker_whose_job_cannot_be_made_is_an_incident_and_asked_when_it_is_resolved() -> None:
    agent = ad_hoc("h", A, job="=agent").replace("=agent", "=kind", 1)
    game = play(line(agent, service("after"))).create(kind="x").order("h", "a")
    game.set(kind=5)
    game = play(line(agent, service("after")), profile=Profile.PRIOSTACK).create(kind="x")
    game.order("h", "a").set(kind=5).complete("a")

    assert "job type of h: expected a text that is not empty, found 5" in game.incident().message
    assert ["h"] == game.set(kind="y").resolve("h").open_jobs
    assert "y" == game.job("h").type


# --- event subprocesses, modification ----------------------------------------------------------


def hears(interrupting: bool) -> bytes:
    """Return a steered ad-hoc subprocess with an event subprocess inside."""
    inside = event_sub("e", message("m"), service("hear"), flows="e_start > hear")
    if not interrupting:
        inside = inside.replace('id="e_start"', 'id="e_start" isInterrupting="false"')
    agent = ad_hoc("h", A, inside, job="agent", results=("all", "n"))
    return line(agent, service("after"), messages={"m": '="1"'})


def test_an_event_subprocess_that_ends_is_collected_and_asks_the_worker() -> None:
    game = play(hears(False)).create().order("h", "a").publish("m", n=5)

    assert ["a", "hear"] == game.open_jobs
    assert ["a", "h"] == game.complete("hear").open_jobs
    assert to_json([5]) == game.job("h").inputs["all"]
    assert ["m"] == [name for name, _ in game.names]


def test_an_interrupting_event_subprocess_completes_it_without_asking() -> None:
    game = play(hears(True)).create().publish("m", n=5)

    assert ["hear"] == game.open_jobs
    assert ["after"] == game.complete("hear").open_jobs
    assert to_json([5]) == game.variables["all"]


def test_an_error_inside_triggers_the_event_subprocess_and_ends_the_job() -> None:
    inside = event_sub("e", error(), service("mend"), flows="e_start > mend")
    game = play(one(A, B, inside)).create().order("h", "a", "b").complete("b")

    assert ["mend"] == game.fail("a", error_code="E").open_jobs
    assert ["after"] == game.complete("mend").open_jobs


def test_an_operator_who_ends_the_last_path_lets_the_worker_be_asked() -> None:
    game = play(one()).create().order("h", "a")

    game.send(ModifyInstance(terminate=(key_of(game, "h#innerInstance"),)))

    assert ["h"] == game.open_jobs
    assert ["after"] == game.order("h", is_fulfilled=True).open_jobs


def test_an_operator_starts_an_element_inside_as_an_activation() -> None:
    game = play(one()).create()

    game.send(ModifyInstance(start=("a",)))

    assert ["h", "a"] == game.open_jobs
    assert ["h"] == game.complete("a").open_jobs


def test_cancelling_ends_the_job_and_what_is_active() -> None:
    game = play(one()).create().order("h", "a", "b").complete("a").cancel()

    assert (InstanceState.TERMINATED, []) == (game.state, game.open_jobs)
