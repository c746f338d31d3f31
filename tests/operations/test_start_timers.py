"""Timer start events: one start for each firing, by the latest version and no other."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from chalicelib.delivery import start_timers as messages
from chalicelib.delivery import timers
from chalicelib.engine.state import InstanceState
from chalicelib.errors import Rejected
from chalicelib.operations.sweep import ring_all
from chalicelib.profile import Profile
from chalicelib.store import start_timers
from chalicelib.store.start_timers import Starts
from chalicelib.triggers.timers import on_timers
from tests.bpmn.models import END, flow, model, timer_event
from tests.fakes.clock import BEGIN
from tests.operations.stage import Stage
from tests.operations.sweeping import sweep_all
from tests.operations.watched import Crash, die, watched

SECOND = timedelta(seconds=1)
TASK = (
    '<serviceTask id="t"><extensionElements><zeebe:taskDefinition type="work"/>'
    "</extensionElements></serviceTask>"
)


def started_by(kind: str, text: str, *, name: str = "Order", more: str = "") -> bytes:
    """Return a process that a timer starts, with one task."""
    start = timer_event("startEvent", kind, text)
    body = start + TASK + END + flow("a", "t") + flow("t", "end") + more
    return model(body, process=f'id="order" name="{name}" isExecutable="true"')


def roots(stage: Stage) -> list[int]:
    """Return the keys of all instances, in the order they were made."""
    found = [
        int(str(item["pk"])[2:])
        for item in stage.table.scan(0, 1).items
        if str(item["pk"]).startswith("I#") and "execution" in item
    ]
    return sorted(found)


def starts(stage: Stage) -> Starts:
    found = start_timers.read(stage.table, Profile.ZENBPM, "order")
    assert found is not None
    return found


def created(stage: Stage) -> list[float]:
    """Return when instances were made, in seconds since the clock began."""
    begin = BEGIN
    keys = roots(stage)
    return [(stage.instance(key).root.created_at - begin).total_seconds() for key in keys]


def test_a_start_at_a_date_starts_one_instance_and_it_continues() -> None:
    """Row 46 of the known ways to get it wrong."""
    stage = Stage()
    due = (stage.clock.now() + 10 * SECOND).isoformat()
    stage.deploy(started_by("timeDate", due))

    stage.wait(9)
    assert [] == roots(stage)
    stage.wait(60)
    (key,) = roots(stage)
    stage.work("work")

    assert InstanceState.COMPLETED is stage.state(key)
    assert {} == starts(stage).timers


def test_a_cycle_starts_as_often_as_it_says() -> None:
    stage = Stage()
    stage.deploy(started_by("timeCycle", "R3/PT10S"))

    stage.wait(120)

    assert [10, 20, 30] == created(stage)
    assert (3, {}) == (starts(stage).firings, starts(stage).timers)


def test_a_cron_expression_starts_on_the_minute() -> None:
    stage = Stage()
    begin = stage.clock.now()
    stage.deploy(started_by("timeCycle", "*/30 * * * * *"))

    stage.wait(65)

    moments = [stage.instance(key).root.created_at for key in roots(stage)]
    assert {0, 30} >= {moment.second for moment in moments}
    assert 2 == len([moment for moment in moments if moment > begin])


def test_the_value_may_be_an_expression_of_the_moment_of_deployment() -> None:
    stage = Stage()
    stage.deploy(started_by("timeDate", '=now() + duration("PT20S")'))

    stage.wait(30)

    assert [20] == created(stage)


def test_an_identical_deployment_changes_nothing() -> None:
    """Row 38 of the known ways to get it wrong."""
    stage = Stage()
    stage.deploy(started_by("timeCycle", "R2/PT10S"))
    stage.wait(15)
    before = starts(stage)

    stage.deploy(started_by("timeCycle", "R2/PT10S"))
    assert before == starts(stage)
    stage.wait(60)

    assert [10, 20] == created(stage)


def test_a_new_version_cancels_the_timers_of_the_old_one() -> None:
    stage = Stage()
    stage.deploy(started_by("timeCycle", "R/PT10S"))
    stage.wait(15)
    newer = stage.deploy(started_by("timeCycle", "R1/PT1M"))
    stage.wait(90)

    assert [10, 75] == created(stage)
    assert newer.key == stage.instance(roots(stage)[-1]).root.definition_key


def test_a_new_version_without_a_timer_starts_nothing() -> None:
    stage = Stage()
    stage.deploy(started_by("timeCycle", "R/PT10S"))
    plain = model(
        '<startEvent id="a"/>' + TASK + END + flow("a", "t") + flow("t", "end"),
    )
    stage.deploy(plain)

    stage.wait(30)

    assert [] == roots(stage)
    assert [] == stage.queues.bodies(timers.QUEUE)


def test_each_profile_has_timers_of_its_own() -> None:
    stage = Stage()
    for profile in Profile:
        stage.deploy(started_by("timeCycle", "R1/PT10S"), profile)

    stage.wait(30)

    assert sorted(Profile) == sorted(stage.instance(key).root.profile for key in roots(stage))


def test_the_grid_stays_at_a_start_that_is_past() -> None:
    """Row 40 of the known ways to get it wrong."""
    stage = Stage()
    anchor = stage.clock.now() - timedelta(hours=5, minutes=59, seconds=47)
    stage.deploy(started_by("timeCycle", f"R/{anchor.isoformat()}/PT1M"))

    stage.wait(130)

    assert [13, 73] == created(stage)


def test_missed_firings_start_one_instance_and_the_next_is_ahead() -> None:
    """Row 41 of the known ways to get it wrong."""
    stage = Stage()
    stage.deploy(started_by("timeCycle", "R/PT1H"))
    stage.wait(10)

    stage.clock.move(timedelta(hours=5, minutes=30).total_seconds())
    ring_all(stage.ports)
    stage.pump()

    assert [5.5 * 3600 + 10] == created(stage)
    (timer,) = starts(stage).timers.values()
    assert (timer.due - timer.anchor) == timedelta(hours=6)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("timeDate", "10000-01-01T00:00:00Z"),
        ("timeDate", '=date and time("9999-12-31T23:59:59Z") + duration("P1Y")'),
        ("timeCycle", "R/P999999Y"),
        ("timeCycle", "=null"),
        ("timeDate", "=order.due"),
        ("timeDuration", "PT1H"),
    ],
)
def test_what_no_calendar_has_is_refused_with_the_element(kind: str, text: str) -> None:
    """Row 43 of the known ways to get it wrong."""
    stage = Stage()

    with pytest.raises(Rejected, match='startEvent "a"'):
        stage.deploy(started_by(kind, text.replace('"', "&quot;")))
    assert [] == stage.queues.bodies(timers.QUEUE)


def test_the_last_year_of_the_calendar_is_planned() -> None:
    """Row 43 of the known ways to get it wrong."""
    stage = Stage()
    stage.deploy(started_by("timeDate", "9999-12-31T23:59:59Z"))

    (timer,) = starts(stage).timers.values()
    assert datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC) == timer.due
    stage.wait(5)
    assert [] == roots(stage)


def test_a_message_that_comes_twice_starts_once() -> None:
    stage = Stage()
    stage.deploy(started_by("timeCycle", "R/PT10S"))
    (body,) = stage.queues.bodies(timers.QUEUE)
    stage.clock.move(10)

    assert [] == on_timers(stage.ports, [("a", body), ("b", body)])

    assert 1 == len(roots(stage))
    assert 1 == starts(stage).firings


def test_a_firing_that_dies_before_its_commit_is_done_by_whoever_gets_the_message_next() -> None:
    stage = Stage()
    stage.deploy(started_by("timeCycle", "R2/PT10S"))
    (body,) = stage.queues.bodies(timers.QUEUE)
    stage.clock.move(10)
    ports, watch = watched(stage.ports)
    watch.before["table.transact", 1] = die
    with pytest.raises(Crash):
        on_timers(ports, [("a", body)])
    assert [] == roots(stage)

    on_timers(stage.ports, [("a", body)])
    stage.wait(60)

    assert [10, 20] == created(stage)
    assert [] == stage.queues.bodies(timers.QUEUE)


def test_a_message_before_its_deployment_is_early_and_then_spare() -> None:
    stage = Stage()
    other = Stage()
    other.deploy(started_by("timeCycle", "R1/PT10S"))
    (body,) = other.queues.bodies(timers.QUEUE)

    assert [] == on_timers(stage.ports, [("a", body)])
    assert [body] == stage.queues.bodies(timers.QUEUE)
    stage.wait(200)

    assert [] == stage.queues.bodies(timers.QUEUE)


def test_a_lost_message_is_told_again_by_the_sweeper() -> None:
    stage = Stage()
    stage.deploy(started_by("timeCycle", "R1/PT10S"))
    stage.queues.lose(timers.QUEUE)
    stage.clock.move(60)
    assert 0 == sweep_all(stage.ports).mended
    stage.clock.move(600)

    assert 1 == sweep_all(stage.ports).mended
    stage.pump()

    assert 1 == len(roots(stage))


def test_a_start_that_is_days_away_goes_by_way_of_one_schedule() -> None:
    stage = Stage()
    stage.deploy(started_by("timeCycle", "R1/P3D"))

    stage.wait(900)
    (plan,) = stage.schedules.planned.values()
    message = messages.from_text(plan.body)
    assert 75 * SECOND <= message.due - plan.at < 856 * SECOND
    stage.clock.move((plan.at - stage.clock.now()).total_seconds())
    stage.schedules.fire_due()
    stage.wait(900)

    assert [3 * 86_400] == created(stage)
