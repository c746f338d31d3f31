"""A timer at a task takes its job away, or leaves it, as the model says."""

from __future__ import annotations

import pytest

from tests.api.client import Client
from tests.api.priostack.driver import (
    GONE,
    activate,
    complete,
    fail,
    incidents,
    instance,
    jobs,
    process,
    start,
    state,
    task,
)
from tests.operations.stage import Stage


def model(cancels: str = "") -> bytes:
    """Return a task with a timer of 30 seconds; each of them leads to a task of its own."""
    return process(
        '<startEvent id="s"/>',
        task("work"),
        f'<boundaryEvent id="late" attachedToRef="work" {cancels}><timerEventDefinition>'
        "<timeDuration>PT30S</timeDuration></timerEventDefinition></boundaryEvent>",
        task("after"),
        task("remind"),
        '<endEvent id="e"/><endEvent id="f"/>',
        flows="s>work work>after after>e late>remind remind>f",
    )


INTERRUPTING = [model(), model('cancelActivity="true"')]
BESIDE = model('cancelActivity="false"')


@pytest.mark.rule("P44", "P45", "P46", "P47", "P54")
@pytest.mark.parametrize("xml", INTERRUPTING, ids=["absent", "true"])
def test_a_timer_that_interrupts_takes_the_job_away(
    client: Client, stage: Stage, xml: bytes
) -> None:
    key = start(client, xml)
    (job,) = activate(client)
    stage.wait(31)

    assert GONE == complete(client, job)
    assert GONE == fail(client, job, retries=2)
    assert ("ACTIVE", []) == (state(client, key), incidents(client))
    assert ["remind"] == [each["type"] for each in jobs(client)]


@pytest.mark.rule("P48")
def test_a_job_that_waits_is_taken_away_as_well(client: Client, stage: Stage) -> None:
    start(client, model())
    (job,) = jobs(client)
    stage.wait(31)

    assert [] == activate(client)
    assert GONE == complete(client, job)


@pytest.mark.rule("P49")
def test_a_timer_beside_the_task_leaves_the_job(client: Client, stage: Stage) -> None:
    start(client, BESIDE)
    (job,) = activate(client)
    stage.wait(31)

    assert (200, {}) == complete(client, job)
    assert ["after", "remind"] == sorted(each["type"] for each in jobs(client))


@pytest.mark.rule("P50")
def test_a_job_completed_in_time_takes_its_timer_along(client: Client, stage: Stage) -> None:
    start(client, model())
    (job,) = activate(client)
    stage.wait(29)
    complete(client, job)
    stage.wait(60)

    assert ["after"] == [each["type"] for each in jobs(client)]


@pytest.mark.rule("P51")
def test_a_timer_counts_from_the_token_on_not_from_the_activation(
    client: Client, stage: Stage
) -> None:
    start(client, model())
    stage.wait(20)
    (job,) = activate(client)
    stage.wait(11)

    assert GONE == complete(client, job)


@pytest.mark.rule("P52")
def test_a_failure_does_not_wind_the_timer_up_again(client: Client, stage: Stage) -> None:
    start(client, model())
    (job,) = activate(client)
    stage.wait(20)
    fail(client, job, retries=2)
    stage.wait(11)

    assert GONE == complete(client, job)


@pytest.mark.rule("P53")
def test_a_timer_due_while_nothing_ran_fires_once(client: Client, stage: Stage) -> None:
    key = start(client, BESIDE)
    stage.clock.move(3_600)
    stage.wait(2)
    stage.wait(3_600)

    assert ["remind", "work"] == sorted(each["type"] for each in jobs(client))
    assert "ACTIVE" == instance(client, key)["state"]
