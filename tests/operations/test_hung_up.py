"""A client that hangs up while it waits for jobs is given none."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace

from chalicelib.operations import claims
from chalicelib.operations.claims import Activation
from chalicelib.operations.handing_out import Claimant
from tests.operations.stage import Stage
from tests.operations.watched import watched


def test_a_job_that_nobody_would_be_told_of_stays_for_the_next() -> None:
    stage = Stage()
    (made,) = stage.jobs_of(stage.create("one_task.bpmn", amount=5))
    gone: list[bool] = []
    ports, watch = watched(stage.ports)
    watch.after["queues.receive", 1] = lambda: gone.append(True)
    hung_up = SimpleNamespace(
        now=stage.clock.now, sleep=stage.clock.sleep, is_stopping=lambda: bool(gone)
    )
    asked = Activation("charge", Claimant("gone", None), wait_for=timedelta(seconds=20))

    assert [] == claims.activate(replace(ports, clock=hung_up), asked)

    assert stage.job(made.key).owner is None
    assert [made.key] == [job.key for job in stage.activate("charge", "b")]
