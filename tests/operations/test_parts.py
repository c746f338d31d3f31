"""Bodies of more than 64 parallel iterations: child instances do them, 64 each."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

import pytest

from chalicelib.engine import parts
from chalicelib.engine.commands import SetVariables
from chalicelib.engine.state import Incident, InstanceState, Job, Variables
from chalicelib.operations.advance import advance
from chalicelib.operations.incidents import Mended, resolve_incident
from chalicelib.operations.instances import cancel_process_instance
from chalicelib.profile import Profile
from tests.dmn.models import decision, definitions, literal
from tests.engine.event_models import (
    boundary_condition,
    compensation_throw,
    conditional,
    undone,
)
from tests.engine.models import (
    ad_hoc,
    boundary,
    boundary_error,
    call,
    end,
    event_sub,
    io,
    line,
    many,
    process,
    rule,
    script,
    service,
    start,
    sub,
)
from tests.operations.dmn import deploy_dmn
from tests.operations.stage import Stage
from tests.operations.test_children import children, is_clean, named
from tests.simulation.replacing import replaced

EACH = {"items": "=items", "item": "item"}
DONE = {**EACH, "results": "done", "result": "=mine"}
WORK = service("work", extensions=io(outputs={"mine": "=answer"}))


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
def by_two() -> Iterator[None]:
    """Let a child instance do two iterations, and an instance alone two at most."""
    with replaced(parts, AT_ONCE=2):
        yield


def work_all(stage: Stage, limit: int = 10_000) -> list[Job]:
    """Do all jobs there are, the last one of each batch first; return them."""
    done: list[Job] = []
    while len(done) < limit and (found := stage.activate("work", max_jobs=50)):
        for job in reversed(found[: limit - len(done)]):
            stage.complete(job, answer=job.inputs["item"] * 10)
            done.append(job)
    return done


@pytest.mark.usefixtures("by_two")
@pytest.mark.parametrize("profile", list(Profile))
def test_ad_hoc_subprocesses_are_done_by_children_too(stage: Stage, profile: Profile) -> None:
    tool = script("tool", "found", "item * 10")
    box = ad_hoc("h", tool, active='["tool", "tool"]', results=("both", "found"))
    each = {**EACH, "results": "done", "result": "=both"}
    key = stage.create(stage.deploy(line(many(box, each=each)), profile), items=[1, 2, 3])
    stage.pump()

    assert InstanceState.COMPLETED == stage.state(key)
    assert [[10, 10], [20, 20], [30, 30]] == stage.variables(key)["done"]


@pytest.mark.parametrize(("number", "instances"), [(64, 0), (65, 2), (200, 4)])
def test_results_of_many_are_in_order(stage: Stage, number: int, instances: int) -> None:
    key = stage.create(line(many(WORK, each=DONE), service("b")), items=list(range(number)))
    stage.wait(30)

    assert instances == len(children(stage, key))
    done = work_all(stage)
    assert sorted(range(1, number + 1)) == sorted(job.inputs["loopCounter"] for job in done)
    assert [10 * n for n in range(number)] == stage.variables(key)["done"]
    stage.work("b")
    assert InstanceState.COMPLETED is stage.state(key)
    assert is_clean(stage, key)
    assert all(InstanceState.COMPLETED is each.root.state for each in children(stage, key))


def test_the_parent_is_written_once_for_each_child(stage: Stage) -> None:
    key = stage.create(line(many(WORK, each=EACH)), items=list(range(640)))
    stage.wait(30)
    begun = stage.instance(key).root.version
    work_all(stage)

    assert begun <= 3
    assert begun + 10 == stage.instance(key).root.version


def test_a_collection_that_nobody_names_is_not_copied_into_each_child(stage: Stage) -> None:
    key = stage.create(line(many(WORK, each=EACH)), items=list(range(65)), other=1)

    assert [["other"], ["other"]] == [sorted(stage.variables(c.key)) for c in children(stage, key)]
    named = service("work", extensions=io(inputs={"n": "=count(items)"}))
    key = stage.create(line(many(named, each=EACH)), items=list(range(65)))
    (job, *_) = stage.activate("work", max_jobs=100)[::-1]
    assert 65 == job.inputs["n"]


@pytest.mark.usefixtures("by_two")
@pytest.mark.parametrize("profile", list(Profile))
def test_a_called_process_that_gets_all_variables_gets_the_collection_too(
    stage: Stage, profile: Profile
) -> None:
    stage.deploy(named(line(script("s", "n", "count(items)")), "child"), profile)
    counted = call("c", "child", extensions=io(outputs={"mine": "=n"}))
    key = stage.create(stage.deploy(line(many(counted, each=DONE)), profile), items=[1, 2, 3])
    stage.pump()

    assert [3, 3, 3] == stage.variables(key)["done"]


@pytest.mark.usefixtures("by_two")
def test_a_decision_sees_the_collection_too(stage: Stage) -> None:
    deploy_dmn(stage, definitions(decision("count", literal("count(items)"))))
    loop = many(rule("r", "count"), items="=items", item="item", results="done", result="=result")
    key = stage.create(line(loop), items=[1, 2, 3])

    assert [3, 3, 3] == stage.variables(key)["done"]


@pytest.mark.usefixtures("by_two")
def test_a_cardinality_counts_over_all_children(stage: Stage) -> None:
    key = stage.create(line(many(service("work"), cardinality="=5")))
    jobs = stage.activate("work", max_jobs=10)
    for job in jobs:
        stage.complete(job)

    assert [1, 2, 3, 4, 5] == sorted(job.inputs["loopCounter"] for job in jobs)
    assert InstanceState.COMPLETED is stage.state(key)


@pytest.mark.usefixtures("by_two")
def test_a_completion_condition_is_judged_over_all_children(stage: Stage) -> None:
    enough = "=numberOfCompletedInstances = 3"
    loop = many(WORK, each=DONE, enough=enough)
    key = stage.create(line(loop, service("b")), items=[1, 2, 3, 4, 5])
    work_all(stage, 3)
    stage.wait(30)

    done = stage.variables(key)["done"]
    assert (5, 3) == (len(done), sum(each is not None for each in done))
    assert all(each in (None, 10 * n) for n, each in enumerate(done, 1))
    (job,) = stage.activate("b")
    assert not stage.activate("work")
    stage.complete(job)
    assert is_clean(stage, key)


@pytest.mark.usefixtures("by_two")
def test_a_completion_condition_sees_the_iteration(stage: Stage) -> None:
    loop = many(WORK, each=DONE, enough="=mine = 30")
    key = stage.create(line(loop), items=[1, 2, 3])
    job = next(j for j in stage.activate("work", max_jobs=10) if j.inputs["item"] == 3)
    stage.complete(job, answer=30)
    stage.wait(30)

    assert [None, None, 30] == stage.variables(key)["done"]
    assert InstanceState.COMPLETED is stage.state(key)


@pytest.mark.usefixtures("by_two")
@pytest.mark.parametrize("profile", list(Profile))
def test_a_completion_condition_sees_what_was_set_meanwhile(stage: Stage, profile: Profile) -> None:
    loop = many(service("work"), each=EACH, enough="=late or item = 5")
    definition = stage.deploy(line(loop), profile)
    key = stage.create(definition, items=[1, 2, 3], late=False)
    jobs = stage.jobs_of(children(stage, key)[0].key)
    stage.complete(jobs[0])
    still = stage.state(key)
    advance(stage.ports, key, SetVariables({"late": True}))
    stage.complete(jobs[1])
    stage.wait(30)

    assert InstanceState.ACTIVE is still
    assert InstanceState.COMPLETED is stage.state(key)


@pytest.mark.usefixtures("by_two")
def test_all_iterations_may_be_done_before_the_condition_holds(stage: Stage) -> None:
    loop = many(WORK, each=DONE, enough="=false")
    key = stage.create(line(loop), items=[1, 2, 3])
    work_all(stage)
    stage.wait(30)

    assert [10, 20, 30] == stage.variables(key)["done"]
    assert InstanceState.COMPLETED is stage.state(key)


@pytest.mark.usefixtures("by_two")
def test_a_boundary_timer_ends_all_children(stage: Stage) -> None:
    model = process(
        *(start(), many(WORK, each=DONE), boundary("late", "work", duration="PT1M")),
        *(service("b"), end()),
        flows="start > work > end; late > b",
    )
    key = stage.create(model, items=[1, 2, 3])
    work_all(stage, 1)
    stage.wait(90)

    assert {InstanceState.TERMINATED} == {each.root.state for each in children(stage, key)}
    assert not stage.activate("work")
    stage.work("b")
    assert "done" not in stage.variables(key)
    assert is_clean(stage, key)


@pytest.mark.usefixtures("by_two")
def test_an_error_of_an_iteration_is_caught_on_the_body(stage: Stage) -> None:
    model = process(
        *(start(), many(WORK, each=DONE), boundary_error("oops", "work", "e"), service("b"), end()),
        flows="start > work > end; oops > b",
        errors={"e": "code"},
    )
    key = stage.create(model, items=[1, 2, 3])
    (job,) = stage.activate("work")
    stage.fail(job, error_code="code")
    stage.wait(30)

    assert {InstanceState.TERMINATED} == {each.root.state for each in children(stage, key)}
    stage.work("b")
    assert is_clean(stage, key)


@pytest.mark.usefixtures("by_two")
def test_cancelling_ends_all_children(stage: Stage) -> None:
    inner = sub("s", start("si"), WORK, flows="si > work")
    key = stage.create(line(many(inner, each=EACH)), items=[1, 2, 3])
    cancel_process_instance(stage.ports, key)
    stage.wait(30)

    assert InstanceState.TERMINATED is stage.state(key)
    assert {InstanceState.TERMINATED} == {each.root.state for each in children(stage, key)}


@pytest.mark.usefixtures("by_two")
def test_what_iterations_set_further_out_reaches_the_parent(stage: Stage) -> None:
    definition = stage.deploy(line(many(service("work"), each=EACH)), Profile.PRIOSTACK)
    key = stage.create(definition, items=[1, 2, 3], seen=0)
    for job in stage.activate("work", max_jobs=10):
        stage.complete(job, seen=1, new=2)

    assert {"items": [1, 2, 3], "seen": 1, "new": 2} == stage.variables(key)


@pytest.mark.usefixtures("by_two")
def test_bodies_nest_through_children(stage: Stage) -> None:
    inner = many(WORK, items="=[1, 2, 3]", item="item", results="mine", result="=mine")
    inner = inner.replace('results="mine"', "")
    loop = many(
        sub("s", start("si"), inner, flows="si > work", extensions=io(outputs={"row": "=mine"})),
        each=EACH,
        results="rows",
        result="=row",
    )
    key = stage.create(line(loop), items=[1, 2, 3])
    stage.wait(30)
    work_all(stage)
    stage.wait(30)

    assert [[10, 20, 30]] * 3 == stage.variables(key)["rows"]
    assert InstanceState.COMPLETED is stage.state(key)


@pytest.mark.usefixtures("by_two")
def test_conditional_events_around_a_body_are_the_parents_alone(stage: Stage) -> None:
    """A child is not given the collection, so that these would hold in it."""
    handler = event_sub("h", conditional("items = null"), service("b"), flows="h_start > b")
    event = boundary_condition("gone", "work", "items = null")
    parts_ = (start(), many(WORK, each=EACH), event, handler, service("c"), end())
    key = stage.create(process(*parts_, flows="start > work > end; gone > c"), items=[1, 2, 3])

    assert 3 == len(work_all(stage))
    stage.wait(30)
    assert InstanceState.COMPLETED is stage.state(key)
    assert {InstanceState.COMPLETED} == {each.root.state for each in children(stage, key)}


@pytest.mark.usefixtures("by_two")
@pytest.mark.parametrize("profile", list(Profile))
def test_what_was_done_for_many_is_undone_for_each(stage: Stage, profile: Profile) -> None:
    done = undone(service("work"), service("undo"))
    inner = sub("s", start("si"), done, flows="si > work")
    around = (start(), many(inner, each=EACH), compensation_throw("c"), service("after"))
    xml = process(*around, flows="start > s > c > after")
    key = stage.create(stage.deploy(xml, profile), items=[1, 2, 3])
    work_all(stage)
    jobs = stage.activate("undo", max_jobs=10)

    assert [1, 2, 3] == sorted(job.inputs["item"] for job in jobs)
    assert [] == children(stage, key)
    for job in jobs:
        stage.complete(job)
    stage.work("after")
    assert InstanceState.COMPLETED is stage.state(key)


@pytest.mark.usefixtures("by_two")
def test_a_collection_that_is_named_inside_an_ad_hoc_subprocess_is_shown_there(
    stage: Stage,
) -> None:
    tool = script("tool", "n", "count(items)")
    box = ad_hoc("h", tool, active='["tool"]', results=("found", "n"))
    each = {**EACH, "results": "done", "result": "=found"}
    key = stage.create(line(many(box, each=each)), items=[1, 2, 3])

    assert [[3], [3], [3]] == stage.variables(key)["done"]


@pytest.mark.usefixtures("by_two")
@pytest.mark.parametrize("profile", list(Profile))
def test_an_iteration_that_cannot_be_judged_holds_the_body_until_it_can(
    stage: Stage, profile: Profile
) -> None:
    each = {**DONE, "enough": "=item * 0 + numberOfCompletedInstances > wanted"}
    key = stage.create(stage.deploy(line(many(WORK, each=each)), profile), items=[1, 2, 3])
    work_all(stage)
    stage.pump()

    assert 3 == stage.instance(key).root.incident_count
    assert InstanceState.ACTIVE is stage.state(key)
    for incident in open_incidents(stage, key)[:2]:
        resolve_incident(stage.ports, incident, Mended(variables={"wanted": Decimal(7)}))
    assert 1 == stage.instance(key).root.incident_count
    for incident in open_incidents(stage, key):
        resolve_incident(stage.ports, incident, Mended())
    assert InstanceState.COMPLETED is stage.state(key)
    assert [10, 20, 30] == stage.variables(key)["done"]
    assert is_clean(stage, key)
    assert 1 == sum(each.type is Variables for each in stage.instance(key).records)


@pytest.mark.usefixtures("by_two")
def test_an_iteration_that_can_be_judged_at_last_may_be_enough(stage: Stage) -> None:
    key = stage.create(
        line(many(WORK, each={**DONE, "enough": "=item >= wanted"})), items=[1, 2, 3]
    )
    work_all(stage, limit=1)
    (incident,) = open_incidents(stage, key)
    resolve_incident(stage.ports, incident, Mended(variables={"wanted": Decimal(1)}))
    stage.pump()

    assert InstanceState.COMPLETED is stage.state(key)
    assert [10, None, None] == stage.variables(key)["done"]


def open_incidents(stage: Stage, key: int) -> list[int]:
    records = stage.instance(key).records.values()
    return [r.key for r in records if isinstance(r, Incident) and r.resolved_at is None]
