"""Instances of instances: calls and their ends, errors from below, bodies of many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta

from chalicelib.engine import parts
from chalicelib.operations import owed
from chalicelib.ports import Settings
from tests.simulation import expectations, operators
from tests.simulation.clients import cancelling, one_start
from tests.simulation.replacing import replaced
from tests.simulation.scenario import Edit, Scenario
from tests.simulation.stage import Stage
from tests.simulation.workers import Habits, hire

THREE = Edit("=[1, 2]", "=[1, 2, 3]")
ENOUGH = Edit(
    "</bpmn:multiInstance",
    "<bpmn:completionCondition>=numberOfCompletedInstances = 1</bpmn:completionCondition>"
    "</bpmn:multiInstance",
)
NEVER = Edit(ENOUGH.old, ENOUGH.new.replace("= 1<", "= 9<"))
DAY_MS = 86_400_000
LOOK_MS = 20
LONG = Habits(lock=timedelta(seconds=60), work_ms=30_985)
NO_TIMER = Edit("PT30S", "PT2H")
ENDS_IN_ERROR = Edit(
    '<bpmn:endEvent id="charged" />',
    '<bpmn:endEvent id="charged"><bpmn:errorEventDefinition errorRef="no_stock" /></bpmn:endEvent>',
)
ESCALATES = (
    Edit('<bpmn:error id="no_stock" errorCode', '<bpmn:escalation id="no_stock" escalationCode'),
    Edit(
        'errorEventDefinition errorRef="no_stock"',
        'escalationEventDefinition escalationRef="no_stock"',
    ),
    Edit(
        '<bpmn:endEvent id="charged" />',
        '<bpmn:endEvent id="charged"><bpmn:escalationEventDefinition escalationRef="no_stock" />'
        "</bpmn:endEvent>",
    ),
)


def _call(stage: Stage) -> None:
    """A call whose child is worked on, and nothing else."""
    one_start(stage)
    hire(stage, "worker of charge", "charge")


def _call_and_cancel(stage: Stage) -> None:
    """The instance is cancelled while its child starts, or is worked on."""
    one_start(stage, cancelling(stage, 0))
    hire(stage, "worker of charge", "charge")


def _child_end_and_timer(stage: Stage) -> None:
    """The child's job is completed at the second in which the call is interrupted: row 49 of the
    known ways to get it wrong."""
    one_start(stage)
    hire(stage, "worker of charge", "charge", LONG)
    hire(stage, "worker of remind", "remind")


def _many(stage: Stage) -> None:
    """Each parcel is a job of its own."""
    one_start(stage)
    hire(stage, "worker of pack", "pack")


def _many_interrupted(stage: Stage) -> None:
    """A job of the body is completed at the second in which the body is interrupted."""
    one_start(stage)
    hire(stage, "worker of pack", "pack", LONG)
    hire(stage, "another worker of pack", "pack", LONG)


def _parts_of_two() -> AbstractContextManager[None]:
    return replaced(parts, AT_ONCE=2)


def _parts_of_one() -> AbstractContextManager[None]:
    return replaced(parts, AT_ONCE=1)


def _parts(stage: Stage) -> None:
    """One parcel more than an instance does alone, so that children do them."""
    one_start(stage)
    hire(stage, "worker of pack", "pack", Habits(jobs_max=3))


def _withdrawn(stage: Stage) -> None:
    """An operator ends an iteration of a part at the moment its job is completed: its body, which
    counts what is reported, is complete all the same, or ends with the last one."""
    _parts(stage)
    stage.client("operator", lambda: operators.withdraw(stage, "pack"), after_ms=212)


def _net_of_reports(stage: Stage) -> None:
    """Every message is lost when an iteration is done that its body did not hear of: the sweeper
    has it reported, without which the body would never be complete."""
    _parts(stage)

    def lose() -> None:
        while not (stage.ledger.completed or stage.watch.is_quiet()):
            stage.world.pause(LOOK_MS)
        operators.lose_messages(stage)

    stage.client("vandal", lose, after_ms=LOOK_MS)
    stage.world.spawn("sweeper", lambda: operators.sweep_regularly(stage, 3))


@contextmanager
def _told_by_messages_alone() -> Iterator[None]:
    """Parts of one, and nothing that an instance owes is done in the request that made it so."""
    with operators.few_segments(), _parts_of_one(), replaced(owed, INLINE_MAX=0):
        yield


def _doubled(stage: Stage) -> None:
    """As many iterations as an instance does alone, or one more, which need no worker."""
    one_start(stage)


def _of(total: int) -> tuple[Edit, ...]:
    """Double each of so many numbers."""
    return (
        NO_TIMER,
        Edit("=[1, 2]", f"=for i in 1..{total} return i"),
        Edit("bpmn:serviceTask", "bpmn:scriptTask"),
        Edit(
            "<zeebe:ioMapping>",
            '<zeebe:script expression="=2 * parcel" resultVariable="packed" /><zeebe:ioMapping>',
        ),
        Edit('<zeebe:taskDefinition type="pack" />', ""),
        Edit('<zeebe:output source="=token" target="packed" />', ""),
    )


PARTED = "calls/many.bpmn"
SCENARIOS = (
    Scenario("call", "calls/call.bpmn", _call, (NO_TIMER,)),
    Scenario("call-and-cancel", "calls/call.bpmn", _call_and_cancel, (NO_TIMER,)),
    Scenario("child-end-and-timer", "calls/call.bpmn", _child_end_and_timer),
    Scenario("error-from-child", "calls/call.bpmn", _call, (NO_TIMER, ENDS_IN_ERROR)),
    Scenario(
        "escalation-from-child",
        "calls/call.bpmn",
        _call,
        (NO_TIMER, *ESCALATES),
        expect=expectations.escalated,
    ),
    Scenario(
        "escalation-by-messages",
        "calls/call.bpmn",
        _call,
        (NO_TIMER, *ESCALATES),
        expect=expectations.escalated,
        under=_told_by_messages_alone,
    ),
    Scenario("many-interrupted", "calls/many.bpmn", _many_interrupted),
    Scenario("many-at-once", "calls/many.bpmn", _many, (NO_TIMER,), under=_parts_of_two),
    Scenario("many-in-parts", PARTED, _parts, (NO_TIMER, THREE), under=_parts_of_two),
    Scenario("parts-enough", PARTED, _parts, (NO_TIMER, ENOUGH), under=_parts_of_one),
    Scenario(
        "parts-retired",
        PARTED,
        _doubled,
        _of(2),
        settings=Settings(history_time_to_live_s=20 * DAY_MS // 1_000),
        expect=expectations.gone_as_one,
        under=_parts_of_one,
    ),
    Scenario("parts-interrupted", PARTED, _many_interrupted, under=_parts_of_one),
    Scenario(
        "iteration-withdrawn", PARTED, _withdrawn, (NO_TIMER, THREE, NEVER), under=_parts_of_two
    ),
    Scenario(
        "net-of-reports",
        PARTED,
        _net_of_reports,
        (Edit("PT30S", "P30D"), NEVER),
        under=_told_by_messages_alone,
        settle_ms=3 * DAY_MS,
    ),
    Scenario("sixty-four", PARTED, _doubled, _of(parts.AT_ONCE), expect=expectations.all_doubled),
    Scenario(
        "sixty-five", PARTED, _doubled, _of(parts.AT_ONCE + 1), expect=expectations.all_doubled
    ),
)
