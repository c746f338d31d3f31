"""Multi-instance activities inside one instance."""

from __future__ import annotations

from decimal import Decimal

import pytest

from chalicelib.engine.commands import CancelInstance, CompleteJob, ModifyInstance
from chalicelib.engine.state import (
    InstanceState,
    LoopItems,
    LoopResults,
    Variables,
)
from chalicelib.engine.turn import Entered, Left, Terminated
from chalicelib.profile import Profile
from tests.engine.event_models import error
from tests.engine.models import (
    boundary,
    boundary_error,
    catch,
    end,
    error_end,
    event_sub,
    exclusive,
    io,
    line,
    many,
    parallel,
    process,
    script,
    service,
    start,
    sub,
    task,
)
from tests.play import Play, play

EACH = {"items": "=items", "item": "item"}
DOUBLED = {**EACH, "results": "doubled", "result": "=twice"}
TWICE = service("a", extensions=io(outputs={"twice": "=answer"}))


def keeps_nothing(game: Play) -> None:
    """Check that what a loop kept is gone with it."""
    assert not list(game.records(LoopItems))
    assert not list(game.records(LoopResults))
    assert not game.root.bodies
    assert [game.root.key] == [each.scope for each in game.records(Variables)]


def inner_instances(game: Play, element_id: str) -> dict[int, type]:
    """Return how each instance of an element ended that is not the body, by key."""
    history = [event for turn in game.turns for event in turn.history]
    entered = [e for e in history if isinstance(e, Entered) and e.element_id == element_id]
    body = entered[0].key
    keys = {each.key for each in entered if each.key != body}
    return {
        event.key: type(event)
        for event in history
        if isinstance(event, (Left, Terminated)) and event.key in keys
    }


@pytest.mark.parametrize("sequential", [False, True])
def test_outputs_are_in_the_order_of_the_items(sequential: bool) -> None:
    game = play(line(many(TWICE, sequential=sequential, each=DOUBLED), service("b")))
    game.create(items=[1, 2, 3])

    assert (1 if sequential else 3) == len(game.jobs)
    assert 1 == game.jobs[0].inputs["item"]
    assert 1 == game.jobs[0].inputs["loopCounter"]
    for _ in range(3):
        job = game.jobs[-1]
        game.send(CompleteJob(job.key, {"answer": job.inputs["item"] * 2}))

    assert ["b"] == game.waiting
    assert [2, 4, 6] == game.variables["doubled"]
    keeps_nothing(game)


def test_each_iteration_has_variables_of_its_own() -> None:
    game = play(
        line(many(sub("s", start("si"), service("a"), flows="si > a"), each=EACH)),
        profile=Profile.PRIOSTACK,
    ).create(items=["x", "y"])

    assert [("x", 1), ("y", 2)] == [(j.inputs["item"], j.inputs["loopCounter"]) for j in game.jobs]
    game.complete("a", item="changed")
    assert ["y"] == [job.inputs["item"] for job in game.jobs]
    assert "item" not in game.variables
    assert InstanceState.COMPLETED == game.complete("a").state
    keeps_nothing(game)


@pytest.mark.parametrize("sequential", [False, True])
@pytest.mark.parametrize("items", [None, []])
def test_an_empty_collection_completes_at_once_with_an_empty_list(
    sequential: bool, items: list[int] | None
) -> None:
    game = play(line(many(TWICE, sequential=sequential, each=DOUBLED))).create(items=items)

    assert InstanceState.COMPLETED == game.state
    assert [] == game.variables["doubled"]
    assert not inner_instances(game, "a")


@pytest.mark.parametrize("items", ["text", 7, {"a": 1}, True])
def test_what_is_no_list_is_an_incident_and_resolving_tries_again(items: object) -> None:
    game = play(line(many(TWICE, each=DOUBLED))).create(items=items)

    assert "input collection of a: expected a list" in game.incident("a").message
    game.set(items=[1]).resolve()
    assert InstanceState.COMPLETED == game.complete("a", answer=2).state
    assert [2] == game.variables["doubled"]


@pytest.mark.parametrize("sequential", [False, True])
def test_a_cardinality_says_how_often(sequential: bool) -> None:
    counted = many(service("a"), sequential=sequential, cardinality="=n + 1")
    game = play(line(counted)).create(n=1)

    counters = []
    while game.jobs:
        counters.append(game.jobs[0].inputs["loopCounter"])
        game.complete("a")
    assert [1, 2] == counters
    assert InstanceState.COMPLETED == game.state


@pytest.mark.parametrize("n", [-1, Decimal("1.5"), "two", None])
def test_a_cardinality_that_is_no_whole_number_is_an_incident(n: object) -> None:
    game = play(line(many(service("a"), cardinality="n"))).create(n=n)

    assert "loop cardinality of a: expected a whole number" in game.incident("a").message


def test_a_completion_condition_ends_the_iterations_that_are_left() -> None:
    enough = "=numberOfCompletedInstances / numberOfInstances >= 0.5"
    game = play(line(many(TWICE, each=DOUBLED, enough=enough), service("b")))
    game.create(items=[1, 2, 3])

    game.complete("a", answer=1)
    assert ["a", "a"] == game.open_jobs
    game.complete("a", answer=2)
    assert ["b"] == game.open_jobs
    assert [1, 2, None] == game.variables["doubled"]
    assert [Left, Left, Terminated] == list(inner_instances(game, "a").values())
    keeps_nothing(game)


def test_a_completion_condition_sees_the_iteration_and_what_is_active() -> None:
    enough = "=twice = 7 or numberOfActiveInstances = 0"
    game = play(line(many(TWICE, sequential=True, each=DOUBLED, enough=enough)))

    game.create(items=[1, 2, 3]).complete("a", answer=7)
    assert InstanceState.COMPLETED == game.state


def test_a_completion_condition_that_is_no_boolean_is_an_incident() -> None:
    game = play(line(many(service("a"), cardinality="=2", enough="=limit")))
    game.create(limit=1).complete("a")

    assert "completion condition of a: expected a boolean" in game.incident("a").message
    assert InstanceState.COMPLETED == game.set(limit=True).resolve().state
    keeps_nothing(game)


def test_a_result_is_computed_after_mappings_that_build_on_each_other() -> None:
    """Row 16 of the known ways to get it wrong."""
    mapped = service("a", extensions=io(outputs={"x": "=item", "y": "=x"}))
    loop = many(mapped, sequential=True, each=EACH, results="all", result="=y")
    game = play(line(loop), profile=Profile.PRIOSTACK).create(items=[1, 2, 3, 4, 5])
    for _ in range(5):
        game.complete("a")

    assert [1, 2, 3, 4, 5] == game.variables["all"]


@pytest.mark.parametrize("sequential", [False, True])
def test_a_collection_that_a_worker_overwrites_is_whole_in_the_end(sequential: bool) -> None:
    """Row 19 of the known ways to get it wrong."""
    loop = many(service("a"), sequential=sequential, each=EACH, results="all", result="=answer")
    game = play(line(loop, service("b")), profile=Profile.PRIOSTACK).create(items=[1, 2])
    game.complete("a", answer="one", all=5, items=[])
    game.complete("a", answer="two", all=[])

    assert ["b"] == game.open_jobs
    assert ["one", "two"] == game.variables["all"]


def test_without_a_collection_of_results_no_variable_is_made() -> None:
    """Row 22 of the known ways to get it wrong."""
    game = play(line(many(TWICE, each=EACH))).create(items=[1]).complete("a", answer=1)

    assert {"items": [1]} == game.variables


@pytest.mark.parametrize("sequential", [False, True])
def test_the_history_has_as_many_inner_instances_as_items(sequential: bool) -> None:
    """Row 23 of the known ways to get it wrong."""
    game = play(line(many(TWICE, sequential=sequential, each=EACH))).create(items=[1, 2, 3])
    for _ in range(3):
        game.complete("a")

    assert [Left] * 3 == list(inner_instances(game, "a").values())
    assert not game.root.live


def test_an_instance_goes_on_straight_after_a_multi_instance_task() -> None:
    """Row 26 of the known ways to get it wrong."""
    game = play(line(many(task("a"), cardinality="=3"), service("b"))).create()

    assert ["b"] == game.open_jobs
    assert ["start", "a", "a", "a", "a", "b"] == game.path


def test_scripts_run_in_order() -> None:
    loop = many(
        script("a", "square", "item * item"),
        sequential=True,
        each=EACH,
        results="squares",
        result="=square",
    )
    game = play(line(loop)).create(items=[1, 2, 3])

    assert [1, 4, 9] == game.variables["squares"]
    assert "square" not in game.variables
    assert InstanceState.COMPLETED == game.state


@pytest.mark.parametrize("kind", ["task", "subprocess"])
def test_a_boundary_timer_interrupts_the_whole_activity(kind: str) -> None:
    """Row 28 of the known ways to get it wrong."""
    activity = service("s")
    if kind == "subprocess":
        activity = sub("s", start("si"), service("a"), flows="si > a")
    model = process(
        *(start(), exclusive("x"), many(activity, each=DOUBLED | {"result": "=1"})),
        *(boundary("late", "s", duration="PT1M"), service("b"), end()),
        flows="start > x > s > end; late > b",
    )
    game = play(model).create(items=[1, 2]).wait(60)

    assert ["b"] == game.waiting
    assert not [job for job in game.jobs if job.element_id != "b"]
    keeps_nothing(game)


def test_a_boundary_timer_beside_leaves_the_iterations() -> None:
    beside = boundary("late", "a", interrupting=False, duration="PT1M")
    model = process(
        *(start(), many(TWICE, each=EACH), beside, service("b"), end()),
        flows="start > a > end; late > b",
    )
    game = play(model).create(items=[1, 2]).wait(60)

    assert ["a", "a", "b"] == game.open_jobs


def test_an_error_of_an_iteration_is_caught_on_the_whole_activity() -> None:
    errors = {"e": "code"}
    model = process(
        *(start(), many(TWICE, each=EACH), boundary_error("oops", "a", "e"), service("b"), end()),
        flows="start > a > end; oops > b",
        errors=errors,
    )
    game = play(model).create(items=[1, 2]).fail("a", error_code="code")

    assert ["b"] == game.waiting
    keeps_nothing(game)


def test_an_error_inside_is_caught_inside_one_iteration_alone() -> None:
    inner = sub(
        *("s", start("si"), service("a"), boundary_error("oops", "a", "e"), service("b")),
        flows="si > a; oops > b",
    )
    model = process(
        *(start(), many(inner, each=EACH), end()), flows="start > s > end", errors={"e": "code"}
    )
    game = play(model).create(items=[1, 2]).fail("a", error_code="code")

    assert ["a", "b"] == game.open_jobs


def test_an_error_end_in_an_iteration_is_caught_on_the_whole_activity() -> None:
    inner = sub("s", start("si"), service("a"), error_end("ee", "e"), flows="si > a > ee")
    model = process(
        *(start(), many(inner, each=EACH), boundary_error("oops", "s", "e"), service("b"), end()),
        flows="start > s > end; oops > b",
        errors={"e": "code"},
    )
    game = play(model).create(items=[1, 2]).complete("a")

    assert ["b"] == game.waiting


def test_a_body_that_an_operator_ends_leaves_one_token() -> None:
    """Row 29 of the known ways to get it wrong."""
    game = play(line(many(TWICE, each=DOUBLED), service("b"))).create(items=[1, 2, 3])
    body = next(e.key for e in game.root.live.values() if e.scope == game.root.key)
    game.send(ModifyInstance(("b",), (body,)))

    assert ["b"] == game.waiting
    assert 1 == game.root.tokens
    keeps_nothing(game)


def test_cancelling_ends_all_iterations() -> None:
    game = play(line(many(sub("s", start("si"), service("a"), flows="si > a"), each=EACH)))
    game.create(items=list(range(40))).send(CancelInstance())

    assert InstanceState.TERMINATED == game.state
    assert not game.jobs


def test_many_iterations_take_as_many_turns_as_they_need() -> None:
    game = play(line(many(TWICE, each=DOUBLED))).create(items=list(range(64)))

    assert 64 == len(game.jobs)
    assert 1 < len(game.turns)
    while game.jobs:
        game.complete("a", answer=1)
    assert [1] * 64 == game.variables["doubled"]
    keeps_nothing(game)


def test_loops_nest() -> None:
    inner = many(service("a"), cardinality="=item", results="ns", result="=loopCounter")
    outer = many(
        sub("s", start("si"), inner, flows="si > a", extensions=io(outputs={"got": "=ns"})),
        each=EACH,
        results="all",
        result="=got",
    )
    game = play(line(outer)).create(items=[1, 0, 2])
    while game.jobs:
        game.complete("a")

    assert [[1], [], [1, 2]] == game.variables["all"]
    assert InstanceState.COMPLETED == game.state


def test_a_result_that_fails_is_an_incident_and_resolving_computes_it_again() -> None:
    loop = many(service("a"), each=EACH, results="all", result="=assert(limit, limit != null)")
    game = play(line(loop)).create(items=[1]).complete("a")

    assert "output element of a" in game.incident("a").message
    assert [3] == game.set(limit=3).resolve().variables["all"]
    assert InstanceState.COMPLETED == game.state


def test_a_job_of_an_iteration_that_failed_is_tried_again_with_its_item() -> None:
    game = play(line(many(TWICE, each=DOUBLED))).create(items=[5]).fail("a", retries=0)
    game.resolve()

    assert 5 == game.job("a").inputs["item"]
    assert InstanceState.COMPLETED == game.complete("a", answer=1).state


def test_a_join_behind_a_loop_fires_once() -> None:
    model = process(
        *(start(), parallel("f"), many(service("a"), cardinality="=2"), catch("c", duration="P1D")),
        *(parallel("j"), end()),
        flows="start > f > a > j > end; f > c > j",
    )
    game = play(model).create().complete("a").complete("a")

    assert InstanceState.ACTIVE == game.state
    assert InstanceState.COMPLETED == game.wait(86_400).state


def test_an_event_subprocess_inside_catches_in_its_own_iteration_alone() -> None:
    """Row 25 of the known ways to get it wrong."""
    handler = event_sub("h", error(), service("mend"), flows="h_start > mend")
    inner = sub("s", start("si"), service("a"), handler, flows="si > a")
    game = play(line(many(inner, each=EACH))).create(items=[1, 2]).fail("a", error_code="oops")

    assert ["a", "mend"] == sorted(game.open_jobs)
    assert [2, 1] == [game.job(element).inputs["item"] for element in ("a", "mend")]
    assert InstanceState.COMPLETED == game.complete("a").complete("mend").state
    keeps_nothing(game)
