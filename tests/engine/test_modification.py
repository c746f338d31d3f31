"""Modification: tokens put elsewhere and taken away, by contracts/zenbpm.md section 1.4."""

from __future__ import annotations

import pytest

from chalicelib.engine.commands import CreateInstance, EndChild, ModifyInstance
from chalicelib.engine.state import (
    ChildWait,
    InstanceState,
    Job,
    JobState,
    Purge,
    Timer,
    Variables,
)
from chalicelib.errors import Reason, Rejected
from chalicelib.profile import Profile
from chalicelib.store import execution
from tests.engine.event_models import boundary_cancel, cancel_end, undone
from tests.engine.models import (
    boundary,
    call,
    end,
    line,
    many,
    parallel,
    process,
    service,
    start,
    sub,
    transaction,
)
from tests.play import Play, play

TWO = line(service("a"), service("b"))
NESTED = line(sub("s", start("si"), service("a"), service("b"), flows="si > a > b"), service("c"))
FORKED = process(
    *(start(), parallel("f"), service("a"), service("b"), parallel("j"), end()),
    flows="start > f > a > j > end; f > b > j",
)


def start_at(model: bytes, *elements: str) -> Play:
    return play(model).send(CreateInstance(1, 1, Profile.ZENBPM, {}, starting_elements=elements))


def key_of(game: Play, element_id: str) -> int:
    return next(each.key for each in game.root.live.values() if each.element_id == element_id)


def modify(game: Play, *starts: str, ends: tuple[str, ...] = (), **more: object) -> Play:
    keys = tuple(key_of(game, element_id) for element_id in ends)
    return game.send(ModifyInstance(starts, keys, **more))  # type: ignore[arg-type]


def test_an_instance_starts_at_the_elements_that_are_named() -> None:
    game = start_at(TWO, "b")

    assert ["b"] == game.waiting
    assert InstanceState.COMPLETED == game.complete("b").state


def test_it_starts_at_several_elements_with_a_token_each() -> None:
    game = start_at(TWO, "a", "b")

    assert ["a", "b"] == game.waiting
    assert ["a"] == game.complete("b").waiting


def test_it_starts_inside_a_subprocess_that_is_entered_for_it() -> None:
    game = start_at(NESTED, "b")

    assert ["s", "b"] == game.waiting
    assert ["c"] == game.complete("b").waiting


def test_two_elements_of_one_subprocess_start_in_one_instance_of_it() -> None:
    game = start_at(NESTED, "a", "b")

    assert ["s", "a", "b"] == game.waiting


def test_a_token_is_moved_by_an_end_and_a_start() -> None:
    game = play(TWO).create()
    modify(game, "b", ends=("a",))

    assert ["b"] == game.waiting
    assert [JobState.TERMINATED, JobState.ACTIVE] == [job.state for job in game.records(Job)]
    assert InstanceState.COMPLETED == game.complete("b").state


def test_an_element_is_started_beside_what_is_live() -> None:
    game = modify(play(TWO).create(), "b")

    assert ["a", "b"] == game.waiting


def test_variables_are_set_before_elements_start() -> None:
    game = modify(play(TWO).create(), "b", variables={"x": "y"})

    assert [{"x": "y"}] == [record.values for record in game.records(Variables)]


def test_variables_are_set_in_the_subprocess_that_is_named() -> None:
    game = play(NESTED).create(x=1)
    scope = key_of(game, "s")

    modify(game, "b", scope=scope, variables={"x": "y"})

    found = {record.scope: record.values for record in game.records(Variables)}
    assert {game.root.key: {"x": 1}, scope: {"x": "y"}} == found
    assert {"x": "y"} == game.job("b").inputs


def test_an_instance_that_is_left_with_nothing_is_terminated() -> None:
    game = modify(play(TWO).create(), ends=("a",))

    assert InstanceState.TERMINATED == game.state
    assert game.now == game.root.ended_at


def test_a_subprocess_that_is_left_with_nothing_ends_with_its_token() -> None:
    game = modify(play(NESTED).create(), "c", ends=("a",))

    assert ["c"] == game.waiting
    assert InstanceState.COMPLETED == game.complete("c").state


def test_a_subprocess_is_ended_with_all_that_is_inside() -> None:
    model = line(
        sub("s", start("si"), service("a"), service("b"), flows="si > a; si > b"),
        boundary("late", "s", duration="PT1H"),
        service("c"),
    )
    game = modify(play(model).create(), "c", ends=("s",))

    assert ["c"] == game.waiting
    assert not list(game.records(Timer))
    assert [game.root.key] == [record.scope for record in game.records(Variables)]


def test_a_subprocess_and_what_is_in_it_may_both_be_named() -> None:
    game = modify(play(NESTED).create(), "c", ends=("s", "a"))

    assert ["c"] == game.waiting


def test_what_ends_already_by_an_interruption_may_be_withdrawn_besides() -> None:
    inner = sub("s", start("si"), call("x", "child"), flows="si > x")
    around = (boundary("late", "s", duration="PT1S"), service("b"), service("c"), end())
    xml = process(start(), inner, *around, flows="start > s > end; late > b")
    game = play(xml).create().wait(2)

    modify(game, "c", ends=("x",))
    (wait,) = game.records(ChildWait)
    game.send(EndChild(wait.key, InstanceState.TERMINATED))

    assert ["c", "b"] == game.waiting
    assert InstanceState.COMPLETED == game.complete("b").complete("c").state


def test_a_start_inside_a_subprocess_that_is_ended_opens_another_one() -> None:
    game = play(NESTED).create()
    old = key_of(game, "s")
    modify(game, "b", ends=("s",))

    assert ["s", "b"] == game.waiting
    assert old != key_of(game, "s")


def test_a_parallel_gateway_that_is_started_does_not_wait_for_its_flows() -> None:
    game = play(FORKED).create()
    modify(game, "j", ends=("a", "b"))

    assert InstanceState.COMPLETED == game.state


def test_what_is_withdrawn_while_it_is_interrupted_is_not_left_by_the_boundary_event() -> None:
    around = (boundary("late", "x", duration="PT1S"), service("b"), service("c"), end())
    xml = process(start(), call("x", "child"), *around, flows="start > x > end; late > b")
    game = modify(play(xml).create(), "c").wait(2)

    modify(game, ends=("x",))
    (wait,) = game.records(ChildWait)
    game.send(EndChild(wait.key, InstanceState.TERMINATED))

    assert ["c"] == game.waiting


def test_a_transaction_whose_cancel_event_is_withdrawn_ends_with_it() -> None:
    inside = (start("ti"), parallel("f"), call("x", "child"), service("a"), cancel_end("no"))
    inner = transaction("tx", *inside, flows="ti > f; f > x; f > a > no")
    around = (boundary_cancel("off", "tx"), service("b"), service("c"), end())
    xml = process(start(), inner, *around, flows="start > tx > end; off > b")
    game = play(xml).create().complete("a")

    modify(game, "c", ends=("no",))
    (wait,) = game.records(ChildWait)
    game.send(EndChild(wait.key, InstanceState.TERMINATED))

    assert ["c"] == game.waiting
    assert InstanceState.COMPLETED == game.complete("c").state


@pytest.mark.parametrize("more", range(4))
def test_scopes_that_are_left_with_nothing_end_though_the_turn_is_full(more: int) -> None:
    timers = "".join(boundary(f"b{n}", "a", duration="PT1H") for n in range(more))
    inner = sub("t", start("ti"), service("a"), timers, flows="ti > a")
    outer = sub("s", start("si"), inner, flows="si > t")
    model = process(start(), many(outer, cardinality="=30"), service("z"), flows="start > s > z")
    game = play(model).create()
    keys = tuple(e.key for e in game.root.live.values() if e.element_id == "a")

    game.send(ModifyInstance(start=("z",), terminate=keys))

    assert ["z"] == game.waiting
    assert InstanceState.COMPLETED == game.complete("z").state


def test_more_is_ended_than_fits_into_one_turn() -> None:
    wide = process(
        *(start(), *(service(f"t{n}") for n in range(60))),
        flows="; ".join(f"start > t{n}" for n in range(60)),
    )
    game = play(wide).create()
    before = len(game.turns)
    modify(game, ends=tuple(f"t{n}" for n in range(59)))

    assert ["t59"] == game.waiting
    assert 1 < len(game.turns) - before


@pytest.mark.parametrize(
    ("command", "reason", "message"),
    [
        (ModifyInstance(("x",)), Reason.NOT_FOUND, "element x was not found"),
        (ModifyInstance((), (7,)), Reason.NOT_FOUND, "element instance 7 was not found"),
        (ModifyInstance(("late",)), Reason.INVALID_ARGUMENT, "found a boundary event"),
    ],
)
def test_what_cannot_be_done_changes_nothing(
    command: ModifyInstance, reason: Reason, message: str
) -> None:
    game = play(line(service("a"), boundary("late", "a", duration="PT1H"))).create()

    with pytest.raises(Rejected, match=message) as refusal:
        game.send(command)

    assert reason is refusal.value.reason
    assert ["a"] == game.waiting


def test_a_start_in_one_of_two_live_subprocesses_names_which() -> None:
    game = modify(play(NESTED).create(), "s")
    first, second = [e.key for e in game.root.live.values() if e.element_id == "s"]

    with pytest.raises(Rejected, match=f"found 2: {first}, {second}"):
        modify(game, "b")

    modify(game, "b", scope=second)
    assert [second] == [e.scope for e in game.root.live.values() if e.element_id == "b"]


def test_an_instance_that_ended_is_not_modified() -> None:
    game = play(TWO).create().cancel()

    with pytest.raises(Rejected, match="has ended") as refusal:
        game.send(ModifyInstance(("b",)))

    assert Reason.INVALID_STATE is refusal.value.reason


def test_what_is_withdrawn_is_remembered_by_the_root_as_it_is_stored() -> None:
    root = play(TWO).create().root
    left = root._replace(purges=(Purge(root.key + 3, is_withdrawn=True), Purge(root.key + 4)))

    read = execution.from_text(execution.to_text(left), root.key, root.created_at)

    assert left.purges == read["purges"]


def test_an_instance_that_lost_its_last_token_has_nothing_left_to_be_undone() -> None:
    done = undone(service("a"), service("undo_a"))
    game = play(process(start(), done, service("b"), flows="start > a > b")).create().complete("a")

    modify(game, ends=("b",))

    assert (InstanceState.TERMINATED, {}) == (game.state, game.root.completed)
