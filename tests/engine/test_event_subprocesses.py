"""Event subprocesses: what triggers one, what it ends, and what catches what it throws."""

from __future__ import annotations

import pytest

from chalicelib.engine.commands import Correlate, ModifyInstance
from chalicelib.engine.effects import Ring
from chalicelib.engine.state import InstanceState, Job, JobState
from chalicelib.errors import Rejected
from chalicelib.profile import Profile
from chalicelib.store import execution
from tests.engine.event_models import (
    error,
    escalation,
    escalation_end,
    escalation_throw,
    message,
    signal,
    timer,
)
from tests.engine.models import (
    boundary_error,
    end,
    error_end,
    event_sub,
    inclusive,
    io,
    line,
    parallel,
    process,
    service,
    start,
    sub,
    task,
)
from tests.play import play, to_json

E = {"e1": "E-1", "e2": "E-2"}
X = {"escalation1": "X-1"}


def test_an_error_triggers_the_event_subprocess_of_its_scope_and_ends_all_else_there() -> None:
    handler = event_sub("h", error(), service("mend"), flows="h_start > mend")
    xml = process(*(start(), service("a"), service("b"), handler), flows="start > a; start > b")
    game = play(xml).create().fail("a", error_code="E-9")

    assert (["h", "mend"], ["mend"]) == (game.waiting, game.open_jobs)
    assert JobState.TERMINATED == next(job for job in game.records(Job)).state
    assert InstanceState.COMPLETED == game.complete("mend").state


def test_an_error_that_names_its_code_comes_before_one_that_catches_all() -> None:
    one = event_sub("one", error(), service("any"), flows="one_start > any")
    two = event_sub("two", error("e1"), service("exact"), flows="two_start > exact")
    game = play(
        line(service("a"), errors=E).replace(b"</process>", (one + two + "</process>").encode())
    )

    assert ["exact"] == game.create().fail("a", error_code="E-1").open_jobs


def test_a_boundary_event_on_the_activity_comes_before_an_event_subprocess() -> None:
    handler = event_sub("h", error("e1"), service("mend"), flows="h_start > mend")
    parts = (start(), service("a"), boundary_error("b", "a"), service("here"), handler)
    game = play(process(*parts, flows="start > a; b > here", errors=E)).create()

    assert ["here"] == game.fail("a", error_code="E-1").open_jobs


def test_what_an_event_subprocess_throws_is_caught_further_out_and_not_beside_it() -> None:
    """Row 52 of the known ways to get it wrong."""
    first = event_sub("one", error("e1"), error_end("again", "e2"), flows="one_start > again")
    second = event_sub("two", error("e2"), service("beside"), flows="two_start > beside")
    inner = sub("s", start("si"), service("a"), first, second, flows="si > a")
    parts = (start(), inner, boundary_error("b", "s", "e2"), service("outside"))
    game = play(process(*parts, flows="start > s; b > outside", errors=E)).create()

    game.fail("a", error_code="E-1")

    assert (["outside"], ["outside"]) == (game.open_jobs, game.waiting)


def test_an_error_in_an_event_subprocess_that_nobody_catches_is_an_incident_and_keeps_the_job() -> (
    None
):
    """Row 53 of the known ways to get it wrong."""
    handler = event_sub("h", error(), service("mend"), flows="h_start > mend")
    game = play(process(start(), service("a"), handler, flows="start > a")).create()
    game.fail("a", error_code="E").fail("mend", error_code="F")

    assert ["UNHANDLED_ERROR_EVENT"] == [incident.error_type for incident in game.incidents]
    assert [JobState.TERMINATED, JobState.FAILED] == [job.state for job in game.records(Job)]
    assert InstanceState.COMPLETED == game.resolve().complete("mend").state


def test_an_event_subprocess_starts_though_a_join_waits() -> None:
    """Row 7 of the known ways to get it wrong."""
    handler = event_sub("h", error(), service("mend"), flows="h_start > mend")
    parts = (start(), parallel("f"), service("a"), service("b"), parallel("j"), end(), handler)
    game = play(process(*parts, flows="start > f; f > a > j; f > b > j; j > end")).create()
    game.complete("a")
    assert {} != game.root.joins

    game.fail("b", error_code="E")

    assert (["mend"], {}) == (game.open_jobs, game.root.joins)
    assert InstanceState.COMPLETED == game.complete("mend").state


def test_a_join_inside_an_event_subprocess_looks_at_its_own_scope() -> None:
    """Row 8 of the known ways to get it wrong."""
    handler = event_sub(
        *("h", escalation(), inclusive("f"), service("a"), service("b"), inclusive("j"), task("t")),
        flows="h_start > f; f > a: x; f > b; a > j; b > j; j > t",
        interrupting=False,
    )
    parts = (start(), escalation_throw("up", "escalation1"), service("main"), handler)
    game = play(process(*parts, flows="start > up > main", errors=X)).create(x=True)
    assert ["a", "b", "main"] == sorted(game.open_jobs)

    game.complete("a")
    assert "t" not in game.path
    game.complete("b")

    assert (["main"], 1) == (game.waiting, game.path.count("t"))
    assert InstanceState.COMPLETED == game.complete("main").state


def test_one_that_does_not_interrupt_runs_beside_as_often_as_it_is_triggered() -> None:
    handler = event_sub("h", escalation(), service("m"), flows="h_start > m", interrupting=False)
    parts = (
        start(),
        escalation_throw("one", "escalation1"),
        escalation_throw("two", "escalation1"),
    )
    game = play(process(*parts, service("a"), handler, flows="start > one > two > a", errors=X))
    game.create()

    assert ["a", "m", "m"] == sorted(game.open_jobs)
    game.complete("a").complete("m")
    assert InstanceState.COMPLETED == game.complete("m").state


def test_what_came_with_the_event_is_its_own() -> None:
    game = play(_with_what_came(io(outputs={"seen": "=why"})))
    game.create(x=1).fail("a", error_code="E", variables={"why": "late"})

    assert "late" == game.job("m").inputs["why"]
    assert "late" == game.job("m").inputs["seen"]
    assert {"x": 1} == game.variables


def test_where_scopes_are_looked_through_what_came_with_the_event_goes_where_it_belongs() -> None:
    game = play(_with_what_came(), profile=Profile.PRIOSTACK)
    game.create(x=1).fail("a", error_code="E", variables=to_json({"why": "late", "x": 2}))

    assert {"why": "late", "x": 2} == game.job("m").inputs
    assert {"why": "late", "x": 2} == game.variables


def test_there_only_what_is_mapped_leaves_the_start_event() -> None:
    model = _with_what_came(io(outputs={"seen": "=why + 1"}))
    game = play(model, profile=Profile.PRIOSTACK)
    game.create(x=1).fail("a", error_code="E", variables=to_json({"why": 4, "x": 2}))

    assert {"seen": 5, "x": 1} == game.variables


def test_what_came_stays_while_the_start_event_cannot_map_it() -> None:
    model = _with_what_came(io(outputs={"x.seen": "=why"}))
    game = play(model, profile=Profile.PRIOSTACK)
    game.create(x=1).fail("a", error_code="E", variables={"why": "late"})
    stopped = game.incident().element_id
    game.set(x={}).resolve()

    assert "h_start" == stopped
    assert {"x": {"seen": "late"}} == game.variables
    assert ["m"] == game.open_jobs


def _with_what_came(extensions: str = "") -> bytes:
    """Return a process that an error ends, which an event subprocess is about."""
    handler = event_sub("h", error(), service("m"), flows="h_start > m", extensions=extensions)
    return line(service("a")).replace(b"</process>", f"{handler}</process>".encode())


def test_one_in_a_subprocess_ends_just_what_is_in_there() -> None:
    handler = event_sub("h", error("e1"), service("mend"), flows="h_start > mend")
    inner = sub("s", start("si"), service("a"), service("b"), handler, flows="si > a; si > b")
    parts = (start(), inner, service("c"), service("after"))
    game = play(process(*parts, flows="start > s > after; start > c", errors=E)).create()

    game.fail("a", error_code="E-1")
    assert ["c", "mend"] == sorted(game.open_jobs)
    assert ["after", "c"] == sorted(game.complete("mend").open_jobs)


def test_an_escalation_end_event_inside_an_event_subprocess_is_caught_outside() -> None:
    handler = event_sub("h", error(), escalation_end("x", "escalation1"), flows="h_start > x")
    outer = event_sub("o", escalation(), service("m"), flows="o_start > m", interrupting=False)
    inner = sub("s", start("si"), service("a"), handler, flows="si > a")
    parts = (start(), inner, service("after"), outer)
    game = play(process(*parts, flows="start > s > after", errors=X)).create()

    game.fail("a", error_code="E")

    assert ["after", "m"] == sorted(game.open_jobs)


# --- what waits --------------------------------------------------------------------------------

HALF = timer(duration="PT10S")


@pytest.mark.parametrize("where", ["process", "subprocess"])
def test_a_timer_of_an_event_subprocess_is_armed_with_its_scope_and_ends_with_it(
    where: str,
) -> None:
    handler = event_sub("h", HALF, service("m"), flows="h_start > m")
    if where == "process":
        game = play(process(start(), service("a"), handler, flows="start > a")).create()
    else:
        inner = sub("s", start("si"), service("a"), handler, flows="si > a")
        game = play(process(start(), inner, flows="start > s")).create()
    assert ["h_start"] == [each.element_id for each in game.timers]

    game.complete("a")

    assert (InstanceState.COMPLETED, [], {}) == (game.state, game.timers, game.root.live)


def test_a_timer_interrupts_its_scope() -> None:
    handler = event_sub("h", HALF, service("m"), flows="h_start > m")
    game = play(process(start(), service("a"), service("b"), handler, flows="start > a; start > b"))
    game.create().wait(11)

    assert (["h", "m"], ["m"], []) == (game.waiting, game.open_jobs, game.timers)
    assert (InstanceState.COMPLETED, {}) == (game.complete("m").state, game.root.live)


def test_a_cycle_triggers_again_and_again_beside() -> None:
    handler = event_sub(
        "h", timer(cycle="R3/PT10S"), service("m"), flows="h_start > m", interrupting=False
    )
    game = play(process(start(), service("a"), handler, flows="start > a")).create().wait(21)
    assert ["a", "m", "m"] == game.open_jobs

    game.wait(60)
    assert (["a", "m", "m", "m"], []) == (game.open_jobs, game.timers)
    game.complete("m").complete("m").complete("m")
    assert InstanceState.COMPLETED == game.complete("a").state


def test_at_most_one_event_subprocess_interrupts_a_scope() -> None:
    one = event_sub("one", HALF, service("m1"), flows="one_start > m1")
    two = event_sub("two", timer(duration="PT20S"), service("m2"), flows="two_start > m2")
    three = event_sub(
        "three", timer(cycle="R/PT15S"), service("m3"), flows="three_start > m3", interrupting=False
    )
    game = play(process(start(), service("a"), one, two, three, flows="start > a")).create()

    game.wait(60)

    assert (["m1"], []) == (game.open_jobs, game.timers)


@pytest.mark.parametrize("profile", Profile)
def test_a_message_triggers_one_with_its_variables_and_it_waits_on_if_it_does_not_interrupt(
    profile: Profile,
) -> None:
    handler = event_sub("h", message("M"), service("m"), flows="h_start > m", interrupting=False)
    xml = process(start(), service("a"), handler, flows="start > a", messages={"M": "=k"})
    game = play(xml, profile=profile).create(k="1").publish("M", x=1).publish("M", x=2)

    assert [1, 2] == [job.inputs["x"] for job in game.jobs if job.element_id == "m"]
    assert 1 == len(game.subscriptions)
    game.complete("m").complete("m").complete("a")
    assert (InstanceState.COMPLETED, [], {}) == (game.state, game.subscriptions, game.root.live)


@pytest.mark.parametrize(
    "triggers", [(message("M"),), (signal("S"),), (message("M"), signal("S"))], ids=str
)
def test_the_start_event_does_not_throw_again_what_triggered_it(triggers: tuple[str, ...]) -> None:
    handler = event_sub("h", "".join(triggers), service("m"), flows="h_start > m")
    parts = (start(), service("a"), handler)
    xml = process(*parts, flows="start > a", messages={"M": "=k"}, signals={"S": "go"})
    game = play(xml).create(k="1")

    game.send(Correlate(game.subscriptions[0].key, game.subscriptions[0].name, {"k": False}))

    assert [Ring] == [type(effect) for effect in game.turns[-1].effects]
    assert (["m"], []) == (game.open_jobs, game.incidents)


def test_a_signal_interrupts_the_subprocess_whose_event_subprocess_waits_for_it() -> None:
    handler = event_sub("h", signal("S"), service("m"), flows="h_start > m")
    inner = sub("s", start("si"), service("a"), handler, flows="si > a")
    parts = (start(), inner, service("b"), service("after"))
    xml = process(*parts, flows="start > s > after; start > b", signals={"S": "go"})
    game = play(xml).create().publish("go")

    assert ["b", "m"] == sorted(game.open_jobs)
    assert ["after", "b"] == sorted(game.complete("m").open_jobs)


def test_a_timer_that_cannot_be_armed_is_an_incident_and_the_scope_runs_on() -> None:
    handler = event_sub("h", timer(duration="=d"), service("m"), flows="h_start > m")
    game = play(process(start(), service("a"), handler, flows="start > a")).create()
    assert (["a"], ["h_start"]) == (game.open_jobs, [each.element_id for each in game.incidents])

    game.set(d="PT5S").resolve().wait(6)

    assert (["m"], ["m"]) == (game.open_jobs, [id_ for id_ in game.waiting if id_ != "h"])


def test_an_incident_of_one_that_could_not_be_armed_is_over_with_its_scope() -> None:
    handler = event_sub("h", timer(duration="=d"), service("m"), flows="h_start > m")
    game = play(process(start(), service("a"), handler, flows="start > a")).create().complete("a")

    assert (InstanceState.COMPLETED, [], 0) == (
        game.state,
        game.incidents,
        game.root.incident_count,
    )


def test_cancelling_ends_what_waits_too() -> None:
    handler = event_sub("h", HALF, service("m"), flows="h_start > m")
    game = play(process(start(), service("a"), handler, flows="start > a")).create().cancel()

    assert (InstanceState.TERMINATED, []) == (game.state, game.timers)


def test_taking_the_last_token_away_ends_what_waits_too() -> None:
    handler = event_sub("h", HALF, service("m"), flows="h_start > m")
    inner = sub("s", start("si"), service("a"), handler, flows="si > a")
    game = play(
        process(start(), inner, event_sub("h2", HALF, flows=""), flows="start > s")
    ).create()
    a = next(each.key for each in game.root.live.values() if each.element_id == "a")

    game.send(ModifyInstance(terminate=(a,)))

    assert (InstanceState.TERMINATED, [], {}) == (game.state, game.timers, game.root.live)


def test_what_waits_is_stored_and_is_no_token() -> None:
    handler = event_sub("h", HALF, service("m"), flows="h_start > m")
    game = play(process(start(), service("a"), handler, flows="start > a")).create()
    root = game.root

    again = execution.from_text(execution.to_text(root), root.key, root.created_at)

    assert (dict(root.live), 1) == (again["live"], root.tokens)
    listener = next(key for key, each in root.live.items() if each.is_listening)
    with pytest.raises(Rejected):
        game.send(ModifyInstance(terminate=(listener,)))
