"""Who gets a job, and for how long: races for it, Lambda and HTTP, extensions, holds, caps."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from tests.simulation import operators
from tests.simulation.clients import one_start
from tests.simulation.scenario import Scenario
from tests.simulation.stage import Stage
from tests.simulation.workers import Habits, hire, insist, subscribe

SHORT_LOCK = timedelta(seconds=2)


def _two_workers(stage: Stage) -> None:
    """Two workers wait for one job, and one of them works beyond its lock."""
    one_start(stage)
    hire(stage, "quick worker", "charge", Habits(lock=SHORT_LOCK))
    hire(stage, "slow worker", "charge", Habits(SHORT_LOCK, first_ms=2_050))


def _late_completion(stage: Stage) -> None:
    """A worker completes at the moment its lock lapses and another one gets the job."""
    one_start(stage)
    habits = Habits(SHORT_LOCK, 300, first_ms=1_985)
    hire(stage, "slow worker", "charge", habits)
    hire(stage, "other worker", "charge", habits)


def _lambda_worker(stage: Stage) -> None:
    """A Lambda function subscribed to the type's queue: it claims by key, with the bell."""
    one_start(stage)
    subscribe(stage, "lambda worker", "charge")


def _lambda_and_http(stage: Stage) -> None:
    """Two instances; a Lambda worker and an HTTP worker share a queue, and a lock lapses."""
    one_start(stage)
    one_start(stage)
    subscribe(stage, "lambda worker", "charge", Habits(SHORT_LOCK, first_ms=1_950))
    hire(stage, "http worker", "charge", Habits(lock=SHORT_LOCK, work_ms=100, jobs_max=2))


def _extended(stage: Stage) -> None:
    """A lock is extended and shortened, also when it is over, another's or its job is done."""
    one_start(stage)
    habits = Habits(SHORT_LOCK, 300, first_ms=4_000)
    hire(stage, "worker", "charge", habits)
    hire(stage, "other worker", "charge", habits)
    for number in range(2):
        stage.client(f"extender {number}", lambda: operators.extend_first(stage), 100 + number)


def _extended_by_its_namesake(stage: Stage) -> None:
    """The same client gets its job again, and extends the lock of its first delivery."""
    one_start(stage)
    habits = Habits(SHORT_LOCK, 2_500)
    hire(stage, "worker", "charge", habits)
    hire(stage, "worker", "charge", habits)
    stage.client("extender", lambda: operators.extend_first(stage, after_ms=2_100), 100)


def _extended_far(stage: Stage) -> None:
    """Two extensions at once, both far: the bell is rung on for the end that comes later."""
    one_start(stage)
    hire(stage, "worker", "charge", Habits(SHORT_LOCK, 300, first_ms=30_000))
    for number, ends in enumerate(((40,), (60,))):
        extend = partial(operators.extend_first, stage, ends=ends)
        stage.client(f"extender {number}", extend, 100 + number)


def _held(stage: Stage) -> None:
    """A client holds a job without an end; holds are released while it completes."""
    one_start(stage)
    stage.client("setter", lambda: operators.set_retries(stage, 4), after_ms=100)
    stage.client("holder", lambda: operators.hold_and_complete(stage, "holder"), after_ms=100)
    stage.client("operator", lambda: operators.release_holds(stage), after_ms=310)
    stage.client("operator again", lambda: operators.release_holds(stage), after_ms=5_000)
    hire(stage, "worker", "charge", delay_ms=1_000)


def _asked_again(stage: Stage) -> None:
    """A client names its request and repeats it, also while the first attempt still runs."""
    one_start(stage)
    one_start(stage)
    insist(stage, "worker", "charge", Habits(jobs_max=2))


def _capped(stage: Stage) -> None:
    """A client that may hold one job asks for two, twice at the same time."""
    stage.watch.caps["worker"] = 1
    one_start(stage)
    one_start(stage)
    habits = Habits(SHORT_LOCK, 300, first_ms=2_050, jobs_max=2, max_active=1)
    hire(stage, "worker", "charge", habits)
    hire(stage, "worker", "charge", habits)


SCENARIOS = (
    Scenario("two-workers", "one_task.bpmn", _two_workers),
    Scenario("late-completion", "one_task.bpmn", _late_completion),
    Scenario("lambda-worker", "one_task.bpmn", _lambda_worker),
    Scenario("lambda-and-http", "one_task.bpmn", _lambda_and_http),
    Scenario("extended", "one_task.bpmn", _extended),
    Scenario("extended-by-its-namesake", "one_task.bpmn", _extended_by_its_namesake),
    Scenario("extended-far", "one_task.bpmn", _extended_far),
    Scenario("held", "one_task.bpmn", _held),
    Scenario("asked-again", "one_task.bpmn", _asked_again),
    Scenario("capped", "one_task.bpmn", _capped),
)
