"""Ad-hoc subprocesses among other elements: events on and in them, repeats, compensation, calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from chalicelib.bpmn import codec
from chalicelib.engine.commands import CreateInstance, ModifyInstance
from chalicelib.engine.limits import LIVE_MAX
from chalicelib.engine.state import InstanceState, LoopItems, Subscription, Timer
from chalicelib.engine.turn import Entered, Left
from chalicelib.errors import Rejected
from chalicelib.profile import Profile
from chalicelib.store import execution
from tests.engine.event_models import (
    message,
)
from tests.engine.models import (
    ad_hoc,
    boundary,
    boundary_error,
    end,
    event_sub,
    line,
    looped,
    many,
    process,
    service,
    start,
    sub,
    terminate,
)
from tests.engine.test_execution_listeners import listeners
from tests.play import Play, load, play, to_json

A, B = service("a"), service("b")


def before(box: str) -> bytes:
    """Return a process of an ad-hoc subprocess `h` and a task after it."""
    return process(start(), box, service("after"), flows="start > h > after")


def key_of(game: Play, element_id: str) -> int:
    return next(e.key for e in game.root.live.values() if e.element_id == element_id)


def is_clean(game: Play) -> bool:
    """Say whether nothing is left of what waited."""
    left = [*game.records(LoopItems), *game.records(Timer), *game.records(Subscription)]
    return not (left or game.root.live or game.root.completed)


# --- events ------------------------------------------------------------------------------------


@pytest.mark.parametrize("job", [None, "agent"])
def test_a_boundary_event_interrupts_it_with_all_inside(job: str | None) -> None:
    box = ad_hoc("h", A, B, active='["a", "b"]', job=job)
    xml = process(start(), box, boundary("late", "h", duration="PT5S"), service("mend"), end(),
                  flows="start > h > end; late > mend")  # fmt: skip
    game = play(xml).create().wait(5)

    assert ["mend"] == game.open_jobs
    assert InstanceState.COMPLETED == game.complete("mend").state
    assert is_clean(game)


def test_a_boundary_event_that_does_not_interrupt_leaves_it() -> None:
    box = ad_hoc("h", A, B, active='["a"]')
    late = boundary("late", "h", interrupting=False, duration="PT5S")
    xml = process(start(), box, late, service("tell"), end(), flows="start > h > end; late > tell")

    assert ["a", "tell"] == play(xml).create().wait(5).open_jobs


def test_an_error_inside_is_caught_on_it() -> None:
    box = ad_hoc("h", A, B, active='["a", "b"]')
    xml = process(start(), box, boundary_error("no", "h"), service("mend"),
                  flows="start > h; no > mend")  # fmt: skip

    assert ["mend"] == play(xml).create().fail("a", error_code="E").open_jobs


def test_an_error_is_caught_on_the_element_inside_first() -> None:
    box = ad_hoc("h", A, boundary_error("no", "a"), B, flows="no > b", active='["a"]')
    game = play(before(box)).create().fail("a", error_code="E")

    assert ["b"] == game.open_jobs
    assert ["after"] == game.complete("b").open_jobs


def test_a_terminate_event_in_a_subprocess_inside_ends_that_path_alone() -> None:
    inner = sub("s", start("si"), terminate("ti"), flows="si > ti")
    game = play(line(ad_hoc("h", inner, A, active='["a", "s"]'), service("after"))).create()

    assert ["a"] == game.open_jobs
    assert ["after"] == game.complete("a").open_jobs


def test_an_event_subprocess_inside_counts_as_active() -> None:
    inside = event_sub("e", message("m"), service("hear"), flows="e_start > hear")
    inside = inside.replace('id="e_start"', 'id="e_start" isInterrupting="false"')
    box = ad_hoc("h", A, inside, active='["a"]')
    game = play(line(box, service("after"), messages={"m": '="1"'})).create().publish("m")

    assert ["hear"] == game.complete("a").open_jobs
    assert ["after"] == game.complete("hear").open_jobs
    assert [] == game.names


def test_after_an_interrupting_event_subprocess_it_is_complete() -> None:
    inside = event_sub("e", message("m"), service("hear"), flows="e_start > hear")
    box = ad_hoc("h", A, B, inside, active='["a", "b"]', until="false")
    game = play(line(box, service("after"), messages={"m": '="1"'})).create().publish("m")

    with pytest.raises(Rejected):
        game.activate("h", "a")
    assert ["hear"] == game.open_jobs
    assert ["after"] == game.complete("hear").open_jobs


def test_listeners_come_before_it_is_opened_and_after_it_is_complete() -> None:
    told = listeners("start:before", "end:behind")
    box = ad_hoc("h", A, active='["a"]', extensions=told)
    game = play(line(box, service("after"))).create()

    with pytest.raises(Rejected) as refused:
        game.activate("h", "a")
    assert "listeners are at work" in refused.value.message
    assert ["before"] == [job.type for job in game.jobs]
    assert ["a"] == game.complete("before").open_jobs
    assert ["behind"] == [job.type for job in game.complete("a").jobs]
    assert ["after"] == game.complete("behind").open_jobs


def test_listeners_of_one_with_a_worker_are_jobs_of_their_own() -> None:
    told = listeners("start:before", "end:behind")
    game = play(line(ad_hoc("h", A, job="agent", extensions=told), service("after"))).create()

    game.complete("before").order("h", "a").complete("a").order("h", is_fulfilled=True)

    assert ["behind"] == [job.type for job in game.jobs]
    assert ["after"] == game.complete("behind").open_jobs


# --- modification ------------------------------------------------------------------------------


def test_an_instance_may_start_at_an_element_inside() -> None:
    xml = line(ad_hoc("h", A, B, active='["b"]', results=("all", "1")), service("after"))
    game = play(xml)
    game.send(CreateInstance(1, 1, Profile.ZENBPM, starting_elements=("a", "b")))

    assert ["a", "b"] == game.open_jobs
    game.complete("a").complete("b")
    assert to_json([1, 1]) == game.variables["all"]


def test_what_stands_for_an_activation_cannot_be_started() -> None:
    game = play(line(ad_hoc("h", A), service("after"))).create()

    with pytest.raises(Rejected) as refused:
        game.send(ModifyInstance(start=("h#innerInstance",)))

    assert "found what stands for an activation" in refused.value.message


def test_one_of_which_the_last_path_is_withdrawn_stays_active() -> None:
    game = play(line(ad_hoc("h", A, active='["a"]'), service("after"))).create()

    game.send(ModifyInstance(terminate=(key_of(game, "a"),)))

    assert (["h"], InstanceState.ACTIVE) == (game.waiting, game.state)
    assert ["a"] == game.activate("h", "a").open_jobs


def test_withdrawing_the_last_path_of_a_fulfilled_one_completes_it() -> None:
    keeps = 'cancelRemainingInstances="false"'
    box = ad_hoc("h", A, B, active='["a", "b"]', until="true", attributes=keeps)
    game = play(line(box, service("after"))).create().complete("a")

    game.send(ModifyInstance(terminate=(key_of(game, "b"),)))

    assert ["after"] == game.open_jobs


def test_withdrawing_it_ends_it_with_all_inside() -> None:
    game = play(line(ad_hoc("h", A, active='["a", "a"]'), service("after"))).create()

    game.send(ModifyInstance(terminate=(key_of(game, "h"),)))

    assert InstanceState.TERMINATED == game.state
    assert is_clean(game)


def test_of_a_sequential_one_that_is_withdrawn_with_its_path_nothing_more_begins() -> None:
    box = ad_hoc("h", A, B, active='["a", "b"]', attributes='ordering="Sequential"')
    game = play(line(box, service("after"))).create()

    ends = (key_of(game, "a"), key_of(game, "h"))
    game.send(ModifyInstance(start=("after",), terminate=ends))

    assert ["after"] == game.waiting
    assert InstanceState.COMPLETED == game.complete("after").state


def test_the_model_of_the_page_runs_as_the_page_says() -> None:
    page = (Path(__file__).parents[2] / "docs" / "ad-hoc-subprocesses.md").read_text()
    xml = page.split("```xml\n")[1].split("```")[0]
    game = play(xml.encode()).create(steps=["inspect", "ask"])
    game.complete("ask", finding="loud").complete("inspect", finding="dry")

    assert (InstanceState.COMPLETED, ["loud", "dry"]) == (game.state, game.variables["findings"])


# --- what is kept and told ---------------------------------------------------------------------


def test_its_state_is_read_back_as_it_was_written() -> None:
    keeps = 'cancelRemainingInstances="false" ordering="Sequential"'
    box = ad_hoc("h", A, B, active='["a", "b", "a"]', attributes=keeps)
    game = play(line(box)).create()
    root = game.root

    again = execution.from_text(execution.to_text(root), root.key, root.created_at)

    assert root.live == again["live"]


def test_its_model_is_read_back_as_it_was_written() -> None:
    keeps = 'cancelRemainingInstances="false" ordering="Sequential"'
    box = ad_hoc("h", A, B, active="x", results=("all", "r"), until="done", attributes=keeps)
    made = load(line(box), Profile.ZENBPM)

    assert made == codec.from_json(codec.to_json(made))


def test_an_activation_is_told_in_the_history_as_an_element() -> None:
    game = play(line(ad_hoc("h", A, active='["a"]'), service("after"))).create().complete("a")
    events = [event for turn in game.turns for event in turn.history]
    path = next(e for e in events if isinstance(e, Entered) and e.element_id == "h#innerInstance")

    assert "h" == next(
        e.element_id for e in events if isinstance(e, Entered) and e.key == path.scope
    )
    assert path.key in [event.key for event in events if isinstance(event, Left)]


def test_no_more_is_active_at_once_than_an_instance_may_hold() -> None:
    game = play(line(ad_hoc("h", A, active='for i in 1..1200 return "a"'), service("after")))
    game.create()

    assert len(game.root.live) <= LIVE_MAX + 2
    for _ in range(1200):
        game.complete("a")
    assert ["after"] == game.open_jobs


PLAIN = ad_hoc("h", A, active='["a", "a"]')


@pytest.mark.parametrize(
    ("box", "works"),
    [
        (PLAIN, 2),
        (ad_hoc("h", A, active='["a", "a"]', attributes='ordering="Sequential"'), 2),
        (many(PLAIN, cardinality="=2"), 4),
        (looped(PLAIN, maximum=2), 4),
    ],
)
def test_several_flows_lead_out_of_it(box: str, works: int) -> None:
    flows = "start > h; h > x; h > y; h > z"
    game = play(process(start(), box, *map(service, "xyz"), flows=flows)).create()

    for _ in range(works):
        game.complete("a")

    assert ["x", "y", "z"] == game.open_jobs
