"""What is kept of the iterations of a multi-instance activity, and what need not be."""

from __future__ import annotations

import pytest

from chalicelib.engine.commands import SetVariables
from chalicelib.engine.limits import SMALL_RESULTS_BYTES, TOLD_ITEMS_BYTES
from chalicelib.engine.state import InstanceState, LoopItems, LoopResults, Variables
from chalicelib.errors import Rejected
from chalicelib.profile import Profile
from tests.engine.models import io, line, many, script, service, start, sub
from tests.play import Play, play

EACH = {"items": "=items", "item": "item"}
DOUBLED = {**EACH, "results": "doubled", "result": "=twice"}
TWICE = service("a", extensions=io(outputs={"twice": "=answer"}))


def keeps_nothing(game: Play) -> bool:
    """Say whether what a loop kept is gone with it."""
    kept = [*game.records(LoopItems), *game.records(LoopResults), *game.root.bodies]
    return [game.root.key] == [*kept, *(each.scope for each in game.records(Variables))]


def test_an_iteration_has_a_record_of_its_variables_once_it_changed_them() -> None:
    inside = sub("s", start("si"), service("a"), service("b"), flows="si > a > b")
    game = play(line(many(inside, each=EACH)), profile=Profile.PRIOSTACK).create(items=["x", "y"])
    first, second = (each.key for each in game.root.live.values() if each.loop)
    before = {each.scope for each in game.records(Variables)}
    game.complete("a", item="changed", other=1)

    assert not before & {first, second}
    assert {first} == {each.scope for each in game.records(Variables)} & {first, second}
    assert ["changed", 1] == [game.job("b").inputs[name] for name in ("item", "loopCounter")]
    game.complete("b").complete("a").complete("b")
    assert InstanceState.COMPLETED == game.state
    assert keeps_nothing(game)


def test_iterations_keep_their_variables_where_the_items_are_too_long_to_be_read_each_time() -> (
    None
):
    items = [letter * TOLD_ITEMS_BYTES for letter in "xy"]
    game = play(line(many(TWICE, each=EACH))).create(items=items)
    iterations = {each.key for each in game.root.live.values() if each.loop}

    assert iterations <= {each.scope for each in game.records(Variables)}
    game.complete("a").complete("a")
    assert InstanceState.COMPLETED == game.state
    assert keeps_nothing(game)


@pytest.mark.parametrize("sequential", [False, True])
def test_results_that_the_root_has_no_room_for_are_records(sequential: bool) -> None:
    game = play(line(many(TWICE, sequential=sequential, each=DOUBLED))).create(items=[1, 2, 3])
    long = "x" * SMALL_RESULTS_BYTES
    game.complete("a", answer="short")
    assert not list(game.records(LoopResults))
    game.complete("a", answer=long)
    assert 1 == len(list(game.records(LoopResults)))
    game.complete("a", answer="again")

    assert ["short", long, "again"] == game.variables["doubled"]
    assert keeps_nothing(game)


LOCAL = io({"total": "=item * 10"})
ADDS = script("add", "total", "total + 1")


@pytest.mark.parametrize(
    ("activity", "expected"),
    [
        (service("a", extensions=LOCAL), [10, 20]),
        (service("a", extensions=io({"total": "=item * 10"}, {"other": "=total"})), [10, 20]),
        (script("s", "unused", "1", extensions=LOCAL), [10, 20]),
        (sub("s", start("si"), ADDS, flows="si > add", extensions=LOCAL), [11, 21]),
    ],
)
@pytest.mark.parametrize("sequential", [False, True])
def test_a_result_is_computed_from_what_the_activity_had_for_itself(
    activity: str, expected: list[int], sequential: bool
) -> None:
    loop = many(activity, sequential=sequential, each=EACH, results="all", result="=total")
    game = play(line(loop), profile=Profile.PRIOSTACK).create(items=[1, 2])
    while game.jobs:
        game.complete("a")

    assert (InstanceState.COMPLETED, expected) == (game.state, game.variables["all"])
    assert "total" not in game.variables
    assert keeps_nothing(game)


@pytest.mark.parametrize("profile", Profile)
def test_a_body_is_given_variables_that_later_iterations_see_and_that_go_with_it(
    profile: Profile,
) -> None:
    part = many(service("a"), sequential=True, each=EACH)
    game = play(line(part, service("b")), profile=profile).create(items=[1, 2])
    (body,) = game.root.bodies

    game.send(SetVariables({"x": "y"}, body)).complete("a")

    assert "y" == game.job("a").inputs["x"]
    game.complete("a")
    assert ["b"] == game.open_jobs
    assert "x" not in game.variables
    assert keeps_nothing(game)


def test_a_body_that_was_given_variables_is_cancelled_with_them() -> None:
    game = play(line(many(service("a"), each=EACH))).create(items=[1, 2])
    (body,) = game.root.bodies

    game.send(SetVariables({"x": "y"}, body)).cancel()

    assert InstanceState.TERMINATED == game.state
    assert keeps_nothing(game)


def test_an_iteration_is_no_scope_of_its_own_to_operators() -> None:
    game = play(line(many(service("a"), each=EACH))).create(items=[1])
    iteration = next(each.key for each in game.root.live.values() if each.loop)

    with pytest.raises(Rejected, match="was not found"):
        game.send(SetVariables({"x": "y"}, iteration))
