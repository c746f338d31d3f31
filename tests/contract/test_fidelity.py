"""What the pinned emulator does unlike AWS, and our code must respect: look again at each bump.

A line that turns red here is good news or bad; either way contracts and code that rest on it are
to be read again before the pin moves. Source: contracts/emulation.md sections 1 and 3.
"""

from __future__ import annotations

import time
import tomllib
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from chalicelib.delivery.firings import DUE
from infra.package import ROOT
from tests.patience import PATIENCE_S

pytestmark = pytest.mark.aws
SOON = timedelta(seconds=2)


@pytest.fixture
def client(emulated_aws: str) -> Any:
    return lambda service: boto3.client(
        service,
        endpoint_url=emulated_aws,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}),
    )


def at(moment: datetime) -> str:
    return f"at({moment:%Y-%m-%dT%H:%M:%S})"


def plan(client: Any, name: str, body: str = "x", **more: Any) -> str:
    """Plan a schedule that sends into a queue of its own; return the queue's URL."""
    sqs = client("sqs")
    url: str = sqs.create_queue(QueueName=f"fidelity-{name}")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
    client("scheduler").create_schedule(
        Name=f"fidelity-{name}",
        FlexibleTimeWindow={"Mode": "OFF"},
        Target={
            "Arn": arn["QueueArn"],
            "RoleArn": "arn:aws:iam::000000000000:role/r",
            "Input": body,
        },
        **more,
    )
    return url


def arrives(client: Any, url: str) -> bool:
    return received(client, url) is not None


def received(client: Any, url: str) -> str | None:
    """Return the body of the message that arrives, None if none does in time."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        for body in bodies(client, url, wait_s=20):
            return body
    return None


def bodies(client: Any, url: str, wait_s: int = 0) -> list[str]:
    answer = client("sqs").receive_message(QueueUrl=url, WaitTimeSeconds=wait_s)
    return [str(message["Body"]) for message in answer.get("Messages", [])]


def test_the_emulator_is_the_pinned_one() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert f"ministack=={version('ministack')}" in project["optional-dependencies"]["local"]


def test_a_delay_beyond_fifteen_minutes_is_taken_so_we_clamp_it(client: Any) -> None:
    sqs = client("sqs")
    url = sqs.create_queue(QueueName="fidelity-delay")["QueueUrl"]

    assert sqs.send_message(QueueUrl=url, MessageBody="x", DelaySeconds=901)["MessageId"]


def test_the_zone_of_a_schedule_is_ignored_so_we_plan_in_utc(client: Any) -> None:
    local = (datetime.now(UTC) + SOON).replace(tzinfo=None)

    url = plan(
        client,
        "zone",
        ScheduleExpression=at(local),
        ScheduleExpressionTimezone="Pacific/Honolulu",  # where AWS fires ten hours later
    )

    assert arrives(client, url)


def test_nothing_is_put_into_a_message_so_we_say_when_it_was_due(client: Any) -> None:
    url = plan(client, "input", DUE, ScheduleExpression=at(datetime.now(UTC)))

    assert DUE == received(client, url)


def test_an_interval_is_counted_from_now_so_we_plan_each_of_its_firings(client: Any) -> None:
    url = plan(
        client,
        "rate",
        ScheduleExpression="rate(1 minute)",
        StartDate=datetime.now(UTC) + SOON,  # when AWS fires first
    )
    after = plan(client, "after", ScheduleExpression=at(datetime.now(UTC) + 2 * SOON))

    assert arrives(client, after)
    assert [] == bodies(client, url)


def test_a_schedule_in_the_past_fires_at_the_next_look(client: Any) -> None:
    url = plan(client, "past", ScheduleExpression=at(datetime.now(UTC) - timedelta(hours=1)))

    assert arrives(client, url)


def test_a_name_that_exists_conflicts_so_we_take_that_for_success(client: Any) -> None:
    later = at(datetime.now(UTC) + timedelta(hours=1))
    plan(client, "twice", ScheduleExpression=later)

    with pytest.raises(ClientError) as caught:
        plan(client, "twice", ScheduleExpression=later)

    assert "ConflictException" == caught.value.response["Error"]["Code"]


def test_a_bad_schedule_is_taken_so_we_never_write_one(client: Any) -> None:
    plan(client, "bad", ScheduleExpression="at(whenever)")
