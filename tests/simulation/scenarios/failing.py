"""Failures against all that may happen to a job at the same moment."""

from __future__ import annotations

from datetime import timedelta

from chalicelib.engine.state import Job
from tests.simulation import expectations, operators
from tests.simulation.clients import one_start
from tests.simulation.scenario import Edit, Scenario
from tests.simulation.stage import Stage
from tests.simulation.workers import Habits, hire

THREE_TRIES = (Edit('type="charge"', 'type="charge" retries="3"'),)
SHORT_LOCK = timedelta(seconds=2)
HOUR_MS = 3_600_000


def but_the_last(job: Job) -> bool:
    """Fail every attempt but the last one that the job has."""
    return job.retries > 1


def the_first(job: Job) -> bool:
    """Fail the first delivery."""
    return job.delivery_token == 1


def the_second(job: Job) -> bool:
    """Fail the second delivery."""
    return job.delivery_token == 2


def _failure_and_lapse(stage: Stage) -> None:
    """A worker fails its job at the moment its lock lapses and another one gets it."""
    one_start(stage)
    habits = Habits(SHORT_LOCK, 300, first_ms=1_990, fails=but_the_last)
    hire(stage, "slow worker", "charge", habits)
    hire(stage, "other worker", "charge", habits)


def _doubled_bell(stage: Stage) -> None:
    """The first bell comes twice, to two workers; whoever gets the job fails it quickly."""
    one_start(stage)
    habits = Habits(SHORT_LOCK, 100, fails=but_the_last)
    hire(stage, "worker", "charge", habits)
    hire(stage, "other worker", "charge", habits)
    stage.world.spawn("queue", lambda: operators.double_messages(stage, "charge"))


def _failure_and_completion(stage: Stage) -> None:
    """A worker whose lock is over completes at the moment the next one fails."""
    one_start(stage)
    habits = Habits(SHORT_LOCK, 300, first_ms=2_310, fails=the_second)
    hire(stage, "slow worker", "charge", habits)
    hire(stage, "other worker", "charge", habits)


def _far_backoff(stage: Stage) -> None:
    """A failure with a backoff of 20 minutes: its bell is exchanged for a schedule."""
    one_start(stage)
    habits = Habits(fails=but_the_last, backoff=timedelta(minutes=20))
    hire(stage, "worker", "charge", habits)


def _backoff_and_doubled_bell(stage: Stage) -> None:
    """A job waits out a backoff while an older bell of it is still around."""
    one_start(stage)
    habits = Habits(SHORT_LOCK, 50, fails=but_the_last, backoff=timedelta(seconds=5))
    hire(stage, "worker", "charge", habits)
    hire(stage, "other worker", "charge", habits)
    stage.world.spawn("queue", lambda: operators.double_messages(stage, "charge"))


def _exhausted(stage: Stage) -> None:
    """The only attempt fails; an operator resolves the incident, and a new series succeeds."""
    one_start(stage)
    hire(stage, "worker", "charge", Habits(fails=the_first))
    stage.world.spawn("operator", lambda: operators.resolve_incidents(stage))


def _last_failure_and_lapse(stage: Stage) -> None:
    """The last attempt fails at the moment the lock lapses and another worker gets the job."""
    one_start(stage)
    habits = Habits(SHORT_LOCK, 300, first_ms=1_990, fails=the_first)
    hire(stage, "slow worker", "charge", habits)
    hire(stage, "other worker", "charge", habits)
    stage.world.spawn("operator", lambda: operators.resolve_incidents(stage))


def _last_failure_and_completion(stage: Stage) -> None:
    """A worker whose lock is over completes at the moment the next one fails for good."""
    one_start(stage)
    habits = Habits(SHORT_LOCK, 300, first_ms=2_310, fails=the_second)
    hire(stage, "slow worker", "charge", habits)
    hire(stage, "other worker", "charge", habits)
    stage.world.spawn("operator", lambda: operators.resolve_incidents(stage))


def _last_failure_twice(stage: Stage) -> None:
    """The last attempt's failure is sent twice at once: it opens one incident."""
    one_start(stage)
    hire(stage, "worker", "charge", Habits(fails=the_first, doubles_failures=True))
    stage.world.spawn("operator", lambda: operators.resolve_incidents(stage))


def _failed_once(stage: Stage) -> None:
    """A failure without a token, made safe to repeat by an Idempotency-Key."""
    one_start(stage)
    hire(stage, "worker", "charge", Habits(work_ms=50, fails=but_the_last, names_failures=True))


SCENARIOS = (
    Scenario("failure-and-lapse", "one_task.bpmn", _failure_and_lapse, THREE_TRIES),
    Scenario("doubled-bell", "one_task.bpmn", _doubled_bell, THREE_TRIES),
    Scenario("failure-and-completion", "one_task.bpmn", _failure_and_completion, THREE_TRIES),
    Scenario("far-backoff", "one_task.bpmn", _far_backoff, THREE_TRIES, struck_ms=HOUR_MS),
    Scenario("backoff-and-doubled-bell", "one_task.bpmn", _backoff_and_doubled_bell, THREE_TRIES),
    Scenario("exhausted", "one_task.bpmn", _exhausted),
    Scenario("last-failure-and-lapse", "one_task.bpmn", _last_failure_and_lapse),
    Scenario("last-failure-and-completion", "one_task.bpmn", _last_failure_and_completion),
    Scenario(
        "last-failure-twice",
        "one_task.bpmn",
        _last_failure_twice,
        expect=expectations.one_incident,
    ),
    Scenario("failed-once", "one_task.bpmn", _failed_once, THREE_TRIES),
)
