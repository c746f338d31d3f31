"""Tokens and time: forks and joins, bounded turns, timers near and far, cancelling."""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import timedelta
from decimal import Decimal
from functools import partial

from chalicelib.engine import keys
from chalicelib.engine.limits import Limits
from chalicelib.ports import Settings
from tests.simulation import expectations, operators
from tests.simulation.clients import LARGE, cancel, cancelling, one_start, set_variables
from tests.simulation.replacing import replaced
from tests.simulation.scenario import Edit, Scenario
from tests.simulation.stage import Stage
from tests.simulation.workers import Habits, hire

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
FEEL_TYPE = Edit('type="charge"', 'type="=&quot;charge&quot;"')
LISTENERS = Edit(
    '<zeebe:taskDefinition type="charge" />',
    '<zeebe:taskDefinition type="charge" /><zeebe:executionListeners>'
    '<zeebe:executionListener eventType="start" type="audit" />'
    '<zeebe:executionListener eventType="end" type="note" /></zeebe:executionListeners>',
)
ONE_MOVE = Settings(limits=Limits(moves_max=1))
OUTPUTS_MAPPED = tuple(
    Edit(
        f'<zeebe:taskDefinition type="{task}" />',
        f'<zeebe:taskDefinition type="{task}" /><zeebe:ioMapping>'
        f'<zeebe:output source="=token" target="{task}_done" /></zeebe:ioMapping>',
    )
    for task in ("charge", "pack", "ship")
)


def _past(source: str, task: str, target: str) -> Edit:
    """Lead a flow past a task, so that a run needs fewer calls."""
    flow = f'sourceRef="{source}" targetRef='
    return Edit(f'{flow}"{task}"', f'{flow}"{target}"')


def _small_blocks() -> AbstractContextManager[None]:
    return replaced(keys, BLOCK_SIZE=8)


def _sequence(stage: Stage) -> None:
    """Three tasks in a row, one worker for each."""
    one_start(stage)
    for type_ in ("reserve", "charge", "ship"):
        hire(stage, f"worker of {type_}", type_)


def _parallel_join(stage: Stage) -> None:
    """Two branches that end at the same moment; the join must open once."""
    stage.ledger.maps_outputs = True
    one_start(stage, lambda key: set_variables(stage, key, {"note": "fragile"}), LARGE)
    for type_ in ("charge", "pack", "ship"):
        hire(stage, f"worker of {type_}", type_)


def _agenda(stage: Stage) -> None:
    """Turns of one move each: what one leaves is done by Continue commands, once."""
    one_start(stage)
    for type_ in ("charge", "pack", "ship"):
        hire(stage, f"worker of {type_}", type_)


def _boundary_timer(stage: Stage) -> None:
    """A completion and the timer that interrupts its task, at the same second."""
    one_start(stage)
    lock = timedelta(seconds=60)
    hire(stage, "worker of charge", "charge", Habits(lock=lock, work_ms=30_985))
    hire(stage, "worker of remind", "remind")


def _far_timer(stage: Stage) -> None:
    """A timer of an hour, which a schedule has to bring back."""
    one_start(stage)
    hire(stage, "worker of charge", "charge")
    hire(stage, "worker of ship", "ship")


def _cancel_and_complete(stage: Stage) -> None:
    """The instance is cancelled at the moment its job is completed."""
    one_start(stage, cancelling(stage, 216))
    hire(stage, "worker", "charge")


def _outgrown(stage: Stage) -> None:
    """Key blocks of eight keys: the instance takes further ones, each with an alias."""
    _sequence(stage)


def _new_type(stage: Stage) -> None:
    """A job type that comes from an expression: the promise makes its queue."""
    one_start(stage)
    hire(stage, "worker", "charge")


def _agenda_cancelled(stage: Stage) -> None:
    """Turns of one move each, and the instance is cancelled while moves are left."""
    one_start(stage, lambda key: cancel(stage, key))
    for type_ in ("charge", "pack", "ship"):
        hire(stage, f"worker of {type_}", type_)


def _terminate_and_complete(stage: Stage) -> None:
    """One branch ends the instance at the moment the job of the other one is completed."""
    one_start(stage)
    hire(stage, "worker of charge", "charge")
    hire(stage, "worker of wait", "wait")


def _cycle(stage: Stage) -> None:
    """Three reminders, ten seconds apart, beside a task that is completed at the third."""
    stage.ledger.may_loop = True
    one_start(stage)
    lock = timedelta(seconds=60)
    hire(stage, "worker of charge", "charge", Habits(lock=lock, work_ms=30_985))
    hire(stage, "worker of remind", "remind")


def _listened(stage: Stage) -> None:
    """A task with listeners before and after it, which is cancelled at about its end."""
    one_start(stage, cancelling(stage, 640))
    for type_ in ("audit", "charge", "note"):
        hire(stage, f"worker of {type_}", type_)


def _timer_start(stage: Stage) -> None:
    """A deployment whose timer starts two instances, ten seconds apart."""
    stage.client("deployer", partial(operators.deploy, stage, "timer_start.bpmn", "Hourly"))


def _timer_start_replaced(stage: Stage) -> None:
    """A new version is deployed at the moment the timer of the old one fires."""
    _timer_start(stage)
    again = partial(operators.deploy, stage, "timer_start.bpmn", "Daily")
    stage.client("other deployer", again, after_ms=10_000)


def _overtaken(stage: Stage) -> None:
    """Two branches to join, and the event subprocess that ends both at the second one comes in."""
    one_start(stage)
    lock = timedelta(seconds=60)
    hire(stage, "worker of charge", "charge", Habits(lock=lock, work_ms=30_985))
    hire(stage, "worker of pack", "pack")


def _undone(stage: Stage) -> None:
    """A transaction is cancelled: what was done in it is undone before it is left."""
    one_start(stage)
    for type_ in ("charge", "refund"):
        hire(stage, f"worker of {type_}", type_)


def _undone_as_left(stage: Stage) -> None:
    """What a subprocess left is undone at the moment its variable means something else outside."""

    def set_price(key: int) -> None:
        stage.world.pause(208 + stage.world.plan.jitter_ms())
        set_variables(stage, key, {"price": Decimal(99)})

    one_start(stage, set_price, {"fare": Decimal(1), "price": Decimal(7)})
    for type_ in ("charge", "refund"):
        hire(stage, f"worker of {type_}", type_)


def _net(stage: Stage) -> None:
    """Every message is lost, as none should be: the sweeper tells all again within a day."""
    one_start(stage)
    stage.client("vandal", lambda: operators.lose_messages(stage), after_ms=1_000)
    stage.world.spawn("sweeper", lambda: operators.sweep_regularly(stage))
    hire(stage, "worker of charge", "charge", delay_ms=DAY_MS + 7 * HOUR_MS)


SCENARIOS = (
    Scenario("sequence", "sequence.bpmn", _sequence),
    Scenario("parallel-join", "parallel_join.bpmn", _parallel_join, OUTPUTS_MAPPED),
    Scenario("agenda", "parallel_join.bpmn", _agenda, settings=ONE_MOVE),
    Scenario("boundary-timer", "boundary_timer.bpmn", _boundary_timer),
    Scenario(
        "far-timer",
        "timer_catch.bpmn",
        _far_timer,
        (Edit("PT2S", "PT1H"),),
        struck_ms=2 * HOUR_MS,
    ),
    Scenario("cancel-and-complete", "one_task.bpmn", _cancel_and_complete),
    Scenario("outgrown", "sequence.bpmn", _outgrown, under=_small_blocks),
    Scenario("new-type", "one_task.bpmn", _new_type, (FEEL_TYPE,)),
    Scenario("agenda-cancelled", "parallel_join.bpmn", _agenda_cancelled, settings=ONE_MOVE),
    Scenario("terminate-and-complete", "terminate_end.bpmn", _terminate_and_complete),
    Scenario("cycle", "boundary_cycle.bpmn", _cycle, expect=expectations.reminders),
    Scenario("listened", "one_task.bpmn", _listened, (LISTENERS,)),
    Scenario(
        "timer-start",
        "timer_start.bpmn",
        _timer_start,
        expect=expectations.started_by_timers,
    ),
    Scenario(
        "timer-start-replaced",
        "timer_start.bpmn",
        _timer_start_replaced,
        expect=expectations.started_by_timers,
    ),
    Scenario(
        "overtaken", "event_subprocess.bpmn", _overtaken, (_past("too_late", "remind", "reminded"),)
    ),
    Scenario(
        "undone",
        "transaction.bpmn",
        _undone,
        (_past("begin", "reserve", "charge"), _past("given_up", "remind", "reminded")),
    ),
    Scenario(
        "undone-as-left", "undo/left.bpmn", _undone_as_left, expect=expectations.undone_as_left
    ),
    Scenario(
        "net",
        "one_task.bpmn",
        _net,
        struck_ms=2 * DAY_MS,
        settle_ms=2 * DAY_MS,
        under=operators.few_segments,
    ),
)
