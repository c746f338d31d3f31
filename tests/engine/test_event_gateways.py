"""Event-based gateways: all events behind one are waited for, the first one wins."""

from __future__ import annotations

import pytest

from chalicelib.engine.commands import Correlate, FireTimer
from chalicelib.engine.state import InstanceState, Stage
from chalicelib.engine.turn import Taken, Unsubscribed
from chalicelib.errors import Reason, Rejected
from chalicelib.profile import Profile
from tests.engine.models import (
    boundary,
    catch,
    end,
    event_gateway,
    io,
    message_catch,
    process,
    receive,
    service,
    signal_event,
    start,
    sub,
)
from tests.play import Play, play

KEYS = {"paid": "=order", "stopped": "=order"}


def race(*, timer: str = "PT1H") -> Play:
    """Return an instance that waits for a message, a signal, another message or a timer."""
    xml = process(
        *(start(), event_gateway("g"), message_catch("m", "paid"), catch("t", duration=timer)),
        *(receive("r", "stopped"), signal_event("intermediateCatchEvent", "s", "alarm")),
        *(service("a"), service("b"), service("c"), service("d"), end()),
        flows="start > g > m > a > end; g > t > b > end; g > r > c > end; g > s > d > end",
        messages=KEYS,
        signals={"alarm": "alarm"},
    )
    return play(xml).create(order="o-1")


def test_all_events_are_waited_for_at_the_gateway() -> None:
    game = race()

    assert [("paid", "o-1"), ("stopped", "o-1"), ("alarm", None)] == game.names
    assert (["g"], ["t"]) == (game.waiting, [timer.element_id for timer in game.timers])


@pytest.mark.parametrize(
    ("name", "job", "through"), [("paid", "a", "m"), ("stopped", "c", "r"), ("alarm", "d", "s")]
)
def test_the_first_event_wins_and_the_others_close(name: str, job: str, through: str) -> None:
    game = race().publish(name, found=1)

    assert ([job], [], []) == (game.open_jobs, game.subscriptions, game.timers)
    assert (1, ["start", "g", through, job]) == (game.variables["found"], game.path)
    assert f"g-{through}" in game.flows
    assert 0 == game.reads
    assert InstanceState.COMPLETED == game.complete(job).state


def test_a_timer_that_comes_first_wins() -> None:
    game = race().wait(3_600)

    assert (["b"], []) == (game.open_jobs, game.subscriptions)


def test_two_timers_due_together_take_exactly_one_path() -> None:
    """Row 14 of the known ways to get it wrong."""
    xml = process(
        *(start(), event_gateway("g"), catch("t", duration="PT1S"), catch("u", duration="PT1S")),
        *(service("a"), service("b"), end()),
        flows="start > g > t > a > end; g > u > b > end",
    )
    game = play(xml).create()
    both = game.timers
    game.wait(1)
    for timer in both:
        game.send(FireTimer(timer.key, timer.due))

    assert (["a"], []) == (game.open_jobs, game.timers)
    assert InstanceState.COMPLETED == game.complete("a").state


def test_what_comes_second_finds_nobody() -> None:
    game = race()
    second = game.subscriptions[1]
    game.publish("paid")

    assert Unsubscribed(second.key, came=False) in game.turns[-1].history
    with pytest.raises(Rejected) as refused:
        game.send(Correlate(second.key, "stopped"))
    assert Reason.NOT_FOUND == refused.value.reason


def test_an_event_that_cannot_be_waited_for_is_an_incident_and_none_is_armed() -> None:
    game = race()
    broken = play(game.process).create()
    assert (Stage.ENTERING, [], []) == (broken.incident("g").stage, broken.names, broken.timers)

    broken.set(order="o-2").resolve("g")

    assert 3 == len(broken.names)


def test_an_interrupted_scope_closes_its_gateway() -> None:
    inner = sub(
        *("s", start("si"), event_gateway("g"), message_catch("m", "paid")),
        catch("t", duration="P1D"),
        flows="si > g > m; g > t",
    )
    xml = process(
        *(start(), inner, boundary("late", "s", duration="PT1S"), end()),
        flows="start > s > end; late > end",
        messages=KEYS,
    )
    game = play(xml).create(order="o-1").wait(1)

    assert (InstanceState.COMPLETED, [], []) == (game.state, game.subscriptions, game.timers)


def test_an_event_that_came_and_cannot_hand_on_what_came_is_an_incident_of_its_own() -> None:
    mapped = message_catch("m", "paid", extensions=io(outputs={"a.b": "=amount"}))
    xml = process(
        *(start(), event_gateway("g"), mapped, catch("t", duration="P1D"), end()),
        flows="start > g > m > end; g > t > end",
        messages=KEYS,
    )
    game = play(xml).create(order="o-1", a=1).publish("paid", amount=7)
    assert (["m"], []) == (game.waiting, game.timers)

    game.delete("a").resolve("m")

    assert (InstanceState.COMPLETED, {"b": 7}) == (game.state, game.variables["a"])


def test_a_gateway_in_a_loop_waits_again() -> None:
    xml = process(
        *(start(), event_gateway("g"), message_catch("m", "paid"), catch("t", duration="PT1H")),
        end(),
        flows="start > g > m > g; g > t > end",
        messages=KEYS,
    )
    game = play(xml, profile=Profile.PRIOSTACK).create(order="o-1").publish("paid").publish("paid")

    assert ([("paid", "o-1")], ["t"]) == (game.names, [t.element_id for t in game.timers])
    taken = [e.flow_id for t in game.turns for e in t.history if isinstance(e, Taken)]
    assert 2 == taken.count("g-m")
    assert InstanceState.COMPLETED == game.wait(3_600).state


# --- gateways that start instances ---------------------------------------------------------------


def starting(kind: str = "Exclusive") -> Play:
    """Return a process that one of two messages starts."""
    gateway = f'<eventBasedGateway id="g" instantiate="true" eventGatewayType="{kind}"/>'
    xml = process(
        *(gateway, message_catch("m", "paid"), receive("r", "stopped")),
        *(service("a"), service("b"), end()),
        flows="g > m > a > end; g > r > b > end",
        messages=KEYS,
    )
    return play(xml)


@pytest.mark.parametrize(("came", "job"), [("m", "a"), ("r", "b")])
def test_the_first_event_behind_an_instantiating_gateway_starts_an_instance(
    came: str, job: str
) -> None:
    game = starting().start_at(came, order="o-1")

    assert (["g", came, job], [f"g-{came}", f"{came}-{job}"]) == (game.path, game.flows)
    assert ({"order": "o-1"}, []) == (game.variables, game.names)
    assert InstanceState.COMPLETED == game.complete(job).state


def test_behind_a_parallel_one_all_other_events_are_waited_for() -> None:
    game = starting("Parallel").start_at("r", order="o-1")
    assert (["b"], [("paid", "o-1")]) == (game.open_jobs, game.names)

    assert ["m"] == game.complete("b").waiting

    game.publish("paid").complete("a")
    assert InstanceState.COMPLETED == game.state


def test_an_event_that_brings_nothing_starts_an_instance_all_the_same() -> None:
    assert ["a"] == starting().start_at("m").open_jobs
