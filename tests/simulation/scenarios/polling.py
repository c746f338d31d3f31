"""Workers that hold jobs without an end, and people who claim what is no job."""

from __future__ import annotations

from datetime import timedelta
from functools import partial

from chalicelib.profile import Profile
from tests.simulation import expectations, operators, people
from tests.simulation.clients import cancel, one_start
from tests.simulation.scenario import Edit, Scenario
from tests.simulation.stage import Stage
from tests.simulation.workers import Habits, hire

HOLDING = Habits(lock=None, work_ms=300)
FAILING = Habits(lock=None, work_ms=200, fails=lambda job: job.delivery_token < 3, leaves=2)
LOCKING = Habits(timedelta(seconds=3), work_ms=150)
RELEASE_MS = 20_000  # between two releases: a worker that died leaves its hold behind
CLAIMED = (
    Edit("bpmn:serviceTask", "bpmn:userTask"),
    Edit('<zeebe:taskDefinition type="charge" />', ""),
)


def _release_regularly(stage: Stage, after_ms: int) -> None:
    """Free all holds now and then, as starts of a server do."""
    stage.world.pause(after_ms)
    while not stage.is_over:
        operators.release_holds(stage)
        stage.world.pause(RELEASE_MS)


def _polled_and_activated(stage: Stage) -> None:
    """A worker that holds and one that locks are after one job; holds are released."""
    one_start(stage)
    hire(stage, "poller", "charge", HOLDING)
    hire(stage, "worker", "charge", LOCKING, delay_ms=1)
    stage.world.spawn("operator", partial(_release_regularly, stage, 2_000))


def _failed_and_released(stage: Stage) -> None:
    """A worker says how many retries are left at the moment at which holds are released."""
    one_start(stage)
    hire(stage, "poller", "charge", FAILING)
    hire(stage, "other", "charge", FAILING, delay_ms=5)
    stage.world.spawn("operator", partial(_release_regularly, stage, 204))


def _claimed_by_two(stage: Stage) -> None:
    """Two people claim one user task at once; whoever has it completes it."""
    one_start(stage)
    for name in ("ann", "bob"):
        stage.world.spawn(name, partial(people.claim_and_complete, stage, name), 20)


def _claimed_and_cancelled(stage: Stage) -> None:
    """A user task is claimed at the moment its instance is cancelled."""

    def act(key: int) -> None:
        stage.world.pause(8)
        cancel(stage, key)

    one_start(stage, act)
    for delay_ms in (18, 21):
        stage.world.spawn("ann", partial(people.claim_and_complete, stage, "ann"), delay_ms)


SCENARIOS = (
    Scenario("polled-and-activated", "one_task.bpmn", _polled_and_activated),
    Scenario(
        "failed-and-released",
        "one_task.bpmn",
        _failed_and_released,
        profile=Profile.PRIOSTACK,
    ),
    Scenario(
        "claimed-by-two",
        "one_task.bpmn",
        _claimed_by_two,
        CLAIMED,
        expect=expectations.claimed_once,
        profile=Profile.PRIOSTACK,
    ),
    Scenario(
        "claimed-and-cancelled",
        "one_task.bpmn",
        _claimed_and_cancelled,
        CLAIMED,
        profile=Profile.PRIOSTACK,
    ),
)
