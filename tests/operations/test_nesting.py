"""How deeply instances may call one another."""

from __future__ import annotations

from dataclasses import replace

from chalicelib.engine.limits import Limits
from chalicelib.operations.incidents import Mended, resolve_incident
from chalicelib.ports import Settings
from tests.engine.models import call, line
from tests.operations.stage import Stage
from tests.operations.test_children import children, incident


def test_calls_that_nest_too_deeply_are_an_incident() -> None:
    stage = Stage(Settings(limits=Limits(max_depth=3)))
    definition = stage.deploy(line(call("c", "p")))
    key = stage.create(definition)
    for _ in range(3):
        (child,) = children(stage, key)
        key = child.key

    assert [] == children(stage, key)
    found = incident(stage, key)
    assert "EXECUTION_LIMIT" == found.error_type
    assert "maxProcessInstanceNestingDepth" in found.message


def test_a_call_that_nests_too_deeply_goes_on_when_it_may_and_counts_elements_as_before() -> None:
    stage = Stage(Settings(limits=Limits(max_depth=1)))
    top = stage.create(stage.deploy(line(call("c", "p"))))
    (child,) = children(stage, top)

    resolve_incident(stage.ports, incident(stage, child.key).key, Mended())
    assert "EXECUTION_LIMIT" == incident(stage, child.key).error_type
    assert child.root.element_count == stage.instance(child.key).root.element_count

    stage.ports = replace(stage.ports, settings=Settings(limits=Limits(max_depth=2)))
    resolve_incident(stage.ports, incident(stage, child.key).key, Mended())
    assert 1 == len(children(stage, child.key))
