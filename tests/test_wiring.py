"""The ports on AWS are made by name, once, and cost nothing before they are used."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from chalicelib import wiring
from chalicelib.delivery.firings import EventBridgeFirings, PlannedFirings
from chalicelib.delivery.sqs import SqsQueues
from chalicelib.engine.facts import TimerFired
from chalicelib.engine.state import Timer
from chalicelib.logs import Answered
from chalicelib.runners.sinks import AlarmSinks
from chalicelib.scheduler.definition import SCRIPT, HttpCall, ScriptCall
from chalicelib.settings import BadSetting
from chalicelib.store.dynamodb import DynamoTable
from chalicelib.telemetry.journal import LinesAndMore
from chalicelib.wiring import Lazy, SystemChance, SystemClock
from tests.runners.definitions import JOB, PATIENCE, row

ROOT = Path(__file__).parent.parent
NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
NAMES = {
    "HEADRACE_TABLE": "headrace-test",
    "HEADRACE_HISTORY_TABLE": "headrace-test-history",
    "HEADRACE_QUEUE_PREFIX": "headrace-test-",
    "HEADRACE_SCHEDULE_GROUP": "headrace-test",
    "HEADRACE_SCHEDULE_ROLE_ARN": "arn:aws:iam::123456789012:role/schedules",
}


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, value in NAMES.items():
        monkeypatch.setenv(name, value)
    wiring._ports.cache_clear()
    wiring._journal.cache_clear()
    yield
    wiring._ports.cache_clear()
    wiring._journal.cache_clear()


def behind(port: object) -> object:
    """Return what a port is made as with its first use."""
    assert isinstance(port, Lazy)
    return port._make()


def test_ports_are_made_once_by_the_names_in_the_environment(names: None) -> None:
    assert wiring.ports() is wiring.ports()
    assert wiring.clock is wiring.ports().clock


def test_long_waits_of_a_caller_end_when_it_is_gone() -> None:
    gone: list[bool] = []
    clock = wiring.SystemClock()

    with clock.asked_by(lambda: bool(gone)):
        before = clock.is_stopping()
        gone.append(True)
        after = clock.is_stopping()

    assert (False, True, False) == (before, after, clock.is_stopping())


@pytest.mark.parametrize("missing", sorted(NAMES))
def test_a_missing_name_is_told(names: None, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.delenv(missing)

    with pytest.raises(BadSetting, match=missing):
        wiring.ports()


def test_a_setting_that_makes_no_sense_stops_the_start(
    names: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOBS_MAX_RETRIES", "many")

    with pytest.raises(BadSetting, match="JOBS_MAX_RETRIES"):
        wiring.ports()


@pytest.mark.parametrize(
    ("variables", "made"),
    [
        ({}, EventBridgeFirings),
        ({"HEADRACE_FIRINGS": "recurring"}, EventBridgeFirings),
        ({"HEADRACE_FIRINGS": "planned"}, PlannedFirings),
    ],
)
def test_jobs_are_fired_by_schedules_that_recur_unless_the_stage_has_to_plan_each(
    names: None, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], made: type
) -> None:
    monkeypatch.delenv("HEADRACE_FIRINGS", raising=False)
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)

    assert isinstance(behind(wiring.ports().firings), made)


def test_a_way_of_firing_that_is_unknown_stops_the_start(
    names: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEADRACE_FIRINGS", "never")

    with pytest.raises(BadSetting, match="HEADRACE_FIRINGS to be recurring or planned"):
        wiring.ports()


def test_a_client_is_made_with_its_first_call_and_only_once() -> None:
    made: list[str] = []

    def make() -> str:
        made.append("client")
        return "a client"

    client = Lazy(make)
    assert [] == made

    assert "A CLIENT" == client.upper()
    assert 8 == client.__len__()
    assert ["client"] == made


def test_whether_an_attempt_at_a_write_was_the_first_is_for_the_store_to_know(
    names: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An SDK that is throttled in its second attempt does not tell that the first got no answer."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    table, queues = wiring.ports().table, wiring.ports().queues
    assert isinstance(table, DynamoTable) and isinstance(queues, SqsQueues)

    assert [1, 3] == [
        getattr(client.meta.config, "retries")["total_max_attempts"]  # noqa: B009
        for client in (table._client, queues.client)
    ]


def test_making_the_ports_makes_no_client(names: None) -> None:
    code = (
        "from chalicelib import wiring; wiring.ports(); import sys; print('boto3' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert "False" == done.stdout.strip()


def test_a_job_is_run_as_the_operator_allows(names: None, monkeypatch: pytest.MonkeyPatch) -> None:
    script = replace(JOB, type=SCRIPT, script=ScriptCall("sh", "exit 0"))
    inside = replace(JOB, http=HttpCall("http://127.0.0.1:1/"))

    refused = [wiring.ports().runner.run(job, row(), PATIENCE) for job in (script, inside)]
    monkeypatch.setenv("SCHEDULER_SCRIPTS", "true")
    monkeypatch.setenv("SCHEDULER_ALLOW_PRIVATE_ADDRESSES", "true")
    wiring._ports.cache_clear()
    allowed = [wiring.ports().runner.run(job, row(), PATIENCE) for job in (script, inside)]

    assert "SCHEDULER_SCRIPTS" in refused[0].error
    assert "SCHEDULER_ALLOW_PRIVATE_ADDRESSES" in refused[1].error
    assert ["", "could not connect to 127.0.0.1: Connection refused"] == [
        attempt.error for attempt in allowed
    ]


def test_an_alarm_by_email_comes_from_the_operators_address(
    names: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCHEDULER_ALARM_SENDER", "alarms@example.com")
    alerts = behind(wiring.ports().alerts)

    assert isinstance(alerts, AlarmSinks)
    assert "alarms@example.com" == alerts.sender


def test_the_clock_tells_whole_milliseconds_in_utc() -> None:
    now = SystemClock().now()

    assert (UTC, 0) == (now.tzinfo, now.microsecond % 1_000)


def test_the_clock_says_when_the_process_is_to_end() -> None:
    clock = SystemClock()
    assert not clock.is_stopping()

    clock.stop()

    assert clock.is_stopping()


def test_chance_gives_ids_that_nobody_else_has() -> None:
    chance = SystemChance()

    assert 100 == len({chance.id() for _ in range(100)})
    assert {32} == {len(chance.id())}
    assert 0 <= chance.share() < 1


ON_LAMBDA = {"AWS_LAMBDA_FUNCTION_NAME": "headrace-test-api"}


@pytest.mark.parametrize(
    ("variables", "writes"),
    [
        (ON_LAMBDA, True),
        ({}, False),
        ({**ON_LAMBDA, "POWERTOOLS_METRICS_DISABLED": "true"}, False),
        ({**ON_LAMBDA, "POWERTOOLS_METRICS_DISABLED": "0"}, True),
    ],
)
def test_metrics_are_written_on_lambda_alone_and_only_if_they_are_wanted(
    names: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variables: dict[str, str],
    writes: bool,
) -> None:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)

    wiring.ports().journal.tell([TimerFired(Timer(1, 1, "timer", 1, NOW, NOW))])
    wiring.after_invocation(Answered("GET", "/v1/jobs", 200, 0, 2, 1.5))

    written = capsys.readouterr().out
    assert [writes] * 2 == [name in written for name in ("timers_fired", "request_uri_total")]


def test_the_end_of_an_invocation_that_needed_no_ports_loads_no_client_and_no_powertools() -> None:
    code = (
        "import sys; from chalicelib import wiring; wiring.after_invocation(None);"
        "print([name for name in ('boto3', 'aws_lambda_powertools') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert "[]" == done.stdout.strip()


@pytest.mark.parametrize(
    ("variables", "sends"),
    [
        ({}, False),
        ({"TRACING_ENABLED": "true"}, False),
        ({"AWS_XRAY_DAEMON_ADDRESS": "127.0.0.1:2000"}, False),
        ({"TRACING_ENABLED": "true", "AWS_XRAY_DAEMON_ADDRESS": "127.0.0.1:2000"}, True),
    ],
)
def test_spans_are_sent_if_an_operator_wants_them_and_there_is_a_daemon(
    names: None, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], sends: bool
) -> None:
    for variable, value in variables.items():
        monkeypatch.setenv(variable, value)
    journal = wiring.ports().journal

    assert isinstance(journal, LinesAndMore)
    assert sends == (journal.send is not None)
