"""Operators at work while workers are: retries, incidents, assignees, ring --all, safe starts."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from tests.simulation import expectations, operators
from tests.simulation.clients import one_start, start_once
from tests.simulation.scenario import Scenario
from tests.simulation.scenarios.failing import HOUR_MS, THREE_TRIES, but_the_last, the_first
from tests.simulation.stage import Stage
from tests.simulation.workers import Habits, hire


def _retries_set(stage: Stage) -> None:
    """An operator sets the retries of a job that waits out its backoff, or is at work."""
    one_start(stage)
    habits = Habits(fails=but_the_last, backoff=timedelta(minutes=20))
    hire(stage, "worker", "charge", habits)
    stage.client("operator", lambda: operators.set_retries(stage, 2), after_ms=400)


def _set_at_work(stage: Stage) -> None:
    """An operator sets the retries of a job at the moment it is completed."""
    one_start(stage)
    hire(stage, "worker", "charge")
    stage.client("operator", lambda: operators.set_retries(stage, 4), after_ms=212)


def _set_at_last_failure(stage: Stage) -> None:
    """An operator sets the retries of a job at the moment its last attempt fails."""
    one_start(stage)
    hire(stage, "worker", "charge", Habits(fails=the_first))
    stage.client("setter", lambda: operators.set_retries(stage, 4), after_ms=240)
    stage.world.spawn("resolver", lambda: operators.resolve_incidents(stage))


def _resolved_and_set(stage: Stage) -> None:
    """Two operators resolve an incident at the moment two others set its job's retries."""
    one_start(stage)
    hire(stage, "worker", "charge", Habits(fails=the_first))
    stage.world.spawn("resolver", lambda: operators.resolve_incidents(stage))
    stage.world.spawn("other resolver", lambda: operators.resolve_incidents(stage), 12)
    stage.client("setter", lambda: operators.set_retries(stage, 5), after_ms=700)
    stage.client("other setter", lambda: operators.set_retries(stage, 6), after_ms=703)


def _resolved_and_cancelled(stage: Stage) -> None:
    """An incident is resolved at the moment its instance is cancelled."""
    one_start(stage)
    hire(stage, "worker", "charge", Habits(fails=the_first))
    stage.world.spawn("resolver", lambda: operators.resolve_incidents(stage))
    stage.world.spawn("canceller", lambda: operators.cancel_what_is_stuck(stage), 4)


def _moved_and_completed(stage: Stage) -> None:
    """A token is moved at the moment the job it waits for is completed."""
    one_start(stage)
    hire(stage, "worker", "charge")
    stage.client("operator", lambda: operators.move(stage, "charge"), after_ms=214)


def _rung_at_work(stage: Stage) -> None:
    """All is rung for while a job fails, is handed out again and is completed."""
    one_start(stage)
    hire(stage, "worker", "charge", Habits(work_ms=50, fails=but_the_last))
    for number in range(3):
        stage.client(f"operator {number}", lambda: operators.ring_all(stage), 60 + 70 * number)


def _assigned(stage: Stage) -> None:
    """A job is given to somebody at the moment it is completed."""
    one_start(stage)
    hire(stage, "worker", "charge")
    stage.client("operator", lambda: operators.assign(stage, "clerk"), after_ms=212)


def _started_once(stage: Stage) -> None:
    """Two clients start with the same Idempotency-Key, and both repeat: there is one instance."""
    for number in range(2):  # the second one finds the mark, unless the first is delayed
        stage.client(f"client {number}", lambda: start_once(stage, "order 4711"), 7 * number)
    hire(stage, "worker", "charge")


def _two_deployments(stage: Stage) -> None:
    """Two clients deploy two texts of one process at once: each is a version of its own."""
    for number in range(2):
        name = f"Order {number}"
        stage.client(f"client {number}", partial(operators.deploy, stage, "one_task.bpmn", name))
    one_start(stage)
    hire(stage, "worker", "charge")


SCENARIOS = (
    Scenario("retries-set", "one_task.bpmn", _retries_set, THREE_TRIES, struck_ms=HOUR_MS),
    Scenario("set-at-work", "one_task.bpmn", _set_at_work),
    Scenario("set-at-last-failure", "one_task.bpmn", _set_at_last_failure),
    Scenario("resolved-and-set", "one_task.bpmn", _resolved_and_set),
    Scenario("resolved-and-cancelled", "one_task.bpmn", _resolved_and_cancelled),
    Scenario(
        "moved-and-completed", "one_task.bpmn", _moved_and_completed, expect=expectations.moved_once
    ),
    Scenario("rung-at-work", "one_task.bpmn", _rung_at_work, THREE_TRIES),
    Scenario("assigned", "one_task.bpmn", _assigned),
    Scenario("started-once", "one_task.bpmn", _started_once),
    Scenario("two-deployments", "one_task.bpmn", _two_deployments, expect=expectations.versions),
)
