"""What other engines got wrong (contracts/bpmn.md), where no other test is about it."""

from __future__ import annotations

import pytest

from chalicelib.engine.state import InstanceState
from chalicelib.profile import Profile
from tests.engine.models import end, io, line, many, parallel, process, script, service, start, sub
from tests.engine.test_execution_listeners import do, listeners, types
from tests.play import play

EACH = {"items": "=items", "item": "item", "results": "all", "result": "=answer"}


@pytest.mark.parametrize("profile", Profile)
def test_a_join_whose_listener_failed_goes_on_once_when_it_is_resolved(profile: Profile) -> None:
    """Row 5 of the known ways to get it wrong."""
    heard = f"<extensionElements>{listeners('start:audit', retries='1')}</extensionElements>"
    join = f'<parallelGateway id="j">{heard}</parallelGateway>'
    parts = (start(), parallel("f"), service("a"), service("b"), join, service("after"), end())
    flows = "start > f; f > a > j; f > b > j; j > after > end"
    game = play(process(*parts, flows=flows), profile=profile).create()
    game.complete("a").complete("b")
    assert ["audit"] == types(game)

    game.fail("j", retries=0)
    assert ([], ["j"]) == (types(game), [each.element_id for each in game.incidents])
    do(game.resolve("j"), "audit")

    assert ["after"] == game.open_jobs
    assert InstanceState.COMPLETED == game.complete("after").state
    assert 1 == game.path.count("j")


@pytest.mark.parametrize("sequential", [False, True])
def test_an_output_mapping_sees_the_results_with_the_last_one_in(sequential: bool) -> None:
    """Row 17 of the known ways to get it wrong."""
    mapped = service("a", extensions=io(outputs={"answer": "=answer", "mapped": "=all"}))
    game = play(line(many(mapped, sequential=sequential, each=EACH)), profile=Profile.PRIOSTACK)
    game.create(items=[1, 2, 3])

    game.complete("a", answer="one")
    assert ["one", None, None] == game.variables["mapped"]
    game.complete("a", answer="two").complete("a", answer="three")

    assert ["one", "two", "three"] == game.variables["mapped"] == game.variables["all"]


@pytest.mark.parametrize("profile", Profile)
def test_the_mapping_of_a_subprocess_around_sees_all_results(profile: Profile) -> None:
    """Row 17 of the known ways to get it wrong, one scope further out."""
    loop = many(script("a", "answer", "item * 2"), each=EACH)
    outputs = io(outputs={"mapped": "=all"})
    inner = sub("s", start("si"), loop, flows="si > a", extensions=outputs)
    game = play(line(inner), profile=profile).create(items=[1, 2, 3])

    assert [2, 4, 6] == game.variables["mapped"]


def test_a_mapping_that_reads_the_results_and_the_item_sees_both() -> None:
    mapped = service("a", extensions=io(outputs={"last": "=append(all, item)"}))
    each = {**EACH, "result": "=item * 10"}
    game = play(line(many(mapped, sequential=True, each=each)), profile=Profile.PRIOSTACK)
    game.create(items=[1, 2]).complete("a").complete("a", secret=7)

    assert [10, 20, 2] == game.variables["last"]
    assert "secret" not in game.variables  # it has mappings, so nothing else leaves


def test_a_mapping_that_fails_over_the_results_is_an_incident_and_can_be_mended() -> None:
    outputs = io(outputs={"answer": "=answer", "x.y": "=all"})
    loop = many(service("a", extensions=outputs), each=EACH)
    game = play(line(loop), profile=Profile.PRIOSTACK).create(items=[1], x=1)
    game.complete("a", answer=5)
    assert "IO_MAPPING_ERROR" == game.incident().error_type

    game.set(x={}).resolve()

    assert (InstanceState.COMPLETED, {"y": [5]}) == (game.state, game.variables["x"])
    assert [5] == game.variables["all"]
