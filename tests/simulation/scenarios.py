"""The scenarios: what clients, workers and operators do at the same time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from chalicelib.engine.limits import SMALL_VARIABLES_BYTES, Limits
from chalicelib.engine.state import Job
from chalicelib.ports import Settings
from tests.simulation import operators
from tests.simulation.clients import cancel, set_variables, start
from tests.simulation.scenario import Edit, Scenario
from tests.simulation.stage import Stage
from tests.simulation.workers import Habits, hire, subscribe

THREE_TRIES = Edit('type="charge"', 'type="charge" retries="3"')
OUTPUTS_MAPPED = tuple(
    Edit(
        f'<zeebe:taskDefinition type="{task}" />',
        f'<zeebe:taskDefinition type="{task}" /><zeebe:ioMapping>'
        f'<zeebe:output source="=token" target="{task}_done" /></zeebe:ioMapping>',
    )
    for task in ("charge", "pack", "ship")
)
SHORT_LOCK = timedelta(seconds=2)
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def _one_start(stage: Stage, then: Callable[[int], None] | None = None) -> None:
    """Start an instance, and when that is acknowledged let the client go on.

    Shapes: its variables are too large for the root, so they are a record of their own.
    """

    def act() -> None:
        key = start(stage, {"padding": "x" * SMALL_VARIABLES_BYTES})
        if key is not None and then is not None:
            then(key)

    stage.client("client", act)


# --- the flow of tokens ------------------------------------------------------------------------


def _sequence(stage: Stage) -> None:
    """Three tasks in a row, one worker for each."""
    _one_start(stage)
    for type_ in ("reserve", "charge", "ship"):
        hire(stage, f"worker of {type_}", type_)


def _parallel_join(stage: Stage) -> None:
    """Two branches that end at the same moment; the join must open once."""
    stage.ledger.maps_outputs = True
    _one_start(stage, lambda key: set_variables(stage, key, {"note": "handle with care"}))
    for type_ in ("charge", "pack", "ship"):
        hire(stage, f"worker of {type_}", type_)


def _agenda(stage: Stage) -> None:
    """Turns of one move each: what one leaves is done by Continue commands, once."""
    _one_start(stage)
    for type_ in ("charge", "pack", "ship"):
        hire(stage, f"worker of {type_}", type_)


# --- time --------------------------------------------------------------------------------------


def _boundary_timer(stage: Stage) -> None:
    """A completion and the timer that interrupts its task, both at the 30th second."""
    _one_start(stage)
    lock = timedelta(seconds=60)
    hire(stage, "worker of charge", "charge", Habits(lock=lock, work_ms=30_985))
    hire(stage, "worker of remind", "remind")


def _far_timer(stage: Stage) -> None:
    """A timer of an hour, which a schedule has to bring back."""
    _one_start(stage)
    hire(stage, "worker of charge", "charge")
    hire(stage, "worker of ship", "ship")


# --- workers -----------------------------------------------------------------------------------


def _two_workers(stage: Stage) -> None:
    """Two workers wait for one job, and one of them sometimes works beyond its lock."""
    _one_start(stage)
    hire(stage, "quick worker", "charge", Habits(lock=SHORT_LOCK))
    hire(stage, "slow worker", "charge", Habits(SHORT_LOCK, first_ms=2_050))


def _failure_and_lapse(stage: Stage) -> None:
    """A worker fails its job at the moment its lock lapses and another one gets it."""
    _one_start(stage)
    habits = Habits(SHORT_LOCK, 300, first_ms=1_990, fails=_but_the_last)
    hire(stage, "slow worker", "charge", habits)
    hire(stage, "other worker", "charge", habits)


def _but_the_last(job: Job) -> bool:
    """Fail every attempt but the last one that the job has."""
    return job.retries > 1


def _the_first(job: Job) -> bool:
    """Fail the first delivery."""
    return job.delivery_token == 1


def _doubled_bell(stage: Stage) -> None:
    """The first bell comes twice, to two workers; whoever gets the job fails it quickly."""
    _one_start(stage)
    habits = Habits(SHORT_LOCK, 100, fails=_but_the_last)
    hire(stage, "worker", "charge", habits)
    hire(stage, "other worker", "charge", habits)
    stage.world.spawn("queue", lambda: operators.double_messages(stage, "charge"))


def _late_completion(stage: Stage) -> None:
    """A worker completes at the moment its lock lapses and another one gets the job."""
    _one_start(stage)
    habits = Habits(SHORT_LOCK, 300, first_ms=1_995)
    hire(stage, "slow worker", "charge", habits)
    hire(stage, "other worker", "charge", habits)


def _failure_and_completion(stage: Stage) -> None:
    """A worker whose lock is over completes at the moment the next one fails."""
    _one_start(stage)
    habits = Habits(SHORT_LOCK, 300, first_ms=2_310, fails=lambda job: job.delivery_token == 2)
    hire(stage, "slow worker", "charge", habits)
    hire(stage, "other worker", "charge", habits)


def _far_backoff(stage: Stage) -> None:
    """A failure with a backoff of 20 minutes: its bell is exchanged for a schedule."""
    _one_start(stage)
    habits = Habits(fails=_but_the_last, backoff=timedelta(minutes=20))
    hire(stage, "worker", "charge", habits)


def _exhausted(stage: Stage) -> None:
    """The only attempt fails; an operator resolves the incident, and a new series succeeds."""
    _one_start(stage)
    hire(stage, "worker", "charge", Habits(fails=_the_first))
    stage.world.spawn("operator", lambda: operators.resolve_incidents(stage))


def _last_failure_and_lapse(stage: Stage) -> None:
    """The last attempt fails at the moment the lock lapses and another worker gets the job."""
    _one_start(stage)
    habits = Habits(SHORT_LOCK, 300, first_ms=1_990, fails=_the_first)
    hire(stage, "slow worker", "charge", habits)
    hire(stage, "other worker", "charge", habits)
    stage.world.spawn("operator", lambda: operators.resolve_incidents(stage))


def _lambda_worker(stage: Stage) -> None:
    """A Lambda function subscribed to the type's queue: it claims by key, with the bell."""
    _one_start(stage)
    subscribe(stage, "lambda worker", "charge")


def _lambda_and_http(stage: Stage) -> None:
    """Two instances; a Lambda worker and an HTTP worker share a queue, and a lock lapses."""
    _one_start(stage)
    _one_start(stage)
    subscribe(stage, "lambda worker", "charge", Habits(SHORT_LOCK, first_ms=1_950))
    hire(stage, "http worker", "charge", Habits(lock=SHORT_LOCK, work_ms=100, jobs_max=2))


# --- operators ---------------------------------------------------------------------------------


def _cancel_and_complete(stage: Stage) -> None:
    """The instance is cancelled at the moment its job is completed."""

    def cancel_soon(key: int) -> None:
        stage.world.pause(216)
        cancel(stage, key)

    _one_start(stage, cancel_soon)
    hire(stage, "worker", "charge")


def _retries_set(stage: Stage) -> None:
    """An operator sets the retries of a job that waits out its backoff, or is at work."""
    _one_start(stage)
    habits = Habits(fails=_but_the_last, backoff=timedelta(minutes=20))
    hire(stage, "worker", "charge", habits)
    stage.client("operator", lambda: operators.set_retries(stage, 2), after_ms=400)


def _set_at_work(stage: Stage) -> None:
    """An operator sets the retries of a job at the moment it is completed."""
    _one_start(stage)
    hire(stage, "worker", "charge")
    stage.client("operator", lambda: operators.set_retries(stage, 4), after_ms=212)


def _set_at_last_failure(stage: Stage) -> None:
    """An operator sets the retries of a job at the moment its last attempt fails."""
    _one_start(stage)
    hire(stage, "worker", "charge", Habits(fails=_the_first))
    stage.client("setter", lambda: operators.set_retries(stage, 4), after_ms=212)
    stage.world.spawn("resolver", lambda: operators.resolve_incidents(stage))


def _rung_at_work(stage: Stage) -> None:
    """All is rung for while a job fails, is handed out again and is completed."""
    _one_start(stage)
    hire(stage, "worker", "charge", Habits(work_ms=50, fails=_but_the_last))
    for number in range(3):
        stage.client(f"operator {number}", lambda: operators.ring_all(stage), 60 + 70 * number)


def _resolved_and_set(stage: Stage) -> None:
    """One operator resolves the incident at the moment another sets the retries of its job."""
    _one_start(stage)
    hire(stage, "worker", "charge", Habits(fails=_the_first))
    stage.world.spawn("resolver", lambda: operators.resolve_incidents(stage))
    stage.client("setter", lambda: operators.set_retries(stage, 5), after_ms=700)


def _held(stage: Stage) -> None:
    """A client holds a job without an end; holds are released while it completes."""
    _one_start(stage)
    stage.client("setter", lambda: operators.set_retries(stage, 4), after_ms=100)
    stage.client("holder", lambda: operators.hold_and_complete(stage, "holder"), after_ms=100)
    stage.client("operator", lambda: operators.release_holds(stage), after_ms=310)
    stage.client("operator again", lambda: operators.release_holds(stage), after_ms=5_000)
    hire(stage, "worker", "charge", delay_ms=1_000)


def _extend(stage: Stage, job: Job) -> None:
    """Extend the lock of the job at work, then shorten it, by turns."""
    for lock in (timedelta(seconds=3), timedelta(seconds=1)):
        stage.world.pause(300)
        operators.extend(stage, job, lock)


def _extended(stage: Stage) -> None:
    """A worker extends its lock, then shortens it; another one waits for the lapse."""
    _one_start(stage)
    hire(stage, "extending worker", "charge", Habits(SHORT_LOCK, 600, meanwhile=_extend))
    hire(stage, "other worker", "charge", Habits(SHORT_LOCK, 100), delay_ms=50)


def _assigned(stage: Stage) -> None:
    """A job is given to somebody at the moment it is completed."""
    _one_start(stage)
    hire(stage, "worker", "charge")
    stage.client("operator", lambda: operators.assign(stage, "kim"), after_ms=212)


def _net(stage: Stage) -> None:
    """Every message is lost, as none should be: the sweeper tells all again within a day."""
    _one_start(stage)
    stage.client("vandal", lambda: operators.lose_messages(stage), after_ms=1_000)
    stage.world.spawn("sweeper", lambda: operators.sweep_hourly(stage))
    for type_ in ("charge", "ship"):
        hire(stage, f"worker of {type_}", type_, delay_ms=DAY_MS + 2 * HOUR_MS)


SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario("sequence", "sequence.bpmn", _sequence),
        Scenario("parallel-join", "parallel_join.bpmn", _parallel_join, edits=OUTPUTS_MAPPED),
        Scenario(
            "agenda",
            "parallel_join.bpmn",
            _agenda,
            settings=Settings(limits=Limits(moves_max=1)),
        ),
        Scenario(
            "boundary-timer",
            "boundary_timer.bpmn",
            _boundary_timer,
        ),
        Scenario(
            "far-timer",
            "timer_catch.bpmn",
            _far_timer,
            edits=(Edit("PT2S", "PT1H"),),
        ),
        Scenario("two-workers", "one_task.bpmn", _two_workers),
        Scenario("failure-and-lapse", "one_task.bpmn", _failure_and_lapse, edits=(THREE_TRIES,)),
        Scenario("doubled-bell", "one_task.bpmn", _doubled_bell, edits=(THREE_TRIES,)),
        Scenario("late-completion", "one_task.bpmn", _late_completion),
        Scenario(
            "failure-and-completion",
            "one_task.bpmn",
            _failure_and_completion,
            edits=(THREE_TRIES,),
        ),
        Scenario("far-backoff", "one_task.bpmn", _far_backoff, edits=(THREE_TRIES,)),
        Scenario("exhausted", "one_task.bpmn", _exhausted),
        Scenario("last-failure-and-lapse", "one_task.bpmn", _last_failure_and_lapse),
        Scenario("resolved-and-set", "one_task.bpmn", _resolved_and_set),
        Scenario("lambda-worker", "one_task.bpmn", _lambda_worker),
        Scenario("lambda-and-http", "one_task.bpmn", _lambda_and_http),
        Scenario("cancel-and-complete", "one_task.bpmn", _cancel_and_complete),
        Scenario("retries-set", "one_task.bpmn", _retries_set, edits=(THREE_TRIES,)),
        Scenario("set-at-work", "one_task.bpmn", _set_at_work),
        Scenario("set-at-last-failure", "one_task.bpmn", _set_at_last_failure),
        Scenario("rung-at-work", "one_task.bpmn", _rung_at_work, edits=(THREE_TRIES,)),
        Scenario("held", "one_task.bpmn", _held),
        Scenario("extended", "one_task.bpmn", _extended),
        Scenario("assigned", "one_task.bpmn", _assigned),
        Scenario("net", "timer_catch.bpmn", _net, settle_ms=2 * DAY_MS),
    )
}
