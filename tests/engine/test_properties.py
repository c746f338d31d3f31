"""Random processes on random paths: they end, and every turn on the way is a legal one.

`play` checks each turn: records move along the tables' edges, guards are named, tokens add up.
"""

from __future__ import annotations

from datetime import timedelta
from itertools import count, pairwise
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from chalicelib.engine.commands import (
    CancelInstance,
    Command,
    CompleteJob,
    Continue,
    FailJob,
    FireTimer,
    ResolveIncident,
    SetVariables,
)
from chalicelib.engine.effects import Ring, SetTimer
from chalicelib.engine.limits import Limits
from chalicelib.engine.state import Incident, InstanceState, Job, JobState, Timer
from chalicelib.engine.turn import Entered, Left, Terminated
from chalicelib.errors import Rejected
from chalicelib.profile import Profile
from tests.engine import event_models as ev
from tests.engine import models as m
from tests.play import Play, play, to_json

MODEST = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)

# A block has one way in and one way out; a tree of them is a process that can always end.
Block = Any
BLOCKS: st.SearchStrategy[Block] = st.recursive(
    st.sampled_from(
        [
            "task",
            "service",
            "script",
            "catch",
            "late",
            "beside",
            "mapped",
            "caught",
            "link",
            "undone",
        ]
    ).map(lambda kind: (kind,)),
    lambda inner: st.tuples(
        st.sampled_from(
            [
                "sequence",
                "fork",
                "some",
                "first",
                "choice",
                "loop",
                "sub",
                "sub late",
                "sub handled",
                "sub beside",
                "twice",
                "tx",
            ]
        ),
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=8,
)


# What is at both ends of a block of branches, and what each branch but the first asks for.
GATEWAYS: dict[str, tuple[Any, str]] = {
    "fork": (m.parallel, ""),
    "some": (m.inclusive, ": c >= {}"),
    "first": (m.complex_, ""),
    "choice": (m.exclusive, ": c = {}"),
}


class Drawing:
    """Draws a block tree as BPMN; `line` is the way in and the way out of each block."""

    def __init__(self) -> None:
        self.numbers = count()
        self.parts: list[str] = []
        self.flows: list[str] = []

    def draw(self, block: Block) -> tuple[str, str]:
        kind, inner = block[0], block[1] if len(block) > 1 else []
        name = f"{kind.replace(' ', '_')}{next(self.numbers)}"
        match kind:
            case "sequence":
                return self._sequence(inner)
            case "fork" | "some" | "first" | "choice":
                return self._around(name, kind, inner)
            case "tx":
                return self._transaction(name, inner)
            case "loop":
                return self._loop(name, inner)
            case "sub" | "sub late" | "sub handled" | "sub beside" | "twice":
                return self._sub(name, kind, inner)
            case _:
                return self._leaf(kind, name)

    def _leaf(self, kind: str, name: str) -> tuple[str, str]:
        mapped = m.io({"l.x": "=c", "c": "=c"}, {"c": "=c", "o.p": "=l.x"})
        drawn = {
            "task": lambda: m.task(name),
            "service": lambda: m.service(name, retries="2"),
            "mapped": lambda: m.service(name, extensions=mapped),
            "script": lambda: m.script(name, "c", "if c = null or c >= 2 then 0 else c + 1"),
            "catch": lambda: m.catch(name, duration="PT5S"),
        }
        if kind in drawn:
            self.parts.append(drawn[kind]())
            return name, name
        if kind == "undone":
            again = ev.undone(m.service(name), m.service(f"{name}_u"))
            self.parts += [again, ev.compensation_throw(f"{name}_th")]
            self.flows.append(f"{name} > {name}_th")
            return name, f"{name}_th"
        if kind == "link":
            self.parts += [ev.link_throw(name, name), ev.link_catch(f"{name}_to", name)]
            return name, f"{name}_to"
        after = f"{name}_out"
        self.parts += [m.service(name), m.exclusive(after)]
        if kind == "late":
            self.parts.append(m.boundary(f"{name}_b", name, duration="PT7S"))
            self.flows += [f"{name} > {after}", f"{name}_b > {after}"]
        elif kind == "caught":
            self.parts.append(m.boundary_error(f"{name}_b", name))
            self.flows += [f"{name} > {after}", f"{name}_b > {after}"]
        else:  # beside: its token ends on its own
            event = m.boundary(f"{name}_b", name, interrupting=False, cycle="R3/PT3S")
            self.parts += [event, m.task(f"{name}_t")]
            self.flows += [f"{name} > {after}", f"{name}_b > {name}_t"]
        return name, after

    def _sequence(self, inner: list[Block]) -> tuple[str, str]:
        ends = [self.draw(block) for block in inner]
        for (_, before), (following, _) in pairwise(ends):
            self.flows.append(f"{before} > {following}")
        return ends[0][0], ends[-1][1]

    def _around(self, name: str, kind: str, inner: list[Block]) -> tuple[str, str]:
        split, join = f"{name}_in", f"{name}_out"
        ends = [self.draw(block) for block in inner]
        gateway, says = GATEWAYS[kind]
        first = m.exclusive(split, f"{split}-{ends[0][0]}") if kind == "choice" else gateway(split)
        self.parts += [first, gateway(join)]
        for number, (first, last) in enumerate(ends):
            condition = says.format(number) if number else ""
            self.flows += [f"{split} > {first}{condition}", f"{last} > {join}"]
        return split, join

    def _loop(self, name: str, inner: list[Block]) -> tuple[str, str]:
        """At most three rounds, counted in a variable of its own."""
        again, split, counter = f"{name}_in", f"{name}_out", f"{name}_n"
        first, last = self._sequence(inner)
        plus = f"(if {counter} = null then 0 else {counter}) + 1"
        self.parts += [
            m.exclusive(again),
            m.script(f"{name}_s", counter, plus),
            m.exclusive(split, f"{split}-{name}_e"),
            m.task(f"{name}_e"),
        ]
        self.flows += [
            f"{again} > {first}",
            f"{last} > {name}_s > {split}",
            f"{split} > {again}: {counter} < 3",
            f"{split} > {name}_e",
        ]
        return again, f"{name}_e"

    def _transaction(self, name: str, inner: list[Block]) -> tuple[str, str]:
        """It is undone and left by its cancel event if c is 1 in the end."""
        inside = Drawing()
        inside.numbers = self.numbers
        first, last = inside._sequence(inner)
        split, after = f"{name}_x", f"{name}_out"
        done = ev.undone(m.task(f"{name}_t"), m.service(f"{name}_u"))
        parts = [m.start(f"{name}_i"), *inside.parts, done, m.exclusive(split, f"{split}-{name}_e")]
        parts += [m.end(f"{name}_e"), ev.cancel_end(f"{name}_n")]
        flows = [f"{name}_i > {name}_t > {first}", f"{last} > {split}", *inside.flows]
        flows += [f"{split} > {name}_e", f"{split} > {name}_n: c = 1"]
        self.parts.append(m.transaction(name, *parts, flows="; ".join(flows)))
        self.parts += [ev.boundary_cancel(f"{name}_b", name), m.exclusive(after)]
        self.flows += [f"{name} > {after}", f"{name}_b > {after}"]
        return name, after

    def _sub(self, name: str, kind: str, inner: list[Block]) -> tuple[str, str]:
        inside = Drawing()
        inside.numbers = self.numbers
        first, last = inside._sequence(inner)
        parts = [m.start(f"{name}_si"), *inside.parts, m.end(f"{name}_se")]
        flows = [f"{name}_si > {first}", f"{last} > {name}_se", *inside.flows]
        if kind in ("sub handled", "sub beside"):
            event = (
                ev.timer(duration="PT9S") if kind == "sub handled" else ev.timer(cycle="R2/PT4S")
            )
            parts.append(
                m.event_sub(
                    *(f"{name}_h", event, m.service(f"{name}_hs")),
                    flows=f"{name}_h_start > {name}_hs",
                    interrupting=kind == "sub handled",
                )
            )
        drawn = m.sub(name, *parts, flows="; ".join(flows))
        self.parts.append(m.looped(drawn, None, 2) if kind == "twice" else drawn)
        if kind != "sub late":
            return name, name
        after = f"{name}_out"
        self.parts += [m.boundary(f"{name}_b", name, duration="PT11S"), m.exclusive(after)]
        self.flows += [f"{name} > {after}", f"{name}_b > {after}"]
        return name, after


def drawn(block: Block) -> bytes:
    drawing = Drawing()
    first, last = drawing.draw(block)
    parts = [m.start(), *drawing.parts, m.end()]
    flows = [f"start > {first}", f"{last} > end", *drawing.flows]
    return m.process(*parts, flows="; ".join(flows))


def step(game: Play, data: st.DataObject) -> None:
    """Do one thing that gets the instance on: a worker's, an operator's, or time's."""
    choices: list[Any] = [("job", job) for job in game.jobs]
    choices += [("incident", incident) for incident in game.incidents]
    if game.timers:
        choices.append(("time", None))
    what, which = data.draw(st.sampled_from(choices))
    match what:
        case "job":
            code = "E" if "caught" in which.element_id else ""
            if data.draw(st.integers(0, 3)) == 0:
                game.send(FailJob(which.key, "no", code))
            else:
                values = data.draw(st.dictionaries(st.sampled_from("cxy"), st.integers(0, 2)))
                game.send(CompleteJob(which.key, to_json(values)))
        case "incident":
            game.send(ResolveIncident(which.key))
        case _:
            game.wait(data.draw(st.integers(1, 12)))


LIMITS = st.sampled_from([Limits(), Limits(moves_max=1), Limits(moves_max=4)])


@MODEST
@given(BLOCKS, st.sampled_from(Profile), LIMITS, st.data())
def test_a_random_process_on_a_random_path_ends(
    block: Block, profile: Profile, limits: Limits, data: st.DataObject
) -> None:
    game = play(drawn(block), profile=profile, limits=limits).create(c=1)
    for _ in range(200):
        if game.state is InstanceState.COMPLETED:
            break
        step(game, data)
    while game.state is InstanceState.ACTIVE:  # enough chances; now everybody does their best
        for incident in game.incidents:
            game.send(ResolveIncident(incident.key))
        for job in game.jobs:
            game.send(CompleteJob(job.key)) if job in game.jobs else None
        game.wait(1)

    root = game.root
    assert InstanceState.COMPLETED == root.state
    assert (0, {}, {}, (), {}) == (
        *(root.tokens, root.live, root.joins, root.agenda),
        root.completed,
    )
    assert ([], [], []) == (game.jobs, game.timers, game.incidents)
    assert promised(game)
    assert_told(game)
    if not any(kind in str(block) for kind in ("sub late", "sub handled", "tx")):
        assert_joined(game)


def assert_told(game: Play) -> None:
    """Check that of each element that was entered the history says once how it ended."""
    events = [event for turn in game.turns for event in turn.history]
    entered = [event.key for event in events if isinstance(event, Entered)]
    ended = [event.key for event in events if isinstance(event, Left | Terminated)]
    assert sorted(entered) == sorted(ended)


def assert_joined(game: Play) -> None:
    """Check that what was split was joined as often, where nothing was interrupted."""
    for kind in ("fork", "some", "first"):
        for name in game.process.elements:
            if name.startswith(kind) and name.endswith("_in"):
                joined = name.removesuffix("_in") + "_out"
                assert game.path.count(name) == game.path.count(joined), name


def promised(game: Play) -> bool:
    """Say whether each job and timer that ever waited was promised to the outside."""
    effects = [effect for turn in game.turns for effect in turn.effects]
    bells = {(e.job_key, e.number) for e in effects if isinstance(e, Ring)}
    timers = {e.timer_key for e in effects if isinstance(e, SetTimer)}
    rung = {(job.key, job.ring) for turn in game.turns for job in of_type(turn, Job)}
    return rung <= bells and {key.key for key in all_timers(game)} <= timers


def of_type(turn: Any, kind: type[Any]) -> list[Any]:
    return [r for r in turn.after.records.values() if isinstance(r, kind)]


def all_timers(game: Play) -> set[Any]:
    return {key for turn in game.turns for key in turn.after.records if key.type is Timer}


@st.composite
def commands(draw: st.DrawFn, game: Play) -> Command:
    """Any command at all, most of them about something that exists or existed."""
    jobs, incidents = list(game.records(Job)), list(game.records(Incident))
    keys = [job.key for job in jobs] or [1]
    options: list[st.SearchStrategy[Command]] = [
        st.builds(CompleteJob, st.sampled_from(keys)),
        st.builds(
            FailJob,
            st.sampled_from(keys),
            error_code=st.sampled_from(["", "E"]),
            retries=st.none() | st.integers(-1, 3),
            token=st.none() | st.integers(-1, 2),
        ),
        st.builds(ResolveIncident, st.sampled_from([i.key for i in incidents] or [1])),
        st.just(CancelInstance()),
        st.just(Continue()),
        st.builds(SetVariables, st.just(to_json({"c": 2}))),
    ]
    if game.timers:
        due = st.sampled_from([timedelta(0), timedelta(seconds=1)])
        one = st.sampled_from(game.timers)
        options.append(st.builds(lambda t, d: FireTimer(t.key, t.due + d), one, due))
    return draw(st.one_of(options))


@MODEST
@given(BLOCKS, st.data())
def test_any_command_is_rejected_and_changes_nothing_or_makes_a_legal_turn(
    block: Block, data: st.DataObject
) -> None:
    game = play(drawn(block)).create(c=1)
    for _ in range(12):
        before = game.instance
        game.now += timedelta(seconds=data.draw(st.integers(0, 4)))
        try:
            game.send(data.draw(commands(game)))
        except Rejected:
            assert before is game.instance
    terminal = game.state in (InstanceState.COMPLETED, InstanceState.TERMINATED)
    waits = game.jobs or game.timers or game.incidents
    assert bool(waits) != terminal
    if terminal:
        states = {job.state for job in game.records(Job)}
        assert states <= {JobState.COMPLETED, JobState.TERMINATED}
