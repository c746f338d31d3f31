"""What the firings of scheduled jobs ask of EventBridge Scheduler (moto, which never fires)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from chalicelib.delivery.firings import EventBridgeFirings, PlannedFirings
from chalicelib.delivery.scheduler import PUTS_MAX, EventBridgeSchedules, NotPlanned
from chalicelib.scheduler.definition import Cron, Every, Once, ScheduledJob
from tests.fakes.clock import BEGIN, ManualClock

JOB = ScheduledJob(id="a" * 32, name="drain", type="http", created_at=BEGIN, revision=3)
ROLE = "arn:aws:iam::123456789012:role/schedules"
GROUP = "headrace-test"
NIGHTLY = Cron("30 2 * * 1-5", "Europe/Paris")
MINUTE = timedelta(minutes=1)


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        made = boto3.client(
            "scheduler",
            region_name="eu-west-1",
            aws_access_key_id="test",
            aws_secret_access_key="test",
        )
        made.create_schedule_group(Name=GROUP)
        yield made


@pytest.fixture
def schedules(client: Any) -> EventBridgeSchedules:
    return EventBridgeSchedules(client, GROUP, ROLE, "headrace-test-")


@pytest.fixture
def recurring(schedules: EventBridgeSchedules) -> EventBridgeFirings:
    return EventBridgeFirings(schedules)


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def planned(schedules: EventBridgeSchedules, clock: ManualClock) -> PlannedFirings:
    return PlannedFirings(schedules, clock)


def found(client: Any, job: ScheduledJob = JOB) -> dict[str, Any]:
    return cast("dict[str, Any]", client.get_schedule(Name=f"sj-{job.id}", GroupName=GROUP))


def names(client: Any) -> list[str]:
    listed = client.list_schedules(GroupName=GROUP)["Schedules"]
    return sorted(each["Name"] for each in listed)


def by(schedule: Cron | Every | Once | None, **fields: Any) -> ScheduledJob:
    return replace(JOB, schedule=schedule, **fields)


def name_of(due: datetime, revision: int = 3) -> str:
    return f"sj-{JOB.id}-{revision}-{int(due.timestamp())}"


# --- one schedule for each job -----------------------------------------------------------------


def test_a_cron_job_has_a_schedule_in_its_time_zone(
    recurring: EventBridgeFirings, client: Any
) -> None:
    recurring.put(by(NIGHTLY), BEGIN)

    made = found(client)
    assert "cron(30 2 ? * 2-6 *)" == made["ScheduleExpression"]
    assert "Europe/Paris" == made["ScheduleExpressionTimezone"]
    assert {"Mode": "OFF"} == made["FlexibleTimeWindow"]
    assert "StartDate" not in made


def test_its_message_says_job_revision_and_when_it_was_due(
    recurring: EventBridgeFirings, client: Any
) -> None:
    recurring.put(by(NIGHTLY), BEGIN)

    target = found(client)["Target"]
    assert "arn:aws:sqs:eu-west-1:123456789012:headrace-test-runs" == target["Arn"]
    assert ROLE == target["RoleArn"]
    said = {"fire": JOB.id, "revision": 3, "due": "<aws.scheduler.scheduled-time>"}
    assert said == json.loads(target["Input"])


def test_an_interval_first_fires_one_interval_after_the_job_was_created(
    recurring: EventBridgeFirings, client: Any
) -> None:
    recurring.put(by(Every(600_000)), BEGIN)

    made = found(client)
    assert "rate(10 minutes)" == made["ScheduleExpression"]
    assert BEGIN + 10 * MINUTE == made["StartDate"]


def test_an_interval_that_is_put_again_later_keeps_its_grid(
    recurring: EventBridgeFirings, client: Any
) -> None:
    recurring.put(by(Every(600_000), revision=4), BEGIN + 25 * MINUTE)

    assert BEGIN + 30 * MINUTE == found(client)["StartDate"]


def test_a_one_off_has_a_schedule_that_is_gone_after_it(
    recurring: EventBridgeFirings, client: Any
) -> None:
    recurring.put(by(Once(datetime(2026, 3, 2, 12, 0, 0, 1, tzinfo=UTC))), BEGIN)

    made = found(client)
    assert "at(2026-03-02T12:00:01)" == made["ScheduleExpression"]
    assert "UTC" == made["ScheduleExpressionTimezone"]
    assert "DELETE" == made["ActionAfterCompletion"]


def test_a_change_puts_another_schedule_in_its_place(
    recurring: EventBridgeFirings, client: Any
) -> None:
    recurring.put(by(NIGHTLY), BEGIN)
    recurring.put(by(Every(600_000), revision=4), BEGIN)

    made = found(client)
    assert "rate(10 minutes)" == made["ScheduleExpression"]
    assert 4 == json.loads(made["Target"]["Input"])["revision"]
    assert [f"sj-{JOB.id}"] == names(client)


def test_an_equal_schedule_is_left_alone(recurring: EventBridgeFirings, client: Any) -> None:
    recurring.put(by(Every(600_000)), BEGIN)

    recurring.put(by(Every(600_000)), BEGIN + 25 * MINUTE)

    assert BEGIN + 10 * MINUTE == found(client)["StartDate"]


def test_a_job_without_firings_to_come_has_no_schedule(
    recurring: EventBridgeFirings, client: Any
) -> None:
    recurring.put(by(NIGHTLY), BEGIN)

    recurring.put(by(Once(BEGIN - MINUTE), revision=4), BEGIN)

    assert [] == names(client)


def test_a_schedule_that_goes_on_is_not_touched(recurring: EventBridgeFirings, client: Any) -> None:
    recurring.goes_on(by(NIGHTLY), BEGIN)

    assert [] == names(client)


class Changing:
    """An EventBridge Scheduler where others are always first."""

    def __init__(self) -> None:
        self.meta = type("Meta", (), {"region_name": "eu-west-1"})
        self.calls: list[str] = []

    def create_schedule(self, **asked: Any) -> None:
        self._refuse("create", "ConflictException")

    def get_schedule(self, **asked: Any) -> None:
        self._refuse("get", "ResourceNotFoundException")

    def _refuse(self, call: str, code: str) -> None:
        self.calls.append(call)
        raise ClientError({"Error": {"Code": code, "Message": code}}, call)


def test_a_schedule_that_others_keep_changing_is_a_fault() -> None:
    client = Changing()
    firings = EventBridgeFirings(EventBridgeSchedules(cast("Any", client), GROUP, ROLE, "h-"))

    with pytest.raises(NotPlanned, match=f"sj-{JOB.id}"):
        firings.put(by(NIGHTLY), BEGIN)

    assert ["create", "get"] * PUTS_MAX == client.calls


# --- a chain of one-time schedules -------------------------------------------------------------


def test_a_chain_has_its_next_firing_alone_in_utc(planned: PlannedFirings, client: Any) -> None:
    planned.put(by(NIGHTLY), BEGIN)  # on a Monday, at nine

    due = datetime(2026, 3, 3, 1, 30, tzinfo=UTC)
    assert [name_of(due)] == names(client)
    made = client.get_schedule(Name=name_of(due), GroupName=GROUP)
    assert "at(2026-03-03T01:30:00)" == made["ScheduleExpression"]
    assert "DELETE" == made["ActionAfterCompletion"]
    said = {"fire": JOB.id, "revision": 3, "due": int(due.timestamp()) * 1000}
    assert said == json.loads(made["Target"]["Input"])


def test_a_firing_plans_the_one_after_it_however_often_it_comes(
    planned: PlannedFirings, client: Any, clock: ManualClock
) -> None:
    job = by(Every(600_000))
    clock.move(600)

    planned.goes_on(job, BEGIN + 10 * MINUTE)
    planned.goes_on(job, BEGIN + 10 * MINUTE)

    assert [name_of(BEGIN + 20 * MINUTE)] == names(client)


@pytest.mark.parametrize(
    ("schedule", "down_s", "planned_for"),
    [
        (Every(600_000), 1_500, BEGIN + 20 * MINUTE),  # of 10 and 20 minutes after
        (Every(60_000), 7 * 86_400, BEGIN + timedelta(days=7)),  # of ten thousand
        (Cron("0 9 1 * *"), 86_400, datetime(2026, 4, 1, 9, 0, tzinfo=UTC)),  # none was missed
        (Cron("* * 3 * *"), 40 * 86_400, datetime(2026, 4, 3, 23, 59, tzinfo=UTC)),
    ],
)
def test_of_firings_that_were_missed_the_last_is_planned(
    planned: PlannedFirings,
    client: Any,
    clock: ManualClock,
    schedule: Cron | Every,
    down_s: float,
    planned_for: datetime,
) -> None:
    clock.move(down_s)

    planned.goes_on(by(schedule), BEGIN)

    assert [name_of(planned_for)] == names(client)


def test_a_one_off_has_nothing_after_it(planned: PlannedFirings, client: Any) -> None:
    planned.goes_on(by(Once(BEGIN)), BEGIN)

    assert [] == names(client)


def test_what_an_older_revision_planned_is_taken_away(planned: PlannedFirings, client: Any) -> None:
    planned.put(by(Every(600_000)), BEGIN)

    planned.put(by(Every(60_000), revision=4), BEGIN)

    assert [name_of(BEGIN + MINUTE, revision=4)] == names(client)


def test_a_firing_that_is_overdue_is_still_to_come(planned: PlannedFirings, client: Any) -> None:
    job = by(Every(600_000))
    planned.put(job, BEGIN)

    planned.put(job, BEGIN + 15 * MINUTE)  # a server starts again

    assert [name_of(BEGIN + minutes * MINUTE) for minutes in (10, 20)] == names(client)


def test_a_chain_that_broke_is_planned_again(planned: PlannedFirings, client: Any) -> None:
    planned.put(by(Every(600_000)), BEGIN + 15 * MINUTE)

    assert [name_of(BEGIN + 20 * MINUTE)] == names(client)


def test_removing_a_job_ends_its_chain(planned: PlannedFirings, client: Any) -> None:
    planned.put(by(Every(600_000)), BEGIN)
    planned.put(by(Every(600_000), id="b" * 32), BEGIN)

    planned.remove(JOB.id)

    assert [f"sj-{'b' * 32}-3-{int((BEGIN + 10 * MINUTE).timestamp())}"] == names(client)
