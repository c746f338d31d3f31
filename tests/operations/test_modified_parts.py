"""Modification of bodies whose iterations child instances do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chalicelib.engine import parts
from chalicelib.engine.commands import ModifyInstance
from chalicelib.engine.state import InstanceState
from chalicelib.errors import Rejected
from chalicelib.operations.instances import modify_process_instance
from tests.engine.models import io, line, many, service, start, sub
from tests.operations.stage import Stage
from tests.operations.test_children import children, is_clean
from tests.simulation.replacing import replaced

INNER = sub("s", start("si"), service("a"), service("b"), flows="si > a > b")
MODEL = line(many(INNER, items="=items", item="item"), service("after"))
ENOUGH = many(INNER, items="=items", item="item", enough="=false")


@pytest.fixture
def stage() -> Iterator[Stage]:
    """A stage on which a child instance does two iterations, and an instance alone two at most."""
    with replaced(parts, AT_ONCE=2):
        yield Stage()


def of_element(stage: Stage, key: int, element_id: str) -> list[int]:
    """Return the keys of the live elements with that id in an instance, the outermost first."""
    return [e.key for e in stage.instance(key).root.live.values() if e.element_id == element_id]


def test_out_of_a_body_in_parts_goes_one_token(stage: Stage) -> None:
    """Row 29 of the known ways to get it wrong."""
    key = stage.create(MODEL, items=[1, 2, 3])
    (body,) = stage.instance(key).root.bodies

    modify_process_instance(stage.ports, key, ModifyInstance(("after",), (body,)))
    stage.wait(30)

    assert {InstanceState.TERMINATED} == {each.root.state for each in children(stage, key)}
    assert ["after"] == [e.element_id for e in stage.instance(key).root.live.values()]
    stage.work("after")
    assert is_clean(stage, key)


def test_an_element_starts_in_an_iteration_of_the_child_that_does_it(stage: Stage) -> None:
    key = stage.create(MODEL, items=[1, 2, 3])
    child = children(stage, key)[0].key
    inner = of_element(stage, child, "s")[-1]

    modify_process_instance(stage.ports, inner, ModifyInstance(("b",)))

    assert [child] == [job.instance_key for job in stage.activate("b", max_jobs=5)]


def test_nothing_outside_of_the_body_starts_in_a_child_that_does_a_part(stage: Stage) -> None:
    key = stage.create(MODEL, items=[1, 2, 3])
    child = children(stage, key)[0].key

    for element_id in ("after", "s"):
        with pytest.raises(Rejected, match=f"element {element_id}: expected an element inside"):
            modify_process_instance(stage.ports, child, ModifyInstance((element_id,)))


def test_nothing_starts_from_the_parent_in_what_children_do(stage: Stage) -> None:
    key = stage.create(MODEL, items=[1, 2, 3])

    with pytest.raises(Rejected, match="expected a live iteration of s in this instance"):
        modify_process_instance(stage.ports, key, ModifyInstance(("b",)))


@pytest.mark.parametrize("body", [many(INNER, items="=items", item="item"), ENOUGH])
def test_a_part_ends_without_an_iteration_that_an_operator_ended(stage: Stage, body: str) -> None:
    key = stage.create(line(body, service("after")), items=[1, 2, 3])
    child = children(stage, key)[0].key
    inner = of_element(stage, child, "s")[-1]

    modify_process_instance(stage.ports, child, ModifyInstance((), (inner,)))
    for type_ in ("a", "b"):
        for job in stage.activate(type_, max_jobs=5):
            stage.complete(job)
    stage.wait(30)

    stage.work("after")
    assert InstanceState.COMPLETED is stage.state(key)
    assert is_clean(stage, key)


def test_a_part_that_an_operator_ends_counts_with_what_was_done_in_it(stage: Stage) -> None:
    answered = service("work", extensions=io(outputs={"mine": "=answer"}))
    each = {"items": "=items", "item": "item", "results": "done", "result": "=mine"}
    key = stage.create(line(many(answered, each=each), service("after")), items=[1, 2, 3])
    first, _, third = stage.activate("work", max_jobs=5)
    stage.complete(first, answer=10)
    child = children(stage, key)[0].key
    left = of_element(stage, child, "work")[-1]

    modify_process_instance(stage.ports, child, ModifyInstance((), (left,)))
    stage.wait(30)
    stage.complete(third, answer=30)
    stage.wait(30)

    assert 0 == stage.instance(key).root.incident_count
    assert [] == stage.activate("work")
    stage.work("after")
    assert [10, None, 30] == stage.variables(key)["done"]
    assert is_clean(stage, key)


@pytest.mark.parametrize("body", [many(INNER, items="=items", item="item"), ENOUGH])
def test_a_body_ends_with_the_last_part_that_an_operator_ends(stage: Stage, body: str) -> None:
    key = stage.create(line(body, service("after")), items=[1, 2, 3])
    for child in children(stage, key):
        (part,) = child.root.bodies
        modify_process_instance(stage.ports, child.key, ModifyInstance((), (part,)))
    stage.wait(30)

    assert InstanceState.TERMINATED is stage.state(key)
    assert is_clean(stage, key)
