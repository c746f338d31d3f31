"""What a turn evaluates has an end: each step by its own deadline, the moves of a turn by one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import pytest

from chalicelib.engine.draws import Draws
from chalicelib.engine.effects import Send
from chalicelib.engine.state import InstanceState
from chalicelib.profile import Profile
from tests.engine.event_models import boundary_condition
from tests.engine.models import (
    end,
    exclusive,
    io,
    line,
    many,
    process,
    script,
    service,
    start,
    task,
)
from tests.play import Play, play

SLOW = "for i in 1..1000, j in 1..1000 return i"
TOO_LONG = "the evaluation takes more than 2 seconds"


def ticking(source: bytes, seconds: float = 1) -> Play:
    """Return a play whose clock goes on so long each time it is looked at."""
    game = play(source, profile=Profile.ZENBPM)
    game.clock = count(0, seconds).__next__
    return game


def gateway(condition: str) -> bytes:
    parts = (start(), exclusive("g", "g-b"), service("a"), service("b"), end())
    return process(*parts, flows=f"start > g; g > a: {condition}; g > b; a > end; b > end")


@pytest.mark.parametrize(
    ("source", "element", "type_"),
    [
        (gateway(f"count({SLOW}) > 1"), "g", "EXTRACT_VALUE_ERROR"),
        (line(script("a", "x", SLOW)), "a", "EXTRACT_VALUE_ERROR"),
        (line(service("a", f"=string({SLOW})")), "a", "EXTRACT_VALUE_ERROR"),
        (line(service("a", extensions=io({"x": f"={SLOW}"}))), "a", "IO_MAPPING_ERROR"),
        (line(many(task("a"), each={"items": f"={SLOW}", "item": "x"})), "a",
         "EXTRACT_VALUE_ERROR"),
    ],
    ids=["condition", "script", "job type", "mapping", "collection"],
)  # fmt: skip
def test_an_expression_that_takes_too_long_is_an_incident(
    source: bytes, element: str, type_: str
) -> None:
    game = ticking(source).create()

    incident = game.incident(element)
    assert type_ == incident.error_type
    assert TOO_LONG in incident.message


def test_an_incident_of_what_took_too_long_can_be_resolved() -> None:
    game = ticking(line(script("a", "x", "sum(for i in 1..n return i)"))).create(n=90_000)

    assert TOO_LONG in game.incident("a").message
    game.set(n=3)
    assert InstanceState.COMPLETED == game.resolve().state
    assert 6 == game.variables["x"]


def test_all_expressions_of_one_step_share_its_deadline() -> None:
    slow = {f"x{n}": "=count(for i in 1..2500 return i)" for n in range(9)}
    game = ticking(line(service("a", extensions=io(slow))), 0.3).create()

    assert TOO_LONG in game.incident("a").message


def test_the_deadline_of_a_step_leaves_the_next_one_its_own() -> None:
    """Each looks at the clock a few times, too few to be too long."""
    slow = [script(f"s{n}", "x", "count(for i in 1..2500 return i)") for n in range(9)]
    game = ticking(line(*slow, service("b")), 0.3).create()

    assert ["b"] == game.waiting and not game.incidents


def test_a_turn_whose_time_is_over_leaves_its_moves_to_the_next() -> None:
    game = ticking(line(*(task(f"t{n}") for n in range(9)), service("b"))).create()

    assert ["b"] == game.waiting
    assert 5 < len(game.turns)
    assert all(any(isinstance(e, Send) for e in turn.effects) for turn in game.turns[:-1])


def test_without_a_clock_a_turn_is_never_over() -> None:
    game = play(line(*(task(f"t{n}") for n in range(9)), service("b"))).create()

    assert ["b"] == game.waiting and 1 == len(game.turns)


def test_a_condition_that_takes_too_long_is_not_true_and_stops_nobody() -> None:
    slow = boundary_condition("c", "a", f"count({SLOW}) > x")
    parts = (start(), service("a"), slow, boundary_condition("d", "a", "x > 1"), end())
    game = ticking(process(*parts, flows="start > a > end; c > end; d > end")).create(x=0)

    assert InstanceState.COMPLETED == game.set(x=2).state


# --- chance --------------------------------------------------------------------------------------


def draws(seed: str) -> Callable[[int], int]:
    drawn: Callable[[int], int] = Draws(seed).bits
    return drawn


def test_a_seed_gives_the_same_draws_and_another_seed_others() -> None:
    one, same, other = draws("a"), draws("a"), draws("b")

    drawn = [one(53) for _ in range(9)]
    assert drawn == [same(53) for _ in range(9)]
    assert 9 == len({*drawn}) and drawn != [other(53) for _ in range(9)]
    assert all(draws(str(n))(3) < 8 for n in range(50))
    assert 2**255 > draws("a")(200)


def test_a_process_draws_random_numbers_and_makes_ids() -> None:
    parts = (script("r", "x", "random number()"), script("u", "id", "uuid()"), service("b"))
    one, again = (play(line(*parts)).create().variables for _ in range(2))

    assert 0 <= one["x"] < 1 and 36 == len(one["id"])
    assert one == again


def test_each_draw_of_a_turn_is_another() -> None:
    text = "for i in 1..9 return random number()"
    made = play(line(script("r", "x", text), script("s", "y", text), service("b"))).create()

    assert 18 == len({*made.variables["x"], *made.variables["y"]})
