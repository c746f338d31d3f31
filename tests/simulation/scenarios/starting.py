"""What starts instances, and the versions it belongs to, which may be deleted meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager
from decimal import Decimal
from functools import partial

from chalicelib.delivery import commands
from chalicelib.engine.state import Incident
from chalicelib.engine.turn import Entered
from chalicelib.errors import Rejected
from chalicelib.operations import owed
from chalicelib.ports import Message
from chalicelib.profile import Profile
from chalicelib.store import definitions, history, instances, start_timers
from tests.simulation import operators
from tests.simulation.clients import evaluate, one_start, start
from tests.simulation.expectations import FIRINGS_MAX
from tests.simulation.replacing import replaced
from tests.simulation.scenario import Edit, Scenario
from tests.simulation.stage import Stage
from tests.simulation.workers import hire

CALLS = "calls/call.bpmn"
COMMAND_DELAY_S = 5  # of a message beside what is done within a request
NO_TIMER = (Edit("PT30S", "PT2H"),)
NOT_FOUND = "called process payment (latest version) was not found"
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


def _deleted_while_called(stage: Stage) -> None:
    """The only version of a process is deleted while it is called, and another one comes later: the
    child runs, or an incident says why not until it is resolved."""
    _call_and_delete(stage, 10)


def _deleted_while_called_twice(stage: Stage) -> None:
    """The message that starts the child comes twice, and the only version goes while both are done:
    where one finds it and the other does not, the child runs, or an incident says why not."""

    def double() -> None:
        while not (bodies := stage.queues.inner.bodies(commands.QUEUE)):
            stage.world.wait(commands.QUEUE, None)
        stage.world.pause(2)
        stage.queues.send(commands.QUEUE, [Message(bodies[0], COMMAND_DELAY_S)])

    stage.world.spawn("doubler", double)
    _call_and_delete(stage, 1_000 * COMMAND_DELAY_S + 13)


def _by_messages_alone() -> AbstractContextManager[None]:
    return replaced(owed, INLINE_MAX=0)


def _call_and_delete(stage: Stage, after_ms: int) -> None:
    key = _payment(stage)
    one_start(stage)
    stage.client("deleter", lambda: operators.delete_definition(stage, key), after_ms=after_ms)

    def deploy() -> None:
        while not stage.ledger.deployed:
            operators.deploy(stage, CALLS, "Another one")

    stage.client("deployer", deploy, after_ms=after_ms + 900)
    stage.world.spawn("operator", lambda: operators.resolve_incidents(stage))
    hire(stage, "worker of charge", "charge")


def _replaced_while_called(stage: Stage) -> None:
    """The later of two versions is deleted while the process is called: the child is of either."""

    def replace_and_delete() -> None:
        operators.deploy(stage, CALLS, "Another one")
        if stage.ledger.deployed:
            one_start(stage)
            stage.world.pause(10)
            operators.delete_definition(stage, _payment(stage))

    stage.client("deployer", replace_and_delete)
    hire(stage, "worker of charge", "charge")


def _payment(stage: Stage) -> int:
    """Look for the latest version of the called process."""
    found = definitions.latest_of(stage.inner, "payment", Profile.ZENBPM)
    assert found is not None, "expected a version of payment, found none"
    return found.key


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


def called_once(stage: Stage) -> Iterator[str]:
    """Each call ran one child; if it found no version to run, an incident said so."""
    found = [instances.load(stage.inner, key, None) for key in sorted(stage.watch.roots)]
    children = Counter(each.root.parent.instance_key for each in found if each and each.root.parent)
    for each in found:
        if each is None or each.root.parent:
            continue
        if children[each.key] != 1:
            yield f"instance {each.key} called once and has {children[each.key]} children"
        told = [record.message for record in each.records.values() if isinstance(record, Incident)]
        if any(NOT_FOUND not in message for message in told):
            yield f"instance {each.key} has incidents of something else: {told}"


def called_without_incident(stage: Stage) -> Iterator[str]:
    """Each call ran one child at once, as there was a version at every moment."""
    yield from called_once(stage)
    for key in sorted(stage.watch.roots):
        instance = instances.load(stage.inner, key, None)
        for record in instance.records.values() if instance else ():
            if isinstance(record, Incident):
                yield f"instance {key} found no version: {record.message}"


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
    Scenario("deleted-while-called", CALLS, _deleted_while_called, NO_TIMER, expect=called_once),
    Scenario(
        "deleted-while-called-twice",
        CALLS,
        _deleted_while_called_twice,
        NO_TIMER,
        expect=called_once,
        under=_by_messages_alone,
    ),
    Scenario(
        "replaced-while-called",
        CALLS,
        _replaced_while_called,
        NO_TIMER,
        expect=called_without_incident,
    ),
    Scenario("deleted-while-started", "one_task.bpmn", _deleted_while_started, expect=emptied),
)
