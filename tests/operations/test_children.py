"""Call activities: child instances started, ended, heard of and cancelled."""

from __future__ import annotations

from typing import Any

import pytest

from chalicelib.engine.commands import (
    CreateInstance,
    ResolveIncident,
    SetVariables,
)
from chalicelib.engine.limits import Limits
from chalicelib.engine.state import ChildWait, Incident, Instance, InstanceState, JobState
from chalicelib.operations.advance import advance
from chalicelib.operations.instances import Start, cancel_process_instance, create_process_instance
from chalicelib.operations.turns import take_start
from chalicelib.ports import Settings
from chalicelib.profile import Profile
from tests.engine.models import (
    boundary,
    boundary_error,
    call,
    end,
    error_end,
    io,
    line,
    looped,
    many,
    process,
    service,
    start,
    sub,
)
from tests.operations.stage import Stage

CHILD = line(service("work", extensions=io(outputs={"answer": "=answer"})))


def named(xml: bytes, id_: str) -> bytes:
    """Return a file whose process has another id."""
    return xml.replace(b'<process id="p"', f'<process id="{id_}"'.encode())


@pytest.fixture
def stage() -> Stage:
    stage = Stage()
    stage.deploy(named(CHILD, "child"))
    return stage


def children(stage: Stage, key: int) -> list[Instance]:
    """Return the instances that were called by one, in order."""
    found = [stage.instance(each) for each in roots(stage)]
    return [each for each in found if each.root.parent and each.root.parent.instance_key == key]


def roots(stage: Stage) -> list[int]:
    """Return the keys of all instances."""
    found = stage.table.scan(0, 1).items
    return sorted(int(str(item["pk"])[2:]) for item in found if "execution" in item)


def incident(stage: Stage, key: int) -> Incident:
    found = [r for r in stage.instance(key).records.values() if isinstance(r, Incident)]
    (one,) = [each for each in found if each.resolved_at is None]
    return one


def started_alone(stage: Stage) -> int:
    """Start an instance whose child is left to its message; return its key."""
    definition = stage.deploy(line(call("c", "child")))
    command = CreateInstance(definition.key, definition.version, definition.profile)
    turn = take_start(stage.ports, definition, command, None)
    assert turn is not None
    return turn.after.key


def is_clean(stage: Stage, key: int) -> bool:
    """Say whether nothing of a call is left in an instance."""
    instance = stage.instance(key)
    return not (
        instance.root.live
        or instance.root.purges
        or any(isinstance(record, ChildWait) for record in instance.records.values())
    )


def test_a_call_starts_a_child_and_goes_on_after_its_end(stage: Stage) -> None:
    model = line(call("c", "child", extensions=io(outputs={"got": "=answer"})), service("after"))
    key = stage.create(model, order=7)

    (child,) = children(stage, key)
    (job,) = stage.jobs_of(child.key)
    assert 7 == job.inputs["order"]
    stage.work("work", answer=42)

    assert InstanceState.COMPLETED is stage.state(child.key)
    assert {"order": 7, "got": 42} == stage.variables(key)
    stage.work("after")
    assert InstanceState.COMPLETED is stage.state(key)
    assert is_clean(stage, key)


def test_a_child_that_runs_through_is_done_within_the_request() -> None:
    stage = Stage()
    stage.deploy(named(line(), "child"))
    key = stage.create(line(call("c", "child")))

    assert InstanceState.COMPLETED is stage.state(key)


def test_what_the_queue_brings_again_changes_nothing(stage: Stage) -> None:
    key = stage.create(line(call("c", "child")))
    stage.wait(30)
    assert 1 == len(children(stage, key))
    stage.work("work")
    stage.wait(30)

    assert InstanceState.COMPLETED is stage.state(key)


@pytest.mark.parametrize(
    ("profile", "switches", "down", "up"),
    [
        (Profile.ZENBPM, {}, True, False),
        (Profile.PRIOSTACK, {}, True, True),
        (Profile.PRIOSTACK, {"propagateAllParentVariables": "false"}, False, True),
        (Profile.PRIOSTACK, {"propagateAllChildVariables": "false"}, True, False),
    ],
)
def test_variables_are_handed_down_and_up_by_profile_and_switches(
    profile: Profile, switches: dict[str, str], down: bool, up: bool
) -> None:
    """Row 62 of the known ways to get it wrong."""
    stage = Stage()
    stage.deploy(named(CHILD, "child"), profile)
    local = io(inputs={"local": "=order"})
    key = stage.create(
        stage.deploy(line(call("c", "child", extensions=local, **switches)), profile), order=7
    )

    (child,) = children(stage, key)
    given = {"order": 7, "local": 7} if down else {"local": 7}
    assert given == stage.variables(child.key)
    stage.work("work", answer=42)
    assert ({"order": 7, "answer": 42} if up else {"order": 7}) == stage.variables(key)


def test_the_called_process_may_be_computed(stage: Stage) -> None:
    key = stage.create(line(call("c", "=which")), which="child")

    assert ["child"] == [each.root.bpmn_process_id for each in children(stage, key)]


@pytest.mark.parametrize("which", ["nobody", "x" * 300])
def test_an_unknown_process_is_an_incident_and_resolving_calls_again(
    stage: Stage, which: str
) -> None:
    key = stage.create(line(call("c", "=which")), which=which)

    assert f"called process {which} (latest version) was not found" == incident(stage, key).message
    advance(stage.ports, key, SetVariables({"which": "child"}))
    advance(stage.ports, key, ResolveIncident(incident(stage, key).key))
    stage.work("work")
    assert InstanceState.COMPLETED is stage.state(key)


def test_what_is_no_text_cannot_be_called(stage: Stage) -> None:
    key = stage.create(line(call("c", "=which")), which=7)

    assert "called process of c: expected a text" in incident(stage, key).message


def test_bindings_choose_the_version(stage: Stage) -> None:
    tagged = CHILD.replace(
        b'isExecutable="true">',
        b'isExecutable="true"><extensionElements><zeebe:versionTag value="stable"/>'
        b"</extensionElements>",
    )
    stage.deploy(named(tagged, "child"))
    stage.deploy(named(line(service("other")), "child"))
    latest = stage.create(line(call("c", "child")))
    stable = stage.create(line(call("c", "child", bindingType="versionTag", versionTag="stable")))

    assert [3] == [each.root.definition_version for each in children(stage, latest)]
    assert [2] == [each.root.definition_version for each in children(stage, stable)]


def test_a_binding_to_the_deployment_stays_with_the_file() -> None:
    stage = Stage()
    caller = line(call("c", "child", bindingType="deployment"))
    inner = named(CHILD, "child").split(b"<process", 1)[1].rsplit(b"</definitions>", 1)[0]
    definition = stage.deploy(
        caller.replace(b"</definitions>", b"<process" + inner + b"</definitions>")
    )
    stage.deploy(named(line(service("other")), "child"))

    key = stage.create(definition)

    assert [1] == [each.root.definition_version for each in children(stage, key)]


def test_a_business_key_is_inherited_unless_the_model_says_otherwise(stage: Stage) -> None:
    given = '<zeebe:in businessKey="=order"/>'
    blank = '<zeebe:in businessKey=""/>'
    for extensions, expected in (("", "b-1"), (given, "o-1"), (blank, "")):
        definition = stage.deploy(line(call("c", "child", extensions=extensions)))
        wanted = Start(
            definition_key=definition.key,
            profile=Profile.ZENBPM,
            business_key="b-1",
            variables={"order": "o-1"},
        )
        key = create_process_instance(stage.ports, wanted).key
        (child,) = children(stage, key)
        assert expected == child.root.business_key


def test_an_error_of_a_child_is_caught_by_the_call(stage: Stage) -> None:
    errors = {"e": "oops"}
    model = process(
        *(start(), call("c", "child"), boundary_error("caught", "c", "e"), service("b"), end()),
        flows="start > c > end; caught > b",
        errors=errors,
    )
    key = stage.create(model)
    (child,) = children(stage, key)
    (job,) = stage.activate("work")
    stage.fail(job, error_code="oops", variables={"why": "no stock"})

    assert InstanceState.TERMINATED is stage.state(child.key)
    assert JobState.TERMINATED is stage.job(job.key).state
    (after,) = stage.activate("b")
    assert "no stock" == after.inputs["why"]
    stage.complete(after)
    assert InstanceState.COMPLETED is stage.state(key)
    assert is_clean(stage, key)


def test_an_error_passes_through_instances_to_the_one_that_catches() -> None:
    stage = Stage()
    ends = process(start(), error_end("x", "e"), flows="start > x", errors={"e": "oops"})
    stage.deploy(named(ends, "inner"))
    stage.deploy(named(line(call("c", "inner")), "middle"))
    outer = process(
        *(start(), sub("s", start("si"), call("c", "middle"), flows="si > c")),
        *(boundary_error("caught", "s", "e"), service("b"), end()),
        flows="start > s > end; caught > b",
        errors={"e": "oops"},
    )
    key = stage.create(outer)

    assert ["b"] == [job.element_id for job in stage.jobs_of(key) if job.state is JobState.ACTIVE]
    (middle,) = children(stage, key)
    (inner,) = children(stage, middle.key)
    assert InstanceState.TERMINATED is middle.root.state
    assert InstanceState.TERMINATED is inner.root.state


def test_an_error_that_no_ancestor_catches_is_an_incident_where_it_is_thrown(stage: Stage) -> None:
    key = stage.create(line(call("c", "child")))
    (child,) = children(stage, key)
    (job,) = stage.activate("work")
    stage.fail(job, error_code="oops")

    assert "oops" in incident(stage, child.key).message
    assert InstanceState.ACTIVE is stage.state(key)


def test_a_boundary_timer_ends_the_child_and_goes_on_when_that_has_answered(stage: Stage) -> None:
    model = process(
        *(start(), call("c", "child"), boundary("late", "c", duration="PT1M"), service("b"), end()),
        flows="start > c > end; late > b",
    )
    key = stage.create(model)
    (child,) = children(stage, key)
    (job,) = stage.activate("work")
    stage.wait(90)

    assert InstanceState.TERMINATED is stage.state(child.key)
    assert JobState.TERMINATED is stage.job(job.key).state
    stage.work("b")
    assert InstanceState.COMPLETED is stage.state(key)
    assert is_clean(stage, key)


def test_cancelling_ends_all_children_below(stage: Stage) -> None:
    stage.deploy(named(line(call("c", "child")), "middle"))
    key = stage.create(line(call("c", "middle")))
    (middle,) = children(stage, key)
    (child,) = children(stage, middle.key)
    cancel_process_instance(stage.ports, key)

    for each in (key, middle.key, child.key):
        assert InstanceState.TERMINATED is stage.state(each)
        assert is_clean(stage, each)


def test_what_is_called_and_is_not_there_is_an_incident_of_its_own_type() -> None:
    stage = Stage()
    key = stage.create(line(call("c", "nowhere")))

    assert "CALLED_ELEMENT_ERROR" == incident(stage, key).error_type


def test_a_chain_of_a_thousand_calls_is_cancelled() -> None:
    stage = Stage(Settings(limits=Limits(max_depth=1_000)))
    root = stage.create(stage.deploy(line(call("c", "p"))))
    stage.wait(300)
    chain = roots(stage)
    assert 1_001 == len(chain)
    cancel_process_instance(stage.ports, root)
    stage.wait(600)

    assert {InstanceState.TERMINATED} == {stage.state(key) for key in chain}


@pytest.mark.parametrize("sequential", [False, True])
def test_a_call_for_many_collects_the_results_of_all_children_in_order(
    stage: Stage, sequential: bool
) -> None:
    """Row 20 of the known ways to get it wrong."""
    loop = many(
        call("c", "child", extensions=io(outputs={"mine": "=answer"})),
        sequential=sequential,
        items="=items",
        item="item",
        results="all",
        result="=mine",
    )
    key = stage.create(line(loop), items=[1, 2, 3])
    work: list[Any] = []
    while found := stage.activate("work", max_jobs=10):
        work += found
        for job in reversed(found):
            item = int(str(job.inputs["item"]))
            stage.complete(job, answer=item * 10, all=[], items=[])

    assert 3 == len(work)
    assert [10, 20, 30] == stage.variables(key)["all"]
    assert InstanceState.COMPLETED is stage.state(key)
    assert is_clean(stage, key)


@pytest.mark.parametrize("profile", list(Profile))
def test_a_call_for_many_that_hands_down_its_own_alone_hands_down_the_item(
    profile: Profile,
) -> None:
    stage = Stage()
    stage.deploy(named(CHILD, "child"), profile)
    alone = call("c", "child", propagateAllParentVariables="false")
    xml = line(many(alone, items="=items", item="item"))
    key = stage.create(stage.deploy(xml, profile), items=["x", "y"])

    given = [stage.variables(child.key) for child in children(stage, key)]
    assert [{"item": "x", "loopCounter": 1}, {"item": "y", "loopCounter": 2}] == given


def test_a_call_that_loops_and_hands_down_its_own_alone_says_which_round(stage: Stage) -> None:
    alone = call("c", "child", propagateAllParentVariables="false")
    key = stage.create(line(looped(alone, maximum=2)), order=7)
    stage.work("work")

    given = [stage.variables(child.key) for child in children(stage, key)]
    assert [(1, None), (2, None)] == [(each["loopCounter"], each.get("order")) for each in given]


def test_a_start_that_comes_after_the_cancel_starts_nothing(stage: Stage) -> None:
    key = started_alone(stage)
    assert [] == children(stage, key)
    cancel_process_instance(stage.ports, key)
    stage.wait(30)

    (child,) = children(stage, key)
    assert InstanceState.TERMINATED is child.root.state
    assert not stage.jobs_of(child.key)
    assert InstanceState.TERMINATED is stage.state(key)
