"""A scenario: a model, those who act on it, and what must be true when all is quiet again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from chalicelib.delivery import commands, horizon, routing, runs, timers
from chalicelib.operations.definitions import create_process_definition
from chalicelib.operations.dmn_definitions import create_dmn_resource_definition
from chalicelib.operations.sweep import Swept
from chalicelib.ports import Ports, Received, Runner, Settings
from chalicelib.profile import Profile
from chalicelib.store import definitions, dmn_definitions
from chalicelib.store.definitions import Definition
from chalicelib.store.dmn_definitions import DmnDefinition
from chalicelib.triggers.batches import Messages
from chalicelib.triggers.commands import on_commands
from chalicelib.triggers.routing import on_routing
from chalicelib.triggers.runs import on_runs
from chalicelib.triggers.timers import on_timers
from infra.template import VISIBILITY_S
from tests.fakes.chance import SeededChance
from tests.fakes.clock import ManualClock
from tests.fakes.queues import MemoryQueues
from tests.fakes.schedules import MemorySchedules
from tests.operations.sweeping import sweep_all
from tests.simulation import run_invariants
from tests.simulation.bugs import reporting_bugs
from tests.simulation.faults import Plan, Point, last_effect
from tests.simulation.invariants import check, unfinished
from tests.simulation.ledger import Ledger
from tests.simulation.ports import (
    LightTable,
    StruckChance,
    StruckClock,
    StruckQueues,
    StruckSchedules,
    StruckTable,
    TrueClock,
    WatchedQueues,
)
from tests.simulation.route_watch import Answers, PlayedCalls
from tests.simulation.run_ports import CountedAlerts, PlayedRunner, Says, StruckFirings, succeeds
from tests.simulation.stage import Stage
from tests.simulation.tape import Script
from tests.simulation.watch import Watch
from tests.simulation.workers import Mapping
from tests.simulation.world import Told, World

DIAGRAMS = Path(__file__).resolve().parents[1] / "diagrams"
STRUCK_MS = 180_000  # while clients still act, calls are struck for at most so long
DRAIN_STRUCK_MS = 12_000  # then locks end and spare bells come back, and are struck too
SETTLE_MS = 75 * 60_000  # after it healed, all must come to its end: a few visibilities of 900 s
DRAIN_MS = 40 * 60_000  # then every message that is left must go
RUN_FUNCTIONS = 4  # at a time: a pool of two, a firing and a trigger
HORIZON_MS = horizon.HORIZON // timedelta(milliseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


class Edit(NamedTuple):
    """What a scenario has otherwise in its diagram."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is played: a model of tests/diagrams, and those who act on it.

    Shapes: `act` brings the actors onto the stage, and for at most `struck_ms` calls are struck;
        `settle_ms` is how long it may take after that until every instance came to its end;
        `expect` yields what is wrong in the end, beside the invariants of every run; all of it
        happens `under` a circumstance. `decisions` is a DMN file that its tasks call. Without a
        `diagram` it is about scheduled jobs, whose attempts take `work_ms` and end as the
        scenario `says`; or, with `is_routing`, about messages in channels, and it `answers` the
        calls of their endpoints.
    """

    name: str
    diagram: str | None
    act: Callable[[Stage], None]
    edits: tuple[Edit, ...] = ()
    settings: Settings = field(default_factory=Settings)
    struck_ms: int = STRUCK_MS
    settle_ms: int = SETTLE_MS
    expect: Callable[[Stage], Iterable[str]] = lambda _: ()
    under: Callable[[], AbstractContextManager[None]] = nullcontext
    work_ms: int = 200
    profile: Profile = Profile.ZENBPM
    decisions: str | None = None
    says: Says = succeeds
    is_routing: bool = False
    answers: Answers = lambda _: 200


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one run."""

    violations: list[str]
    calls: int
    points: list[Point]  # the calls that could be struck
    struck: list[str]
    is_told: bool = False  # the rest is that of another run
    lively: int = 0  # of the points those after which only what is spare is left


def play(
    scenario: Scenario,
    plan: Plan,
    trace: Callable[[str], None] | None = None,
    script: Script | None = None,
    *,
    is_cut: bool = False,
) -> Outcome:
    """Run a scenario once by a plan, and check it; with `is_cut` up to where another run is the
    same. What a script knows of it is not decided again."""
    with scenario.under():
        return _play(scenario, World(plan, trace, script, is_cut=is_cut))


def _play(scenario: Scenario, world: World) -> Outcome:
    stage = _set(scenario, world)
    scenario.act(stage)
    with reporting_bugs(world.complain):
        try:
            _let_act(stage, scenario)
        except Told:
            return Outcome(world.violations, world.calls, world.points, world.struck, True)
        finally:
            world.end()
    world.violations += check(stage)
    world.violations += run_invariants.check(stage.inner, stage.watch.runs)
    world.violations += scenario.expect(stage)
    lively = max(stage.calls_to_end, last_effect(world.points) + 1)
    return Outcome(world.violations, world.calls, world.points, world.struck, lively=lively)


def _let_act(stage: Stage, scenario: Scenario) -> None:
    """Strike while they act, heal, let time pass, and let the sweeper find nothing to mend."""
    world = stage.world
    settle_ms = scenario.settle_ms
    world.run(world.now_ms + scenario.struck_ms, stage.is_played)
    stage.is_over = stage.is_played()
    stage.calls_to_end = len(world.points)
    if stage.is_over:
        world.run(world.now_ms + DRAIN_STRUCK_MS, stage.is_quiet)
    world.healed = True
    if not world.run(world.now_ms + settle_ms, stage.is_played):
        world.complain(f"after {settle_ms // 60_000} calm minutes: {unfinished(stage)}")
    stage.is_over = True
    world.skip(HORIZON_MS)
    world.run(world.now_ms + DRAIN_MS, stage.is_quiet)
    world.run(world.now_ms + DRAIN_MS, _sweep(stage))
    if not stage.is_quiet():
        world.complain(f"messages go round for ever: {stage.watch.left()}")


def _sweep(stage: Stage) -> Callable[[], bool]:
    """Let the sweeper look at everything; return whether it has and all is quiet again."""
    swept: list[Swept] = []
    stage.world.spawn("sweeper", lambda: swept.append(sweep_all(stage.ports)))

    def is_done() -> bool:
        if swept and swept[0].mended:
            stage.world.complain(f"the sweeper had to mend: {swept.pop()}")
        return bool(swept) and stage.is_quiet()

    return is_done


def _set(scenario: Scenario, world: World) -> Stage:
    """Set the stage: copies of what was deployed, under ports that are struck."""
    template = _template(
        scenario.diagram, scenario.edits, scenario.under, scenario.profile, scenario.decisions
    )
    table = template.table.copy()
    watch = Watch(lambda: (world.now() - _EPOCH) // _MS, table.peek, world.complain)
    clock = TrueClock(world)
    memory = MemoryQueues(clock, SeededChance(world.plan.seed) if world.plan.seed else None)
    for name in template.queues:
        memory.ensure(name)
    queues = WatchedQueues(world, memory, watch)
    struck = StruckTable(world, table, watch)
    if template.definition is not None:
        definitions.remember(struck, template.definition)
    if template.decisions is not None:
        dmn_definitions.remember(struck, template.decisions)
    firings = StruckFirings(world, queues, watch)
    ports = Ports(
        struck,
        StruckQueues(world, queues),
        StruckSchedules(world, MemorySchedules(clock, queues), watch),
        StruckClock(world),
        StruckChance(world, SeededChance(world.plan.seed)),
        scenario.settings,
        firings=firings,
        runner=_runner(scenario, world, watch),
        alerts=CountedAlerts(world, watch.runs),
    )
    world.store = struck
    world.cast = {
        type(port): port
        for port in (
            *(struck, ports.queues, ports.schedules, ports.clock, ports.chance),
            *(ports.firings, ports.runner, ports.alerts),
        )
    }
    definition_key = 0 if template.definition is None else template.definition.key
    stage = Stage(world, ports, table, queues, Ledger(), watch, firings, definition_key)
    stage.is_routing = scenario.is_routing
    stage.is_scheduling = scenario.diagram is None and not scenario.is_routing
    for mapping in _triggers(stage):
        world.spawn(f"mapping of {mapping.queue}", partial(mapping.pump, stage))
    return stage


def _runner(scenario: Scenario, world: World, watch: Watch) -> Runner:
    if scenario.is_routing:
        return PlayedCalls(world, watch.routes, scenario.answers, scenario.work_ms)
    return PlayedRunner(world, watch.runs, scenario.work_ms, scenario.says)


def _triggers(stage: Stage) -> list[Mapping]:
    """Return the mappings of our own functions; each runs more than once at a time."""
    if stage.is_scheduling:
        return [_runs_trigger(stage) for _ in range(RUN_FUNCTIONS)]
    serve = {timers.QUEUE: on_timers, commands.QUEUE: on_commands}
    if stage.is_routing:
        serve[routing.QUEUE] = on_routing
    return [
        Mapping(queue, partial(_serve, stage, function), VISIBILITY_S)
        for queue, function in serve.items()
        for _ in range(2)
    ]


def _runs_trigger(stage: Stage) -> Mapping:
    """Return the mapping of the function that runs jobs: one message at a time, for long."""
    return Mapping(
        runs.QUEUE,
        partial(_serve_runs, stage),
        runs.VISIBILITY // timedelta(seconds=1),
        batch_max=1,
        timeout_ms=runs.FUNCTION_TIMEOUT // _MS,
    )


def _serve_runs(stage: Stage, received: Sequence[Received]) -> set[str]:
    messages = [(each.receipt, each.body) for each in received]
    receipts = {each.receipt: each.receipt for each in received}
    return stage.world.perform(lambda: set(on_runs(stage.ports, messages, receipts)))


def _serve(
    stage: Stage,
    function: Callable[[Ports, Messages], list[str]],
    received: Sequence[Received],
) -> set[str]:
    messages = [(each.receipt, each.body) for each in received]
    return stage.world.perform(lambda: set(function(stage.ports, messages)))


@dataclass(frozen=True, slots=True)
class Template:
    """A stage before anybody acts: the definition is deployed and its queues are made."""

    table: LightTable
    queues: tuple[str, ...]
    definition: Definition | None
    decisions: DmnDefinition | None = None


@cache
def _template(
    diagram: str | None,
    edits: tuple[Edit, ...],
    _under: object,
    profile: Profile,
    decisions: str | None,
) -> Template:
    clock = ManualClock()
    table, queues = LightTable(), MemoryQueues(clock)
    if diagram is None:
        return Template(table, (), None)
    ports = Ports(table, queues, MemorySchedules(clock, queues), clock, SeededChance())
    xml = (DIAGRAMS / diagram).read_text()
    for old, new in edits:
        assert old in xml, f"{diagram}: expected {old} to edit"
        xml = xml.replace(old, new)
    dmn = None
    if decisions is not None:
        file = (DIAGRAMS / decisions).read_bytes()
        info, _ = create_dmn_resource_definition(ports, file, profile)
        dmn = dmn_definitions.get(table, info.key)
    deployed = create_process_definition(ports, xml.encode(), profile)
    definition = definitions.get(table, deployed.definitions[0].key)
    assert definition is not None
    return Template(table, tuple(queues.names()), definition, dmn)
