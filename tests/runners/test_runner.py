"""One attempt of any type, with its times; what is not needed is not loaded."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from datetime import timedelta

import pytest

from chalicelib.ports import Runner
from chalicelib.runners import ending
from chalicelib.runners.ending import Ending
from chalicelib.runners.runner import JobRunner
from chalicelib.scheduler.definition import SCRIPT, ScheduledJob
from chalicelib.scheduler.rows import Attempt, Outcome
from tests.fakes.clock import ManualClock
from tests.fakes.runner import Said, ScriptedRunner, remaining
from tests.house.source import ROOT
from tests.runners.definitions import JOB, NOW, PATIENCE, row


class Echo:
    """Says what it was given, and takes a second."""

    def __init__(self, clock: ManualClock, name: str) -> None:
        self._clock, self._name = clock, name

    def run(self, job: ScheduledJob, pool_idx: int, timeout: timedelta) -> Ending:
        self._clock.move(1)
        said = f"{self._name} {job.id} {pool_idx} {timeout.total_seconds():.0f}"
        return ending.failed(said, b"out", status_code=500)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def runner(clock: ManualClock) -> Runner:
    return JobRunner(clock, lambda: Echo(clock, "http"), lambda: Echo(clock, "script"))


def test_an_attempt_has_its_times_and_what_came_of_it(runner: Runner) -> None:
    attempt = runner.run(JOB, row(pool_idx=2), PATIENCE)

    assert (
        Attempt(
            Outcome.FAILED,
            NOW,
            NOW + timedelta(seconds=1),
            status_code=500,
            error="http j1 2 60",
            output=b"out",
        )
        == attempt
    )


def test_a_script_goes_to_the_runner_of_scripts(runner: Runner) -> None:
    attempt = runner.run(replace(JOB, type=SCRIPT), row(), PATIENCE)

    assert attempt.error.startswith("script j1")


@pytest.mark.rule("Z66")
@pytest.mark.parametrize("kind", ["", "HTTP", "grpc"])
def test_an_unsupported_type_is_cancelled(runner: Runner, kind: str) -> None:
    attempt = runner.run(replace(JOB, type=kind), row(), PATIENCE)

    assert (Outcome.CANCELLED, NOW, NOW) == (
        attempt.outcome,
        attempt.started_at,
        attempt.finished_at,
    )
    assert f"type: expected http or script, found {kind!r}" == attempt.error


def test_errors_are_kept_short() -> None:
    assert 500 == len(ending.failed("x" * 900).error) == len(ending.cancelled("x" * 900).error)


def test_the_scripted_runner_says_its_last_again_and_again(clock: ManualClock) -> None:
    runner: ScriptedRunner = ScriptedRunner(clock, remaining(2), Said(takes_s=3))

    outputs = [runner.run(JOB, row(), PATIENCE).output for _ in range(3)]

    assert [b'{"result":{"remaining":2}}', b"", b""] == outputs
    assert NOW + timedelta(seconds=6) == clock.now()
    assert 3 == len(runner.made)


def test_the_http_client_is_not_loaded_before_a_call_is_made() -> None:
    code = (
        "import chalicelib.runners.runner, chalicelib.runners.scripts, chalicelib.runners.sinks\n"
        "import sys; print(sorted({'httpcore', 'boto3', 'botocore'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert "[]" == done.stdout.strip()
