"""What starts instances, and the versions it belongs to, which may be deleted meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from functools import partial

from chalicelib.engine.turn import Entered
from chalicelib.errors import Rejected
from chalicelib.profile import Profile
from chalicelib.store import definitions, history, instances, start_timers
from tests.simulation import operators
from tests.simulation.clients import evaluate, start
from tests.simulation.expectations import FIRINGS_MAX
from tests.simulation.scenario import Scenario
from tests.simulation.stage import Stage
from tests.simulation.workers import hire

EVENTS = ("large", "urgent")  # of the model; the condition of each holds


def _asked_while_deployed(stage: Stage) -> None:
    """Conditions are evaluated, again without an answer, while a new version comes."""
    stage.client("asker", lambda: evaluate(stage, {"amount": Decimal(250), "urgent": True}, "e-1"))
    again = partial(operators.deploy, stage, "conditional_start.bpmn", "Conditional start, again")
    stage.client("other deployer", again, after_ms=20)
    hire(stage, "worker of charge", "charge")


def _deleted_while_fired(stage: Stage) -> None:
    """A version is deleted at the moment its timer fires: the one before has its timers again."""

    def replace_and_delete() -> None:
        operators.deploy(stage, "timer_start.bpmn", "Hourly")
        stage.world.pause(9_990 + stage.world.plan.jitter_ms())
        for key in stage.ledger.deployed:
            operators.delete_definition(stage, key)

    stage.client("deployer", replace_and_delete)


def _deleted_while_started(stage: Stage) -> None:
    """The only version is deleted while a client starts it: the instance is there whole, or not."""
    key = stage.definition_key

    def begin() -> None:
        try:
            start(stage, {})
        except Rejected as rejected:  # it came too late
            stage.ledger.refused.append(f"start: {rejected.message}")

    stage.client("client", begin)
    stage.client("deleter", lambda: operators.delete_definition(stage, key), after_ms=20)
    hire(stage, "worker of charge", "charge")


def succeeded(stage: Stage) -> Iterator[str]:
    """A version that is deleted is the latest no more, and each firing started one instance."""
    infos = {each.key: each for each in definitions.list_all(stage.inner, with_deleted=True)}
    for key in stage.ledger.deleted:
        if infos[key].deleted_at is None:
            yield f"definition {key} was deleted, and is there"
    if len(infos) == 1:  # nothing came of the deployment; who set the stage promised no timers
        return
    found = start_timers.read(stage.inner, Profile.ZENBPM, "timer_start")
    if found is None or infos[found.definition_key].deleted_at is not None or found.timers:
        yield f"expected a pointer at what is there, with no timers left, found {found}"
        return
    roots = [instances.load(stage.inner, key, None) for key in stage.watch.roots]
    started = Counter(each.root.definition_key for each in roots if each)
    if not found.started <= started[found.definition_key] <= found.started + FIRINGS_MAX:
        yield f"{found.started} firings since it is the latest again, started: {started}"
    if stage.ledger.deleted and not 1 <= found.started <= FIRINGS_MAX:
        yield f"the timers of the version before fired {found.started} times"


def emptied(stage: Stage) -> Iterator[str]:
    """What is deleted starts nothing any more."""
    for key in stage.ledger.deleted:
        if definitions.current(stage.inner, key) is not None:
            yield f"definition {key} was deleted, and is there"
        if definitions.latest_of(stage.inner, "one_task", Profile.ZENBPM) is not None:
            yield "the only version was deleted, and there is a latest"


def started_once(stage: Stage) -> Iterator[str]:
    """Each start event whose condition held started one instance, whoever was asked how often."""
    started = [
        event.element_id
        for key in stage.watch.roots
        for _, event in history.events(stage.inner, key)
        if isinstance(event, Entered) and event.element_id in EVENTS
    ]
    if sorted(set(started)) != sorted(started):
        yield f"an evaluation started {sorted(started)}"
    if stage.ledger.starts and len(stage.ledger.starts) != len(EVENTS):
        yield f"{stage.ledger.starts} were answered, expected one of each of {EVENTS}"


SCENARIOS = (
    Scenario(
        "asked-while-deployed",
        "conditional_start.bpmn",
        _asked_while_deployed,
        expect=started_once,
    ),
    Scenario("deleted-while-fired", "timer_start.bpmn", _deleted_while_fired, expect=succeeded),
    Scenario("deleted-while-started", "one_task.bpmn", _deleted_while_started, expect=emptied),
)
